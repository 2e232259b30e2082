"""A law whose segments have been given new masses, without jumps of the density."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from .._checks import Array
from ..maps.smooth_rows import SmoothRows
from ..numerics.blocks import row_blocks
from .base import Distribution
from .integrals.quadrature import EDGE_SCORES
from .recalibrated import Recalibrated

_ROWS = 64  # worked on at a time
_WIDEST = 0.75  # in the base's scores: wider segments that matter are left to quadrature that adapts
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(6)
_OUTWARDS = EDGE_SCORES[EDGE_SCORES > 0]
_FAR = 9.0  # scores beyond which nothing is left to add

Compute = Callable[[Any, Array], Array]


@dataclass(frozen=True, eq=False, repr=False)
class Smoothed(Recalibrated):
    """A recalibrated law whose map has its knots at the same outcomes in every row: integrals are sums over segments.

    Parameters
    ----------
    base : Distribution
    map : SmoothRows
        With knots at the base's scores of the edges.
    edges : array (K,)

    Examples
    --------
    >>> from calibrant import Normal
    >>> from calibrant.maps.smooth_rows import SmoothRows
    >>> base, edges = Normal([0.0], 1.0), np.linspace(-2, 2, 9)
    >>> rows = SmoothRows.from_log_masses(base.to_normal(edges[None, :]), np.log([[1, 2, 3, 4, 5, 5, 4, 3, 2, 1]]))
    >>> Smoothed(base, rows, edges).mean().round(9) + 0.0
    array([0.])
    """

    edges: Array

    def _kinks(self) -> Array:
        return np.hstack([self.base._kinks(), np.broadcast_to(self.edges, (len(self), len(self.edges)))])

    def mean(self) -> Array:
        """Expectations."""
        return self._summed(lambda law, _: law._moments()[0], lambda law, _: Distribution.mean(law))

    def var(self) -> Array:
        """Variances."""
        return self._summed(lambda law, _: law._moments()[1], lambda law, _: Distribution.var(law))

    def std(self) -> Array:
        """Standard deviations."""
        return np.sqrt(self.var())

    def crps(self, y: Any) -> Array:
        """CRPS of one outcome per row."""
        return self._summed(lambda law, v: law._crps(v), Distribution.crps, self._outcomes(y))

    def _summed(self, sums: Compute, adaptive: Compute, y: Array | None = None) -> Array:
        """Sums over segments for rows whose segments are narrow, adaptive quadrature for the others."""
        v = np.zeros(len(self)) if y is None else y
        narrow, out = self._narrow(), np.empty(len(self))
        rest = np.flatnonzero(~narrow)
        if len(rest):
            out[rest] = adaptive(self[rest], v[rest])
        places = np.flatnonzero(narrow)
        for part in row_blocks(len(places), block=_ROWS):
            out[places[part]] = sums(self[places[part]], v[places[part]])
        return out

    def _narrow(self) -> NDArray[np.bool_]:
        if self.has_heavy_tails or self.has_atoms:
            return np.zeros(len(self), dtype=bool)
        knots, levels = self._rows.knots, self._rows.levels
        near = (levels[:, 1:] > -_FAR) & (levels[:, :-1] < _FAR)
        return np.asarray(~((np.diff(knots) > _WIDEST) & near).any(axis=1))

    @property
    def _rows(self) -> SmoothRows:
        rows: SmoothRows = self.map  # type: ignore[assignment]
        return rows

    def _panels(self) -> tuple[Array, Array, Array, Array]:
        """Ends (n, P + 1) of segments and of tails in pieces; half widths (n, P); F and 1 - F at nodes (n, P, q)."""
        knots, n, inner = self._rows.knots, len(self), len(self.edges) - 1
        low = self.base.from_normal(knots[:, :1] - _OUTWARDS[::-1])
        high = self.base.from_normal(knots[:, -1:] + _OUTWARDS)
        ends = np.hstack([low, np.broadcast_to(self.edges, (n, inner + 1)), high])
        steps = len(_OUTWARDS)
        segment = np.concatenate([np.zeros(steps), np.arange(1, inner + 1), np.full(steps, inner + 1)]).astype(np.intp)
        half = 0.5 * np.diff(ends)
        places = (ends[:, :-1] + half)[:, :, None] + half[:, :, None] * _NODES
        z = self.base.to_normal(places.reshape(n, -1)).reshape(places.shape)
        return ends, half, *self._rows.tails_in(z, segment)

    def _moments(self) -> tuple[Array, Array]:
        """Means and variances, about the end of a panel nearest to the median."""
        ends, half, cdf, sf = self._panels()
        middle = np.argmin(np.abs(ends - self.median()[:, None]), axis=1)
        c = np.take_along_axis(ends, middle[:, None], axis=1)
        side = np.where((np.arange(half.shape[1]) < middle[:, None])[:, :, None], -cdf, sf)
        u = (ends[:, :-1] + half - c)[:, :, None] + half[:, :, None] * _NODES
        first, second = ((half * (part @ _WEIGHTS)).sum(axis=1) for part in (side, 2 * u * side))
        return c[:, 0] + first, second - np.square(first)

    def _crps(self, y: Array) -> Array:
        """Integrals of F² over the panels below y and of (1 - F)² over those above; the one of y is cut in two."""
        ends, half, cdf, sf = self._panels()
        last = half.shape[1] - 1
        own = np.clip((ends <= y[:, None]).sum(axis=1) - 1, 0, last)
        panel, line = np.arange(last + 1), np.arange(len(y))
        squares = np.where((panel < own[:, None])[:, :, None], cdf, sf)
        each = half * (np.square(squares) @ _WEIGHTS)
        each[line, own] = 0.0
        left = self._piece(ends[line, own], y, below=True)
        return np.asarray(each.sum(axis=1) + left + self._piece(y, ends[line, own + 1], below=False))

    def _piece(self, start: Array, end: Array, *, below: bool) -> Array:
        half = 0.5 * (end - start)
        z = self.to_normal((start + half)[:, None] + half[:, None] * _NODES)
        return np.asarray(half * (np.square(ndtr(z if below else -z)) @ _WEIGHTS))
