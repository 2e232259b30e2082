r"""How much the components of mixtures disagree, :math:`\int \sum_j w_j (F_j - F)^2\,dt`, on a grid over each row.

Where the components are smooth the trapezoidal rule converges fast. Components that are bent lines of a normal score
have as many corners as the map has knots, but their integrals over cells are known: only what the parts do together
within a cell, :math:`\operatorname{cov}(F_i, F_j)` over it, is taken from straight lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from ..._checks import Array
from ...maps.piecewise import PiecewiseLinearMap
from ...numerics.blocks import row_blocks
from ..base import Distribution
from ..families.normal import Normal
from ..integrals.standard import StandardLaw
from ..location_scale import LocationScale
from ..recalibrated import Recalibrated

if TYPE_CHECKING:
    from .law import Mixture

Estimate = tuple[Array, NDArray[np.bool_]]  # of the disagreement, and where it is not to be trusted

REACH = 6.0  # scores beyond which the squares of tail probabilities vanish
_COARSE, _FINE = 64, 4096  # cells of the trapezoidal rule, first and last
_TOLERANCE = 4e-7  # of the last doubling, relative to the score
_CELLS, _MOST_CELLS = 1024, 8192  # of bent lines, first and last
_CHANGE = 3e-7  # of the last doubling of these, relative to the score: a fifth of it is left, by chance more
_STRAIGHT = PiecewiseLinearMap(np.array([-1.0, 1.0]), np.array([-1.0, 1.0]))


@dataclass(frozen=True, eq=False)
class Grid:
    r"""Points :math:`c + s\sinh u` of each row, u evenly spaced: dense in the middle, sparse in the tails."""

    law: Mixture
    centre: Array
    scale: Array
    low: Array
    high: Array

    @classmethod
    def over(cls, law: Mixture) -> Grid:
        """From the lowest to the highest quantile of the components that matters."""
        at = {z: [_at_score(part, z) for part in law.components] for z in (-REACH, -1.0, 0.0, 1.0, REACH)}
        centre = law._average(at[0.0])
        scale = 0.75 * (law._average(at[1.0]) - law._average(at[-1.0]))
        low, high = np.min(at[-REACH], axis=0), np.max(at[REACH], axis=0)
        width = np.where(high > low, high - low, 1.0)  # laws may be points to rounding
        scale = np.where(scale > 1e-9 * width, scale, width)
        return cls(law, centre, scale, np.arcsinh((low - centre) / scale), np.arcsinh((high - centre) / scale))

    def __getitem__(self, rows: Any) -> Grid:
        """The grids of these rows."""
        return Grid(self.law[rows], self.centre[rows], self.scale[rows], self.low[rows], self.high[rows])

    def points(self, shares: Array) -> tuple[Array, Array]:
        """Points at these shares of the way, and dt/du there; both (n, k)."""
        u = self.low[:, None] + (self.high - self.low)[:, None] * shares
        scale = self.scale[:, None]
        return self.centre[:, None] + scale * np.sinh(u), scale * np.cosh(u)

    def trapezoids(self, shares: Array) -> Array:
        """Trapezoidal sum over the points at these shares of the way; the integrand vanishes at both ends."""
        out = np.empty(len(self.centre))
        for rows in row_blocks(len(out), 8 * len(shares)):
            part = self[rows]
            t, rate = part.points(shares)
            out[rows] = np.mean(variance(part.law, t) * rate, axis=1) * (part.high - part.low)
        return out

    def cells(self, count: int) -> Array:
        """Sums over so many cells of components that are bent lines, over half and over a quarter as many, (3, n)."""
        out = np.empty((3, len(self.centre)))
        for rows in row_blocks(len(self.centre), 4 * count):
            part = self[rows]
            t, _ = part.points(np.arange(count + 1) / count)
            below, above = np.stack([_prefixes(component, t) for component in part.law.components], axis=1)
            weights = np.stack([part.law._share_across(j, t) for j in range(len(below))]).reshape(len(below), -1, 1)
            for sums, step in zip(out, (1, 2, 4), strict=True):
                sums[rows] = _cells(weights, t[:, ::step], below[..., ::step], above[..., ::step])
        return out


def _at_score(part: Distribution, z: float) -> Array:
    return part._by_blocks(lambda law, v: law.from_normal(v), np.full(len(part), z))


def variance(law: Mixture, t: Array) -> Array:
    """Weighted variance of the components' distribution functions at points (n, k)."""
    values = [_cdf(part, t) for part in law.components]
    weights = [law._share_across(j, t) for j in range(len(values))]
    mean = np.sum([w * v for w, v in zip(weights, values, strict=True)], axis=0)
    return np.asarray(np.sum([w * np.square(v - mean) for w, v in zip(weights, values, strict=True)], axis=0))


def _cdf(part: Distribution, t: Array) -> Array:
    if isinstance(part, Recalibrated):
        return part.map.probabilities(part.base.to_normal(t))[0]
    return np.asarray(ndtr(part.to_normal(t)))


# ---- smooth components ----
def by_doubling(law: Mixture, score: Array) -> Estimate:
    """Trapezoidal rule, with twice as many points until nothing changes."""
    grid = Grid.over(law)
    out = grid.trapezoids(np.arange(_COARSE) / _COARSE)
    live, cells, before, change = np.arange(len(law)), _COARSE, out, out
    while len(live) and cells < _FINE:
        before, change = change, 0.5 * (grid[live].trapezoids((np.arange(cells) + 0.5) / cells) - out[live])
        out[live] += change
        off = np.maximum(np.abs(change), np.abs(before) / 16) > _TOLERANCE * score[live]  # one small change may be luck
        live, before, change, cells = live[off], before[off], change[off], 2 * cells
    return out, np.isin(np.arange(len(law)), live)


# ---- bent lines of a normal score ----
def are_bent_lines(law: Mixture) -> bool:
    """Whether all components are normal laws, seen through bent lines or as they are."""
    return all(_bent_line(part) is not None for part in law.components)


def over_cells(law: Mixture, score: Array) -> Estimate:
    """Exact integrals over cells, with twice as many cells until little changes."""
    grid = Grid.over(law)
    out, live, count = np.empty(len(law)), np.arange(len(law)), _CELLS
    while len(live) and count <= _MOST_CELLS:
        out[live], half, quarter = grid[live].cells(count)
        change = np.maximum(np.abs(out[live] - half), np.abs(half - quarter) / 8)  # one small change may be luck
        sure = change <= _CHANGE * (score - out)[live]  # never so where cells have no width
        live, count = live[~sure], 2 * count
    return out, np.isin(np.arange(len(law)), live)


def _bent_line(part: Distribution) -> tuple[LocationScale, StandardLaw] | None:
    if type(part) is Normal:
        part = Recalibrated(part, _STRAIGHT)
    bent = isinstance(part, Recalibrated) and type(part.base) is Normal and isinstance(part.map, PiecewiseLinearMap)
    return part._standard() if bent else None  # type: ignore[attr-defined]


def _prefixes(part: Distribution, t: Array) -> Array:
    r"""Integrals of :math:`F^2` up to and of :math:`(1-F)^2` from the points (n, k) on, (2, n, k)."""
    base, law = _bent_line(part)  # type: ignore[misc]
    u = base.standardised(t)
    inside = np.clip(u, law.edges[0], law.edges[-1])
    panel = np.clip(law.index.segment(inside) - 1, 0, len(law.edges) - 2)
    low, high = law.partial(panel, inside)
    below = law.below[panel] + low + np.maximum(u - inside, 0.0)
    above = law.above[panel + 1] + high + np.maximum(inside - u, 0.0)
    return np.asarray(base.scale[:, None] * np.stack([below, above]))


def _cells(weights: Array, t: Array, below: Array, above: Array) -> Array:
    r"""Sum over the cells between points t (n, k); weights (c, n or 1, 1), prefix integrals (c, n, k).

    With averages m and variances v of each :math:`F_j` over a cell, and rises d of straight lines, the integrand is
    :math:`\operatorname{var}_w(m) + \sum_j w_j(1-w_j)v_j - \frac1{12}\sum_{i\ne j} w_iw_jd_id_j` on average there.
    """
    width = np.diff(t)
    with np.errstate(divide="ignore", invalid="ignore"):
        square = np.diff(below) / width
        mean = 0.5 + 0.5 * (square + np.diff(above) / width)
    rise = weights * np.gradient(mean, axis=-1)
    within = weights * (1 - weights) * (square - np.square(mean))
    between = weights * np.square(mean - (weights * mean).sum(axis=0))
    together = np.square(rise.sum(axis=0)) - np.square(rise).sum(axis=0)
    return np.asarray(np.vecdot(width, (between + within).sum(axis=0) - together / 12))
