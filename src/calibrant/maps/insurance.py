"""Insurance of a map against outcomes far beyond all that were seen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from .._checks import Array
from .spline import SplineMap, increasing

PREMIUM = 0.2  # rows' worth of mass
WIDTH = 3.0  # scale of the insurer's law over the wider of the forecast's and the map's own tail
_FARTHEST = 60.0  # insurer's scales out to which the mixture is followed
_DENSE, _EXTRA = 600, 72  # points tried and knots kept on each side
_RAMP = 2.0  # scales of a stretched tail within which it goes over to slope 1 on a heavy-tailed base


class _Policy(NamedTuple):
    """Where the insurer's law is centred, its scale on both sides, its mass."""

    location: float
    left: float
    right: float
    premium: float


def insured(whole: SplineMap, location: float, rows: float, *, heavy_tails: bool = False) -> SplineMap:
    r"""Mix a map's law with a little of a much wider one.

    .. math:: G(z) = (1-\varepsilon)\,\Phi(T(z)) + \varepsilon\,\Phi((z - b)/S), \quad \varepsilon = 0.2/(n+1)

    S is, on each side, three times the wider of the forecast's scale 1 and the tail's own. The slope of
    :math:`\Phi^{-1}(G)` is followed on extra knots, so that the result is again a spline; beyond them it stays at
    about 1/S. On a heavy-tailed base S is one such scale, not three, and the tails go over to slope 1.

    Examples
    --------
    >>> sure = insured(SplineMap.through(np.array([-1.0, 1.0]), np.array([1.0, 1.0]), -1.0), 0.0, rows=100)
    >>> sure(np.array([0.0, 1.0, 50.0])).round(1) + 0.0
    array([ 0.,  1., 17.])
    """
    ends = whole.slopes[[0, -1]]
    left, right = (1.0 if heavy_tails else WIDTH) * np.maximum(1.0, 1 / ends)
    policy = _Policy(location, float(left), float(right), PREMIUM / (rows + 1))
    follow = (ends >= 1) if heavy_tails else (True, True)
    before = _extra_knots(whole, policy, -1)[::-1] if follow[0] else np.empty(0)
    after = _extra_knots(whole, policy, 1) if follow[1] else np.empty(0)
    smooth = _followed(whole, increasing(np.concatenate([before, whole.knots, after])), policy)
    return _ramped(smooth) if heavy_tails else smooth


def _followed(whole: SplineMap, knots: Array, policy: _Policy) -> SplineMap:
    """The spline with the mixture's slopes at the knots, but for what its values need to be right there too."""
    scores, slopes = _mixture(whole, knots, policy)
    middle = int(np.argmin(np.abs(scores)))
    smooth = SplineMap.through(knots, slopes, float(scores[middle]), middle)
    for _ in range(2):
        slopes = np.maximum(slopes - np.gradient(smooth.values - scores, knots), 0.5 * slopes)
        smooth = SplineMap.through(knots, slopes, float(scores[middle]), middle)
    return smooth


def _mixture(whole: SplineMap, z: Array, policy: _Policy) -> tuple[Array, Array]:
    """Normal scores of the mixture and their slopes, in logs from the smaller tail."""
    width = np.where(z < policy.location, policy.left, policy.right)
    x, t = (z - policy.location) / width, whole(z)
    most, least = np.log1p(-policy.premium), np.log(policy.premium)
    low = np.logaddexp(most + log_ndtr(t), least + log_ndtr(x))
    high = np.logaddexp(most + log_ndtr(-t), least + log_ndtr(-x))
    density = np.logaddexp(most + whole.log_slope(z) - 0.5 * t * t, least - np.log(width) - 0.5 * x * x)
    scores = np.where(low < high, ndtri_exp(np.minimum(low, -1e-300)), -ndtri_exp(np.minimum(high, -1e-300)))
    return scores, np.exp(np.clip(density + 0.5 * scores * scores, -200.0, 200.0))


def _extra_knots(whole: SplineMap, policy: _Policy, side: int) -> Array:
    """Knots from the outermost one outwards, dense where the mixture's slope bends most."""
    start, slope = (whole.knots[0], whole.slopes[0]) if side < 0 else (whole.knots[-1], whole.slopes[-1])
    width = policy.left if side < 0 else policy.right
    reach = max(_FARTHEST * width + side * (policy.location - start), _FARTHEST / slope)
    away = np.geomspace(0.01 / slope, reach, _DENSE)
    slopes = _mixture(whole, start + side * away, policy)[1]
    bend = np.abs(np.gradient(np.gradient(slopes, away), away)) / slopes
    wanted = np.cumsum(np.sqrt(bend) * np.gradient(away))
    wanted = wanted / wanted[-1] + np.linspace(0.0, 0.5, _DENSE)
    kept = np.interp(np.linspace(wanted[0], wanted[-1], _EXTRA), wanted, away)
    return np.asarray(start + side * kept)


def _ramped(whole: SplineMap) -> SplineMap:
    """The map with tails of slope 1: raised to it by one more knot where the slope is below 1."""
    knots, slopes, middle = whole.knots, whole.slopes, int(np.argmin(np.abs(whole.values)))
    if slopes[-1] < 1:
        knots, slopes = np.append(knots, knots[-1] + _RAMP / slopes[-1]), np.append(slopes, 1.0)
    if slopes[0] < 1:
        knots, slopes = np.append(knots[0] - _RAMP / slopes[0], knots), np.append(1.0, slopes)
    at = middle + int(knots[0] < whole.knots[0])
    smooth = SplineMap.through(knots, slopes, float(whole.values[middle]), at)
    return SplineMap(knots, slopes, smooth.values, (1.0, 1.0))
