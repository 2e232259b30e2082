"""Maps through the ranks of the calibration scores: bent lines and steps at full resolution."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtri, ndtri_exp

from .._checks import Array
from ..numerics.lookup import FEW, KnotIndex
from .base import Map, Side


@dataclass(frozen=True, eq=False, repr=False)
class PiecewiseLinearMap(Map):
    """A bent line through (knots, levels), both strictly increasing, with straight tails of given slopes.

    Examples
    --------
    >>> bent = PiecewiseLinearMap(np.array([0.0, 1.0]), np.array([0.0, 2.0]))
    >>> bent(np.array([-1.0, 0.5, 3.0]))
    array([-1.,  1.,  4.])
    """

    _ascending: ClassVar[tuple[str, ...]] = ("knots", "levels")

    knots: Array
    levels: Array
    tails: tuple[float, float] = (1.0, 1.0)

    @property
    def bends(self) -> Array:
        """The knots."""
        return self.knots

    @cached_property
    def _slopes(self) -> Array:
        """Slope left of each knot, and of the right tail: K + 1 numbers."""
        return np.concatenate([[self.tails[0]], np.diff(self.levels) / np.diff(self.knots), [self.tails[1]]])

    @cached_property
    def _log_slopes(self) -> Array:
        return np.log(self._slopes)

    @cached_property
    def _by_knot(self) -> KnotIndex:
        return KnotIndex(self.knots)

    @cached_property
    def _by_level(self) -> KnotIndex:
        return KnotIndex(self.levels)

    def __call__(self, z: Array, side: Side = "right") -> Array:
        """Height of the bent line."""
        return self._height(z, self._by_knot.segment(z))

    def inverse(self, t: Array) -> Array:
        """Where the bent line reaches t."""
        piece = self._by_level.segment(t)
        start = np.maximum(piece - 1, 0)
        return self.knots[start] + (t - self.levels[start]) / self._slopes[piece]

    def log_slope(self, z: Array) -> Array:
        """Log slope of the piece to the right of a knot."""
        return self._log_slopes[self._by_knot.segment(z)]

    def value_and_log_slope(self, z: Array) -> tuple[Array, Array]:
        """Both from one look-up."""
        piece = self._by_knot.segment(z)
        return self._height(z, piece), self._log_slopes[piece]

    def _height(self, z: Array, piece: NDArray[np.intp]) -> Array:
        start = np.maximum(piece - 1, 0)
        return self.levels[start] + self._slopes[piece] * (z - self.knots[start])

    def bent_line(self, reach: float = 38.0) -> tuple[Array, Array]:
        """Knots and levels with the tails drawn out to levels of at least ±reach."""
        low, high = min(-reach, self.levels[0] - 1), max(reach, self.levels[-1] + 1)
        left = self.knots[0] + (low - self.levels[0]) / self.tails[0]
        right = self.knots[-1] + (high - self.levels[-1]) / self.tails[1]
        return np.concatenate([[left], self.knots, [right]]), np.concatenate([[low], self.levels, [high]])


@dataclass(frozen=True, eq=False, repr=False)
class StepMap(Map):
    r"""The empirical distribution function itself: laws mapped by it are atoms at the base's quantiles of the knots.

    ``cumulative[i]`` is the probability up to and including ``knots[i]``. If the last one is below 1 (T+1 ranks), the
    rest lies at :math:`+\infty`: the honest answer of T observations to a question beyond the largest, and what carries
    the finite-sample guarantee.
    """

    _ascending: ClassVar[tuple[str, ...]] = ("knots", "cumulative")

    knots: Array
    cumulative: Array

    @property
    def bends(self) -> Array:
        """The knots."""
        return self.knots

    @cached_property
    def _scores(self) -> Array:
        with np.errstate(divide="ignore"):
            return np.concatenate([[-np.inf], ndtri(self.cumulative)])

    @property
    def has_steps(self) -> bool:
        """Always."""
        return True

    def __call__(self, z: Array, side: Side = "right") -> Array:
        """Normal score of the share of knots <= z (right) or < z (left)."""
        slack = 1e-9 * (1 + np.abs(np.clip(z, -1e9, 1e9)))  # a base's round trip y -> z may miss a knot by rounding
        return self._scores[np.searchsorted(self.knots, z + slack if side == "right" else z - slack, side=side)]

    def inverse(self, t: Array) -> Array:
        """The first knot whose cumulative score reaches t."""
        near = np.clip(t, -40, 40)
        near = np.where(t == near, near - 1e-12 * (1 + np.abs(near)), t)  # so that rounding of t never skips a knot
        first = np.searchsorted(self._scores[1:], near, side="left")
        out = np.append(self.knots, np.inf)[first]
        return np.where(np.isneginf(t), -np.inf, out)

    def log_slope(self, z: Array) -> Array:
        """Raise: steps have no slope."""
        raise TypeError("a step map gives atoms, not a density; use crps or coverage, or map='ecdf' or 'spline'.")


@dataclass(frozen=True, eq=False, repr=False)
class ProbabilityMap(Map):
    r"""Isotonic regression's map on [0, 1]: R through (p_i, r_i), linear in p, with R(0) = 0 and R(1) = 1.

    Held by the normal scores of p_i and worked in the smaller tail, so that it does not saturate at p = 1. Its
    derivative is as noisy as the ranks: good calibration, poor densities (Song et al. 2019, table 1). The papers name
    isotonic regression and leave open what it is between the points and at the ends; lines are scikit-learn's.

    Examples
    --------
    >>> from scipy.special import ndtr
    >>> half = ProbabilityMap(ndtri(np.array([0.8])), np.array([0.5]))
    >>> ndtr(half(ndtri(np.array([0.4, 0.9]))))
    array([0.25, 0.75])
    """

    _ascending: ClassVar[tuple[str, ...]] = ("knots", "cumulative")

    knots: Array
    cumulative: Array

    @property
    def bends(self) -> Array:
        """The knots."""
        return self.knots

    @cached_property
    def _table(self) -> tuple[Array, Array, Array, Array, Array]:
        """Lower and upper probabilities of the knots, lower and upper images, slopes dR/dp, with both ends."""
        z = np.concatenate([[-np.inf], self.knots, [np.inf]])
        r = np.concatenate([[0.0], self.cumulative, [1.0]])
        p, q = np.exp(log_ndtr(z)), np.exp(log_ndtr(-z))
        gap = np.where(z[:-1] > 0, q[:-1] - q[1:], p[1:] - p[:-1])
        return p, q, r, 1 - r, np.diff(r) / gap

    def _only(self, pieces: NDArray[np.intp]) -> tuple[ProbabilityMap, NDArray[np.intp]]:
        """The map of the knots around a few pieces, and where these are in it; itself, where they are many."""
        if pieces.size * FEW >= len(self.knots) or "_table" in vars(self):
            return self, pieces
        kept = np.unique([pieces - 1, pieces])
        kept = kept[(kept >= 0) & (kept < len(self.knots))]
        return ProbabilityMap(self.knots[kept], self.cumulative[kept]), np.searchsorted(kept, pieces)

    @cached_property
    def _levels(self) -> Array:
        return ndtri(self.cumulative)

    @cached_property
    def _by_knot(self) -> KnotIndex:
        return KnotIndex(self.knots)

    @cached_property
    def _by_level(self) -> KnotIndex:
        return KnotIndex(self._levels)

    def _level_piece(self, t: Array) -> NDArray[np.intp]:
        """How many levels are at most t; of few t by halving, for which few levels need be known."""
        if t.size * FEW >= len(self.knots) or "_by_level" in vars(self):
            return self._by_level.segment(t)
        low, high = np.zeros(t.shape, dtype=np.intp), np.full(t.shape, len(self.knots))
        while (open_ := low < high).any():
            middle = (low + high) // 2
            below = open_ & (ndtri(self.cumulative[np.minimum(middle, len(self.knots) - 1)]) <= t)
            low, high = np.where(below, middle + 1, low), np.where(open_ & ~below, middle, high)
        return low

    def __call__(self, z: Array, side: Side = "right") -> Array:
        """Score of R(Φ(z)); the end pieces in logs."""
        p, q, r, s, rho = self._table
        piece = self._by_knot.segment(z)
        log_low, log_high = log_ndtr(z), log_ndtr(-z)
        upper = z > 0
        from_left = np.where(upper, q[piece] - np.exp(log_high), np.exp(log_low) - p[piece])
        from_right = np.where(upper, np.exp(log_high) - q[piece + 1], p[piece + 1] - np.exp(log_low))
        below = r[piece] + rho[piece] * np.maximum(from_left, 0)
        above = s[piece + 1] + rho[piece] * np.maximum(from_right, 0)
        inner = np.where(below < above, ndtri(np.clip(below, 0, 1)), -ndtri(np.clip(above, 0, 1)))
        first, last = (piece == 0) & (inner < 0), (piece == len(self.knots)) & (inner > 0)
        log_rho = np.log(rho[piece])
        inner = np.where(first, ndtri_exp(np.minimum(log_rho + log_low, -1e-300)), inner)
        return np.where(last, -ndtri_exp(np.minimum(log_rho + log_high, -1e-300)), inner)

    def inverse(self, t: Array) -> Array:
        """Score of the p with R(p) = Φ(t)."""
        few, piece = self._only(self._level_piece(t))
        p, q, r, s, rho = few._table
        log_low, log_high = log_ndtr(t), log_ndtr(-t)
        below, above = np.exp(log_low), np.exp(log_high)
        rise, fall = np.maximum(below - r[piece], 0), np.maximum(above - s[piece + 1], 0)
        slope = rho[piece]
        low = np.where(p[piece + 1] <= 0.5, p[piece] + rise / slope, np.maximum(p[piece + 1] - fall / slope, p[piece]))
        high = np.where(q[piece] <= 0.5, q[piece + 1] + fall / slope, np.maximum(q[piece] - rise / slope, q[piece + 1]))
        inner = np.where(low < high, ndtri(np.clip(low, 0, 1)), -ndtri(np.clip(high, 0, 1)))
        log_rho = np.log(slope)
        first, last = (piece == 0) & (inner < 0), (piece == len(few.knots)) & (inner > 0)
        inner = np.where(first, ndtri_exp(np.minimum(log_low - log_rho, -1e-300)), inner)
        return np.where(last, -ndtri_exp(np.minimum(log_high - log_rho, -1e-300)), inner)

    def log_slope(self, z: Array) -> Array:
        """Log dR/dp seen in normal scores."""
        return self.value_and_log_slope(z)[1]

    def value_and_log_slope(self, z: Array) -> tuple[Array, Array]:
        """Both from one score."""
        t = self(z)
        with np.errstate(over="ignore", invalid="ignore"):
            return t, np.log(self._table[-1][self._by_knot.segment(z)]) + 0.5 * (t - z) * (t + z)
