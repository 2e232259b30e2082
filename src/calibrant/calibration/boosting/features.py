"""What trees see: numbers of any unit brought to one size, categories as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._checks import Array
from ...numerics.blocks import BLOCK, row_blocks
from ...numerics.forest import Forest

_LARGEST = 1e30  # of standardised features


def standards(raw: Array, sizes: NDArray[np.intp]) -> tuple[Array, Array]:
    """Centre and spread of the different values of each column; categories stay as they are.

    ``sizes`` are the numbers of categories of the columns, 0 of numbers.

    Examples
    --------
    >>> standards(np.array([[1.0, 0.0], [2.0, 1.0], [3.0, 1.0], [3.0, 0.0]]), np.array([0, 2]))
    (array([2., 0.]), array([0.68, 1.  ]))
    """
    centres, spreads = np.zeros(len(sizes)), np.ones(len(sizes))
    for place in np.flatnonzero(sizes == 0):
        values = np.unique(raw[np.isfinite(raw[:, place]), place])
        if len(values) > 1:
            low, centres[place], high = np.quantile(values, [0.16, 0.5, 0.84])
            spreads[place] = 0.5 * high - 0.5 * low
    return centres, spreads


def standardised(raw: Array, centres: Array, spreads: Array) -> Array:
    """Columns less their centres, in units of their spreads; what is missing stays so."""
    with np.errstate(over="ignore"):
        return np.clip((raw - centres) / spreads, -_LARGEST, _LARGEST)


def said_of(forest: Forest, raw: Array, centres: Array, spreads: Array) -> Array:
    """What trees say of rows (n, k), whose features are standardised block by block."""
    out = np.empty((len(raw), forest.n_outputs))
    for rows in row_blocks(len(raw), block=BLOCK):
        out[rows] = forest(standardised(raw[rows], centres, spreads))
    return out


def given(X: Any, instead: str) -> Any:
    """Return the features, or say which calibrator does without."""
    if X is None:
        raise ValueError(f"`X` must be given: the features of each row, beside the forecasts. None? Use {instead}.")
    return X
