"""Laws on the counts 0, 1, 2 and so on."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from ..._checks import Array, probabilities
from ...maps.base import Side
from ...numerics.tails import HALF_LOG_2PI, LARGEST_SCORE
from ..base import Parametric

SLACK = 4e-13  # scores closer than this (relative to 1 + |z|) are taken for equal, so that ppf(cdf(k)) is k

_FEW_STEPS = 4  # from the guess to the quantile, by masses
_NEAR_SCORE, _NEAR_COUNT, _LEAST_SHARE = 6.0, 1e6, 1e-3  # where sums of masses keep their digits
LARGEST_COUNT = 4e306  # sought; four times as many are still a number


class Counts(Parametric):
    """Laws on the non-negative integers, with atoms only; a subclass gives scores and probabilities at the integers."""

    @abstractmethod
    def _score(self, k: Array) -> Array:
        """Scores of P(Y <= k) for integers 0 <= k < inf."""

    @abstractmethod
    def _log_mass(self, k: Array) -> Array:
        """log P(Y = k) for integers 0 <= k < inf."""

    @abstractmethod
    def _mass_ratio(self, k: Array) -> Array:
        """P(Y = k + 1) / P(Y = k) for integers 0 <= k < inf."""

    @abstractmethod
    def _skewness(self) -> Array:
        """Skewness of each law."""

    @property
    def has_atoms(self) -> bool:
        """Always."""
        return True

    @property
    def is_discrete(self) -> bool:
        """Always."""
        return True

    @property
    def on_integers(self) -> bool:
        """Always."""
        return True

    @property
    def support(self) -> tuple[Array, Array]:
        """From 0 to infinity."""
        return np.zeros(len(self)), np.full(len(self), np.inf)

    def to_normal(self, y: Array, side: Side = "right") -> Array:
        """Scores of P(Y < y) (left) or P(Y <= y) (right) for any real y."""
        k = np.floor(y) if side == "right" else np.ceil(y) - 1
        z = self._score(np.where((k >= 0) & (k < np.inf), k, 0.0))
        return np.where((k >= 0) & (k < np.inf), z, np.where(k < 0, -np.inf, k))

    def from_normal(self, z: Array) -> Array:
        """The smallest count whose score reaches z."""
        numbers = np.arange(len(self))
        numbers, scores = np.broadcast_arrays(numbers[:, None] if z.ndim == 2 else numbers, z)
        rows, goal = numbers.ravel(), scores.ravel()
        out = np.where(goal > 0, np.inf, np.where(np.isnan(goal), np.nan, 0.0))
        regular = np.abs(goal) < LARGEST_SCORE
        if regular.any():
            out[regular] = _smallest_count(self[rows[regular]], goal[regular])
        return out.reshape(scores.shape)

    def log_slope(self, y: Array) -> NoReturn:
        """Raise: counts have no density."""
        raise TypeError(f"{type(self).__name__} has atoms, no density; use logpmf, or metrics.nll which does.")

    def logpdf(self, y: Any) -> NoReturn:
        """Raise: counts have no density."""
        self.log_slope(y)

    def logpmf(self, y: Any) -> Array:
        """log P(Y = y), closed form; -inf where y is not a count."""
        return self._by_blocks(_log_mass, self._points(y))

    def ppf(self, q: Any) -> Array:
        """Quantiles: the smallest count k with cdf(k) >= q."""
        levels = self._points(q, "q")
        probabilities(levels, "q", open_ends=False)
        return self._by_blocks(_quantile, levels)


def _log_mass(law: Counts, y: Array) -> Array:
    count = (y >= 0) & (y < np.inf) & (np.floor(y) == y)
    return np.where(count, law._log_mass(np.where(count, y, 0.0)), np.where(np.isnan(y), np.nan, -np.inf))


def _quantile(law: Counts, q: Array) -> Array:
    """Scores of probabilities near 1 are uncertain, so that neighbours are compared on the probabilities themselves."""
    k = law.from_normal(ndtri(q))
    k = np.where(ndtr(law.to_normal(k)) < q, k + 1, k)
    return np.where((k > 0) & (ndtr(law.to_normal(k - 1)) >= q), k - 1, k)


def _smallest_count(law: Counts, z: Array) -> Array:
    """Newton's method within a bracket, bisection where it is slow, and single steps near the goal.

    Unlike ``numerics.roots`` it moves by whole numbers and ends when two neighbours enclose the goal: exact.
    """
    goal = z - SLACK * (1 + np.abs(z))
    probe = _guess(law, z)
    low, high = np.full(z.shape, -1.0), np.full(z.shape, np.inf)
    active = np.arange(z.size)
    for turn in range(3000):  # far more than doubling and halving take
        if not active.size:
            break
        part, k, aim = law[active], probe[active], goal[active]
        s = part._score(k)
        high[active] = hi = np.where(s >= aim, k, high[active])
        low[active] = lo = np.where(s >= aim, low[active], k)
        with np.errstate(invalid="ignore"):
            ahead = np.where(np.isinf(hi), 2 * np.minimum(lo, LARGEST_COUNT) + 2, lo + np.floor((hi - lo) / 2))
        resolution = np.maximum(1.0, 4 * np.spacing(np.abs(lo)))
        going = (hi - lo > resolution) & (lo < LARGEST_COUNT)
        if turn < 6:
            log_mass = part._log_mass(k)
            near, found = _nearby(part, (k, s, log_mass), aim)
            found &= going
            high[active[found]] = near[found]
            going &= ~found
            ahead = _ahead((k, s, log_mass), aim)
        probe[active] = np.clip(ahead, lo + resolution, hi - resolution)
        active = active[going]
    return high


def _nearby(law: Counts, at: tuple[Array, Array, Array], goal: Array) -> tuple[Array, NDArray[np.bool_]]:
    r"""The smallest counts that reach a score, and where these are but a few steps away.

    From counts with their scores and log masses: :math:`F(k \pm 1)` follows from :math:`P(Y = k + 1)/P(Y = k)`.
    """
    k, score, log_mass = at
    sign = np.where(goal > 0, -1.0, 1.0)  # sums are taken in the smaller tail
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        tail, mass, target = sign * ndtr(sign * score), np.exp(log_mass), sign * ndtr(sign * goal)
        clear = (np.abs(goal) < _NEAR_SCORE) & (np.abs(score) < _NEAR_SCORE) & (k < _NEAR_COUNT) & (mass > 0)
        falls, found = tail >= target, np.zeros(k.shape, dtype=np.bool_)
        for _ in range(_FEW_STEPS):
            ratio = law._mass_ratio(k)
            up, below = mass * ratio, tail - mass
            back = falls & (below >= target) & (k > 0)
            found |= falls & ~back
            on = ~falls & ~found
            tail = np.where(back, below, np.where(on, tail + up, tail))
            mass = np.where(back, mass / law._mass_ratio(k - 1), np.where(on, up, mass))
            k = np.where(back, k - 1, np.where(on, k + 1, k))
            found |= on & (tail >= target)
    return k, found & clear & (np.abs(tail) > _LEAST_SHARE * np.abs(target))


def _ahead(at: tuple[Array, Array, Array], goal: Array) -> Array:
    """Where the score s at k would reach the goal if it went on rising as it does at k."""
    k, s, log_mass = at
    with np.errstate(over="ignore", invalid="ignore"):
        step = (goal - s) * np.exp(np.clip(-0.5 * s * s - HALF_LOG_2PI - log_mass, -700, 700))
    return np.minimum(k + np.where(np.isnan(step), 0.0, np.ceil(step)), 4 * k + 16)


def _guess(law: Counts, z: Array) -> Array:
    """Wilson & Hilferty's quantile of the gamma law with the same three moments, to the nearest count."""
    skewness = law._skewness()
    with np.errstate(over="ignore", invalid="ignore"):
        cube = np.maximum(1 + skewness * z / 6 - np.square(skewness) / 36, 0.0) ** 3
        x: Array = law.mean() + law.std() * 2 / skewness * (cube - 1)
    return np.nan_to_num(np.minimum(np.maximum(np.ceil(x - 0.5), 0.0), LARGEST_COUNT))
