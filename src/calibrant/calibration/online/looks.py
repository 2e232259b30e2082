"""What several forecasters say of the same scores."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from ..._checks import Array
from ...distributions.scores import log_pits
from ...maps import Map
from ...maps.base import log_density_of
from ...numerics.tails import HALF_LOG_2PI, log_between, score_of, score_of_logs

HEAVY = ((0.8, 0.7), (0.2, 1.75))  # shares and widths of two normal laws that are one of variance 1 with heavy tails
_SMALL = 1e-3  # upper tails below are worked out by themselves
FARTHEST = 12.0  # score of a mixture beyond which it is just "very far"


class Scores(NamedTuple):
    """Scores of outcomes: of what lies below, and of what lies below or at them; one in between; and weights."""

    left: Array
    right: Array
    middle: Array
    weights: Array

    @classmethod
    def between(cls, left: Array, right: Array, weights: Array) -> Scores:
        """With the middle of each atom, by probability."""
        if left is right:
            return cls(right, right, right, weights)
        middle = np.where(left < right, score_of_logs(*log_pits(left, right, "mid")), right)
        return cls(left, right, middle, weights)

    def take(self, rows: Any) -> Scores:
        """Those of these rows."""
        if self.left is self.middle:
            middle = self.middle[rows]
            return Scores(middle, middle, middle, self.weights[rows])
        return Scores(*(column[rows] for column in self))

    @property
    def has_atoms(self) -> bool:
        """Whether some outcome is an interval of scores."""
        return self.left is not self.middle and bool((self.left < self.right).any())

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.middle)

    @property
    def sides(self) -> tuple[Array, ...]:
        """Left and right scores, or one of them where there are no atoms."""
        return (self.left, self.right) if self.has_atoms else (self.middle,)


class Look(NamedTuple):
    """Scores (n,) as each of several maps has them, and (n, S, M) as normal laws have them."""

    mapped: list[Array]
    normal: Array


class Laws(NamedTuple):
    """Forecasters of n scores: the base, maps, and normal laws with middles (n, M) and widths (n, S, M)."""

    maps: list[Map]
    middles: Array
    widths: Array

    def log_densities(self, scores: Scores) -> tuple[Array, list[Look]]:
        """Log densities (n, K), log probabilities of atoms, and how the scores look at each of their sides."""
        if not scores.has_atoms:
            dense, look = self._dense(scores)
            return dense, [look]
        looks = [self._look(side) for side in scores.sides]
        masses = _masses(*looks)
        jumps = scores.left < scores.right
        return (masses if jumps.all() else np.where(jumps[:, None], masses, self._dense(scores)[0])), looks

    def _look(self, z: Array) -> Look:
        return Look([z, *(part(z) for part in self.maps)], self._standardised(z))

    def _standardised(self, z: Array) -> Array:
        return np.asarray((z[:, None, None] - self.middles[:, None, :]) / self.widths)

    def _dense(self, scores: Scores) -> tuple[Array, Look]:
        n, z = scores.size, scores.middle
        valued = [part.value_and_log_slope(z) for part in self.maps]
        dense = [-0.5 * np.square(z), *(log_density_of(*pair) for pair in valued)]
        u = self._standardised(z)
        square = -0.5 * np.square(u)
        log_width = np.log(self.widths)
        heavy = _mixed([square / width**2 - math.log(width) for _, width in HEAVY])
        normal = [(part - log_width).reshape(n, -1) for part in (square, heavy)]
        found = np.concatenate([np.array(dense).T, *normal], axis=1) - HALF_LOG_2PI
        return found, Look([z, *(height for height, _ in valued)], u)


def _masses(left: Look, right: Look) -> Array:
    """Log probabilities (n, K) between two sides."""
    n = len(left.normal)
    mapped = [log_between(*pair) for pair in zip(left.mapped, right.mapped, strict=True)]
    heavy = _mixed([log_between(left.normal / width, right.normal / width) for _, width in HEAVY])
    normal = (log_between(left.normal, right.normal), heavy)
    return np.column_stack([*mapped, *(part.reshape(n, -1) for part in normal)])


def scores_of(look: Look, weights: Array, outer: tuple[Array, Array] | None = None) -> Array:
    """Scores (n,) under the mixture with these weights (n, K); ``outer`` are tails of one more, the second."""
    low = _below(look)
    high = 1.0 - low
    if (small := high < _SMALL).any():
        high[small] = _below(look, -1.0)[small]
    if outer is not None:
        low, high = (np.insert(tails, 1, more, axis=1) for tails, more in ((low, outer[0]), (high, outer[1])))
    with np.errstate(divide="ignore"):
        found = score_of((weights * low).sum(axis=1), (weights * high).sum(axis=1))
    return np.minimum(np.maximum(found, -FARTHEST), FARTHEST)


def _below(look: Look, side: float = 1.0) -> Array:
    """Probabilities (n, K) below scores, or above where ``side`` is -1."""
    n, u = len(look.normal), side * look.normal
    heavy = sum(share * ndtr(u / width) for share, width in HEAVY)
    normal = (np.reshape(part, (n, -1)) for part in (ndtr(u), heavy))
    return np.concatenate([ndtr(side * np.array(look.mapped)).T, *normal], axis=1)


def _mixed(logs: list[Array]) -> Array:
    """Log of the mixture of two laws that has heavy tails."""
    one, two = (math.log(share) + part for (share, _), part in zip(HEAVY, logs, strict=True))
    return np.asarray(np.logaddexp(one, two))
