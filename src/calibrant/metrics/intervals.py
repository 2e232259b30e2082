"""How often central intervals hold the outcome."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._checks import Array, nonempty, probabilities, to_array
from .._types import Numbers, Weights
from ..adapters import as_distribution
from ..distributions.tables.intervals import ends
from ..numerics.blocks import row_blocks
from ._inputs import average, no_weights_per_row, paired
from .stated import Stated, is_stated


def coverage(
    y_true: Numbers,
    dist: Any = None,
    *,
    low: Numbers | None = None,
    high: Numbers | None = None,
    coverage: Numbers | None = None,
    sample_weight: Weights = None,
    per_row: bool = False,
) -> float | Array:
    r"""Share of outcomes inside the central intervals; compare it with the nominal coverage.

    .. math:: \frac1T \#\{t : l_t \le y_t \le u_t\}, \quad
        [l_t, u_t] = [F_t^{-1}(\tfrac{1-c}2),\, F_t^{-1}(\tfrac{1+c}2)]

    The standard error of a perfect forecaster's value is :math:`\sqrt{c(1-c)/T}`. Intervals of laws with atoms hold
    at least their nominal probability, mostly more.

    Parameters
    ----------
    y_true, dist, sample_weight
        As in :func:`nll`.
    low, high : array-like (n,) or (n, k), optional
        Plain ends of intervals instead of ``dist``, of one interval a row or of k.
    coverage : float or array-like (k,), optional
        Nominal coverage c of the intervals of laws, or several; 0.9 unless told. Plain ends need none.
    per_row : bool
        Return 1.0 (inside) and 0.0 (outside) per row instead of the share.

    Returns
    -------
    float, array (k,) where several coverages are given; per row, array (n,) or (n, k)

    Examples
    --------
    >>> from calibrant import Normal, metrics
    >>> metrics.coverage([-2.0, 0.1, 0.5, 1.8], Normal([0.0] * 4, 1.0), coverage=[0.5, 0.9])
    array([0.5, 0.5])
    >>> metrics.coverage([-2.0, 0.1, 0.5, 1.8], low=[-1.0] * 4, high=[1.0] * 4)
    0.5
    """
    no_weights_per_row(sample_weight, per_row)
    if is_stated(dist, ("low", "high"), low=low, high=high):
        if coverage is not None:
            raise TypeError("`coverage` is for laws: how much [low, high] holds needs no nominal coverage.")
        single = to_array(low, "low").ndim == 1
        pairs = zip(*(table.T for table in ends(low, high)), strict=True)
        asked: list[tuple[Any, float]] = [(Stated(np.column_stack(pair)), 0.5) for pair in pairs]
    else:
        nominal = nonempty(probabilities(0.9 if coverage is None else coverage, "coverage"), "coverage")
        single = coverage is None or to_array(coverage, "coverage").ndim == 0
        law = as_distribution(dist)
        asked = [(law, float(c)) for c in nominal]
    lines = [_inside(y_true, forecasts, c, sample_weight) for forecasts, c in asked]
    inside, weights = np.array([line for line, _ in lines]), lines[0][1]
    if per_row:
        return inside[0] if single else inside.T
    shares = np.array([average(line, weights) for line in inside])
    return float(shares[0]) if single else shares


def _inside(y_true: Any, dist: Any, coverage: float, sample_weight: Any) -> tuple[Array, Array | None]:
    """1.0 for outcomes inside their interval, 0.0 for others, and the weights."""
    y, law, weights = paired(y_true, dist, sample_weight)
    inside = np.empty(len(y))
    for rows in row_blocks(len(y), 2):
        low, high = law[rows].interval(coverage).T
        inside[rows] = (low <= y[rows]) & (y[rows] <= high)
    return inside, weights
