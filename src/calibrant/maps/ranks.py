"""Fitting maps to ranks: one sort."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.special import ndtri

from .._checks import Array
from .piecewise import PiecewiseLinearMap, ProbabilityMap, StepMap

Ranks = Literal["T+1", "T"]

BEYOND = 5e-13  # probability beyond the largest of T scores where their ranks are over T
MANY_KNOTS, KEPT_KNOTS = 1_000_000, 30_000  # of bent lines
_BLOCK = 65536
_FARTHEST = 37.0  # beyond this score probabilities leave the range of float64


def fit_ecdf(z: Array, weights: Array | None = None, *, heavy_tails: bool = False) -> PiecewiseLinearMap:
    r"""Fit the bent line through :math:`(z_{(i)}, \Phi^{-1}(i/(T+1)))` at full resolution.

    Ties take their mid-rank. The tails go on with the mean slope of the outermost :math:`\sqrt T` knots, or with
    slope 1 on a base with a finite tail index. Of more than a million knots some 30 000 are kept, even in rank and in
    height: the map moves by about :math:`10^{-5}` in probability, far less than the ranks' own error of
    :math:`1/(2\sqrt T)`, and stays in the cache.

    >>> fit_ecdf(np.array([0.3, -1.0, 2.0])).levels
    array([-0.674,  0.   ,  0.674])
    """
    values, weights = _sorted(z, weights)
    if weights is None and not _has_ties(values):
        knots, levels = values, _normal_quantiles(len(values))
    else:
        knots, mass = _distinct(values, weights)
        levels = ndtri(_middle(mass) / (float(mass.sum()) + 1))
    if len(knots) == 1 or heavy_tails:
        return PiecewiseLinearMap(*_thinned(knots, levels))
    k = min(len(knots) - 1, int(np.ceil(np.sqrt(len(knots)))))
    low = (levels[k] - levels[0]) / (knots[k] - knots[0])
    high = (levels[-1] - levels[-1 - k]) / (knots[-1] - knots[-1 - k])
    return PiecewiseLinearMap(*_thinned(knots, levels), (float(low), float(high)))


def _thinned(knots: Array, levels: Array) -> tuple[Array, Array]:
    """All knots, or those at even ranks and those at even levels where they are very many."""
    if len(knots) <= MANY_KNOTS:
        return knots, levels
    last = len(knots) - 1
    ranks = np.linspace(0, last, KEPT_KNOTS // 2).round().astype(np.intp)
    even = np.searchsorted(levels, np.linspace(levels[0], levels[-1], KEPT_KNOTS // 2))
    kept = np.union1d(ranks, np.minimum(even, last))
    return knots[kept], levels[kept]


def fit_isotonic(
    z: Array, weights: Array | None = None, *, heavy_tails: bool = False, ranks: Ranks = "T+1"
) -> ProbabilityMap:
    r"""Fit the papers' map on [0, 1]: linear through the ranks, (0, 0) and (1, 1).

    The pairs of Kuleshov et al. (2018), algorithm 1, are monotone already, so isotonic regression returns them as
    they are. With ``ranks="T"`` they are theirs, :math:`(p_t, \hat P(p_t))`, :math:`\hat P(p) = \#\{t: p_t \le p\}/T`
    (eq. 6); with "T+1" ties take their mid-rank, over T + 1. The end pieces are linear in p and keep any tail index.

    Differs from the paper in: R(0) = 0 and R(1) = 1, which it leaves open; the last of T ranks is
    :math:`1 - 5 \cdot 10^{-13}`, so that outcomes beyond the largest have a density; scores are worked with, in which
    CDF values that round to 1 still differ.

    >>> from scipy.special import ndtr
    >>> z = np.array([-1.0, 0.0, 0.0, 1.0])
    >>> ndtr(fit_isotonic(z)(z)), ndtr(fit_isotonic(z, ranks="T")(z))
    (array([0.2, 0.5, 0.5, 0.8]), array([0.25, 0.75, 0.75, 1.  ]))
    """
    knots, shares, _ = rank_pairs(z, weights, ranks)
    return ProbabilityMap(knots, np.minimum(shares, 1 - BEYOND))


def rank_pairs(z: Array, weights: Array | None, ranks: Ranks) -> tuple[Array, Array, Array]:
    """Distinct scores, their ranks as shares ("T": eq. 6 of Kuleshov et al. 2018), and the mass at each."""
    knots, mass = _distinct(*_sorted(np.clip(z, -_FARTHEST, _FARTHEST), weights))
    if ranks == "T":
        upper = np.cumsum(mass)
        return knots, upper / upper[-1], mass
    return knots, _middle(mass) / (float(mass.sum()) + 1), mass


def fit_step(
    z: Array, weights: Array | None = None, *, heavy_tails: bool = False, finite_sample: bool = False
) -> StepMap:
    r"""Fit the exact step function :math:`\hat P(p) = \#\{t: p_t \le p\}/T` (Kuleshov et al. 2018, eq. 6).

    With ``finite_sample`` the ranks are divided by T+1 and the missing mass lies at +inf: the conformal variant. A
    base's tail index does not matter: all mass lies at the knots.
    """
    order, weights = _sorted(z, weights)
    first = np.flatnonzero(np.append(True, np.diff(order) > 0))
    last = np.append(first[1:], len(order)) - 1
    count = np.arange(1.0, len(order) + 1) if weights is None else np.cumsum(weights)
    total = count[-1]
    return StepMap(order[first], count[last] / (total + 1 if finite_sample else total))


def _sorted(z: Array, weights: Array | None) -> tuple[Array, Array | None]:
    if weights is None:
        return np.sort(z), None
    kept = weights > 0
    z, weights = z[kept], weights[kept]
    order = np.argsort(z, kind="stable")
    return z[order], weights[order]


def _distinct(values: Array, weights: Array | None) -> tuple[Array, Array]:
    """Distinct values of a sorted column and the weight at each; a weight of 2 is the row twice."""
    first = np.flatnonzero(np.append(True, np.diff(values) > _tie(values)))
    mass = np.diff(np.append(first, len(values))).astype(float) if weights is None else np.add.reduceat(weights, first)
    return values[first], mass


def _middle(mass: Array) -> Array:
    """Mid-ranks of the rows at each value."""
    below = np.cumsum(mass) - mass
    return np.asarray(below + 0.5 * (mass + 1))


def _tie(values: Array) -> float:
    """The distance within which neighbouring sorted values are ties: rounding, far below that of distinct ones."""
    n = len(values)
    return float(1e-8 * (values[(3 * n) // 4] - values[n // 4]) / n + 1e-15 * (1 + np.abs(values[[0, -1]]).max()))


def _has_ties(values: Array) -> bool:
    tie = _tie(values)
    starts = range(0, len(values) - 1, _BLOCK)
    return any(np.diff(values[start : start + _BLOCK + 1]).min() <= tie for start in starts)


def _normal_quantiles(n: int) -> Array:
    """Normal quantiles of i / (n + 1), i = 1 … n; the upper half mirrors the lower."""
    out = np.empty(n)
    half = (n + 1) // 2
    for start in range(0, half, _BLOCK):
        i = np.arange(start + 1, min(start + _BLOCK, half) + 1)
        out[start : start + len(i)] = ndtri(i / (n + 1))
    out[n - half :] = -out[half - 1 :: -1] if half else 0.0
    return out
