"""Levels that are kept in the long run, whatever comes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression
from scipy.special import ndtri

from ..._checks import Array, complain, probabilities
from ...maps.base import Map, Side

RATE = 0.01  # of a step
_APART = 1e-9  # least distance of places


@dataclass(eq=False)
class Guarantee:
    r"""Where in a forecast each promised level is read, so that outcomes lie below it as often as promised.

    .. math:: u_p \leftarrow u_p + \gamma\,\big(p - 1\{y < F^{-1}(u_p)\}\big)

    The rule of Gibbs & Candès (2021), for each end of an interval: a place at 0 or below is :math:`-\infty`, one at 1
    or above :math:`+\infty`; an outcome on an upper end lies below it. Places are read in order: where they cross, at
    one between them (least squares), and it is what was read that counts. Places that cross are read together and come
    closer with every row, so that none is farther than :math:`\gamma` from where it is read; then :math:`-2\gamma \le
    u_p \le 1 + 2\gamma`, and the share of outcomes below differs from p by at most :math:`(1 + 2\gamma)/(\gamma T)`
    after T rows, for any sequence. An interval whose ends are read together holds nothing: else outcomes in its middle
    would lie inside for ever.

    Differs from the paper in: theirs is one rate of misses for an interval, here each end has its own.

    Parameters
    ----------
    levels, places : array (P,)
        p, in order, and u.
    """

    levels: Array
    places: Array

    @classmethod
    def of(cls, coverages: Any) -> Guarantee:
        """Of both ends of central intervals."""
        shares = np.unique(probabilities(coverages, "coverages"))
        complain("coverages", "above 1e-6 and below 1 - 1e-6", shares, (shares < 1e-6) | (shares > 1 - 1e-6))
        levels = np.concatenate([(0.5 - 0.5 * shares)[::-1], 0.5 + 0.5 * shares])
        return cls(levels, levels.copy())

    def _check_sound(self) -> None:
        """Raise ValueError if these are no levels and places."""
        if self.levels.shape != self.places.shape or not np.isfinite(self.places).all():
            raise ValueError("a level must have a place.")
        if not (np.all(np.diff(self.levels) > 0) and np.all((self.levels > 0) & (self.levels < 1))):
            raise ValueError("levels must be probabilities that rise.")

    def learn(self, score: float, read: Array, weight: float) -> None:
        """The outcome had this score where the levels were read at others, those that meet at one."""
        pools, is_upper = _pools(read[1:] > read[:-1]), np.arange(len(read)) >= len(read) // 2
        both = (np.bincount(pools, is_upper) > 0) & (np.bincount(pools, ~is_upper) > 0)
        below = (score < read) | (is_upper & ~both[pools] & (score == read))
        self.places = self.places + weight * RATE * (self.levels - below)

    def met(self, read: Array) -> Array:
        """Scores at which levels are read: one for those whose places meet, and for those that rounding has crossed."""
        pools = _pools(np.diff(self.read(self.places)) > 3 * _APART)
        read = (np.bincount(pools, read) / np.bincount(pools))[pools]
        known = np.isfinite(read)
        if known.any():
            read[known] = isotonic_regression(read[known]).x
        return np.asarray(read)

    @property
    def pairs(self) -> list[list[int]]:
        """Numbers of the levels at both ends of each interval, the widest first."""
        return [[low, len(self.levels) - 1 - low] for low in range(len(self.levels) // 2)]

    def read(self, places: Array) -> Array:
        """Places in order; -1 and 2 stand for minus and plus infinity."""
        if np.any(np.diff(places) < _APART):
            apart = 2 * _APART * np.arange(len(places))
            places = isotonic_regression(places - apart).x + apart
        return np.where(places <= 0, -1.0, np.where(places >= 1, 2.0, places))

    @property
    def map(self) -> Map:
        """The map of scores that puts the places where the levels are."""
        places = self.read(self.places)
        inside = (places > 0) & (places < 1)
        score = ndtri(self.levels)
        low, high = score[places <= 0], score[places >= 1]
        knots, values = ndtri(places[inside]), score[inside]
        ends = (float(low[-1]) if len(low) else -np.inf, float(high[0]) if len(high) else np.inf)
        if not inside.any():
            near = np.clip(ends, ends[1] - 2.0, ends[0] + 2.0)
            knots, values = np.zeros(1), np.array([0.5 * near.sum()])
        return PromisedMap(knots, values, ends)


def _pools(apart: Any) -> NDArray[np.intp]:
    """Numbers of pools, given which neighbours are apart."""
    return np.concatenate([[0], np.cumsum(apart)])


@dataclass(frozen=True, eq=False, repr=False)
class PromisedMap(Map):
    r"""Straight lines through (knots, values); beyond them slope 1, or a bend towards an end that is never reached.

    An end at score e leaves the probability :math:`\Phi(e)` at :math:`-\infty`, or :math:`\Phi(-e)` at
    :math:`+\infty`: quantiles there are infinite.

    Parameters
    ----------
    knots, values : array (K,), strictly increasing
    ends : pair of float
        Lower and upper end; infinite where there is none.
    """

    knots: Array
    values: Array
    ends: tuple[float, float] = (-np.inf, np.inf)

    @property
    def bends(self) -> Array:
        """The knots."""
        return self.knots

    def __call__(self, z: Array, side: Side = "right") -> Array:
        """T(z)."""
        return self.value_and_log_slope(z)[0]

    def log_slope(self, z: Array) -> Array:
        """log T'(z)."""
        return self.value_and_log_slope(z)[1]

    def value_and_log_slope(self, z: Array) -> tuple[Array, Array]:
        """Both from one look-up."""
        inner = np.interp(z, self.knots, self.values)
        left, right = np.minimum(z - self.knots[0], 0.0), np.maximum(z - self.knots[-1], 0.0)
        below, above = self.values[0] - self.ends[0], self.ends[1] - self.values[-1]
        out = inner + _bent(left, below) - _bent(-right, above)
        rise = left / below - right / above if np.isfinite(z).all() else np.zeros(np.shape(z))
        if len(self.knots) > 1:
            slopes = np.log(np.diff(self.values) / np.diff(self.knots))
            piece = np.clip(np.searchsorted(self.knots, z, side="right") - 1, 0, len(slopes) - 1)
            rise = np.where((left == 0) & (right == 0), slopes[piece], rise)
        return out, rise

    def inverse(self, t: Array) -> Array:
        """The z with T(z) = t; infinite beyond an end."""
        inner = np.interp(t, self.values, self.knots)
        left, right = np.minimum(t - self.values[0], 0.0), np.maximum(t - self.values[-1], 0.0)
        below, above = self.values[0] - self.ends[0], self.ends[1] - self.values[-1]
        return inner + _unbent(left, below) - _unbent(-right, above)


def _bent(d: Array, reach: float) -> Array:
    """From slope 1 at 0 down to -reach: reach (exp(d / reach) - 1)."""
    return np.asarray(d if np.isinf(reach) else reach * np.expm1(d / reach))


def _unbent(d: Array, reach: float) -> Array:
    if np.isinf(reach):
        return d
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(reach * np.log1p(np.maximum(d / reach, -1.0)))
