"""When a change may begin: a prior over the steps of a stream that adds up to 1, however long the stream."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._checks import Array

MEDIAN = 3000  # steps


def not_yet(steps: int | NDArray[np.int64]) -> Array:
    r"""Prior probability that no change began within so many steps, :math:`R_t = (1 + 3t/3000)^{-1/2}`.

    >>> not_yet(np.array([0, 3000]))
    array([1. , 0.5])
    """
    return np.asarray(1.0 / np.sqrt(1.0 + np.asarray(steps, dtype=np.float64) * (3.0 / MEDIAN)))


def log_start(steps: NDArray[np.int64]) -> Array:
    r"""Log prior probability that a change begins with step t = 1, 2, ...: :math:`w_t = R_{t-1} - R_t`."""
    before, after = not_yet(steps - 1), not_yet(steps)
    return np.asarray(np.log((3.0 / MEDIAN) / (1 / before + 1 / after)) + np.log(before) + np.log(after))
