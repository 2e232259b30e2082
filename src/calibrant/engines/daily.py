"""What a team does every day: learn from the outcomes of yesterday, once, and watch for drift."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..calibration.contract import takes_of
from ..tables.columns import Columns
from ..tables.rows import TableRows, forecasts_of, scan_rows
from ..tables.sources import Table
from .arrow import outcomes_of
from .calibrated import group_of
from .fingerprint import fingerprint
from .sampling import Sample

Progress = Callable[[int], Any]
MOST_TABLES = 1000  # whose fingerprints are remembered


class Learned(NamedTuple):
    """What `update` has done.

    Attributes
    ----------
    new : int
        Rows that were learned.
    repeated : int
        Rows that had been learned before.
    tables : list of str
        Fingerprints of the last tables that were learned.
    notes : list of str
        What was left out.
    """

    new: int
    repeated: int
    tables: list[str]
    notes: list[str]


def update(
    calibrator: Any, table: Table, columns: Columns, tables: list[str] | None = None, progress: Progress | None = None
) -> Learned:
    """Let an `OnlineCalibrator` learn from the rows of a table that it has not learned yet.

    Rows are told apart by ``id`` and ``time``, where there are such columns; a table that was learned as a whole is
    never learned again. The calibrator is changed in place.

    Parameters
    ----------
    calibrator : OnlineCalibrator
    table : Table
    columns : Columns
    tables : list of str, optional
        Fingerprints of tables that were learned before.
    progress : callable, optional
        Called with the number of rows after each batch.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from calibrant import OnlineCalibrator
    >>> from ..tables.sources import open_table
    >>> day = open_table(pa.table({"mu": [0.0, 1.0], "sigma": [1.0, 1.0], "y": [0.5, None]}))
    >>> columns = Columns("normal", ("mu", "sigma"), target="y")
    >>> learned = update(cal := OnlineCalibrator(), day, columns)
    >>> learned.new, learned.notes, update(cal, day, columns, learned.tables)[:2]
    (1, ['1 of 2 rows have no outcome and are left out'], (0, 1))
    """
    sample, known = read_all(table, columns, progress), list(tables or [])
    if not sample.seen:
        return Learned(0, 0, known, sample.notes())
    rows = sample.rows()
    laws, y = forecasts_of(columns, rows), outcomes_of(columns, rows)
    beside = {**beside_of(calibrator, rows), "ids": rows.ids, "time": rows.time, "sample_weight": rows.weights}
    mark = fingerprint(laws, y, *beside.values())
    if mark in known:
        return Learned(0, len(rows), known, sample.notes())
    calibrator.update(laws, y, **beside)
    return Learned(calibrator.new_rows_, calibrator.repeated_rows_, [*known, mark][-MOST_TABLES:], sample.notes())


def watch(monitor: Any, table: Table, columns: Columns, progress: Progress | None = None) -> Sample:
    """Let a `DriftMonitor` see the rows of a table; what comes back knows how many there were, and what was left out.

    Parameters
    ----------
    monitor : DriftMonitor
        Is changed in place.
    table : Table
    columns : Columns
    progress : callable, optional
        Called with the number of rows after each batch.
    """
    sample = read_all(table, columns, progress)
    if sample.seen:
        rows = sample.rows()
        groups = None if rows.groups is None else group_of(rows)
        monitor.update(
            forecasts_of(columns, rows), outcomes_of(columns, rows), groups=groups, time=rows.time, ids=rows.ids
        )
    return sample


def read_all(table: Table, columns: Columns, progress: Progress | None) -> Sample:
    """All rows that have an outcome and a forecast: they are learned in the order of time, not of the file."""
    whole = Sample()
    for rows in scan_rows(table, columns):
        whole.add(rows)
        if progress is not None:
            progress(rows.read)
    return whole


def beside_of(calibrator: Any, rows: TableRows) -> dict[str, Any]:
    """Groups and horizons, where there are some and the calibrator takes them."""
    groups = None if rows.groups is None else group_of(rows)
    return takes_of(calibrator).only({"groups": groups, "horizon": rows.horizon})
