"""Quantiles of mixtures of smooth laws by Newton steps, without quantiles of components that have no closed form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from ..._checks import Array
from ...numerics.roots import Where, search_increasing
from ...numerics.tails import TINY
from ..base import Distribution, across
from ..location_scale import LocationScale
from ..recalibrated import Recalibrated

if TYPE_CHECKING:
    from .law import Mixture

_MET = 1e-7  # of a score, relative to 1 + |score|: the step that follows squares what is left
_FLAT = 0.01  # the least slope that the last step trusts
_LONGEST, _MOST = 8.0, 20  # steps, in widths of the components, and how many of them


def by_newton(law: Mixture, z: Array) -> tuple[Array, NDArray[np.bool_]] | None:
    """Quantiles at scores (n,) or (n, k), and where steps did not lead there; None with atoms or gaps."""
    law = law._flat()
    smooth = all(isinstance(part, (LocationScale, Recalibrated)) and not part.has_atoms for part in law.components)
    if not smooth or law._may_be_flat() or (start := _start(law, z)) is None:
        return None
    centre, unit, guess = start
    width = z.shape[1] if z.ndim == 2 else 1

    def height_and_slope(v: Array, where: Where) -> tuple[Array, Array]:
        rows: Any = where if isinstance(where, slice) else where // width
        own = across(unit[rows], v)
        score, slope = _score_and_slope(
            law if isinstance(where, slice) else law[rows], across(centre[rows], v) + own * v
        )
        return score, own * slope

    v, steep = search_increasing(height_and_slope, z, guess, met=_MET, longest=_LONGEST, most=_MOST)
    with np.errstate(over="ignore", invalid="ignore"):
        out = across(centre, z) + across(unit, z) * v
    return np.asarray(out), ~(steep > _FLAT)


def _start(law: Mixture, z: Array) -> tuple[Array, Array, Array] | None:
    """Middles and widths of the rows, and first guesses in these, from location-scale laws and bases of the others."""
    total, centre, unit, guess = np.zeros(len(law)), np.zeros(len(law)), np.zeros(len(law)), np.zeros(z.shape)
    bases = [_bottom(part) for part in law.components]
    for j, base in enumerate(bases):
        if base is None:
            return None
        share = np.broadcast_to(law._share(j), len(law))
        total += share
        with np.errstate(over="ignore", invalid="ignore"):
            centre += share * base.loc
            unit += share * base.scale
            guess += across(share, z) * base.from_normal(z)
    with np.errstate(over="ignore", invalid="ignore"):
        guess = (guess - across(centre, z)) / across(unit, z)
    usable = np.isfinite(centre).all() and np.isfinite(unit).all() and not np.isnan(guess).any()
    return (centre, unit, guess) if usable else None


def _bottom(part: Distribution) -> LocationScale | None:
    while isinstance(part, Recalibrated):
        part = part.base
    return part if isinstance(part, LocationScale) else None


def _score_and_slope(law: Mixture, y: Array) -> tuple[Array, Array]:
    """Scores and dz/dy from one evaluation of each component; in logs where a tail underflows."""
    lower, upper, density = np.zeros(y.shape), np.zeros(y.shape), np.zeros(y.shape)
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        for j, part in enumerate(law.components):
            score, log_slope = part.score_and_log_slope(y)
            weight = law._share_across(j, y)
            left = score < 0
            tail = np.negative(np.abs(score))
            ndtr(tail, out=tail)
            tail *= weight
            rest = weight - tail
            lower += np.where(left, tail, rest)
            upper += np.where(left, rest, tail)
            np.multiply(score, score, out=rest)
            rest *= -0.5
            rest += log_slope
            density += np.multiply(np.exp(rest, out=rest), weight, out=rest)
        low = lower < upper
        tail = np.where(low, lower, upper)
        out = np.where(low, 1.0, -1.0) * ndtri(tail)
        slope = density * np.exp(0.5 * out * out)
        if (tail < TINY).any():
            exact, log_slope = law.score_and_log_slope(y)
            out, slope = np.where(tail < TINY, exact, out), np.where(tail < TINY, np.exp(log_slope), slope)
    return out, slope
