"""Log odds linear in parameters: plain maximum likelihood over many rows."""

from __future__ import annotations

import numpy as np

from .._checks import Array
from ..numerics.blocks import BLOCK, row_blocks
from ..numerics.newton import newton
from .linear import Features, LinearProblem, Prior
from .trials import Trials

_FEW = 20_000  # rows that are looked at again and again without bins first
_TOLERANCE = 1e-5  # of the last step; what is left is about its square
_FARTHEST = 32.0
_PER_UNIT = 128


def most_likely(x: Array, rows: Array, events: Array, features: Features, lowest: Array) -> Array:
    r"""Parameters of least :math:`\sum_i w_i\log(1 + e^{h_i}) - e_i h_i`, :math:`h = f(x)\theta`, to rounding.

    Many rows are first collected in bins, from which the way to the minimum is two or three Newton steps.

    Parameters
    ----------
    x : array (n,)
        Mostly between -32 and 32, where bins are 1/128 wide; what lies beyond is in one bin.
    rows, events : array (n,)
        Weight of each row, and how much of it counts as event; any share, so that targets may be smoothed.
    features : callable
        From x (1, M) to d arrays (1, M).
    lowest : array (d,)
        Lower bounds, -inf where there is none.

    Examples
    --------
    >>> x, y = np.array([-1.0, -1.0, 1.0, 1.0]), np.array([0.0, 0.5, 0.5, 1.0])
    >>> most_likely(x, np.ones(4), y, lambda x: (x, np.ones_like(x)), np.full(2, -np.inf)) * [1, 0] / np.log(3)
    array([1., 0.])
    """
    start = np.zeros((1, len(lowest)))
    prior = Prior(start, np.zeros((1, len(lowest), len(lowest))))
    if len(x) > _FEW:
        start = LinearProblem([_binned(x, rows, events)], features, prior).solve(0.0, start, lowest)
    columns = x[None, :], rows[None, :], events[None, :]
    cuts = row_blocks(len(x), block=BLOCK)
    parts = [Trials(*(column[:, cut] for column in columns)) for cut in cuts]
    exact = LinearProblem(parts, features, prior)
    return np.asarray(newton(lambda theta: exact.evaluate(theta, 0.0), start, lowest, tolerance=_TOLERANCE)[0])


def _binned(x: Array, rows: Array, events: Array) -> Trials:
    """Means of bins, rows that are rather events apart from the others."""
    size = int(2 * _FARTHEST * _PER_UNIT)
    place = np.clip(x, -_FARTHEST, _FARTHEST)
    place += _FARTHEST
    place *= _PER_UNIT
    cell = place.astype(np.intp)
    cell += (size + 1) * (2 * events > rows)
    sums = [np.bincount(cell, column) for column in (np.multiply(rows, x, out=place), rows, events)]
    moment, mass, hits = (total[None, np.flatnonzero(sums[1])].astype(np.float64) for total in sums)
    return Trials(moment / mass, mass, hits)
