"""Rows that an engine of this process has scored, counted as they come: quicker than its own grouping by cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..._checks import Array
from ...numerics.asinh_cells import cells_like
from ...numerics.running_grid import RunningGrid
from ...tables.columns import Columns
from ...tables.lazy_frames import Slices, batches_of
from .parts import Part, array_of, labels_of, parts_by_group
from .rows import Scored

STREAMING = ("polars", "duckdb")
FEWEST = 64  # groups among the first rows, below which each is worth a finer grid
_AT_ONCE = 1 << 20  # rows of groups that are counted together
_HALF = 6  # of asinh x on both sides: what lies beyond is kept apart
_MOST_CELLS = 1 << 23  # of all groups, occupied or not
_MOST_APART = 1 << 20  # rows


class Streamed(NamedTuple):
    """Sums by group, how many rows there are, and how many of them are not used."""

    parts: dict[str, Part]
    rows: int
    unused: int


def streams(frame: Any) -> bool:
    """Whether the engine hands over batches without writing or sending them."""
    return frame.implementation.name.lower() in STREAMING


class _Pieces:
    """Used rows of a frame, and how many others there are."""

    def __init__(self, rows: Any, slices: Slices) -> None:
        self.frame, self.slices, self.rows, self.unused = rows, slices, 0, 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for batch in batches_of(self.frame, self.frame.collect_schema().names(), self.slices):
            fine = batch["fine"]
            if fine.null_count:
                fine = pc.fill_null(fine, False)
            self.rows, lost = self.rows + batch.num_rows, batch.num_rows - fine.true_count
            self.unused += lost
            used = batch.filter(fine) if lost else batch
            if used.num_rows:
                yield used

    def gathered(self, least: int) -> Iterator[pa.Table]:
        """At least so many rows at a time."""
        held: list[pa.RecordBatch] = []
        for batch in self:
            held.append(batch)
            if sum(part.num_rows for part in held) >= least:
                whole, held = pa.Table.from_batches(held), []
                yield whole
        if held:
            yield pa.Table.from_batches(held)


def of_all(rows: Any, scored: Scored, slices: Slices = ()) -> Streamed:
    """Sums over all prepared rows, in the finest cells that a grid keeps."""
    pieces, running = _Pieces(rows, slices), RunningGrid()
    reach = dict.fromkeys(scored.extremes, (np.inf, -np.inf))
    for batch in pieces:
        x = array_of(batch, "x")
        running.add(x, _masses(batch, scored))
        for name, value in scored.extremes.items():
            values = x if value is None else array_of(batch, name)
            reach[name] = min(reach[name][0], float(values.min())), max(reach[name][1], float(values.max()))
    grid = running.grid()
    whole = {} if grid is None else {"": Part(grid, pieces.rows - pieces.unused, reach)}
    return Streamed(whole, pieces.rows, pieces.unused)


def _masses(table: pa.Table | pa.RecordBatch, scored: Scored) -> list[Array | None]:
    there = set(table.schema.names)
    names = [f"m{place}" for place in range(len(scored.masses))]
    return [array_of(table, name) if name in there else None for name in names]


def of_groups(rows: Any, columns: Columns, scored: Scored, level: int, slices: Slices = ()) -> Streamed | None:
    """Sums over the rows of many groups by cells of a level; None where groups are few, or too many for memory."""
    pieces, found = _Pieces(rows, slices), _Groups(scored, level)
    for table in pieces.gathered(_AT_ONCE):
        if not found.add(table, columns) or len(found.names) < FEWEST:
            return None
    return Streamed(found.parts(), pieces.rows, pieces.unused) if found.names else None


class _Groups:
    """Sums by group and cell, all cells near 0 side by side, and rows that lie elsewhere."""

    def __init__(self, scored: Scored, level: int) -> None:
        self.scored, self.level, self.half = scored, level, _HALF << level
        self.names: dict[str, int] = {}
        self.mass = self.moment = np.zeros((len(scored.masses), 0))
        self.rows, self.reach = np.zeros(0), {name: np.zeros((2, 0)) for name in scored.extremes}
        self.apart: list[tuple[NDArray[np.intp], Array, Array, Array]] = []

    def add(self, table: pa.Table, columns: Columns) -> bool:
        """Add rows; whether there was room for them."""
        names, codes = labels_of(table, columns)
        codes = np.array([self.names.setdefault(name, len(self.names)) for name in names])[codes]
        if len(self.names) * 2 * self.half > _MOST_CELLS:
            return False
        self._make_room()
        x = array_of(table, "x")
        masses = [np.ones(len(x)) if mass is None else mass for mass in _masses(table, self.scored)]
        self.rows += np.bincount(codes, minlength=len(self.rows))
        for name, value in self.scored.extremes.items():
            values = x if value is None else array_of(table, name)
            np.minimum.at(self.reach[name][0], codes, values)
            np.maximum.at(self.reach[name][1], codes, values)
        cell = cells_like(x, self.level)(x)
        near = np.abs(cell + 0.5) < self.half
        if not near.all():
            far = np.flatnonzero(~near)
            self.apart.append((codes[far], cell[far], x[far], np.array(masses)[:, far]))
            codes, cell, x, masses = codes[near], cell[near], x[near], [mass[near] for mass in masses]
        place = codes * (2 * self.half) + (cell + self.half).astype(np.intp)
        for number, mass in enumerate(masses):
            np.add.at(self.mass[number], place, mass)
            np.add.at(self.moment[number], place, mass * x)
        return sum(len(part[0]) for part in self.apart) <= _MOST_APART

    def _make_room(self) -> None:
        """Zeros for groups that are new, and for some more."""
        if (groups := len(self.names)) <= len(self.rows):
            return
        more = groups + groups // 8 - len(self.rows)
        empty = np.zeros((len(self.mass), more * 2 * self.half))
        self.mass, self.moment = (np.hstack([sums, empty]) for sums in (self.mass, self.moment))
        self.rows = np.append(self.rows, np.zeros(more))
        for name, ends in self.reach.items():
            self.reach[name] = np.hstack([ends, np.repeat([[np.inf], [-np.inf]], more, axis=1)])

    def parts(self) -> dict[str, Part]:
        """By name."""
        there = np.flatnonzero(self.mass.any(axis=0))
        codes: NDArray[np.intp] = there // (2 * self.half)
        keys: Array = (there % (2 * self.half) - self.half).astype(np.float64)
        mass, moment = self.mass[:, there], self.moment[:, there]
        self.mass = self.moment = np.zeros((len(mass), 0))
        for group, cell, x, weights in self.apart:
            codes, keys = np.concatenate([codes, group]), np.concatenate([keys, cell])
            mass, moment = np.hstack([mass, weights]), np.hstack([moment, weights * x])
        names = sorted(self.names)
        rank = np.empty(len(names), dtype=np.intp)
        rank[[self.names[name] for name in names]] = np.arange(len(names))
        old = np.array([self.names[name] for name in names])
        reach = {name: (low[old], high[old]) for name, (low, high) in self.reach.items()}
        return parts_by_group(names, (rank[codes], keys, mass, moment), self.level, self.rows[old], reach)
