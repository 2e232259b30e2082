"""Where the ends of the narrowest intervals lie: as dense as the outcomes of rows kept aside were."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._checks import Array
from ...distributions import Distribution
from ...distributions.envelope import PLACES, Envelope, middle_scores
from ...numerics.blocks import row_blocks
from ...numerics.ranked_scores import RankedScores
from .ends import Places

_ROUNDING = 1e-9  # by how much a level is lowered, relative, so that the whole number that has it lies within


@dataclass(frozen=True, eq=False)
class LevelEnds:
    r"""One level of density for all rows: :math:`s = -\log f(y)`, and the values at which :math:`\log f \ge -q`.

    Of all intervals that hold a share c of the outcomes these are the narrowest on average, if the forecasts are right
    (Lei, Robins & Wasserman 2013); for classes that is the score "lac" (Sadinle, Lei & Wasserman 2019). Densities are
    made unimodal first (`Envelope`), so that what is as dense is an interval.
    """

    scores: RankedScores

    @staticmethod
    def scored(law: Distribution, y: Array) -> tuple[Array, ...]:
        """Scores of outcomes, (n,)."""
        scores = np.empty(len(y))
        for rows in row_blocks(len(y), PLACES):
            part = law[rows]
            scores[rows] = -Envelope.of(part).at(middle_scores(part, y[rows]))
        return (scores,)

    @classmethod
    def of(cls, scored: tuple[Array, ...], weights: Array | None) -> LevelEnds:
        """From scores of outcomes."""
        return cls(RankedScores.of(scored[0], weights))

    @property
    def size(self) -> int:
        """Number of rows kept aside."""
        return len(self.scores.scores)

    def interval(self, base: Distribution, coverage: float, own: Array, draw: Array) -> Array:
        """The values that are at least as dense as the score of the rank says."""
        q = self.scores.reaching(coverage, own, draw)
        low, high = _ends(base, q[:, None])
        return np.hstack([low, high])

    def places(self, base: Distribution, coverage: float) -> Places:
        """Ends at all scores."""
        low, high = _ends(base, np.broadcast_to(self.scores.scores, (len(base), self.size)))
        return (low, self.scores.weights), (high, self.scores.weights), coverage


def _ends(base: Distribution, q: Array) -> tuple[Array, Array]:
    """Values between which laws are as dense as minus a score, (n, m) each; the whole line where it is infinite."""
    level = np.where(q < np.inf, -q, 0.0)
    if base.has_atoms:
        level -= _ROUNDING * (1 + np.abs(level))
    first, last = Envelope.of(base).scores_above(level)
    low, high = base.from_normal(first), base.from_normal(last)
    if base.has_atoms:
        low, high = _whole(base, (first, last), (low, high))
    return np.where(q < np.inf, low, -np.inf), np.where(q < np.inf, high, np.inf)


def _whole(base: Distribution, scores: tuple[Array, Array], ends: tuple[Array, Array]) -> tuple[Array, Array]:
    """Whole numbers whose middle lies between two scores; where there is none, the one that holds the first."""
    low, high = ends
    inner = low + (middle_scores(base, low) < scores[0]), high - (middle_scores(base, high) > scores[1])
    none = inner[0] > inner[1]
    return np.where(none, low, inner[0]), np.where(none, low, inner[1])
