"""How often intervals hold the outcome."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

from .._checks import Array, interval_levels, nonempty, probabilities, to_array
from .._types import Numbers, Weights
from ..adapters.registry import lent_distribution
from ..distributions.guaranteed import is_guaranteed
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
    interval: Numbers | None = None,
    sample_weight: Weights = None,
    per_row: bool = False,
) -> float | Array:
    r"""Share of outcomes inside intervals; compare it with the nominal coverage.

    .. math:: \frac1T \#\{t : l_t \le y_t \le u_t\}, \quad [l_t, u_t] = [F_t^{-1}(p_1),\, F_t^{-1}(p_2)]

    Calibrated forecasts come to :math:`p_2 - p_1` for any two levels (Kuleshov et al. 2018, eq. 5); central intervals
    have :math:`p_1 = (1-c)/2`, :math:`p_2 = (1+c)/2`. The standard error of a perfect forecaster's value is
    :math:`\sqrt{c(1-c)/T}`, :math:`c = p_2 - p_1`. Intervals of laws with atoms hold at least their nominal
    probability, mostly more.

    Parameters
    ----------
    y_true, dist, sample_weight
        As in :func:`nll`.
    low, high : array-like (n,) or (n, k), optional
        Plain ends of intervals instead of ``dist``, of one interval a row or of k.
    coverage : float or array-like (k,), optional
        Nominal coverage c of the central intervals of laws, or several; 0.9 unless told. Plain ends need none.
    interval : pair of float, or array-like (k, 2), optional
        Levels (p1, p2) of the ends instead, or several pairs; 0 and 1 are the ends of the support.
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
    >>> metrics.coverage([-2.0, 0.1, 0.5, 1.8], Normal([0.0] * 4, 1.0), interval=(0.5, 0.9))
    0.5
    >>> metrics.coverage([-2.0, 0.1, 0.5, 1.8], low=[-1.0] * 4, high=[1.0] * 4)
    0.5
    """
    no_weights_per_row(sample_weight, per_row)
    if is_stated(dist, ("low", "high"), low=low, high=high):
        if coverage is not None or interval is not None:
            name = "interval" if coverage is None else "coverage"
            raise TypeError(f"`{name}` is for laws: how much [low, high] holds needs no nominal coverage.")
        single = to_array(low, "low").ndim == 1
        pairs = zip(*(table.T for table in ends(low, high)), strict=True)
        asked: list[tuple[Any, tuple[float, float]]] = [(Stated(pair), (0.0, 1.0)) for pair in pairs]
    else:
        law, (levels, single) = lent_distribution(dist), _levels(coverage, interval)
        asked = [(law, pair) for pair in levels]
        if interval is None and is_guaranteed(law):
            asked = [(Stated(tuple(law.interval(high - low).T)), (0.0, 1.0)) for low, high in levels]
    lines = [_inside(y_true, forecasts, pair, sample_weight) for forecasts, pair in asked]
    inside, weights = np.array([line for line, _ in lines]), lines[0][1]
    if per_row:
        return inside[0] if single else inside.T
    shares = np.array([average(line, weights) for line in inside])
    return float(shares[0]) if single else shares


def _levels(coverage: Any, interval: Any) -> tuple[list[tuple[float, float]], bool]:
    """Levels of the ends of each interval that is asked for, and whether one was asked for by itself."""
    if interval is None:
        nominal = nonempty(probabilities(0.9 if coverage is None else coverage, "coverage"), "coverage")
        return [interval_levels(c, "coverage") for c in nominal], coverage is None or np.ndim(coverage) == 0
    if coverage is not None:
        raise TypeError("give `coverage` or `interval`, not both.")
    pairs = nonempty(to_array(interval, "interval"), "interval")
    single = pairs.ndim == 1
    return [interval_levels(np.atleast_1d(pair), "interval") for pair in (pairs[None] if single else pairs)], single


def _inside(y_true: Any, dist: Any, levels: tuple[float, float], sample_weight: Any) -> tuple[Array, Array | None]:
    """1.0 for outcomes inside their interval, 0.0 for others, and the weights."""
    y, law, weights = paired(y_true, dist, sample_weight)
    inside, scores = np.empty(len(y)), ndtri([levels])
    for rows in row_blocks(len(y), 2):
        low, high = law[rows].from_normal(scores).T
        inside[rows] = (low <= y[rows]) & (y[rows] <= high)
    return inside, weights
