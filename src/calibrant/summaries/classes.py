"""Scores of classes, of rows with and without each of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._checks import Array
from ..numerics.nested_grid import NestedGrid
from .base import Summary


@dataclass(frozen=True, eq=False, repr=False)
class ClassSummary(Summary):
    """Weights and means of scores by cells, apart for rows of a class and for the rest.

    Parameters
    ----------
    grids : tuple of NestedGrid
        One for two classes, else one a class; the first column is of the rest, the second of the class.
    n_rows : int
    classes : ndarray (K,)
        Labels.
    kind : {"probabilities", "logits", "margins"}
        Of the scores; the numbers are margins as they are, and the log odds of the others.
    least : float
        The least probability above 0 of any class, 0.5 at most.
    certain : bool
        Whether some probabilities were exactly 0.

    Examples
    --------
    >>> x, events = np.array([0.5, -1.0, 0.5]), np.array([True, False, False])
    >>> few = ClassSummary.of_scores([(x, events)], classes=["a", "b"])
    >>> x, events, weights = (few + few).problem(0)
    >>> x.tolist(), events.tolist(), weights.tolist()
    ([-1.0, 0.5, 0.5], [False, False, True], [2.0, 2.0, 2.0])
    """

    grids: tuple[NestedGrid, ...]
    n_rows: int
    classes: NDArray[Any]
    kind: str = "probabilities"
    least: float = 0.5
    certain: bool = False

    @classmethod
    def of_scores(
        cls,
        problems: list[tuple[Array, NDArray[np.bool_]]],
        weights: Array | None = None,
        *,
        classes: Any,
        finest: int | None = None,
        **facts: Any,
    ) -> ClassSummary:
        """From pairs of scores (n,) and whether the class is the row's (n,), one pair for each class looked at."""
        grids = []
        for x, events in problems:
            hits = events.astype(np.float64) if weights is None else events * weights
            rest = 1.0 - hits if weights is None else weights - hits
            grids.append(NestedGrid.of(x, (rest, hits), finest=finest))
        return cls(tuple(grids), len(problems[0][0]), np.asarray(classes), **facts)

    @property
    def about(self) -> str:
        """What the scores are, and of which classes."""
        return f"{self.kind} of the classes {', '.join(map(repr, self.classes.tolist()))}"

    @property
    def level(self) -> int | None:
        """The finest of the grids' levels."""
        levels = [grid.level for grid in self.grids if grid.level is not None]
        return max(levels) if len(levels) == len(self.grids) else None

    def problem(self, number: int, *, apart: bool = True) -> tuple[Array, NDArray[np.bool_], Array | None]:
        """Scores, whether they are of the class, and weights; None if these are all 1.

        Means of cells are those of the class and of the rest ``apart``, or those of all rows.
        """
        grid = self.grids[number]
        sides = [grid.column(side) for side in (0, 1)]
        if not apart:
            sides = [(grid.points[grid.mass[side] > 0], mass) for side, (_, mass) in enumerate(sides)]
        x, mass = (np.concatenate(parts) for parts in zip(*sides, strict=True))
        events = np.repeat([False, True], [len(points) for points, _ in sides])
        return x, events, None if np.all(mass == 1) else mass

    def totals(self) -> Array:
        """Weight of the rows of each class, (K,)."""
        hits = [float(grid.mass[1].sum()) for grid in self.grids]
        return np.array([float(self.grids[0].mass[0].sum()), *hits] if len(hits) == 1 else hits)

    def _merged(self, other: ClassSummary) -> Self:
        return replace(
            self,
            grids=tuple(one.merge(two) for one, two in zip(self.grids, other.grids, strict=True)),
            n_rows=self.n_rows + other.n_rows,
            least=min(self.least, other.least),
            certain=self.certain or other.certain,
        )

    def _decayed(self, factor: float) -> Self:
        return replace(self, grids=tuple(grid.scaled(factor) for grid in self.grids))
