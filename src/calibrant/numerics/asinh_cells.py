"""Which cell of a level of the nested grid each of many points lies in, without an inverse sine for each."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .._checks import Array

_BLOCK = 32_768  # points at a time
_STEPS = 1 << 18  # even steps of the table
_MANY = 65_536  # points from which on the table is worth its making
_SLACK = 1e-12  # share of its distance by which an edge may be off, and
_FAR = 1e5  # times the width that the table may be away, for that to be less than a step


def cells(x: Array, level: int) -> Array:
    r"""Numbers of the cells, :math:`\lfloor 2^\ell\operatorname{asinh} x\rfloor`.

    Of many points most are looked up in a table of even steps; those in a step that an edge of cells divides, and those
    beyond the table, are worked out, so that the answer is the same.

    >>> cells(np.array([0.3, 0.1, -0.2, 1e9]), 1).tolist()
    [0.0, 0.0, -1.0, 42.0]
    """
    table = _table(level, *_reach(x)) if len(x) >= _MANY else None
    found = np.empty(len(x))
    for start in range(0, len(x), _BLOCK):
        block = x[start : start + _BLOCK]
        found[start : start + _BLOCK] = _worked_out(block, level) if table is None else table.cells(block)
    return found


def _worked_out(x: Array, level: int) -> Array:
    cell = np.arcsinh(x)
    cell *= 2.0**level
    return np.floor(cell, out=cell)


def _reach(x: Array) -> tuple[float, float]:
    """Start and width of a stretch that holds most of the points, rounded so that other points give it too."""
    some = np.sort(x[:: len(x) // 1024 + 1])
    low, high = some[len(some) // 64], some[-1 - len(some) // 64]
    half = 2.0 ** np.ceil(np.log2(max(high - low, 1e-300)))
    return float(np.floor((low - half / 8) / (half / 4)) * (half / 4)), float(2 * half)


class _Table:
    """Cells of even steps from ``start`` on; nan where a step has more than one."""

    def __init__(self, level: int, start: float, width: float, cell: Array) -> None:
        self.level, self.start, self.scale, self.cell = level, start, _STEPS / width, cell

    def cells(self, x: Array) -> Array:
        at = (x - self.start) * self.scale
        with np.errstate(invalid="ignore"):  # too far for whole numbers: taken for the first or last step, which is nan
            step: NDArray[np.intp] = at.astype(np.intp)
        found = self.cell.take(step, mode="clip", out=at)
        unknown = np.flatnonzero(np.isnan(found))
        found[unknown] = _worked_out(x[unknown], self.level)
        return found


@lru_cache(maxsize=8)
def _table(level: int, start: float, width: float) -> _Table | None:
    """None where the cells are hardly wider than the steps, or the steps hardly wider than rounding."""
    ends = _worked_out(np.array([start, start + width]), level)
    if not np.ptp(ends) < _STEPS / 4 or abs(start) > _FAR * width:
        return None
    number = np.arange(ends[0], ends[1] + 1)
    edge = np.sinh(np.ldexp(number, -level))  # where each of the cells begins
    slack = _SLACK * (abs(edge) + width)
    step = np.clip((np.array([edge - slack, edge + slack]) - start) * (_STEPS / width), 0, _STEPS - 1).astype(np.intp)
    cell = np.repeat(number, np.diff(step[0], append=_STEPS))
    cell[step] = cell[[0, -1]] = np.nan
    return _Table(level, start, width, cell)
