r"""Moments and CRPS of laws whose score is piecewise linear in y, seen through a shared map T.

On a segment y is linear in the score z, :math:`y = x_j + \Delta x_j\,\lambda`, :math:`z = t_j + \Delta t_j\,\lambda`,
so that integrals over y of :math:`F = \Phi(T(z))` are those of the standard normal law seen through the same map:

.. math:: \int_{x_j}^{x_{j+1}} F^2\,dy = \Delta x_j \cdot \frac1{\Delta t_j}\int_{t_j}^{t_{j+1}} \Phi(T(z))^2\,dz

Prefix integrals over z serve every segment of every row, however many knots the map has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from ..._checks import Array
from ...maps.base import Map
from ...numerics.blocks import BLOCK, joined, row_blocks
from ...numerics.lines import Positions, count_below, pick
from ..families.normal import Normal
from ..tables.transport import Transport
from .segment_moments import Points, PrefixIntegrals

SHORT = 1e-3  # segments of z shorter than this are taken for straight
_MADE: WeakKeyDictionary[Map, PrefixIntegrals] = WeakKeyDictionary()


def mapped_normal(map: Map) -> PrefixIntegrals:
    """Prefix integrals of the standard normal law seen through a map; made once."""
    if map not in _MADE:
        _MADE[map] = PrefixIntegrals.of(Normal([0.0], 1.0), map)
    return _MADE[map]


@dataclass(frozen=True, eq=False)
class MappedPolyline:
    """Polylines (n, m) and the integrals of the normal law seen through the map."""

    line: Transport
    table: PrefixIntegrals

    def mean(self) -> Array:
        """Expectations."""
        return self._in_blocks(lambda part: part._centre() + part._moments()[0])

    def var(self) -> Array:
        """Variances."""
        return self._in_blocks(lambda part: part._var())

    def _var(self) -> Array:
        first, second = self._moments()
        return second - np.square(first)

    def crps(self, y: Array) -> Array:
        """CRPS of one outcome per row."""
        rows = row_blocks(len(y), self.line.knots.shape[1] + 64, 4 * BLOCK)
        return joined(MappedPolyline(self.line[part], self.table)._crps(y[part]) for part in rows)

    def _in_blocks(self, compute: Callable[[MappedPolyline], Array]) -> Array:
        rows = row_blocks(len(self.line.knots), self.line.knots.shape[1], 4 * BLOCK)
        return joined(compute(MappedPolyline(self.line[part], self.table)) for part in rows)

    # ---- segments ----
    def _knots(self) -> Points:
        """The integrals at the scores of the knots, (m,) or (n, m)."""
        return self.table.at(self.line.scores)

    def _centre(self) -> Array:
        """The middle knot of each row, about which moments are taken."""
        return self.line.knots[:, self.line.knots.shape[1] // 2]

    def _moments(self) -> tuple[Array, Array]:
        r"""First and second moment about the middle knot c, :math:`\int_c^\infty S - \int_{-\infty}^c F` and so on."""
        x, at, middle = self.line.knots, self._knots(), self.line.knots.shape[1] // 2
        spread, start = self.line.spread, x[:, :-1] - self._centre()[:, None]
        width = np.diff(x)
        sides = np.arange(width.shape[1]) >= middle
        above, below = (_averages(at, self.line.scores, upper) for upper in (True, False))
        mean = np.where(sides, above[0], -below[0])
        tilt = np.where(sides, above[1], -below[1])
        first, second = width * mean, width * (start * mean + width * tilt)
        last, lowest = x[:, -1] - self._centre(), x[:, 0] - self._centre()
        (high, high_tilt), (low, low_tilt) = _tail(at, self.line.scores, True), _tail(at, self.line.scores, False)
        first_tails = spread * (high - low)
        second_tails = spread * (last * high + spread * high_tilt - lowest * low + spread * low_tilt)
        return first.sum(axis=1) + first_tails, 2 * (second.sum(axis=1) + second_tails)

    def _crps(self, y: Array) -> Array:
        at, x = self._knots(), self.line.knots
        below, above = _mean_squares(at, self.line.scores)
        width, own = np.diff(x), count_below(x, y) - 1  # the segment of each outcome; -1 and m - 1 are the tails
        segment = np.arange(width.shape[1])
        left, right = segment < own[:, None], segment > own[:, None]
        whole = (width * (np.where(left, below, 0.0) + np.where(right, above, 0.0))).sum(axis=1)
        return np.asarray(whole + self._at_outcomes(y, own, at))

    def _at_outcomes(self, y: Array, own: Positions, at: Points) -> Array:
        """What the segment or tail of the outcome adds, and the tails beyond it."""
        t, x = self.line.scores, self.line.knots
        here = self.table.at(self.line.to_normal(y))
        last = x.shape[1] - 1
        start, end = np.clip(own, 0, last), np.clip(own + 1, 0, last)
        spread = self.line.spread
        scale = np.where((own >= 0) & (own < last), self._slopes(start, end), spread)
        low = np.where(own >= 0, pick(at.below[1], start), 0.0)
        high = np.where(own < last, pick(at.above[1], end), 0.0)
        cut = scale * (here.below[1] - low + here.above[1] - high)
        tails = spread * (
            np.where(own >= 0, at.below[1][..., 0], 0.0) + np.where(own < last, at.above[1][..., -1], 0.0)
        )
        flat = (own >= 0) & (own < last) & (pick(t, end) - pick(t, start) < SHORT)
        straight = (y - pick(x, start)) * _mean_square(pick(at.g, start), here.g)
        straight += (pick(x, end) - y) * _mean_square(here.h, pick(at.h, end))
        return np.asarray(np.where(flat, straight, cut) + tails)

    def _slopes(self, start: Positions, end: Positions) -> Array:
        """dy/dz on the segments of the outcomes."""
        rise = pick(self.line.scores, end) - pick(self.line.scores, start)
        return np.asarray((pick(self.line.knots, end) - pick(self.line.knots, start)) / np.where(rise > 0, rise, 1.0))


def _averages(at: Points, t: Array, upper: bool) -> tuple[Array, Array]:
    """Averages of F (or of S) and of λF (λS) over each segment, λ from 0 to 1."""
    rise = np.diff(t)
    short = rise < SHORT
    safe = np.where(short, 1.0, rise)
    total, moment = (-np.diff(at.above[k]) if upper else np.diff(at.below[k]) for k in (0, 2))
    ends = at.h if upper else at.g
    mean = np.where(short, 0.5 * (ends[..., :-1] + ends[..., 1:]), total / safe)
    tilt = (moment - t[..., :-1] * total) / np.square(safe)
    return mean, np.where(short, (ends[..., :-1] + 2 * ends[..., 1:]) / 6, tilt)


def _mean_squares(at: Points, t: Array) -> tuple[Array, Array]:
    """Averages of F² and of S² over each segment."""
    rise = np.diff(t)
    safe = np.where(rise < SHORT, 1.0, rise)
    out = []
    for integral, ends in ((np.diff(at.below[1]), at.g), (-np.diff(at.above[1]), at.h)):
        out.append(np.where(rise < SHORT, _mean_square(ends[..., :-1], ends[..., 1:]), integral / safe))
    return out[0], out[1]


def _mean_square(a: Array, b: Array) -> Array:
    """Average of the square of what goes from a to b in a straight line."""
    return (a * a + a * b + b * b) / 3


def _tail(at: Points, t: Array, upper: bool) -> tuple[Array, Array]:
    """Integrals over z of S beyond the last knot and of S times the distance from it; of F below the first."""
    if upper:
        total, moment, edge = at.above[0][..., -1], at.above[2][..., -1], t[..., -1]
        return total, moment - edge * total
    total, moment, edge = at.below[0][..., 0], at.below[2][..., 0], t[..., 0]
    return total, edge * total - moment
