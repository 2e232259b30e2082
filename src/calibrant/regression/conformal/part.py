"""What is learned from one group of rows kept aside: the ends of intervals, and the map of laws."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self, cast

import numpy as np

from ..._checks import Array
from ..._later import Pending, later
from ...calibration import normal_scores
from ...calibration.labels import Rows
from ...calibration.threads import one_thread
from ...distributions import Distribution
from ...distributions.guaranteed import Ends, Guaranteed
from ...maps import AffineMap, Map
from ...numerics.ranked_scores import RankedScores
from ..quantile import QuantileCalibrator
from .ends import AbsoluteEnds, BandEnds, SignedEnds
from .levels import LevelEnds

BY_SCORE: dict[str, Any] = {"absolute": AbsoluteEnds, "signed": SignedEnds, "density": LevelEnds, "cqr": BandEnds}
SCORES = tuple(BY_SCORE)
TWO_SIDED = ("absolute", "cqr")  # of which both ends lie equally far from the median
MAPS = ("spline", "ecdf", "step", "identity")


@later("shape")
@dataclass(frozen=True, eq=False)
class Part:
    """Ends of intervals, the map of laws (None: they stay as they are), and the mass of the rows behind both.

    The map is learned when something else than an interval is asked for, or when the part is copied or saved.
    """

    ends: Any
    shape: QuantileCalibrator | None
    rows: float

    def __getstate__(self) -> dict[str, Any]:
        """What is learned, without the rows."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def without_rows(self) -> Part:
        """The same map for a group that has no rows: its intervals are infinite."""
        none = RankedScores(np.empty(0), np.empty(0))
        return Part(AbsoluteEnds(none), self.shape, 0.0)

    def law(self, base: Distribution, own: Array, draw: Array, guarantee: str) -> Guaranteed:
        """Laws of new rows, by their mass and draws."""
        seen: Any = Pending(self._map, base)
        return Guaranteed(base, seen, self.ends, own, draw, guarantee)

    def _map(self, base: Distribution) -> Map:
        if self.shape is None:
            return AffineMap()
        seen: Any = self.shape.transform(base)
        return seen.map  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class Kept:
    """Rows kept aside, each scored once, whatever groups it belongs to."""

    law: Distribution
    y: Array
    weights: Array | None
    how: tuple[str, str, tuple[float, ...]]
    scored: tuple[Array, ...]

    @classmethod
    def of(
        cls, law: Distribution, y: Array, weights: Array | None, score: str, map: str, coverages: tuple[float, ...]
    ) -> Self:
        """Forecasts, outcomes and weights; the score, the kind of map and the coverages that are asked for."""
        scored = BY_SCORE[score].scored(law, y, *_more(score, coverages))
        return cls(law, y, weights, (score, map, coverages), scored)

    def part(self, rows: Rows | None = None) -> Part:
        """What some of the rows teach, or all."""
        score, map, coverages = self.how
        scored, weights = self.scored, self.weights
        if rows is not None:
            scored, weights = tuple(each[rows] for each in scored), None if weights is None else weights[rows]
        ends: Ends = BY_SCORE[score].of(scored, weights, *_more(score, coverages))
        mass = float(len(scored[0]) if weights is None else weights.sum())
        return Part(ends, None if map == "identity" else cast(Any, Pending(self._shape, rows)), mass)

    def _shape(self, rows: Rows | None) -> QuantileCalibrator:
        """The map of the scores; of those without a sign, of both signs, about the median."""
        score, map, _ = self.how
        law, y, weights = self.law, self.y, self.weights
        if rows is not None:
            law, y, weights = law[rows], y[rows], None if weights is None else weights[rows]
        return _shape(law, y, weights, map, two_sided=score in TWO_SIDED)


def _more(score: str, coverages: tuple[float, ...]) -> tuple[tuple[float, ...], ...]:
    """What conformalised quantiles ask for besides."""
    return (coverages,) if score == "cqr" else ()


def _shape(law: Distribution, y: Array, weights: Array | None, map: str, *, two_sided: bool) -> QuantileCalibrator:
    z, w = normal_scores(law, y, weights)
    if two_sided:
        z, w = _both_signs(np.abs(z), np.ones(len(z)) if w is None else w, by_ranks=map == "ecdf")
    span, heavy = (float(z.min()), float(z.max())), law.has_heavy_tails
    calibrator = QuantileCalibrator(map, ranks="T+1" if map == "step" else None)
    with one_thread():
        return calibrator.fit_scores(z, w, span, n_rows=len(y), heavy_tails=heavy)


def _both_signs(size: Array, w: Array, *, by_ranks: bool) -> tuple[Array, Array]:
    """Scores of either sign: half a row each, or, with a row in the middle, so that rank i of n + 1 is (1 + c)/2."""
    if by_ranks:
        return np.concatenate([-size, [0.0], size]), np.concatenate([w, [1.0], w])
    return np.concatenate([-size, size]), np.concatenate([w, w]) / 2
