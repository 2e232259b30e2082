"""Quantiles of laws that only know their distribution function, from scores at points on both sides of every scale."""

from __future__ import annotations

import numpy as np

from .._checks import Array
from ..distributions.base import Distribution, across
from ..numerics.roots import Where, solve_increasing

_FAR = 12.0 * 1.25 ** np.arange(1, 16)
_REACH = np.concatenate([-_FAR[::-1], np.linspace(-12, 12, 49), _FAR])  # asinh of the distances looked at first


def sought_quantiles(law: Distribution, z: Array, place: tuple[Array, Array]) -> Array:
    r"""The smallest y with score at least z, (n,) or (n, k), sought in :math:`t = \operatorname{asinh}((y-c)/s)`.

    A row of scores at fixed t brackets every z; Newton's method, or bisection for counts, finishes.
    """
    table = z if z.ndim == 2 else z[:, None]
    scores = _rising(law.to_normal(_points(place, _REACH[None, :])))
    cell = (scores[:, None, :] < table[:, :, None]).sum(axis=2)  # how many points lie below each quantile
    low, high = _REACH[np.clip(cell - 1, 0, None)], _REACH[np.clip(cell, None, len(_REACH) - 1)]
    if law.on_integers:
        y = _first_count(law, table, *(np.floor(_points(place, t)) for t in (low, high)))
    else:
        y = _points(place, _newton(law, table, place, (low, high)))
    return y if z.ndim == 2 else y[:, 0]


def _rising(scores: Array) -> Array:
    """Scores that rise from the middle outwards: far out SciPy's integrals may miss all of the probability."""
    middle = scores.shape[1] // 2
    left = np.fmin.accumulate(scores[:, middle::-1], axis=1)[:, ::-1]
    return np.hstack([left, np.fmax.accumulate(scores[:, middle:], axis=1)[:, 1:]])


def _points(place: tuple[Array, Array], t: Array) -> Array:
    centre, unit = (across(part, t) for part in place)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(centre + unit * np.sinh(t))


def _newton(law: Distribution, z: Array, place: tuple[Array, Array], ends: tuple[Array, Array]) -> Array:
    low, high = ends
    width = z.shape[1]
    centre, unit = (np.repeat(part, width) for part in place)
    rows = np.repeat(np.arange(len(law)), width)

    def height_and_slope(t: Array, where: Where) -> tuple[Array, Array]:
        y = _points((centre[where], unit[where]), t.ravel())
        score, log_slope = law[rows[where]].score_and_log_slope(y)
        with np.errstate(all="ignore"):
            return score, np.exp(log_slope + np.log(np.cosh(t.ravel())) + np.log(unit[where]))

    bounds = np.nextafter(low.ravel(), -np.inf), np.nextafter(high.ravel(), np.inf)
    return solve_increasing(height_and_slope, z, 0.5 * (low + high), bounds=bounds, close=1e-12, met=1e-13, most=40)


def _first_count(law: Distribution, z: Array, low: Array, high: Array) -> Array:
    """Bisection between whole numbers; the score at ``high`` reaches z."""
    low = np.where(law.to_normal(low) >= z, low - 1, low)
    for _ in range(1100):  # more than halving any two numbers takes
        middle = np.floor(0.5 * low + 0.5 * high)
        open_ = (middle > low) & (middle < high)
        if not open_.any():
            break
        enough = law.to_normal(np.where(open_, middle, high)) >= z
        high = np.where(open_ & enough, middle, high)
        low = np.where(open_ & ~enough, middle, low)
    return high
