"""Where the ends of intervals lie: scores of rows kept aside, and the forecasts' values at a score."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..._checks import Array
from ...distributions import Distribution
from ...distributions.scores import score_intervals
from ...numerics.ranked_scores import RankedScores

Places = tuple[tuple[Array, Array], tuple[Array, Array], float]

_BEYOND_ATOMS = 1e-9  # by how much a score is raised, relative, so that the atom that has it lies within


@dataclass(frozen=True, eq=False)
class AbsoluteEnds:
    r"""One score a row, the same for both ends: :math:`s = |z|`, ends :math:`F^{-1}(\Phi(\mp q))`.

    Of an outcome on an atom it is the least score whose interval holds it.
    """

    scores: RankedScores

    @staticmethod
    def scored(law: Distribution, y: Array) -> tuple[Array, ...]:
        """Scores of outcomes, (n,)."""
        left, right = score_intervals(law, y)
        return (np.abs(right) if left is right else np.maximum(np.maximum(-right, left), 0.0),)

    @classmethod
    def of(cls, scored: tuple[Array, ...], weights: Array | None) -> AbsoluteEnds:
        """From scores of outcomes."""
        return cls(RankedScores.of(scored[0], weights))

    @property
    def size(self) -> int:
        """Number of rows kept aside."""
        return len(self.scores)

    def interval(self, base: Distribution, coverage: float, own: Array, draw: Array) -> Array:
        """The base's values at minus and plus the score of the rank."""
        q = self.scores.reaching(coverage, own, draw)
        return _column_ends(base, q, q)

    def places(self, base: Distribution, coverage: float) -> Places:
        """Ends at all scores."""
        q, w = self.scores.scores, self.scores.weights
        low, high = _line_ends(base, -q, q)
        return (low, w), (high, w), coverage


@dataclass(frozen=True, eq=False)
class SignedEnds:
    r"""Ranks of :math:`z` itself: each end is missed with a probability of at most :math:`(1-c)/2`.

    The lower end has rank :math:`\lfloor (n+1)(1-c)/2 \rfloor`, the upper :math:`\lceil (n+1)(1+c)/2 \rceil`: the
    intervals of a split conformal predictive system (Vovk et al. 2018).
    """

    low: RankedScores
    high: RankedScores

    @staticmethod
    def scored(law: Distribution, y: Array) -> tuple[Array, ...]:
        """Scores of outcomes, of the lower and of the upper end, (n,) each."""
        left, right = score_intervals(law, y)
        return -right, left

    @classmethod
    def of(cls, scored: tuple[Array, ...], weights: Array | None) -> SignedEnds:
        """From scores of outcomes."""
        low, high = scored
        return cls(RankedScores.of(low, weights), RankedScores.of(high, weights))

    @property
    def size(self) -> int:
        """Number of rows kept aside."""
        return len(self.high)

    def interval(self, base: Distribution, coverage: float, own: Array, draw: Array) -> Array:
        """The base's values at the scores of the two ranks."""
        level = 0.5 + coverage / 2
        low, high = (side.reaching(level, own, draw) for side in (self.low, self.high))
        return _column_ends(base, low, high)

    def places(self, base: Distribution, coverage: float) -> Places:
        """Ends at all scores."""
        low, high = _line_ends(base, -self.low.scores, self.high.scores)
        return (low, self.low.weights), (high, self.high.weights), 0.5 + coverage / 2

    def _check_sound(self) -> None:
        """Raise ValueError if the sides differ in their number of rows."""
        if len(self.low) != len(self.high):
            raise ValueError("SignedEnds must have as many scores on one side as on the other.")


@dataclass(frozen=True, eq=False)
class BandEnds:
    r"""Conformalised quantiles: the interval of the forecast with both ends moved by one number.

    .. math:: s = \max(F^{-1}(\tfrac{1-c}2) - y,\; y - F^{-1}(\tfrac{1+c}2)), \quad
        [F^{-1}(\tfrac{1-c}2) - q,\; F^{-1}(\tfrac{1+c}2) + q]

    Romano, Patterson & Candès (2019), algorithm 1. Scores belong to one coverage c, so there are some for each.
    """

    coverages: tuple[float, ...]
    scores: tuple[RankedScores, ...]

    @staticmethod
    def scored(law: Distribution, y: Array, coverages: tuple[float, ...]) -> tuple[Array, ...]:
        """Scores of outcomes for each coverage, (n,) each."""
        return tuple(law._by_blocks(partial(_beyond, coverage=c), y) for c in coverages)

    @classmethod
    def of(cls, scored: tuple[Array, ...], weights: Array | None, coverages: tuple[float, ...]) -> BandEnds:
        """From scores of outcomes."""
        return cls(coverages, tuple(RankedScores.of(each, weights) for each in scored))

    @property
    def size(self) -> int:
        """Number of rows kept aside."""
        return len(self.scores[0])

    def _of(self, coverage: float) -> RankedScores:
        for known, scores in zip(self.coverages, self.scores, strict=True):
            if abs(known - coverage) < 1e-12:
                return scores
        told = ", ".join(f"{c:g}" for c in self.coverages)
        raise ValueError(
            f'`coverage` must be one that score="cqr" was fitted for: {told}; got {coverage:g}. '
            "Name it in ConformalCalibrator(coverage=[...]), or use another score."
        )

    def interval(self, base: Distribution, coverage: float, own: Array, draw: Array) -> Array:
        """The base's interval, wider by the score of the rank; ends that would cross meet in the middle."""
        q = self._of(coverage).reaching(coverage, own, draw)
        low, high = base.interval(coverage).T
        q = np.maximum(q, 0.5 * (low - high))
        out = np.empty((len(q), 2))
        np.subtract(low, q, out=out[:, 0])
        np.add(high, q, out=out[:, 1])
        return out

    def places(self, base: Distribution, coverage: float) -> Places:
        """Ends at all scores."""
        scores = self._of(coverage)
        low, high = base.interval(coverage).T[:, :, None]
        return (low - scores.scores, scores.weights), (high + scores.scores, scores.weights), coverage

    def _check_sound(self) -> None:
        """Raise ValueError if there are not scores for each coverage."""
        sound = len(self.coverages) == len(self.scores) > 0 and all(type(c) is float for c in self.coverages)
        if not sound or not all(0 < c < 1 for c in self.coverages):
            raise ValueError("BandEnds must have scores for each coverage between 0 and 1.")


def _beyond(law: Distribution, y: Array, *, coverage: float) -> Array:
    """How far outcomes lie beyond the nearer end of an interval; below 0 within."""
    low, high = law.interval(coverage).T
    return np.asarray(np.maximum(low - y, y - high))


def _column_ends(base: Distribution, low: Array, high: Array) -> Array:
    """Values of each row at its own two scores, of which the lower is minus what is given."""
    if low.strides == high.strides == (0,) and len(low) and max(low[0], high[0]) < np.inf:  # of all rows the same
        return base.from_normal(np.array([[-low[0], _raised(base, high[0])]]))
    return np.column_stack([_values(base, -low, -np.inf), _values(base, _raised(base, high), np.inf)])


def _line_ends(base: Distribution, low: Array, high: Array) -> tuple[Array, Array]:
    """Values of every row at the same lower and upper scores, (n, m) each."""
    return _values(base, low[None, :], -np.inf), _values(base, _raised(base, high)[None, :], np.inf)


def _raised(base: Distribution, high: Any) -> Any:
    return high + _BEYOND_ATOMS * (1 + np.abs(high)) if base.has_atoms else high


def _values(base: Distribution, z: Array, beyond: Any) -> Array:
    """Values at scores; at the infinite one that there are not rows enough for, the whole line."""
    sign = 1.0 if beyond > 0 else -1.0
    out = base.from_normal(np.where(sign * z < np.inf, z, 0.0))
    return np.asarray(np.where(sign * z < np.inf, out, beyond))
