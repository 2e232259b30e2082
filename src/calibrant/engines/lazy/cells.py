r"""Sums over cells of the nested grid, worked out by an engine in one group-by.

The cell of a number is :math:`\lfloor 2^\ell \operatorname{asinh} x\rfloor`, as in `NestedGrid`, with
:math:`\operatorname{asinh} x = \pm\ln(|x| + \sqrt{x^2 + 1})`, which every engine has; counts are those of the rows.
"""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from ..._checks import Array
from ...numerics.nested_grid import MOST
from ...tables.columns import Columns
from ...tables.lazy_frames import Slices
from .frames import chosen, frame_of, worked_out
from .parts import Part, array_of, labels_of, parts_by_group
from .rows import Scored, prepared, uses
from .streams import Streamed, of_all, of_groups, streams

FIRST = 12  # level at which rows are counted; where cells are few, a second count is finer
COARSE = 6  # the same for many groups
FEW = 4 * MOST  # rows that are counted one by one
_MOST_CELLS = 1 << 21  # of all groups together
_ENOUGH = 256  # cells between the smallest and the largest number, for groups
UNUSED = 1 << 40  # the key of rows that are not used
_LEAST = 1e-300  # by which numbers below 0 are in cells below 0


def celled(rows: Any, level: int) -> Any:
    """Rows with the number of the cell of x; numbers below 0 are in cells below 0, however small they are."""
    x = nw.col("x")
    size = x.abs()
    rows = rows.with_columns(reach=size + (size * size + 1.0).sqrt())  # on its own: engines would work it out thrice
    place = nw.col("reach").log() + _LEAST
    return rows.with_columns(cell=(place * chosen((x < 0, -(2.0**level)), otherwise=2.0**level)).floor())


def keyed(rows: Any, key: Any) -> Any:
    """Rows with a key that is a whole number, and one that is larger than all for those that are not used."""
    return rows.with_columns(key=chosen((nw.col("fine"), key), otherwise=float(UNUSED)).cast(nw.Int64))


def summed(source: Any, columns: Columns, scored: Scored) -> tuple[dict[str, Part], dict[int, int], int]:
    """Sums by group, "" where there are none, how many of the other rows are good for what, and the number of all."""
    frame = frame_of(source)
    rows = prepared(frame, columns, scored)
    streamed = _streamed(rows, columns, scored, getattr(source, "slices", ())) if streams(frame) else None
    if streamed is not None:
        return streamed.parts, uses(frame, columns, scored) if streamed.unused else {}, streamed.rows
    level: int | None = COARSE if columns.group else FIRST
    found = _Counted.of(rows, columns, scored, level)
    total = int(found.counts.sum())
    others = {} if found.used.all() else uses(frame, columns, scored)
    if not found.used.any():
        return {}, others, total
    while (finer := found.finer()) != level:
        level, found = finer, _Counted.of(rows, columns, scored, finer, found)
    return found.parts(), others, total


def _streamed(rows: Any, columns: Columns, scored: Scored, slices: Slices) -> Streamed | None:
    """Sums over rows as they come; None where the cells of groups are to be finer."""
    if not columns.group:
        return of_all(rows, scored, slices)
    found = of_groups(rows, columns, scored, COARSE, slices)
    if found is None or found.rows - found.unused <= FEW:
        return None
    ends = [end for part in found.parts.values() for end in part.grid.keys[[0, -1]]]
    return found if _group_level(COARSE, min(ends), max(ends), len(found.parts)) == COARSE else None


def _group_level(level: int, low: float, high: float, groups: int) -> int:
    """The level at which groups are counted, whose cells of another level reach from low to high."""
    wanted = MOST if groups * 4 * MOST <= _MOST_CELLS else _ENOUGH
    return max(level, int(np.ceil(np.log2(wanted / (np.ldexp(high + 1, -level) - np.ldexp(low, -level))))))


class _Counted:
    """What an engine has counted, a row for each group and cell."""

    def __init__(self, table: pa.Table, columns: Columns, scored: Scored, level: int | None) -> None:
        self.level, self.columns, self.scored = level, columns, scored
        keys = array_of(table, "key")
        self.used = np.ones(len(keys), dtype=bool) if level is None else keys < UNUSED
        self.counts = array_of(table, "n")
        if not self.used.all():
            table, keys = table.filter(pa.array(self.used)), keys[self.used]
        self.names, self.codes = labels_of(table, columns)
        self.table = table.drop_columns(["key", *(name for name in table.column_names if name[0] == "g")])
        self.keys, self.before = keys + 0.0, 0

    @classmethod
    def of(
        cls, rows: Any, columns: Columns, scored: Scored, level: int | None, before: _Counted | None = None
    ) -> _Counted:
        """Let the engine count by cells of a level, or by equal numbers if there is none."""
        groups = [f"g{place}" for place in range(len(columns.group))]
        x = nw.col("x")
        if level is None:
            counted = rows.filter("fine").with_columns(key=x)
        else:
            counted = keyed(celled(rows, level), nw.col("cell"))
        plain = scored.masses[0] is None and columns.weight is None
        masses = [f"m{place}" for place in range(int(plain), len(scored.masses))]
        counted = counted.with_columns(
            **{f"x{name[1:]}": nw.col(name) * x for name in masses}, **({"x0": x} if plain else {})
        )
        moments = [f"x{place}" for place in range(len(scored.masses))]
        sums = [nw.len().alias("n"), *(nw.col(name).sum() for name in (*masses, *moments))]
        for name, value in scored.extremes.items():
            of = x if value is None else nw.col(name)
            sums += [of.min().alias(f"least_{name}"), of.max().alias(f"most_{name}")]
        made = cls(worked_out(counted.group_by(*groups, "key").agg(*sums)), columns, scored, level)
        made.before = 0 if before is None else len(before.keys)
        return made

    def finer(self) -> int | None:
        """The level that rows should be counted at, None if they are few or often equal; that they were, if it will do.

        Of one group that is what has more cells than a grid keeps; of several as many as memory allows.
        """
        if self.level is None:
            return None
        rows, groups = int(self.counts[self.used].sum()), len(self.names)
        if rows <= FEW:
            return None
        if not self.columns.group:
            if len(self.keys) > MOST:
                return self.level
            if len(self.keys) == self.before:
                return None
            width = np.ldexp(self.keys.max() + 1 - self.keys.min(), -self.level)
            return max(self.level + 2, int(np.log2(8 * MOST / width)))
        return _group_level(self.level, self.keys.min(), self.keys.max(), groups)

    def parts(self) -> dict[str, Part]:
        """Sums by group."""
        groups = len(self.names)
        reach = {name: (np.full(groups, np.inf), np.full(groups, -np.inf)) for name in self.scored.extremes}
        for name, (low, high) in reach.items():
            np.minimum.at(low, self.codes, array_of(self.table, f"least_{name}"))
            np.maximum.at(high, self.codes, array_of(self.table, f"most_{name}"))
        rows = np.bincount(self.codes, array_of(self.table, "n"), groups).astype(np.float64)
        return parts_by_group(self.names, (self.codes, self.keys, *self._sums()), self.level, rows, reach)

    def _sums(self) -> tuple[Array, Array]:
        """Masses and moments."""
        places = range(len(self.scored.masses))
        there = set(self.table.column_names)
        names = [f"m{place}" if f"m{place}" in there else "n" for place in places]
        mass = np.array([array_of(self.table, name) for name in names])
        return mass, np.array([array_of(self.table, f"x{place}") for place in places])
