r"""One standard law that serves every row of a location-scale batch seen through a shared map.

If :math:`Y_i = \mu_i + \sigma_i U` with one law of U, then means, variances and scores of all rows are those of U,
moved and stretched. Prefix integrals of :math:`F^2` and :math:`(1-F)^2` over the panels between knots make each CRPS
one look-up and one partial panel: no n_test × n_calibration array.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy.special import ndtr

from ..._checks import Array
from ...maps.base import Map
from ...maps.piecewise import PiecewiseLinearMap
from ...numerics.blocks import BLOCK, joined, row_blocks
from ...numerics.lookup import KnotIndex
from ...numerics.tails import HALF_LOG_2PI
from ..base import Distribution
from ..families.normal import Normal
from ..location_scale import LocationScale
from .score_table import Scores, ScoreTable

_SCORES = np.concatenate([np.linspace(-8.5, 8.5, 35), [10.0, 12.0, 15.0, 19.0, 24.0, 30.0, 37.0]])
_SCORES = np.unique(np.concatenate([_SCORES, -_SCORES]))  # panels end here too
MANY = 4096  # rows that are worth a table of polynomials
_MADE: WeakKeyDictionary[Map, dict[Any, StandardLaw]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class StandardLaw:
    """Mean, variance and prefix integrals: ``below[j]`` of F² up to edge j, ``above[j]`` of (1-F)² from edge j on."""

    edges: Array
    mean: float
    var: float
    below: Array
    above: Array
    partial: Any  # (panel, u) -> integral of F² from the panel's left edge to u, and of (1-F)² from u to its right edge
    index: KnotIndex
    scores: Scores | None = None  # at any points, where a table of these serves many rows

    @staticmethod
    def of(standard: LocationScale, map: Map) -> StandardLaw:
        """Make the standard law of a base and a map, or find the one made before."""
        shapes = [getattr(standard, name) for name in standard._by_row if name not in ("loc", "scale")]
        key = (type(standard), *(float(shape[0]) for shape in shapes))
        made = _MADE.setdefault(map, {})
        if key not in made:
            exact = isinstance(standard, Normal) and isinstance(map, PiecewiseLinearMap)
            made[key] = _linear(map) if exact else _smooth(standard, map)  # type: ignore[arg-type]
        return made[key]

    def crps(self, u: Array) -> Array:
        """CRPS of standardised outcomes."""
        if len(u) >= MANY and self._table is not None:
            return self._table(u)
        return joined(self._crps(u[rows]) for rows in row_blocks(len(u), block=BLOCK // 4))

    @cached_property
    def _table(self) -> ScoreTable | None:
        if self.scores is None:
            return None
        with np.errstate(over="ignore", under="ignore"):
            return ScoreTable.of(self.scores, self.edges)

    def _crps(self, u: Array) -> Array:
        last = len(self.edges) - 1
        inside = np.clip(u, self.edges[0], self.edges[-1])
        panel = np.clip(self.index.segment(inside) - 1, 0, last - 1)
        low, high = self.partial(panel, inside)
        return np.asarray(self.below[panel] + low + high + self.above[panel + 1] + np.abs(u - inside))


def _assemble(
    edges: Array, moments: tuple[float, float], panels: tuple[Array, Array], partial: Any, scores: Scores | None = None
) -> StandardLaw:
    below = np.concatenate([[0.0], np.cumsum(panels[0])])
    above = np.concatenate([np.cumsum(panels[1][::-1])[::-1], [0.0]])
    return StandardLaw(edges, *moments, below, above, partial, KnotIndex(edges), scores)


def panel_edges(standard: LocationScale, map: Map, scores: Array) -> tuple[Array, float]:
    """Where panels end: at bends, kinks and the given scores of the mapped law; and its median, one of them."""
    scores = np.concatenate([map.bends, np.asarray(map.inverse(np.append(scores, 0.0)))])
    at = standard.from_normal(scores[None, :])[0]
    edges = np.unique(np.concatenate([at, standard._kinks()[0]]))
    edges = edges[np.isfinite(edges)]
    return edges, float(np.clip(at[-1], edges[0], edges[-1]))


def _smooth(standard: LocationScale, map: Map) -> StandardLaw:
    """Gauss-Legendre on every panel; exact for step maps, to rounding for smooth ones."""
    law = _Mapped(standard, map)
    edges, centre = panel_edges(standard, map, _SCORES)
    x, w = np.polynomial.legendre.leggauss(16 if len(edges) < 4096 else 6)

    def partial(panel: Array, u: Array) -> tuple[Array, Array]:
        left, right = 0.5 * (u - edges[panel]), 0.5 * (edges[panel + 1] - u)
        low = law.to_normal((u - left)[:, None] + left[:, None] * x)
        high = law.to_normal((u + right)[:, None] + right[:, None] * x)
        return left * (np.square(ndtr(low)) @ w), right * (np.square(ndtr(-high)) @ w)

    with np.errstate(over="ignore"):
        half = 0.5 * np.diff(edges)
        y = (edges[:-1] + half)[:, None] + half[:, None] * x
        z = law.to_normal(y)
        cdf, sf = ndtr(z), ndtr(-z)
        away, tail = y - centre, np.where(y < centre, cdf, sf)
        first = float((half * ((np.sign(away) * tail) @ w)).sum())
        second = float((half * ((2 * np.abs(away) * tail) @ w)).sum())
        panels = half * (np.square(cdf) @ w), half * (np.square(sf) @ w)
    index = float(standard.tail_index[0])
    moments = (centre + first if index > 1 else np.inf, second - first**2 if index > 2 else np.inf)
    return _assemble(edges, moments, panels, partial, law.to_normal)


@dataclass(frozen=True, eq=False)
class _Mapped:
    """Scores of a single standard law seen through a map, at points of any shape."""

    base: Distribution
    map: Map

    def to_normal(self, y: Array) -> Array:
        return self.map(self.base.to_normal(y.reshape(1, -1))).reshape(y.shape)


def _linear(map: PiecewiseLinearMap) -> StandardLaw:
    r"""Closed form: on each panel :math:`F(u) = \Phi(t)` with t linear in u, and :math:`\int\Phi^2` is known."""
    knots, t = map.bent_line()
    rate = np.diff(knots) / np.diff(t)  # du/dt on each panel
    cdf, density = ndtr(t), np.exp(-0.5 * t * t - HALF_LOG_2PI)
    lower, upper = _antiderivatives(t, cdf, density)
    panels = rate * np.diff(lower), -rate * np.diff(upper)

    def partial(panel: Array, u: Array) -> tuple[Array, Array]:
        r = rate[panel]
        a = t[panel] + (u - knots[panel]) / r
        low, high = _antiderivatives(a, ndtr(a), np.exp(-0.5 * a * a - HALF_LOG_2PI))
        return r * (low - lower[panel]), r * (high - upper[panel + 1])

    mass, fall = np.diff(cdf), -np.diff(density)
    offset = knots[:-1] - rate * t[:-1]
    mean = float(offset @ mass + rate @ fall)
    centred = offset - mean
    var = centred**2 @ mass + 2 * (centred * rate) @ fall + rate**2 @ (mass - np.diff(t * density))
    return _assemble(knots, (mean, float(var)), panels, partial)


def _antiderivatives(t: Array, cdf: Array, density: Array) -> tuple[Array, Array]:
    r"""Antiderivatives of Φ², :math:`t\Phi^2 + 2\varphi\Phi - \Phi(\sqrt2 t)/\sqrt\pi`, and of (1-Φ)², its mirror."""
    wide = ndtr(np.sqrt(2) * t) / np.sqrt(np.pi)
    sf = 1 - cdf
    lower = t * cdf**2 + 2 * density * cdf - wide
    upper = -t * sf**2 + 2 * density * sf + wide - 1 / np.sqrt(np.pi)
    return lower, upper
