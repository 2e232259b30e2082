"""From scores and features to all that is said of them: tails, location and scale, a line on top, and skew."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from ..._checks import Array
from ...calibration.boosting.growing import Growth, is_clear
from ...calibration.pit_watch import effective_rows
from ...maps import AffineMap, PiecewiseLinearMap, SkewMap
from ...numerics.forest import Forest
from .line import fit_line
from .objective import LocationScale, Skew, scales, skews, standards
from .trees import Boosted, Sample, boosted

NU = 8.0
OTHER_NU = (4.0,)
FARTHEST = 40.0  # standard scores beyond which an outcome counts as one at that distance in the fit


class Learned(NamedTuple):
    """What is said of scores of location a and scale b; ``skew`` is None where held-out rows see none."""

    nu: float
    location: float
    scale: float
    trees: Boosted
    line: PiecewiseLinearMap | None
    skew: Forest | None
    straight: Array
    """Scores of unseen rows after shift and stretch."""
    scores: Array
    """The same after skew too."""


def learn(sample: Sample, sizes: NDArray[np.intp], how: Growth, nu: float | None) -> Learned:
    """Trees for scores that are already roughly standard, and the tails that unseen rows want, where nu is None."""
    first = _of_tails(sample, sizes, how, nu or NU)
    if nu is None and first.trees.rounds:
        likeliest = _likeliest_nu(_standard(first.straight, first), sample.weights)
        other = first if likeliest == NU else _of_tails(sample, sizes, how, likeliest)
        first = other if other.trees.rounds else first
    r = _standard(first.straight, first)
    skewed = boosted(sample._replace(u=r), sizes, how, Skew(first.nu))
    if not skewed.rounds:
        return first
    forest = replace(skewed.forest, value=skewed.stretch[0] * skewed.forest.value)
    map_ = skew_map(skewed.unseen, first.location, first.scale)
    return first._replace(skew=forest, scores=map_(first.straight))


def shifts(said: Array, location: float, scale: float) -> AffineMap:
    r""":math:`z \mapsto a + (z - a - bm)/s`, one a row."""
    s = scales(said[:, 1])
    return AffineMap(location - (location + scale * said[:, 0]) / s, 1 / s)


def skew_map(said: Array, location: float, scale: float) -> SkewMap:
    """Skews, one a row, around the location."""
    return SkewMap(skews(said[:, 0]), location, scale)


def bend(said: Array, line: PiecewiseLinearMap | None) -> Array:
    """Parameters whose log scale has gone through the line."""
    return said if line is None else np.column_stack([said[:, 0], line(said[:, 1])])


def _of_tails(sample: Sample, sizes: NDArray[np.intp], how: Growth, nu: float) -> Learned:
    kind = LocationScale(nu)
    location, scale = standards(np.clip(sample.u, -FARTHEST, FARTHEST), sample.weights, nu)
    u = np.clip((sample.u - location) / scale, -FARTHEST, FARTHEST)
    trees = boosted(sample._replace(u=u), sizes, how, kind)
    line = fit_line(u, trees.unseen, sample.weights, kind) if trees.rounds else None
    straight = shifts(bend(trees.unseen, line), location, scale)(sample.u)
    return Learned(nu, location, scale, trees, line, None, straight, straight)


def _standard(v: Array, learned: Learned) -> Array:
    return np.clip((v - learned.location) / learned.scale, -FARTHEST, FARTHEST)


def _likeliest_nu(r: Array, weights: Array) -> float:
    """Degrees of freedom under which scores are likeliest; the usual ones unless others are by a standard error."""
    usual, best, most = _log_densities(r, weights, NU), NU, 0.0
    for nu in OTHER_NU:
        gain = _log_densities(r, weights, nu) - usual
        mean = float(np.average(gain, weights=weights))
        if mean > most and is_clear(gain, weights, effective_rows(weights)):
            best, most = nu, mean
    return best


def _log_densities(r: Array, weights: Array, nu: float) -> Array:
    location, scale = standards(r, weights, nu)
    return np.asarray(student.logpdf(r, nu, location, scale))
