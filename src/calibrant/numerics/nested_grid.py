"""Sums over cells of a grid that does not depend on the data, as fine as a number of cells allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from .._checks import Array
from .grid_counts import Weightings, counted, distinct, grouped, grouped_cells

MOST = 16_384  # occupied cells
_FEW = 4  # times as many points are sorted rather than counted
FINEST = 1000  # level at which cells are narrower than any two numbers are apart


@dataclass(frozen=True, eq=False)
class NestedGrid:
    r"""Weights and moments of points, each on its own or by cells :math:`\lfloor 2^\ell\operatorname{asinh} x\rfloor`.

    Each level halves the cells of the one before. The level is the finest at which no more than ``most`` cells are
    occupied, so that it depends on the points and not on the order in which they came: merging is associative and
    commutative, with counts that are exact. Up to ``most`` different points nothing is lost.

    Parameters
    ----------
    keys : array (m,)
        The points in increasing order if ``level`` is None, else the numbers of the occupied cells.
    mass, moment : array (k, m)
        Sums of w and of w x for each of k columns of weights.
    level : int, optional
    most : int

    Examples
    --------
    >>> left, right = NestedGrid.of(np.array([0.5, -1.0])), NestedGrid.of(np.array([0.5]))
    >>> [values.tolist() for values in left.merge(right).column(0)]
    [[-1.0, 0.5], [1.0, 2.0]]
    """

    keys: Array
    mass: Array
    moment: Array
    level: int | None = None
    most: int = MOST

    def __post_init__(self) -> None:
        """Check that the parts belong together."""
        shape = (len(self.mass), len(self.keys))
        if self.keys.ndim != 1 or self.mass.shape != shape or self.moment.shape != shape:
            raise ValueError(f"`mass` and `moment` must be (columns, {len(self.keys)}); got {self.mass.shape}.")
        if not (np.diff(self.keys) > 0).all() or not (self.mass >= 0).all():
            raise ValueError("`keys` must increase and `mass` must not be negative.")

    @classmethod
    def of(cls, x: Array, columns: Weightings = (None,), *, most: int = MOST, finest: int | None = None) -> Self:
        """From points (n,) and columns of weights (n,); None stands for ones.

        ``finest`` is a level that the result is known not to exceed, as that of a grid it will be merged with.
        """
        level = _ceiling(x, most) if finest is None else finest
        sums = distinct(x, columns) if level is None else counted(x, columns, level)
        return cls(*sums, level, most).coarsened()

    def merge(self, other: Self) -> Self:
        """Both together."""
        levels = [level for level in (self.level, other.level) if level is not None]
        one, two = (grid.at(min(levels)) if levels else grid for grid in (self, other))
        keys = np.concatenate([one.keys, two.keys])
        mass, moment = (np.hstack(pair) for pair in ((one.mass, two.mass), (one.moment, two.moment)))
        together = grouped if one.level is None else grouped_cells
        return type(self)(*together(keys, mass, moment), one.level, self.most).coarsened()

    def scaled(self, factor: float) -> Self:
        """All weights times a factor."""
        return type(self)(self.keys, factor * self.mass, factor * self.moment, self.level, self.most)

    def coarsened(self) -> Self:
        """The finest level at which few enough cells are occupied."""
        return self if len(self.keys) <= self.most else self.at(_finest(self._places(), self.most, self._ceiling))

    def at(self, level: int) -> Self:
        """The cells of a coarser level."""
        if self.level is not None and level >= self.level:
            return self
        keys = np.floor(np.ldexp(self._places(), level))
        return type(self)(*grouped_cells(keys, self.mass, self.moment), level, self.most)

    @property
    def points(self) -> Array:
        """The points, or the means of the cells."""
        return self.keys if self.level is None else np.asarray(self.moment.sum(axis=0) / self.mass.sum(axis=0))

    def column(self, number: int) -> tuple[Array, Array]:
        """Points, or means of cells, and weights of one column, where these are not 0."""
        there = self.mass[number] > 0
        mass = self.mass[number, there]
        return self.keys[there] if self.level is None else self.moment[number, there] / mass, mass

    @property
    def _ceiling(self) -> int:
        return FINEST if self.level is None else self.level

    def _places(self) -> Array:
        """Where points or cells begin, in asinh x."""
        return np.arcsinh(self.keys) if self.level is None else np.ldexp(self.keys, -self.level)


def _ceiling(x: Array, most: int) -> int | None:
    """A level that these points cannot exceed, by some of them; None where all are sorted, few or often equal ones."""
    if len(x) <= _FEW * most:
        return None
    some = np.unique(x[:: max(1, len(x) // (2 * most))])
    return _finest(np.arcsinh(some), most, FINEST) if len(some) > most else None


def _finest(places: Array, most: int, level: int) -> int:
    """The finest level, not above this one, at which no more cells are occupied; at 0 there are 1 420 in all."""
    low, high = 0, level
    while low < high:
        middle = (low + high + 1) // 2
        cells = np.floor(np.ldexp(places, middle))
        low, high = (middle, high) if np.count_nonzero(np.diff(cells)) < most else (low, middle - 1)
    return low


def gridded(x: Array, weights: Array | None, *, most: int = MOST) -> tuple[Array, Array]:
    """Distinct points and their weights, or means of cells where there are more than ``most`` of them.

    >>> gridded(np.array([2.0, 1.0, 2.0]), None)
    (array([1., 2.]), array([1., 2.]))
    """
    return NestedGrid.of(x, (weights,), most=most).column(0)
