r"""Sums over cells of the nested grid, worked out by an engine in one group-by.

The cell of a number is :math:`\lfloor 2^\ell \operatorname{asinh} x\rfloor`, as in `NestedGrid`, with
:math:`\operatorname{asinh} x = \pm\ln(|x| + \sqrt{x^2 + 1})`, which every engine has; counts are those of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..._checks import Array
from ...numerics.grid_counts import starts
from ...numerics.nested_grid import MOST, NestedGrid
from ...tables.columns import Columns
from ...tables.rows import texts
from ..analysis import joint_labels
from .frames import chosen, worked_out
from .rows import Scored, prepared, uses

FIRST = 12  # level at which rows are counted; where cells are few, a second count is finer
COARSE = 6  # the same for many groups
FEW = 4 * MOST  # rows that are counted one by one
_MOST_CELLS = 1 << 21  # of all groups together
_ENOUGH = 256  # cells between the smallest and the largest number, for groups
UNUSED = 1 << 40  # the key of rows that are not used
_LEAST = 1e-300  # by which numbers below 0 are in cells below 0


@dataclass(frozen=True, eq=False)
class Part:
    """Sums over the rows of a group: a grid, how many rows, and the smallest and largest value of what was asked."""

    grid: NestedGrid
    n_rows: int
    extremes: dict[str, tuple[float, float]]


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


def summed(frame: Any, columns: Columns, scored: Scored) -> tuple[dict[str, Part], dict[int, int], int]:
    """Sums by group, "" where there are none, how many of the other rows are good for what, and the number of all."""
    rows = prepared(frame, columns, scored)
    level: int | None = COARSE if columns.group else FIRST
    found = _Counted.of(rows, columns, scored, level)
    total = int(found.counts.sum())
    others = {} if found.used.all() else uses(frame, columns, scored)
    if not found.used.any():
        return {}, others, total
    while (finer := found.finer()) != level:
        level, found = finer, _Counted.of(rows, columns, scored, finer, found)
    return found.parts(), others, total


class _Counted:
    """What an engine has counted, a row for each group and cell, in this order."""

    def __init__(self, table: pa.Table, columns: Columns, scored: Scored, level: int | None) -> None:
        self.level, self.columns, self.scored = level, columns, scored
        keys = array_of(table, "key")
        self.used = np.ones(len(keys), dtype=bool) if level is None else keys < UNUSED
        self.counts = array_of(table, "n")
        if not self.used.all():
            table, keys = table.filter(pa.array(self.used)), keys[self.used]
        self.names, codes = labels_of(table, columns)
        self.table = table.drop_columns(["key", *(name for name in table.column_names if name[0] == "g")])
        del table
        self.order = np.lexsort([keys, codes])
        self.codes, self.keys, self.before = codes[self.order], keys[self.order] + 0.0, 0

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
        low, high = (np.ldexp(self.keys.min(), -self.level), np.ldexp(self.keys.max() + 1, -self.level))
        if not self.columns.group:
            if len(self.keys) > MOST:
                return self.level
            if len(self.keys) == self.before:
                return None
            return max(self.level + 2, int(np.log2(8 * MOST / (high - low))))
        wanted = MOST if groups * 4 * MOST <= _MOST_CELLS else _ENOUGH
        return max(self.level, int(np.ceil(np.log2(wanted / (high - low)))))

    def parts(self) -> dict[str, Part]:
        """Sums by group."""
        table, order = self.table, self.order
        first = starts(self.codes.astype(np.float64))
        new = np.concatenate([[True], (np.diff(self.codes) != 0) | (np.diff(self.keys) != 0)])
        cells = np.flatnonzero(new)
        add = [np.add.reduceat(values, cells) for values in self._sums()]
        keys, half = self.keys[cells], len(add) // 2
        mass, moment = np.array(add[:half]), np.array(add[half:])
        if self.level is None:
            moment = mass * keys
        ends = [*np.flatnonzero(np.isin(cells, first)), len(cells)]
        counts = np.add.reduceat(array_of(table, "n")[order], first)
        reach = {
            name: (
                np.minimum.reduceat(array_of(table, f"least_{name}")[order], first),
                np.maximum.reduceat(array_of(table, f"most_{name}")[order], first),
            )
            for name in self.scored.extremes
        }
        found = {}
        for place, (start, end) in enumerate(pairwise(ends)):
            grid = NestedGrid(keys[start:end], mass[:, start:end], moment[:, start:end], self.level).coarsened()
            extremes = {name: (float(low[place]), float(high[place])) for name, (low, high) in reach.items()}
            found[self.names[int(self.codes[first[place]])]] = Part(grid, int(counts[place]), extremes)
        return found

    def _sums(self) -> list[Array]:
        """Masses, then moments, in order of groups and cells."""
        places = range(len(self.scored.masses))
        there = set(self.table.column_names)
        names = [f"m{place}" if f"m{place}" in there else "n" for place in places] + [f"x{place}" for place in places]
        return [array_of(self.table, name)[self.order] for name in names]


def array_of(table: pa.Table, name: str) -> Array:
    """A column of numbers."""
    return np.asarray(table[name].to_numpy(), dtype=np.float64)


def labels_of(table: pa.Table, columns: Columns) -> tuple[list[str], NDArray[np.intp]]:
    """Groups as tables name them, and the number of each row's; texts are made of the different ones only."""
    if not columns.group:
        return [""], np.zeros(table.num_rows, dtype=np.intp)
    coded = [_coded(table[f"g{place}"].combine_chunks()) for place in range(len(columns.group))]
    shape = [len(names) for names, _ in coded]
    joined = np.ravel_multi_index([codes for _, codes in coded], shape) if len(coded) > 1 else coded[0][1]
    found, numbers = _numbered(joined, int(np.prod(shape, dtype=np.float64).clip(max=2.0**62)))
    places = np.unravel_index(found, shape)
    labels = joint_labels(*(names[place] for (names, _), place in zip(coded, places, strict=True)))
    order = np.argsort(labels.astype(str), kind="stable")
    rank = np.empty(len(found), dtype=np.intp)
    rank[order] = np.arange(len(found))
    return [str(label) for label in labels[order]], rank[numbers]


def _numbered(codes: NDArray[np.intp], most: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Different codes below ``most`` in increasing order, and the number of each row's; few are not sorted."""
    if most > len(codes):
        return np.unique(codes, return_inverse=True)
    there = np.bincount(codes, minlength=most) > 0
    return np.flatnonzero(there), (np.cumsum(there) - 1)[codes]


def _coded(column: pa.Array) -> tuple[NDArray[np.object_], NDArray[np.intp]]:
    """Different labels, and the number of each row's."""
    plain = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    coded = plain.dictionary_encode(null_encoding="encode")
    names, codes = np.unique(texts(coded.dictionary).astype(str), return_inverse=True)
    return names.astype(object), codes[coded.indices.to_numpy()]
