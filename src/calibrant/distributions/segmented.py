"""A law whose segments have been given new masses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from .._checks import Array
from ..numerics.blocks import joined, row_blocks
from .base import Distribution
from .integrals.segment_moments import Points, PrefixIntegrals, lower_integrals, upper_integrals
from .location_scale import LocationScale
from .recalibrated import Recalibrated

_ROWS = 256  # worked on at a time
_STEEPEST = 600.0  # log slopes beyond belong to segments on which the base has no mass to speak of


@dataclass(frozen=True, eq=False, repr=False)
class Segmented(Recalibrated):
    """A recalibrated law whose map bends at the same outcomes in every row: integrals are split there.

    Where all rows are moved and stretched copies of one law before the segments got their masses, moments and CRPS are
    sums over segments of that law's integrals.

    Parameters
    ----------
    base : Distribution
    map : ProbabilityRows
        With knots at the base's scores of the edges.
    edges : array (K,)

    Examples
    --------
    >>> from calibrant import Normal
    >>> from calibrant.maps.probability_rows import ProbabilityRows
    >>> base, edges = Normal([0.0, 1.0], 1.0), np.array([0.0])
    >>> rows = ProbabilityRows.from_log_masses(base.to_normal(edges[None, :]), np.log([[0.9, 0.1], [0.1, 0.9]]))
    >>> Segmented(base, rows, edges).cdf([0.0, 0.0])
    array([0.9, 0.1])
    """

    edges: Array

    def _kinks(self) -> Array:
        return np.hstack([self.base._kinks(), np.broadcast_to(self.edges, (len(self), len(self.edges)))])

    def mean(self) -> Array:
        """Expectations."""
        if (table := self._table()) is None:
            return Distribution.mean(self)
        return self._in_blocks(lambda part, _: part._moments(table)[0], np.empty(len(self)))

    def var(self) -> Array:
        """Variances."""
        if (table := self._table()) is None:
            return Distribution.var(self)
        return self._in_blocks(lambda part, _: part._moments(table)[1], np.empty(len(self)))

    def std(self) -> Array:
        """Standard deviations."""
        return np.sqrt(self.var())

    def crps(self, y: Any) -> Array:
        """CRPS of one outcome per row."""
        if (table := self._table()) is None:
            return Distribution.crps(self, y)
        return self._in_blocks(lambda part, v: part._crps(table, v), self._outcomes(y))

    def _in_blocks(self, compute: Callable[[Segmented, Array], Array], y: Array) -> Array:
        return joined(compute(self[rows], y[rows]) for rows in row_blocks(len(self), block=_ROWS))

    def _table(self) -> PrefixIntegrals | None:
        """Integrals of the standard law that all rows share, where there is one and nothing is too steep for sums."""
        whole = self.base
        if not isinstance(whole, Recalibrated) or not isinstance(whole.base, LocationScale) or whole.has_heavy_tails:
            return None
        standard = whole.base.shared_standard()
        if standard is None or whole.map.rows is not None or whole.map.has_steps or self._log_rise.max() > _STEEPEST:
            return None
        return PrefixIntegrals.of(standard, whole.map)

    @property
    def _log_rise(self) -> Array:
        rise: Array = self.map.log_rise  # type: ignore[attr-defined]
        return rise

    @property
    def _location_scale(self) -> LocationScale:
        law: LocationScale = self.base.base  # type: ignore[attr-defined]
        return law

    def _segments(self, table: PrefixIntegrals) -> tuple[Points, Array]:
        """The edges in units of the standard law, with both infinite ends, and F's score there."""
        side = np.full((len(self), 1), np.inf)
        u = self._location_scale.standardised(self.edges[None, :])
        levels: Array = self.map.levels  # type: ignore[attr-defined]
        return table.at(np.hstack([-side, u, side])), np.hstack([-side, levels, side])

    def _moments(self, table: PrefixIntegrals) -> tuple[Array, Array]:
        """Means and variances, about the edge nearest to the median."""
        points, levels = self._segments(table)
        left, right, rise = points[:, :-1], points[:, 1:], np.exp(self._log_rise)
        lower = lower_integrals(left, right, ndtr(levels[:, :-1]), rise)
        upper = upper_integrals(left, right, ndtr(-levels[:, 1:]), rise)
        middle = np.argmin(np.abs(levels), axis=1)
        c = np.take_along_axis(points.u, middle[:, None], axis=1)
        below = np.arange(rise.shape[1]) < middle[:, None]
        first = np.where(below, -lower[0], upper[0]).sum(axis=1)
        second = 2 * np.where(below, c * lower[0] - lower[2], upper[2] - c * upper[0]).sum(axis=1)
        law = self._location_scale
        return law.unstandardised(c[:, 0] + first), np.square(law.scale) * (second - np.square(first))

    def _crps(self, table: PrefixIntegrals, y: Array) -> Array:
        """Integrals of F² over the segments below y and of S² over those above; the one of y is split."""
        points, levels = self._segments(table)
        left, right, rise = points[:, :-1], points[:, 1:], np.exp(self._log_rise)
        lower = lower_integrals(left, right, ndtr(levels[:, :-1]), rise)[1]
        upper = upper_integrals(left, right, ndtr(-levels[:, 1:]), rise)[1]
        own = np.searchsorted(self.edges, y, side="right")
        segment, line = np.arange(rise.shape[1]), np.arange(len(y))
        whole = np.where(segment < own[:, None], lower, np.where(segment > own[:, None], upper, 0.0)).sum(axis=1)
        at_y = table.at(self._location_scale.standardised(y))
        before = lower_integrals(left[line, own], at_y, ndtr(levels[line, own]), rise[line, own])[1]
        after = upper_integrals(at_y, right[line, own], ndtr(-levels[line, own + 1]), rise[line, own])[1]
        return np.asarray(self._location_scale.scale * (whole + before + after))
