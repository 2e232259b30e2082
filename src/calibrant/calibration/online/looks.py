"""What several forecasters say of the same scores."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from ..._checks import Array
from ...distributions.scores import log_pits
from ...maps import Map, identity
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


class Laws(NamedTuple):
    """Forecasters of n scores: the base, maps, and normal laws with middles (n, M) and widths (n, S, M)."""

    maps: list[Map]
    middles: Array
    widths: Array

    def log_densities(self, scores: Scores) -> Array:
        """Log densities (n, K), and log probabilities of atoms."""
        sides = scores.sides
        if len(sides) == 1:
            return self._dense(scores)
        jumps = scores.left < scores.right
        masses = self._masses(*sides)
        return masses if jumps.all() else np.where(jumps[:, None], masses, self._dense(scores))

    def scores_of(self, z: Array, weights: Array, outer: tuple[Array, Array] | None = None) -> Array:
        """Scores (n,) under the mixture with these weights (n, K); ``outer`` are tails of one more, the second."""
        low = self._below(z)
        high = 1.0 - low
        if (small := high < _SMALL).any():
            high[small] = self._below(z, -1.0)[small]
        if outer is not None:
            low, high = (np.insert(tails, 1, more, axis=1) for tails, more in ((low, outer[0]), (high, outer[1])))
        with np.errstate(divide="ignore"):
            found = score_of((weights * low).sum(axis=1), (weights * high).sum(axis=1))
        return np.minimum(np.maximum(found, -FARTHEST), FARTHEST)

    def _dense(self, scores: Scores) -> Array:
        n, z = scores.size, scores.middle
        dense = [-0.5 * np.square(z), *(part.log_density(z) for part in self.maps)]
        square = -0.5 * np.square((z[:, None, None] - self.middles[:, None, :]) / self.widths)
        log_width = np.log(self.widths)
        heavy = _mixed([square / width**2 - np.log(width) for _, width in HEAVY])
        normal = [(part - log_width).reshape(n, -1) for part in (square, heavy)]
        return np.concatenate([np.array(dense).T, *normal], axis=1) - HALF_LOG_2PI

    def _masses(self, left: Array, right: Array) -> Array:
        ends = np.concatenate([left, right])
        mapped = [log_between(*np.split(part(ends), 2)) for part in (identity(), *self.maps)]
        u = [(side[:, None, None] - self.middles[:, None, :]) / self.widths for side in (left, right)]
        heavy = _mixed([log_between(*(side / width for side in u)) for _, width in HEAVY])
        return np.column_stack([*mapped, *(part.reshape(len(left), -1) for part in (log_between(*u), heavy))])

    def _below(self, z: Array, side: float = 1.0) -> Array:
        """Probabilities (n, K) below scores, or above where ``side`` is -1."""
        u = side * (z[:, None, None] - self.middles[:, None, :]) / self.widths
        heavy = sum(share * ndtr(u / width) for share, width in HEAVY)
        mapped = [ndtr(side * score) for score in (z, *(part(z) for part in self.maps))]
        normal = (np.reshape(part, (len(z), -1)) for part in (ndtr(u), heavy))
        return np.concatenate([np.array(mapped).T, *normal], axis=1)


def _mixed(logs: list[Array]) -> Array:
    """Log of the mixture of two laws that has heavy tails."""
    one, two = (np.log(share) + part for (share, _), part in zip(HEAVY, logs, strict=True))
    return np.asarray(np.logaddexp(one, two))
