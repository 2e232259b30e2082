"""Scores of outcomes: normal scores, residuals, standardised outcomes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from .._checks import Array
from ..numerics.nested_grid import NestedGrid
from .base import Summary

NORMAL = "normal scores"


@dataclass(frozen=True, eq=False, repr=False)
class ScoreSummary(Summary):
    """Weights and means of scores by cells of a grid that does not depend on them, or all scores while they are few.

    Parameters
    ----------
    grid : NestedGrid
    n_rows : int
    span : tuple of float
        Smallest and largest normal score.
    heavy_tails : bool
        Whether some of the forecasts have a finite tail index.
    of : str
        What the scores are.
    shape : LocationScale, optional
        The standard law whose outcomes the scores are, where it is not the normal one.

    Examples
    --------
    >>> first, second = ScoreSummary.of_scores(np.array([0.5, -1.0])), ScoreSummary.of_scores(np.array([0.5]))
    >>> both = first + second.decay(0.5)
    >>> both.n_rows, both.span, [values.tolist() for values in both.points()]
    (3, (-1.0, 0.5), [[-1.0, 0.5], [1.0, 1.5]])
    """

    grid: NestedGrid
    n_rows: int
    span: tuple[float, float]
    heavy_tails: bool = False
    of: str = NORMAL
    shape: Any = None

    @classmethod
    def of_scores(
        cls, scores: Array, weights: Array | None = None, *, finest: int | None = None, **facts: Any
    ) -> ScoreSummary:
        """From scores and their weights; the span is theirs and they are a row each unless ``facts`` say otherwise."""
        grid = NestedGrid.of(scores, (weights,), finest=finest)
        facts.setdefault("n_rows", len(scores))
        facts.setdefault("span", (float(scores.min()), float(scores.max())))
        return cls(grid, **facts)

    @property
    def about(self) -> str:
        """What the scores are."""
        return self.of

    @property
    def level(self) -> int | None:
        """Level of the grid."""
        return self.grid.level

    def require(self, *kinds: str) -> None:
        """These scores must be of one of these kinds."""
        if self.of not in kinds:
            raise ValueError(f"`summary` must be of {' or '.join(kinds)}; it is of {self.of}.")

    def points(self, *kinds: str) -> tuple[Array, Array | None]:
        """Scores and weights; None if these are all 1. They must be of one of the kinds, where some are named."""
        if kinds:
            self.require(*kinds)
        points, mass = self.grid.column(0)
        return points, None if np.all(mass == 1) else mass

    def mapped(self, function: Callable[[Array], Array]) -> ScoreSummary:
        """Summary of an increasing function of the scores."""
        points, mass = self.grid.column(0)
        low, high = function(np.array(self.span)).tolist()
        return replace(self, grid=NestedGrid.of(function(points), (mass,)), span=(low, high))

    def evenly(self, rows: int, weight: float) -> ScoreSummary | None:
        """A few of the scores, at even steps of rank, with this total weight; None if that is 0."""
        if weight == 0:
            return None
        points, mass = self.grid.column(0)
        places = (np.arange(rows) + 0.5) / rows * mass.sum()
        some = points[np.minimum(np.searchsorted(np.cumsum(mass), places), len(points) - 1)]
        grid = NestedGrid.of(some, (np.full(rows, weight / rows),))
        return replace(self, grid=grid, n_rows=rows, span=(float(some[0]), float(some[-1])))

    def _merged(self, other: ScoreSummary) -> Self:
        span = min(self.span[0], other.span[0]), max(self.span[1], other.span[1])
        return replace(
            self,
            grid=self.grid.merge(other.grid),
            n_rows=self.n_rows + other.n_rows,
            span=span,
            heavy_tails=self.heavy_tails or other.heavy_tails,
        )

    def _decayed(self, factor: float) -> Self:
        return replace(self, grid=self.grid.scaled(factor))
