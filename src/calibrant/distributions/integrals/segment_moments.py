r"""Integrals over segments of location-scale laws whose segments got new masses.

On a segment from a to b, :math:`F = F_a + \rho (G - G_a)` and :math:`S = 1 - F = S_b + \rho (G_b - G)`: integrals of F
and S, their squares and moments follow from prefix integrals of the one standard law behind all G, taken from the tail
in which it is small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from ..._checks import Array
from ...maps.base import Map
from ...numerics.lookup import KnotIndex
from ..location_scale import LocationScale
from .standard import panel_edges

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_FAR = 8.5 * 1.08 ** np.arange(1, 20)
_SCORES = np.concatenate([-_FAR[::-1], np.linspace(-8.5, 8.5, 69), _FAR])  # panels end here and at the map's bends


@dataclass(frozen=True, eq=False)
class Points:
    """Points u with G(u), H(u) = 1 - G(u), the integrals of (G, G², vG) up to u and of (H, H², vH) from u on."""

    u: Array
    g: Array
    h: Array
    below: Array
    above: Array

    def __getitem__(self, where: tuple[Any, ...]) -> Points:
        """Some of the points."""
        return Points(*(part[(..., *where)] for part in (self.u, self.g, self.h, self.below, self.above)))


@dataclass(frozen=True, eq=False)
class PrefixIntegrals:
    """A standard law seen through a shared map, and its integrals up to every edge and from every edge on."""

    standard: LocationScale
    map: Map
    edges: Array
    below: Array
    above: Array
    index: KnotIndex

    @classmethod
    def of(cls, standard: LocationScale, map: Map) -> PrefixIntegrals:
        """Gauss-Legendre sums on panels."""
        edges, _ = panel_edges(standard, map, _SCORES)
        bare = cls(standard, map, edges, np.empty(0), np.empty(0), KnotIndex(edges))
        low, high = (bare._panels(edges[:-1], edges[1:], sign) for sign in (1.0, -1.0))
        none = np.zeros((3, 1))
        below = np.hstack([none, np.cumsum(low, axis=1)])
        above = np.hstack([np.cumsum(high[:, ::-1], axis=1)[:, ::-1], none])
        return cls(standard, map, edges, below, above, bare.index)

    def at(self, u: Array) -> Points:
        """Points of any shape; -inf and inf are the ends, with nothing below or above."""
        first, last = self.edges[[0, -1]]
        flat = u.ravel()
        v = np.clip(flat, first, last)
        panel = np.clip(self.index.segment(v) - 1, 0, len(self.edges) - 2)
        below = self.below[:, panel] + self._panels(self.edges[panel], v, 1.0)
        above = self.above[:, panel + 1] + self._panels(v, self.edges[panel + 1], -1.0)
        beyond = np.where(np.isinf(flat), 0.0, flat - v)  # G is 0 or 1 there
        steps = np.stack([beyond, beyond, beyond * (v + 0.5 * beyond)])
        below, above = below + np.where(beyond > 0, steps, 0.0), above - np.where(beyond < 0, steps, 0.0)
        z = self._scores(flat)
        return Points(u, *(part.reshape(*part.shape[:-1], *u.shape) for part in (ndtr(z), ndtr(-z), below, above)))

    def _scores(self, u: Array) -> Array:
        return self.map(self.standard.to_normal(u.reshape(1, -1))).reshape(u.shape)

    def _panels(self, left: Array, right: Array, sign: float) -> Array:
        half = 0.5 * (right - left)
        v = (left + half)[:, None] + half[:, None] * _NODES
        tail = ndtr(sign * self._scores(v))
        return np.stack([tail @ _WEIGHTS, np.square(tail) @ _WEIGHTS, (v * tail) @ _WEIGHTS]) * half


def lower_integrals(a: Points, b: Points, start: Array, rise: Array) -> Array:
    """Integrals of F, F² and vF from a to b, (3, ...), where F is ``start`` at a."""
    steps, upper = _steps(a, b)
    low, high = _excess(b.below - a.below, a.g, steps, 1.0), _excess(a.above - b.above, a.h, steps, -1.0)
    return _total(start, np.where(upper, high, low), rise, steps)


def upper_integrals(a: Points, b: Points, end: Array, rise: Array) -> Array:
    """Integrals of S, S² and vS from a to b, (3, ...), where S is ``end`` at b."""
    steps, upper = _steps(a, b)
    low, high = _excess(b.below - a.below, b.g, steps, -1.0), _excess(a.above - b.above, b.h, steps, 1.0)
    return _total(end, np.where(upper, high, low), rise, steps)


def _steps(a: Points, b: Points) -> tuple[Array, Array]:
    """Integrals of 1, 1 and v (0 where an end is infinite: there F or S starts from 0), and which tail is small."""
    with np.errstate(invalid="ignore"):
        width = np.where(np.isinf(a.u) | np.isinf(b.u), 0.0, b.u - a.u)
        square = np.where(width == 0.0, 0.0, 0.5 * width * (a.u + b.u))
    upper = np.where(np.isinf(a.u), False, np.isinf(b.u) | (a.g + b.g > 1))
    return np.stack([width, width, square]), upper


def _excess(integral: Array, level: Array, steps: Array, sign: float) -> Array:
    """Integrals of X = ±(T - t), X² and vX from those of T, T² and vT."""
    first = sign * (integral[0] - level * steps[0])
    second = integral[1] - 2 * level * integral[0] + np.square(level) * steps[1]
    return np.stack([np.maximum(first, 0.0), np.maximum(second, 0.0), sign * (integral[2] - level * steps[2])])


def _total(start: Array, excess: Array, rise: Array, steps: Array) -> Array:
    """Integrals of t + ρX, its square, and v times it."""
    first = start * steps[0] + rise * excess[0]
    second = np.square(start) * steps[1] + rise * (2 * start * excess[0] + rise * excess[1])
    return np.stack([first, second, start * steps[2] + rise * excess[2]])
