"""Insurance of a map against outcomes far beyond all that were seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from .._checks import Array
from .spline import SplineMap, heights_through, rising

PREMIUM = 0.2  # rows' worth of mass
WIDTH = 3.0  # scale of the insurer's law over the wider of the forecast's and the map's own tail
_FARTHEST = 60.0  # insurer's scales out to which the mixture is followed
_DENSE, _EXTRA = 600, 72  # points tried and knots kept on each side
_HALF = float(np.log(0.5))
_RAMP = 2.0  # scales of a stretched tail within which it goes over to slope 1 on a heavy-tailed base


class _Policy(NamedTuple):
    """Where the insurer's laws are centred, their scales on both sides, their masses: (g, 1) each."""

    location: Array
    left: Array
    right: Array
    premium: Array

    def of(self, rows: Sequence[int]) -> _Policy:
        """Those of some maps."""
        return _Policy(*(part[rows] for part in self))


class _Bare(NamedTuple):
    """Knots at which mixtures are followed, and heights and log slopes there of the maps that are insured."""

    knots: Array
    heights: Array
    log_slopes: Array


def insured(
    whole: SplineMap, location: float, rows: float, *, heavy_tails: bool = False, again: bool = False
) -> SplineMap:
    r"""Mix a map's law with a little of a much wider one.

    .. math:: G(z) = (1-\varepsilon)\,\Phi(T(z)) + \varepsilon\,\Phi((z - b)/S), \quad \varepsilon = 0.2/(n+1)

    S is, on each side, three times the wider of the forecast's scale 1 and the tail's own. The slope of
    :math:`\Phi^{-1}(G)` is followed on extra knots, so that the result is again a spline; beyond them it stays at
    about 1/S. On a heavy-tailed base S is one such scale, not three, and the tails go over to slope 1; it is one such
    scale too where the forecasts come from an insured map, ``again``, whose own tails are wide enough.

    Examples
    --------
    >>> sure = insured(SplineMap.through(np.array([-1.0, 1.0]), np.array([1.0, 1.0]), -1.0), 0.0, rows=100)
    >>> sure(np.array([0.0, 1.0, 50.0])).round(1) + 0.0
    array([ 0.,  1., 17.])
    """
    return insured_each([whole], np.array([location]), np.array([rows]), heavy_tails=heavy_tails, again=again)[0]


def insured_each(
    maps: Sequence[SplineMap], locations: Array, rows: Array, *, heavy_tails: bool = False, again: bool = False
) -> list[SplineMap]:
    """Insure each of several maps."""
    ends = np.array([whole.slopes[[0, -1]] for whole in maps])
    left, right = np.split((1.0 if heavy_tails or again else WIDTH) * np.maximum(1.0, 1 / ends), 2, axis=1)
    policy = _Policy(locations[:, None], left, right, PREMIUM / (rows[:, None] + 1))
    follow = (ends >= 1) if heavy_tails else np.ones(ends.shape, dtype=bool)
    before, after = (_extra_knots(maps, policy, side) for side in (-1, 1))
    bare = [
        _continued(whole, before[place, ::-1] if low else before[0, :0], after[place] if high else after[0, :0])
        for place, (whole, (low, high)) in enumerate(zip(maps, follow, strict=True))
    ]
    made: list[SplineMap] = list(maps)
    for places in alike({place: part.knots.size for place, part in enumerate(bare)}):
        some = _Bare(*(np.array(values) for values in zip(*(bare[place] for place in places), strict=True)))
        slopes, heights = _followed(some, policy.of(places))
        for number, place in enumerate(places):
            smooth = SplineMap(some.knots[number], slopes[number], heights[number])
            made[place] = _ramped(smooth) if heavy_tails else smooth
    return made


def alike(sizes: Mapping[int, int]) -> list[list[int]]:
    """Places that have the same size."""
    found: dict[int, list[int]] = {}
    for place, size in sizes.items():
        found.setdefault(size, []).append(place)
    return list(found.values())


def _continued(whole: SplineMap, before: Array, after: Array) -> _Bare:
    """A map at its knots and, straight on, at more of them on both sides; rounding may have put some together."""
    low, high = whole.slopes[0], whole.slopes[-1]
    knots = np.concatenate([before, whole.knots, after])
    starts, ends = low * (before - whole.knots[0]), high * (after - whole.knots[-1])
    heights = np.concatenate([starts + whole.values[0], whole.values, ends + whole.values[-1]])
    slopes = np.concatenate([np.full(before.size, low), whole.slopes, np.full(after.size, high)])
    kept = rising(knots)
    return _Bare(knots[kept], heights[kept], np.log(slopes[kept]))


def _followed(bare: _Bare, policy: _Policy) -> tuple[Array, Array]:
    """Slopes of the mixtures at the knots, but for what heights need to be right there too, and these heights."""
    scores, slopes = _mixture(bare, policy)
    middle = np.argmin(np.abs(scores), axis=1)
    value = scores[np.arange(len(scores)), middle]
    heights = heights_through(bare.knots, slopes, value, middle)
    for _ in range(2):
        slopes = np.maximum(slopes - _gradient(heights - scores, bare.knots), 0.5 * slopes)
        heights = heights_through(bare.knots, slopes, value, middle)
    return slopes, heights


def _mixture(bare: _Bare, policy: _Policy) -> tuple[Array, Array]:
    """Normal scores of mixtures and their slopes, in logs from the smaller tail."""
    z, t = bare.knots, bare.heights
    width = np.where(z < policy.location, policy.left, policy.right)
    x = (z - policy.location) / width
    most, least = np.log1p(-policy.premium), np.log(policy.premium)
    sign = np.where(t < 0, 1.0, -1.0)
    tail = np.logaddexp(most + log_ndtr(sign * t), least + log_ndtr(sign * x))
    wrong = tail > _HALF
    if wrong.any():
        sign[wrong] *= -1
        weights = (np.broadcast_to(part, z.shape)[wrong] for part in (most, least))
        tails = (weight + log_ndtr(sign[wrong] * part[wrong]) for weight, part in zip(weights, (t, x), strict=True))
        tail[wrong] = np.logaddexp(*tails)
    density = np.logaddexp(most + bare.log_slopes - 0.5 * t * t, least - np.log(width) - 0.5 * x * x)
    scores = sign * ndtri_exp(np.minimum(tail, -1e-300))
    return scores, np.exp(np.clip(density + 0.5 * scores * scores, -200.0, 200.0))


def _extra_knots(maps: Sequence[SplineMap], policy: _Policy, side: int) -> Array:
    """Knots (g, extra) from the outermost one outwards, dense where the mixture's slope bends most."""
    end = 0 if side < 0 else -1
    start, slope, height = (
        np.array([[part[end]] for part in parts])
        for parts in zip(*((whole.knots, whole.slopes, whole.values) for whole in maps), strict=True)
    )
    width = policy.left if side < 0 else policy.right
    reach = np.maximum(_FARTHEST * width + side * (policy.location - start), _FARTHEST / slope)
    away = np.geomspace(0.01 / slope[:, 0], reach[:, 0], _DENSE, axis=1)
    slopes = _mixture(_Bare(start + side * away, height + side * slope * away, np.log(slope)), policy)[1]
    bend = np.abs(_gradient(_gradient(slopes, away), away)) / slopes
    wanted = np.cumsum(np.sqrt(bend) * np.gradient(away, axis=1), axis=1)
    wanted = wanted / wanted[:, -1:] + np.linspace(0.0, 0.5, _DENSE)
    places = np.linspace(wanted[:, 0], wanted[:, -1], _EXTRA, axis=1)
    kept = [np.interp(*row) for row in zip(places, wanted, away, strict=True)]
    return np.asarray(start + side * np.array(kept))


def _gradient(values: Array, places: Array) -> Array:
    """Second-order differences along rows, of first order at the ends, as np.gradient has them."""
    gaps, rises = np.diff(places), np.diff(values)
    steep = rises / gaps
    inner = (gaps[:, 1:] * steep[:, :-1] + gaps[:, :-1] * steep[:, 1:]) / (gaps[:, 1:] + gaps[:, :-1])
    return np.concatenate([steep[:, :1], inner, steep[:, -1:]], axis=1)


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
