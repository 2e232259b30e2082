"""Squared normal scores by predicted spread."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from .._checks import Array
from ..numerics.nested_grid import NestedGrid
from .base import Summary


@dataclass(frozen=True, eq=False, repr=False)
class SpreadSummary(Summary):
    """Weights of rows and sums of their squared scores, by cells of the logarithm of the predicted spread.

    Parameters
    ----------
    grid : NestedGrid
    n_rows : int
    span : tuple of float
        Smallest and largest normal score.

    Examples
    --------
    >>> few = SpreadSummary.of_rows(np.array([1.0, 2.0, 1.0]), np.array([0.5, 1.0, -2.0]))
    >>> [values.round(2).tolist() for values in (few + few).table()]
    [[1.0, 2.0], [4.0, 2.0], [8.5, 2.0]]
    """

    grid: NestedGrid
    n_rows: int
    span: tuple[float, float]

    @classmethod
    def of_rows(
        cls,
        spread: Array,
        scores: Array,
        weights: Array | None = None,
        *,
        finest: int | None = None,
        n_rows: int | None = None,
        span: tuple[float, float] | None = None,
    ) -> SpreadSummary:
        """From the predicted spread and the normal score of each row."""
        squares = np.square(scores) if weights is None else weights * np.square(scores)
        grid = NestedGrid.of(np.log(spread), (weights, squares), finest=finest)
        reach = (float(scores.min()), float(scores.max())) if span is None else span
        return cls(grid, len(scores) if n_rows is None else n_rows, reach)

    @property
    def about(self) -> str:
        """What the numbers are of."""
        return "squared scores by predicted spread"

    @property
    def level(self) -> int | None:
        """Level of the grid."""
        return self.grid.level

    def table(self) -> tuple[Array, Array, Array]:
        """Spreads in increasing order, the weight of the rows that have them and the sum of their squared scores."""
        spread, mass = self.grid.column(0)
        return np.exp(spread), mass, self.grid.mass[1, self.grid.mass[0] > 0]

    def _merged(self, other: SpreadSummary) -> Self:
        span = min(self.span[0], other.span[0]), max(self.span[1], other.span[1])
        return replace(self, grid=self.grid.merge(other.grid), n_rows=self.n_rows + other.n_rows, span=span)

    def _decayed(self, factor: float) -> Self:
        return replace(self, grid=self.grid.scaled(factor))
