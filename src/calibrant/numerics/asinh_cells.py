"""Which cell of a level of the nested grid each of many points lies in, without an inverse sine for each."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from .._checks import Array

_STEPS = 1 << 18  # even steps of the table
_NONE = np.iinfo(np.uint16).max
_MANY = 65_536  # points from which on the table is worth its making
_SLACK = 1e-12  # share of its distance by which an edge may be off, and
_FAR = 1e5  # times the width that the table may be away, for that to be less than a step
_QUICK = 3e-9  # seconds of an inverse sine that is worked out as quickly as it is looked up


def cells_like(x: Array, level: int) -> Callable[[Array], Array]:
    r"""Function that numbers the cells of points, :math:`\lfloor 2^\ell\operatorname{asinh} x\rfloor`.

    If these are many, most points like them are looked up in a table of even steps; those in a step that an edge of
    cells divides, and those beyond the table, are worked out, so that the answer is the same. Where the processor works
    out several inverse sines at once, that is quicker.

    >>> cells_like(np.array([0.3]), 1)(np.array([0.3, 0.1, -0.2, 1e9])).tolist()
    [0.0, 0.0, -1.0, 42.0]
    """
    table = _table(level, *_reach(x)) if len(x) >= _MANY and not _is_quick() else None
    return partial(_worked_out, level=level) if table is None else table.cells


def _worked_out(x: Array, level: int) -> Array:
    cell = np.arcsinh(x)
    cell *= 2.0**level
    return np.floor(cell, out=cell)


@lru_cache(maxsize=1)
def _is_quick() -> bool:
    """Whether inverse sines take so little time here that no table would take less."""
    x, out, taken = np.linspace(-3.0, 3.0, 4096), np.empty(4096), []
    for _ in range(3):
        start = perf_counter()
        np.arcsinh(x, out=out)
        taken.append(perf_counter() - start)
    return min(taken) < _QUICK * len(x)


def _reach(x: Array) -> tuple[float, float]:
    """Start and width of a stretch that holds most of the points, rounded so that other points give it too."""
    some = np.sort(x[:: len(x) // 1024 + 1])
    low, high = some[len(some) // 64], some[-1 - len(some) // 64]
    mantissa, exponent = np.frexp(max(high - low, 1e-300))
    eighth = np.ldexp(np.ceil(8 * mantissa) / 64, exponent)  # of the range, rounded up
    return float((np.floor(low / eighth) - 2) * eighth), float(13 * eighth)


class _Table:
    """Cells of even steps from ``start`` on, counted from ``first``; `_NONE` where a step has more than one."""

    def __init__(self, level: int, start: float, scale: float, first: float, cell: NDArray[np.uint16]) -> None:
        self.level, self.start, self.scale, self.first, self.cell = level, start, scale, first, cell

    def cells(self, x: Array) -> Array:
        at = x - self.start
        at *= self.scale
        with np.errstate(invalid="ignore"):  # too far for a whole number: taken for the first or last step, of no cell
            step: NDArray[np.intp] = at.astype(np.intp)
        cell = self.cell.take(step, mode="clip")
        found = np.add(cell, self.first, out=at)
        unknown = np.flatnonzero(cell == _NONE)
        found[unknown] = _worked_out(x[unknown], self.level)
        return found


@lru_cache(maxsize=8)
def _table(level: int, start: float, width: float) -> _Table | None:
    """None where the cells are hardly wider than the steps, or the steps hardly wider than rounding."""
    ends = _worked_out(np.array([start, start + width]), level)
    if not np.ptp(ends) < _NONE or abs(start) > _FAR * width:
        return None
    scale = _STEPS / width
    number = np.arange(ends[0], ends[1] + 1)
    edge = np.sinh(np.ldexp(number, -level))  # where each of the cells begins
    slack = _SLACK * (abs(edge) + width)
    step = np.clip((np.array([edge - slack, edge + slack]) - start) * scale, 0, _STEPS - 1).astype(np.intp)
    cell = np.repeat(np.arange(len(number), dtype=np.uint16), np.diff(step[0], append=_STEPS))
    cell[step] = cell[[0, -1]] = _NONE
    return _Table(level, start, scale, float(ends[0]), cell)
