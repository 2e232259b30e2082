"""Weights and moments of many points by equal value, or by cell of a level, in one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from .._checks import Array
from .asinh_cells import cells_like

Weightings = Sequence[Array | None]  # weights of the points, None for ones
Sums = tuple[Array, Array, Array]  # keys (m,), mass (k, m), moment (k, m)
_BLOCK = 16_384  # points that are counted at a time
_SPARSE = 8  # times as many cells as keys are counted in place
_WINDOW = 65_536  # most cells that are counted in place; points elsewhere are sorted


def distinct(x: Array, columns: Weightings) -> Sums:
    """Weights of equal points.

    >>> [sums.tolist() for sums in distinct(np.array([2.0, 1.0, 2.0]), [None])]
    [[1.0, 2.0], [[1.0, 2.0]], [[1.0, 4.0]]]
    """
    x = x + 0.0  # without the sign of -0.0
    if all(weights is None for weights in columns):
        x.sort()
        first = starts(x)
        mass = np.tile(np.diff(first, append=len(x)).astype(np.float64), (len(columns), 1))
        return x[first], mass, mass * x[first]
    order = np.argsort(x, kind="stable")
    x = x[order]
    first = starts(x)
    ones = np.ones(len(x))
    mass = np.array([np.add.reduceat(ones if w is None else w[order], first) for w in columns])
    return x[first], mass, mass * x[first]


def counted(x: Array, columns: Weightings, level: int) -> Sums:
    r"""Sums over the occupied cells :math:`\lfloor 2^\ell\operatorname{asinh} x\rfloor`, in increasing order.

    >>> [sums.tolist() for sums in counted(np.array([0.3, 0.1, -0.2]), [None], 1)]
    [[-1.0, 0.0], [[1.0, 2.0]], [[-0.2, 0.4]]]
    """
    cells = cells_like(x, level)
    counts = CellCounts(cells(x[:: len(x) // 1024 + 1]), len(columns))
    counts.add(x, columns, cells)
    return counts.sums()


class CellCounts:
    """Sums over cells of a level, of points that come in pieces.

    Parameters
    ----------
    some : array
        Cells of some points: those close to them are counted in place, others are kept.
    columns : int
        How many weights each point has.

    Attributes
    ----------
    kept : int
        How many points are kept.
    """

    def __init__(self, some: Array, columns: int) -> None:
        self._low, size = _window(some)
        self._mass, self._moment = np.zeros((2, columns, size))
        self._outside: list[tuple[Array, Array, Weightings]] = []
        self.kept = 0

    def add(self, x: Array, columns: Weightings, cells: Callable[[Array], Array]) -> None:
        """Count points, of which a function tells the cells."""
        low, size = self._low, self._mass.shape[1]
        for start in range(0, len(x), _BLOCK):
            block = x[start : start + _BLOCK]
            weights: Weightings = [None if w is None else w[start : start + _BLOCK] for w in columns]
            cell = cells(block)
            if cell.min() < low or cell.max() >= low + size:
                within = (cell >= low) & (cell < low + size)
                far = [None if w is None else w[~within] for w in weights]
                self._outside.append((cell[~within], block[~within], far))
                self.kept += len(self._outside[-1][0])
                block, cell = block[within], cell[within]
                weights = [None if w is None else w[within] for w in weights]
            cell -= low
            _add(self._mass, self._moment, cell.astype(np.intp), block, weights)

    def sums(self) -> Sums:
        """What has been counted so far, in increasing order of cells."""
        there = np.flatnonzero(self._mass.any(axis=0))
        sums = (there + np.float64(self._low), self._mass[:, there], self._moment[:, there])
        return _with_others(sums, self._outside) if self._outside else sums


def starts(keys: Array) -> NDArray[np.intp]:
    """First place of each run of equal values in a sorted column."""
    return np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)])


def grouped(keys: Array, mass: Array, moment: Array) -> Sums:
    """Sums of equal keys, in increasing order of these."""
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = starts(keys)
    return keys[first], np.add.reduceat(mass[:, order], first, axis=1), np.add.reduceat(moment[:, order], first, axis=1)


def grouped_cells(keys: Array, mass: Array, moment: Array) -> Sums:
    """The same where keys are numbers of cells, which are counted in place unless they lie far apart."""
    low = keys.min()
    size = keys.max() - low + 1
    if not size <= _SPARSE * len(keys):
        return grouped(keys, mass, moment)
    place = (keys - low).astype(np.intp)
    sums = [np.array([np.bincount(place, row, int(size)) for row in rows]) for rows in (mass, moment)]
    there = np.flatnonzero(np.bincount(place))
    return there + low, sums[0][:, there], sums[1][:, there]


def _add(mass: Array, moment: Array, cell: NDArray[np.intp], x: Array, columns: Weightings) -> None:
    for j, weights in enumerate(columns):
        np.add.at(mass[j], cell, 1.0 if weights is None else weights)
        np.add.at(moment[j], cell, x if weights is None else weights * x)


def _window(some: Array) -> tuple[float, int]:
    """First cell and number of cells that are counted in place: twice the range of those of some points."""
    middle, reach = np.floor(np.median(some)), np.ptp(some) + 64
    size = int(min(2 * reach, _WINDOW))
    return float(middle - size // 2), size


def _with_others(sums: Sums, outside: list[tuple[Array, Array, Weightings]]) -> Sums:
    """The points that lie outside of the window, taken in."""
    keys = np.concatenate([sums[0], *[cell for cell, _, _ in outside]])
    ones = [[np.ones(len(x)) if w is None else w for w in columns] for _, x, columns in outside]
    mass = np.hstack([sums[1], *[np.array(part) for part in ones]])
    moment = np.hstack([sums[2], *[np.array(part) * x for part, (_, x, _) in zip(ones, outside, strict=True)]])
    return grouped(keys, mass, moment)
