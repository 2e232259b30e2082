"""One bent line on [0, 1] per row: each segment of a law keeps its shape and gets a new mass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr, ndtri, ndtri_exp

from .._checks import Array
from ..numerics.blocks import row_blocks
from ..numerics.lines import count_below, pick
from ..numerics.tails import log_between
from .base import Map, Side

_TINY = 1e-280  # smaller probabilities are worked out in logs
_UPPER = 0.9  # a score above this level is better taken from the other tail
_ROW_BLOCK = 384


@dataclass(frozen=True, eq=False, repr=False)
class ProbabilityRows(Map):
    r"""R linear in p between knots, one R per row; R(0) = 0 and R(1) = 1.

    .. math:: R(p) = r_i + e^{\rho_i} (p - p_i), \qquad p_i \le p \le p_{i+1}

    Within a segment the base is rescaled, in the two end segments its tail is, so that a tail index is kept. Knots and
    images are held as normal scores, slopes as logs: nothing saturates in either tail.

    Parameters
    ----------
    knots : array (n, K)
        Normal scores of :math:`p_i`, non-decreasing in each row.
    levels : array (n, K)
        Normal scores of :math:`r_i = R(p_i)`, non-decreasing in each row.
    log_rise : array (n, K + 1)
        Log slopes :math:`\rho_i` of the segments.

    Examples
    --------
    >>> rows = ProbabilityRows.from_log_masses(ndtri(np.array([[0.8], [0.5]])), np.log([[0.5, 0.5], [0.9, 0.1]]))
    >>> ndtr(rows(ndtri(np.array([0.4, 0.75]))))
    array([0.25, 0.95])
    """

    _by_row: ClassVar[tuple[str, ...]] = ("knots", "levels", "log_rise")

    _ascending: ClassVar[tuple[str, ...]] = ("knots", "levels")

    knots: Array
    levels: Array
    log_rise: Array

    @classmethod
    def from_log_masses(cls, knots: Array, log_masses: Array, log_base: Array | None = None) -> Self:
        """Give each segment between knots (n, K) its mass, (n, K + 1) in logs; rows need not sum to 1.

        ``log_base`` are the logs of the base's own masses, where they are known already. Segments on which the base
        has no mass stay without.
        """
        n, count = knots.shape
        levels, rise = np.empty((n, count)), np.empty((n, count + 1))
        for rows in row_blocks(n, block=_ROW_BLOCK):
            base = log_segment_masses(knots[rows]) if log_base is None else log_base[rows]
            levels[rows], rise[rows] = _levels_and_rise(base, log_masses[rows])
        return cls(knots, levels, rise)

    @property
    def row_bends(self) -> Array:
        """The knots."""
        return self.knots

    def __call__(self, z: Array, side: Side = "right") -> Array:
        """Score of R(Φ(z))."""
        z = self._spread(z)
        return _follow(z, count_below(self.knots, z), (self.knots, self.levels, self.log_rise), 1.0)

    def inverse(self, t: Array) -> Array:
        """Score of the p with R(p) = Φ(t)."""
        t = self._spread(t)
        return _follow(t, count_below(self.levels, t, strict=True), (self.levels, self.knots, self.log_rise), -1.0)

    def log_slope(self, z: Array) -> Array:
        """Log dR/dp seen in normal scores."""
        return self.value_and_log_slope(z)[1]

    def value_and_log_slope(self, z: Array) -> tuple[Array, Array]:
        """Both from one look-up."""
        z = self._spread(z)
        segment = count_below(self.knots, z)
        t = _follow(z, segment, (self.knots, self.levels, self.log_rise), 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            return t, pick(self.log_rise, segment) + 0.5 * (t - z) * (t + z)

    def _spread(self, z: Array) -> Array:
        z = np.asarray(z, dtype=np.float64)
        return np.broadcast_to(z, (len(self.knots), z.shape[1]) if z.ndim == 2 else (len(self.knots),))


def log_segment_masses(knots: Array) -> Array:
    """Log probabilities of the K + 1 segments between normal scores (n, K), from the smaller tail."""
    return log_between(*_segment_ends(knots))


def _segment_ends(knots: Array) -> tuple[Array, Array]:
    edge = np.full((len(knots), 1), np.inf)
    return np.hstack([-edge, knots]), np.hstack([knots, edge])


def _levels_and_rise(base: Array, log_masses: Array) -> tuple[Array, Array]:
    """Scores of the cumulative masses, and logs of new over old masses."""
    none = np.isneginf(base)
    masses = np.where(none, -np.inf, log_masses)
    masses -= masses.max(axis=1, keepdims=True)
    plain = np.exp(masses)
    total = plain.sum(axis=1, keepdims=True)
    low = np.cumsum(plain, axis=1)[:, :-1] / total
    high = np.cumsum(plain[:, ::-1], axis=1)[:, ::-1][:, 1:] / total
    levels = ndtri(np.minimum(low, high))
    masses -= np.log(total)
    tiny = (np.minimum(low, high) < _TINY).any(axis=1)
    if tiny.any():
        levels[tiny] = _far_levels(masses[tiny])
    levels = np.where(low < high, levels, -levels)
    with np.errstate(invalid="ignore"):
        rise = np.where(none, 0.0, masses - base)
    return np.maximum.accumulate(levels, axis=1), rise


def _far_levels(masses: Array) -> Array:
    """Scores of the smaller tail, in logs."""
    low = np.logaddexp.accumulate(masses, axis=1)[:, :-1]
    high = np.logaddexp.accumulate(masses[:, ::-1], axis=1)[:, ::-1][:, 1:]
    return np.asarray(ndtri_exp(np.minimum(np.minimum(low, high), -1e-300)))


def _follow(x: Array, segment: NDArray[np.intp], table: tuple[Array, Array, Array], sign: float) -> Array:
    """Image of the scores x in their segments, linear in probability, from the smaller tail of the image."""
    here, there, log_rise = table
    bottom, top = _edge(there, segment - 1), _edge(there, segment)
    with np.errstate(invalid="ignore"):
        flip = bottom + top > 0
    rise = sign * pick(log_rise, segment)
    image = _from_one_end(x, segment, (here, there), rise, flip)
    far = image > ndtri(_UPPER)
    image = np.where(flip, -image, image)
    if far.any():
        other = _from_one_end(x, segment, (here, there), rise, ~flip)
        other = np.where(flip, other, -other)
        image = np.where(far, other, image)
    return np.clip(image, bottom, top)


def _from_one_end(
    x: Array, segment: NDArray[np.intp], table: tuple[Array, Array], rise: Array, flip: NDArray[np.bool_]
) -> Array:
    """Scores measured from the lower end of the segment, or from its upper end, mirrored."""
    end = segment - 1 + flip
    sign = np.where(flip, -1.0, 1.0)
    start, level, x = sign * _edge(table[0], end), sign * _edge(table[1], end), sign * x
    with np.errstate(invalid="ignore", over="ignore"):
        upper = start + x > 0
        step = np.abs(ndtr(np.where(upper, -x, x)) - ndtr(np.where(upper, -start, start)))
        total = ndtr(level) + np.exp(rise) * step
    image = ndtri(np.clip(total, 0.0, 1.0))
    hard = ~((step > _TINY) & (total > _TINY) & np.isfinite(total)) & (x > start)
    if hard.any():
        with np.errstate(invalid="ignore"):
            log_total = np.logaddexp(log_ndtr(level[hard]), rise[hard] + log_between(start[hard], x[hard]))
        image[hard] = ndtri_exp(np.minimum(log_total, -1e-300))
    return np.where(x > start, image, level)


def _edge(table: Array, where: NDArray[np.intp]) -> Array:
    """Entries of each line; -inf before the first, +inf after the last."""
    last = table.shape[1] - 1
    inside = pick(table, np.clip(where, 0, last)) if last >= 0 else np.zeros(where.shape)
    return np.where(where < 0, -np.inf, np.where(where > last, np.inf, inside))
