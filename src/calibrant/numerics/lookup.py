"""Which segment between sorted knots a number falls in, without a binary search."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._checks import Array
from .blocks import BLOCK, in_blocks

ROUNDS = 3  # halvings inside a cell; the few cells with 2**ROUNDS knots or more fall back on a binary search
FEW = 16  # knots for each number that is looked up
SLACK = 1e-6  # of a cell; far above the rounding error of a position, far below a cell


class _Table(NamedTuple):
    """The uniform grid: cell of z = floor((asinh((z - centre) / scale) - first) * density)."""

    centre: float
    scale: float
    first: float
    density: float
    last: float
    start: NDArray[np.intp]  # knots surely at or below everything in the cell
    crowded: NDArray[np.bool_] | None  # cells with too many knots for ROUNDS halvings
    steps: tuple[int, ...]
    padded: Array


@dataclass(frozen=True, eq=False)
class KnotIndex:
    r"""A uniform grid in :math:`\operatorname{asinh}` over sorted knots: :math:`\#\{k : x_k \le z\}` in constant time.

    The answers are exactly those of ``np.searchsorted(knots, z, side="right")``; tied, clustered and infinite knots are
    allowed. The grid has more cells than knots, so that a cell rarely holds more than a few of them. Those who use the
    grid in single precision say by which share of a cell a position may be off (``slack``).

    Examples
    --------
    >>> KnotIndex(np.array([-1.0, 0.0, 2.0])).segment(np.array([-3.0, -1.0, 1.0, np.inf])).tolist()
    [0, 1, 2, 3]
    """

    knots: Array
    slack: float = SLACK

    def segment(self, z: Array) -> NDArray[np.intp]:
        """Number of knots at or below each z, of any shape."""
        if np.size(z) * FEW < len(self.knots) and "_grid" not in vars(self):
            return np.asarray(np.searchsorted(self.knots, z, side="right"))  # sooner done than the grid is made
        if np.size(z) <= BLOCK // 2:
            return self._segment(np.asarray(z, dtype=np.float64))
        return in_blocks(self._segment, z, np.intp)

    def _segment(self, z: Array) -> NDArray[np.intp]:
        grid = self._grid
        with np.errstate(over="ignore", invalid="ignore"):
            position = self._position(z, grid.centre, grid.scale, grid.first, grid.density)
        np.fmax(np.fmin(position, grid.last, out=position), 0.0, out=position)
        cell = position.astype(np.intp)
        count: NDArray[np.intp] = np.take(grid.start, cell)
        for step in grid.steps:
            above = np.take(grid.padded, count + (step - 1) if step > 1 else count) <= z
            count += step * above if step > 1 else above
        if grid.crowded is not None:
            crowd = np.take(grid.crowded, cell)
            if crowd.any():
                count[crowd] = np.searchsorted(self.knots, z[crowd], side="right")
        return count

    @staticmethod
    def _position(z: Array, centre: float, scale: float, first: float, density: float) -> Array:
        position = np.subtract(z, centre, out=np.empty(np.shape(z)))
        position /= scale
        np.arcsinh(position, out=position)
        position -= first
        position *= density
        return position

    @cached_property
    def _grid(self) -> _Table:
        knots = self.knots
        finite = knots[np.isfinite(knots)]
        if finite.size == 0:
            finite = np.zeros(1)
        centre, scale = _centre_scale(finite)
        with np.errstate(over="ignore"):
            ends = np.arcsinh((finite[[0, -1]] - centre) / scale)
        limit = np.arcsinh(np.finfo(np.float64).max / 4)
        first, end = float(max(ends[0], -limit)), float(min(ends[1], limit))
        cells = 2 ** int(np.clip(np.ceil(np.log2(max(4 * knots.size, min(64 * knots.size, 2**14), 2))), 6, 22))
        density = cells / max(end - first, 1e-3)
        with np.errstate(over="ignore"):
            position = self._position(knots, centre, scale, first, density)
        low = np.clip(np.floor(position + self.slack), 0, cells - 1).astype(np.intp)
        high = np.clip(np.floor(position - self.slack), 0, cells - 1).astype(np.intp)
        start = np.concatenate([[0], np.cumsum(np.bincount(low, minlength=cells))[:-1]])
        count = np.cumsum(np.bincount(high, minlength=cells)) - start
        crowded = count >= 2**ROUNDS
        largest = int(count[~crowded].max(initial=0))
        steps = tuple(2**i for i in reversed(range(int(np.ceil(np.log2(largest + 1))))))
        padded = np.concatenate([knots, np.full(2**ROUNDS, np.nan)])
        few = None if not crowded.any() else crowded
        return _Table(centre, scale, first, density, cells - 1.0, start, few, steps, padded)


def bent_line(z: Array, knots: Array, values: Array) -> Array:
    """What ``np.interp(z, knots, values)`` is, of many numbers (n,) without a binary search for each.

    >>> bent_line(np.array([-1.0, 0.5, 3.0]), np.array([0.0, 1.0, 2.0]), np.array([0.0, 4.0, 5.0]))
    array([0., 2., 5.])
    """
    if len(z) < BLOCK // 2:
        return np.interp(z, knots, values)
    index, run = KnotIndex(knots), np.diff(knots)
    slopes = np.divide(np.diff(values), run, out=np.zeros(len(run)), where=run > 0)
    place, height, slope = (
        np.append(knots[:1], knots),
        np.append(values[:1], values),
        np.concatenate([[0], slopes, [0]]),
    )

    def heights(part: Array) -> Array:
        at = index.segment(part)
        out = part - place[at]
        out *= slope[at]
        out += height[at]
        return out

    return in_blocks(heights, z)


def count_reached(knots: Array, z: Array) -> NDArray[np.uint8]:
    """Number of knots, 255 at most, at or below each z (n,): of few knots the quickest way, without a branch.

    >>> count_reached(np.array([-1.0, 0.0, 2.0]), np.array([-3.0, -1.0, 1.0, np.inf]))
    array([0, 1, 2, 3], dtype=uint8)
    """
    z = np.ascontiguousarray(z)
    count, above = np.zeros(len(z), dtype=np.uint8), np.empty(len(z), dtype=bool)
    for knot in knots:
        np.greater_equal(z, knot, out=above)
        count += above.view(np.uint8)
    return count


def _centre_scale(knots: Array) -> tuple[float, float]:
    """Median and half the interquartile range of sorted knots, with wider ranges where that is zero."""
    n = knots.size
    centre = float(knots[n // 2])
    for share in (0.25, 0.1, 0.02, 0.0):
        low, high = knots[int(share * (n - 1))], knots[int(np.ceil((1 - share) * (n - 1)))]
        scale = float(high / 2 - low / 2)
        if scale > 0:
            return centre, scale
    return centre, max(abs(centre), 1.0)
