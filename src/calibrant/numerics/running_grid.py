"""A nested grid of points that come in pieces, most of which are counted in place, without a merge for each piece."""

from __future__ import annotations

import numpy as np

from .._checks import Array
from .asinh_cells import cells_like
from .grid_counts import CellCounts, Weightings
from .nested_grid import MOST, NestedGrid

_AT_ONCE = 1 << 19  # points from which the level is told, and that may lie far from them until it is told anew


class RunningGrid:
    """The grid of all points that were added.

    Parameters
    ----------
    most : int
        Occupied cells.

    Examples
    --------
    >>> running = RunningGrid()
    >>> running.add(np.array([0.5, -1.0]), [None])
    >>> running.add(np.array([0.5]), [None])
    >>> [values.tolist() for values in running.grid().column(0)]
    [[-1.0, 0.5], [1.0, 2.0]]
    """

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self._whole: NestedGrid | None = None
        self._held: list[tuple[Array, Weightings]] = []
        self._points = 0  # that are held
        self._counts: CellCounts | None = None  # of points that are not in the whole
        self._level = 0  # of these

    def add(self, x: Array, columns: Weightings) -> None:
        """Add points and their columns of weights, None for ones; they must not change later."""
        if self._counts is not None:
            self._counts.add(x, columns, cells_like(x, self._level))
            if self._counts.kept > _AT_ONCE:
                self._settle()
                self._begin()
            return
        self._held.append((x, columns))
        self._points += len(x)
        if self._points >= _AT_ONCE:
            self._settle()
            self._begin()

    def grid(self) -> NestedGrid | None:
        """The grid so far; None of no points."""
        self._settle()
        return self._whole

    def _settle(self) -> None:
        """Take in what is held and what is counted."""
        level = None if self._whole is None else self._whole.level
        new: NestedGrid | None = None
        if self._counts is not None:
            new = NestedGrid(*self._counts.sums(), self._level, self.most).coarsened()
        elif self._held:
            x = np.concatenate([points for points, _ in self._held])
            columns = zip(*(weights for _, weights in self._held), strict=True)
            joined = [None if each[0] is None else np.concatenate(each) for each in columns]
            new = NestedGrid.of(x, joined, most=self.most, finest=level)
        if new is not None:
            self._whole = new if self._whole is None else self._whole.merge(new)
        self._held, self._points, self._counts = [], 0, None

    def _begin(self) -> None:
        """Count what comes by the cells of the grid so far, if it has any."""
        if self._whole is not None and self._whole.level is not None:
            self._level = self._whole.level
            self._counts = CellCounts(self._whole.keys, len(self._whole.mass))
