"""A fixed number of rows drawn evenly from a table that goes by once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ..tables.rows import TableRows

NO_FORECAST = "have no finite forecast"
AT_ONCE = 1 << 21  # rows of many groups that are summed together


def gathered(pieces: Iterable[TableRows]) -> Iterator[TableRows]:
    """Pieces joined to larger ones: groups are many, and each is summed as often as pieces come."""
    held: list[TableRows] = []
    for piece in pieces:
        held.append(piece)
        if sum(map(len, held)) >= AT_ONCE:
            whole, held = TableRows.joined(held), []
            yield whole
            del whole
    if held:
        yield TableRows.joined(held)


class Sample:
    """Every row gets a random number; those with the smallest stay.

    Examples
    --------
    >>> sample = Sample(2)
    >>> for start in (0, 3):
    ...     sample.add(TableRows([np.arange(3.0)], np.arange(start, start + 3), read=3))
    >>> len(sample.rows()), sample.seen
    (2, 6)
    """

    def __init__(self, most: int | None = None) -> None:
        self.most = most
        self.seen = self.read = self.blank = 0  # rows with outcome and forecast; all rows; those without a forecast
        self._random = np.random.default_rng(0)
        self._edge = 1.0
        self._pieces: list[TableRows] = []
        self._keys: list[np.ndarray] = []

    def add(self, rows: TableRows) -> None:
        """Look at some more rows."""
        n = len(rows.parts[0])
        self.seen += n
        self.read += rows.read
        self.blank += rows.blank
        if not n:
            return
        if self.most is not None:
            keys = self._random.random(n)
            kept = np.flatnonzero(keys < self._edge)
            rows, keys = (rows, keys) if len(kept) == n else (rows.take(kept), keys[kept])
            self._keys.append(keys)
        self._pieces.append(rows)
        if self.most is not None and sum(map(len, self._keys)) > 2 * self.most:
            self._prune()

    def notes(self) -> list[str]:
        """What was left out."""
        said = []
        silent = self.read - self.seen - self.blank
        if silent:
            said.append(f"{silent} of {self.read} rows have no outcome and are left out")
        if self.blank:
            said.append(f"{self.blank} of {self.read} rows {NO_FORECAST} and are left out")
        if self.most is not None and self.seen > self.most:
            said.append(f"{self.most} of {self.seen} rows were looked at, drawn at random")
        return said

    def _prune(self) -> None:
        whole, keys = TableRows.joined(self._pieces), np.concatenate(self._keys)
        if self.most is not None and len(keys) > self.most:
            kept = np.sort(np.argpartition(keys, self.most)[: self.most])
            whole, keys = whole.take(kept), keys[kept]
            self._edge = float(keys.max())
        self._pieces, self._keys = [whole], [keys]

    def rows(self) -> TableRows:
        """Those that stayed, in the order of the table."""
        if self.most is None:
            return TableRows.joined(self._pieces)
        self._prune()
        return self._pieces[0]
