r"""Moments and CRPS of smooth laws with one map a row, of a location-scale base, at nodes that all rows share.

With :math:`Y_i = \mu_i + \sigma_i U_i` and :math:`F_i(u) = \Phi(T_i(z(u)))`, where the score z is that of one standard
law for all rows, maybe bent by a shared map, and the :math:`T_i` are smooth: as functions of z all :math:`F_i` are
polynomials through Gauss points on the same panels. What bends is z(u), so weights :math:`\int \ell_j(z(u))\,du` of the
Lagrange polynomials, worked out once, give every integral over u. The last coefficients of the polynomials tell the
error; rows where it is too large are left to quadrature.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from ..._checks import Array
from ...maps.affine import AffineMap
from ...maps.base import Map
from ...maps.composed import ComposedMap
from ...numerics.blocks import BLOCK, row_blocks
from ..base import Distribution
from ..location_scale import LocationScale
from .standard import panel_edges

if TYPE_CHECKING:
    from ..recalibrated import Recalibrated

Doubt = NDArray[np.bool_]

DEGREE = 11
PANEL = 0.7  # width of a panel in scores
REACHES = np.array([9.0, 12.0, 16.0, 22.0, 30.0])  # scores of the base up to which is summed: the first that suffices
FAR, MOST_ROWS = 7.5, 0.98  # scores beyond which nothing is left, reached by so many of the rows
LEAST = 1e-13  # probability that may lie beyond the panels
TOLERANCE = 4e-6  # of the last two coefficients; those that are left out are far smaller
WHOLE = 2e-5  # of their sum over whole panels, on which Gauss points are exact to twice the degree where nothing bends
_X, _W = legendre.leggauss(DEGREE + 1)
_INVERSE = np.linalg.inv(legendre.legvander(_X, DEGREE))  # values at the nodes to Legendre coefficients
_FINE_X, _FINE_W = legendre.leggauss(8)  # of the parts between bends


@dataclass(frozen=True, eq=False)
class SharedNodes:
    """The base, what all rows share, the maps of rows, and the panels."""

    base: LocationScale
    standard: LocationScale
    shared: Map
    maps: tuple[Map, ...]
    edges: Array  # of panels, scores
    upper: NDArray[np.bool_]  # whether panels are those of u > 0
    bends: Array  # ends of the parts of panels, units of the standard law
    panel: NDArray[np.intp]  # of each part
    upto: Array  # weights (parts, nodes) of integrals from the start of a part's panel to its own start
    weights: Array  # (panels, nodes): of integrals over u
    seconds: Array  # the same of 2 |u|

    @classmethod
    def of(cls, law: Recalibrated) -> SharedNodes | None:
        """What rows share, or None where there is nothing, or where maps of rows are not smooth."""
        maps: list[Map] = []
        base: Distribution = law
        while hasattr(base, "map") and not isinstance(base, LocationScale):
            maps.insert(0, base.map)
            base = base.base  # type: ignore[attr-defined]
        first = next((k for k, map in enumerate(maps) if map.rows is not None), len(maps))
        own = tuple(maps[first:])
        rough = any(map.has_steps or map.row_bends.shape[1] or len(map.bends) for map in own)
        if not own or rough or not isinstance(base, LocationScale) or any(map.has_steps for map in maps[:first]):
            return None
        standard = None if base.has_heavy_tails else base.shared_standard()
        return None if standard is None else cls._made(base, standard, maps[:first], own)

    @classmethod
    def _made(cls, base: LocationScale, standard: LocationScale, first: list[Map], own: tuple[Map, ...]) -> SharedNodes:
        shared: Map = AffineMap()
        for k, map in enumerate(first):
            shared = ComposedMap(shared, map) if k else map
        centre = float(shared(standard.to_normal(np.zeros((1, 1))))[0, 0])
        reach = _reach(own)
        steps = np.arange(np.floor((-reach - centre) / PANEL), np.ceil((reach - centre) / PANEL) + 1)
        edges = centre + PANEL * steps
        ends = standard.from_normal(shared.inverse(edges)[None, :])[0]
        bends, _ = panel_edges(standard, shared, edges)
        bends = bends[(bends >= ends[0]) & (bends <= ends[-1])]
        half = 0.5 * np.diff(bends)
        u = (bends[:-1] + half)[:, None] + half[:, None] * _FINE_X
        z = shared(standard.to_normal(u.reshape(1, -1))).reshape(u.shape)
        panel = np.clip(np.searchsorted(edges, z[:, 4]) - 1, 0, len(edges) - 2)
        basis = _basis(z, edges[panel])
        parts = half[:, None] * np.einsum("q,sqj->sj", _FINE_W, basis)
        seconds = half[:, None] * np.einsum("sq,sqj->sj", _FINE_W * 2 * np.abs(u), basis)
        starts = np.searchsorted(panel, np.arange(len(edges) - 1))
        before = np.cumsum(parts, axis=0) - parts
        whole = [np.add.reduceat(each, starts) for each in (parts, seconds)]
        upto = before - before[starts[panel]]
        return cls(base, standard, shared, own, edges, steps[:-1] >= 0, bends, panel, upto, *whole)

    def mean(self) -> tuple[Array, Doubt]:
        """Means, and which rows are not to be trusted."""
        mean, _, doubt = self._moments
        return self.base.unstandardised(mean), doubt

    def std(self) -> tuple[Array, Doubt]:
        """Standard deviations, and which rows are not to be trusted."""
        _, spread, doubt = self._moments
        return self.base.scale * spread, doubt

    @cached_property
    def _moments(self) -> tuple[Array, Array, Doubt]:
        """Means and standard deviations in units of the standard law."""
        n = len(self.base)
        first, second, doubt = np.empty(n), np.empty(n), np.empty(n, dtype=np.bool_)
        for rows in self._blocks():
            cdf, sf = self._tails(rows)
            tail = np.where(self.upper[:, None], sf, -cdf)
            first[rows] = np.einsum("npj,pj->n", tail, self.weights)
            second[rows] = np.einsum("npj,pj->n", np.abs(tail), self.seconds)
            spread = np.sqrt(np.maximum(second[rows] - np.square(first[rows]), 0.0))
            left_out = _left_out(tail)
            doubt[rows] = ~(left_out @ self.weights.sum(axis=1) <= WHOLE * spread)
            doubt[rows] |= ~(left_out @ self.seconds.sum(axis=1) <= WHOLE * np.square(spread))
            doubt[rows] |= _cut(cdf, sf)
        return first, np.sqrt(np.maximum(second - np.square(first), 0.0)), doubt

    def crps(self, y: Array) -> tuple[Array, Doubt]:
        """CRPS of one outcome per row, and which rows are not to be trusted."""
        u = self.base.standardised(y)
        out, doubt = np.empty(len(u)), np.empty(len(u), dtype=np.bool_)
        inside = np.clip(u, self.bends[0], self.bends[-1])
        part = np.clip(np.searchsorted(self.bends, inside, side="right") - 1, 0, len(self.panel) - 1)
        own, split = self.panel[part], self.upto[part] + self._rest(inside, part)
        columns = np.arange(len(self.edges) - 1)
        for rows in self._blocks():
            cdf, sf = self._tails(rows)
            cut = _cut(cdf, sf)
            cdf, sf = np.square(cdf, out=cdf), np.square(sf, out=sf)
            line, k = np.arange(len(cdf)), own[rows]
            below = np.einsum("npj,pj->np", cdf, self.weights)
            above = np.einsum("npj,pj->np", sf, self.weights)
            whole = np.where(columns < k[:, None], below, np.where(columns > k[:, None], above, 0.0)).sum(axis=1)
            rest = self.weights[k] - split[rows]
            out[rows] = whole + np.vecdot(cdf[line, k], split[rows]) + np.vecdot(sf[line, k], rest)
            left_out = np.maximum(_left_out(cdf), _left_out(sf)) * self.weights.sum(axis=1)
            doubt[rows] = ~(left_out[line, k] <= TOLERANCE * out[rows]) | cut
            doubt[rows] |= ~(left_out.sum(axis=1) <= WHOLE * out[rows])
        return self.base.scale * (out + np.abs(u - inside)), doubt

    def _blocks(self) -> list[slice]:
        return list(row_blocks(len(self.base), _X.size * (len(self.edges) - 1), 2 * BLOCK))

    def _tails(self, rows: slice) -> tuple[Array, Array]:
        """F and 1 - F at the nodes, (rows, panels, nodes)."""
        z = (0.5 * (self.edges[:-1] + self.edges[1:])[:, None] + 0.5 * PANEL * _X).reshape(1, -1)
        *inner, last = self.maps
        for map in inner:
            z = map[rows](z)
        shape = (-1, len(self.edges) - 1, _X.size)
        cdf, sf = last[rows].probabilities(z)
        return cdf.reshape(shape), sf.reshape(shape)

    def _rest(self, u: Array, part: NDArray[np.intp]) -> Array:
        """Weights (n, nodes) of integrals from the start of a part to u."""
        out = np.empty((len(u), _X.size))
        for rows in row_blocks(len(u), _FINE_X.size * _X.size):
            start, panel = self.bends[part[rows]], self.panel[part[rows]]
            half = 0.5 * (u[rows] - start)
            v = (start + half)[:, None] + half[:, None] * _FINE_X
            z = self.shared(self.standard.to_normal(v.reshape(1, -1))).reshape(v.shape)
            out[rows] = half[:, None] * np.einsum("q,nqj->nj", _FINE_W, _basis(z, self.edges[panel]))
        return out


def _reach(maps: tuple[Map, ...]) -> float:
    z = np.concatenate([-REACHES, REACHES])[None, :]
    for map in maps:
        z = map(z)
    ends = np.minimum(-z[:, : len(REACHES)], z[:, len(REACHES) :])
    enough = np.mean(ends > FAR, axis=0) >= MOST_ROWS
    return float(REACHES[np.argmax(enough)] if enough.any() else REACHES[-1])


def _cut(cdf: Array, sf: Array) -> Doubt:
    """Whether something is left beyond the panels."""
    return np.asarray((cdf[:, 0, 0] > LEAST) | (sf[:, -1, -1] > LEAST))


def _basis(z: Array, start: Array) -> Array:
    """Lagrange polynomials of the nodes at scores (n, q) in panels that begin there, (n, q, nodes)."""
    x = np.clip(2 * (z - start[:, None]) / PANEL - 1, -1.0, 1.0)
    return legendre.legvander(x, DEGREE) @ _INVERSE


def _left_out(values: Array) -> Array:
    """Sum of the last two coefficients' sizes, (n, panels)."""
    return np.asarray(np.abs(values @ _INVERSE[-2:].T).sum(axis=-1))
