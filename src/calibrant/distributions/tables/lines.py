"""Tables with one line per law, or one line for all laws: slicing and joining."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from ..._checks import Array
from ..base import Distribution, _row_selection


def spread_out(y: Array, rows: int) -> Array:
    """Points as the primitives take them, written out to (n,) or (n, k)."""
    y = np.asarray(y)
    return np.broadcast_to(y, (rows, y.shape[1]) if y.ndim == 2 else (rows,))


def times(table: Array, line: Array) -> Array:
    """Sum over each line of table x line, where ``line`` is (m,) or (n, m)."""
    return np.asarray(table @ line if line.ndim == 1 else np.vecdot(table, line))


class SharedOrByRow(Distribution):
    """A law some of whose tables are absent, one line for all rows (1-D), or one line per row (2-D)."""

    _maybe_by_row: ClassVar[tuple[str, ...]] = ()

    def __getitem__(self, rows: Any) -> Self:
        """The laws of these rows (slice, mask, integers); one integer gives a batch of one."""
        part = super().__getitem__(rows)
        chosen = _row_selection(rows, len(self))
        for name in self._maybe_by_row:
            table = getattr(self, name)
            if table is not None and table.ndim == 2:
                object.__setattr__(part, name, table[chosen])
        return part

    @classmethod
    def _join(cls, laws: Sequence[Self]) -> Self | None:
        bare = [law[:] for law in laws]
        for law in bare:
            for name in cls._maybe_by_row:
                object.__setattr__(law, name, None)
        whole = super()._join(bare)
        for name in cls._maybe_by_row:
            tables = [getattr(law, name) for law in laws]
            if whole is None or len({None if table is None else table.shape[-1] for table in tables}) > 1:
                return None
            object.__setattr__(whole, name, _join_tables(tables, [len(law) for law in laws]))
        return whole


def _join_tables(tables: list[Array | None], lengths: list[int]) -> Array | None:
    given = [table for table in tables if table is not None]
    if not given or all(table.ndim == 1 and np.array_equal(table, given[0]) for table in given):
        return given[0] if given else None
    return np.concatenate(
        [np.broadcast_to(table, (n, table.shape[-1])) for table, n in zip(given, lengths, strict=True)]
    )
