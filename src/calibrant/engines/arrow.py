"""Fit, evaluate and apply calibrators to tables, by record batches."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import clone

from ..calibration.contract import Beside, Takes, takes_of
from ..select import Comparison
from ..select.candidates import named, see_features
from ..select.compare import compared
from ..select.trial import Trial
from ..tables.columns import Columns
from ..tables.roles import RoleError
from ..tables.rows import TableRows, forecasts_of, scan_rows
from ..tables.sources import Table, open_table
from ..tables.writing import check_output, write_table
from .added import Added
from .analysis import analyse
from .calibrated import calibrated_batch, group_of
from .result import Result
from .sampling import NO_FORECAST, Sample, gathered

MOST_ROWS = 200_000  # looked at for measures and pictures
Progress = Callable[[int], Any]


def fit(
    source: Any, columns: Columns, calibrator: Any, *, sample: Sample | None = None, progress: Progress | None = None
) -> Any:
    """Fit a calibrator to a table.

    Calibrators to which a summary is enough, such as the default one, work in constant memory, whatever the size of the
    file, and keep the summary (`summary_`), so that more rows can be added; the others need the columns in memory.

    Parameters
    ----------
    source : path, frame or Table
    columns : Columns
        Which column is what; see `find_columns`.
    calibrator : calibrator
        Is not touched; a fitted copy comes back.
    sample : Sample, optional
        Gets to see all rows that go by.
    progress : callable, optional
        Called with the number of rows after each batch.

    Examples
    --------
    >>> from calibrant import QuantileCalibrator
    >>> table = pa.table({"mu": [0.0, 1.0, 2.0], "sigma": [1.0, 1.0, 1.0], "y": [0.5, 0.5, 3.5]})
    >>> fit(table, Columns("normal", ("mu", "sigma"), target="y"), QuantileCalibrator()).n_rows_
    3
    """
    table = source if isinstance(source, Table) else open_table(source)
    pieces = _watched(scan_rows(table, columns), sample, progress)
    fresh = clone(calibrator)
    if columns.feature and "X" not in takes_of(fresh).beside:
        raise RoleError("{kind} uses no features; leave {feature} out.", kind=type(fresh).__name__)
    if getattr(fresh, "summary_is_enough", False):
        return _fit_by_summaries(pieces, columns, fresh)
    whole = Sample()
    for rows in pieces:
        whole.add(rows)
    rows = _rows_with_outcomes(whole, columns)
    return fresh.fit(*_learned_from(columns, rows), **_beside(fresh, rows))


def _fit_by_summaries(pieces: Iterator[TableRows], columns: Columns, calibrator: Any) -> Any:
    """Summaries of all pieces, merged, and one fit to what they add up to."""
    seen = blank = 0
    for rows in gathered(pieces) if columns.group else pieces:
        seen, blank = seen + rows.parts[0].size, blank + rows.blank
        used = rows if rows.weights is None or rows.weights.all() else rows.take(rows.weights > 0)
        if used.parts[0].size:
            calibrator.partial_fit(*_learned_from(columns, used), **_beside(calibrator, used))
        del rows, used  # before more are gathered
    if not hasattr(calibrator, "n_rows_"):
        refuse_unusable(seen, blank, columns)
    return calibrator.fit_summary(calibrator.summary_)


def refuse_unusable(seen: int, blank: int, columns: Columns) -> NoReturn:
    """Tell why no row can be learned from, where so many have a forecast and an outcome, or only the latter."""
    if seen and columns.weight:
        where = f"a weight above 0 in `{columns.weight}`"
        raise ValueError(f"column `{columns.target}` must have {where} in some row; it has none.")
    _refuse_too_few(seen, blank, columns, 1)


def _learned_from(columns: Columns, rows: TableRows) -> tuple[Any, NDArray[Any]]:
    """Forecasts and outcomes."""
    return forecasts_of(columns, rows), outcomes_of(columns, rows)


def _beside(calibrator: Any, rows: TableRows) -> dict[str, Any]:
    """What a calibrator takes beside them: weights; groups where there are some or where it needs them; features."""
    taken = takes_of(calibrator)
    wanted = "groups" in taken.needs or ("groups" in taken.beside and rows.groups is not None)
    groups = {"groups": group_of(rows)} if wanted else {}
    others = {"X": rows.features, "horizon": rows.horizon, "time": rows.time if "time" in taken.beside else None}
    return {"sample_weight": rows.weights, **groups, **{name: v for name, v in others.items() if v is not None}}


def evaluate(
    source: Any,
    columns: Columns,
    *,
    candidates: Any = None,
    most: int = MOST_ROWS,
    cv: int = 5,
    progress: Progress | None = None,
    stage: Callable[[str], Any] | None = None,
) -> Result:
    """How good the forecasts in a table are, and what calibrators make of them.

    Parameters
    ----------
    source : path, frame or Table
    columns : Columns
    candidates : calibrators by name, optional
        Every sensible one if None.
    most : int
        Rows to look at; of more, a random sample of that many.
    cv : int
    progress : callable, optional
        Called with the number of rows after each batch.
    stage : callable, optional
        Called with the name of each calibrator before it is tried.
    """
    table, sample = open_table(source), Sample(most)
    for _ in _watched(scan_rows(table, columns), sample, progress):
        pass
    result = analysed(sample, columns, candidates=candidates, cv=cv, stage=stage)
    return replace(result, source=table.name)


def compare(
    source: Any,
    columns: Columns,
    *,
    candidates: Any = None,
    most: int = MOST_ROWS,
    cv: Any = 5,
    progress: Progress | None = None,
    fits: Callable[[int, int], Any] | None = None,
) -> tuple[Comparison, list[str]]:
    """Calibrators side by side on a table, and notes on what was left out.

    Parameters
    ----------
    source : path, frame or Table
    columns : Columns
        With a column of time, each fold is calibrated by the rows before it; with columns of groups, one correction
        for all competes with one a group.
    candidates : calibrators by name, optional
        Every sensible one if None.
    most : int
        Rows to look at; of more, a random sample of that many.
    cv : int or pair of ints
        Folds, and repetitions.
    progress : callable, optional
        Called with the number of rows after each batch.
    fits : callable, optional
        Called with the number of fits done and of all fits.
    """
    sample = Sample(most)
    for _ in _watched(scan_rows(open_table(source), columns), sample, progress):
        pass
    rows = _rows_with_outcomes(sample, columns, 2)
    forecasts, y = forecasts_of(columns, rows), outcomes_of(columns, rows)
    beside: Beside = {"groups": None if rows.groups is None else group_of(rows), "time": rows.time, "X": rows.features}
    beside["horizon"] = rows.horizon
    trial = Trial.of(forecasts, y, sample_weight=rows.weights, cv=cv, **beside)
    grouped, features = rows.groups is not None, rows.features is not None
    chosen = named(candidates, trial.forecasts, grouped=grouped, features=features, ordered=rows.time is not None)
    if features and not see_features(chosen):
        remedy = "boosted does, of distributions: pip install 'calibrant[boost]'"
        raise RoleError("no calibrator that is tried uses {feature}; {remedy}.", remedy=remedy)
    found = compared(trial, chosen, fits)
    return found, [*found.notes, *sample.notes()]


def analysed(
    sample: Sample, columns: Columns, *, candidates: Any = None, cv: int = 5, stage: Callable[[str], Any] | None = None
) -> Result:
    """The same for rows that a sample has seen."""
    rows = _rows_with_outcomes(sample, columns, 2)
    result = analyse(
        forecasts_of(columns, rows),
        outcomes_of(columns, rows),
        candidates=candidates,
        sample_weight=rows.weights,
        groups=None if rows.groups is None else dict(zip(columns.group, rows.groups.T, strict=True)),
        axis=rows.time,
        cv=cv,
        progress=stage,
        X=rows.features,
        horizon=rows.horizon,
    )
    ids = [None] * len(rows) if rows.ids is None else rows.ids
    worst = [replace(row, row=int(rows.numbers[row.row]), id=ids[row.row]) for row in result.worst]
    notes = sample.notes()
    mind = replace(result.decision, caveats=[*result.decision.caveats, *map(_sentence, notes)])
    return replace(result, rows=sample.read, worst=worst, notes=[*result.notes, *notes], decision=mind)


def apply(
    calibrator: Any,
    source: Any,
    columns: Columns,
    output: str | Path | None = None,
    *,
    added: Added | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Any:
    """Calibrate the forecasts in a table and add columns with what comes out, last and in the order asked.

    Parameters
    ----------
    calibrator : fitted calibrator
    source : path, frame or Table
    columns : Columns
    output : path, optional
        A Parquet, CSV or Arrow file, by its name; written whole or not at all. None gives back a frame of the kind
        that came in; a pyarrow table for files.
    added : Added, optional
        Which columns; quantiles at five levels, or a probability for each class.
    overwrite : bool
        Whether the output may be the input.
    progress : callable, optional
        Called with the number of rows after each batch.

    Returns
    -------
    frame, or list of str
        The names of the columns that were added to the file.

    Examples
    --------
    >>> from calibrant import QuantileCalibrator
    >>> table = pa.table({"mu": [0.0, 1.0, 2.0], "sigma": [1.0, 1.0, 1.0], "y": [0.5, 0.5, 3.5]})
    >>> columns = Columns("normal", ("mu", "sigma"), target="y")
    >>> calibrator = fit(table, columns, QuantileCalibrator())
    >>> apply(calibrator, table, columns, added=Added.of(levels=[0.1, 0.9])).column_names
    ['mu', 'sigma', 'y', 'q0.1', 'q0.9']
    """
    table = open_table(source)
    if output is not None:
        target = check_output(output, table.name if table.frame is None else None, overwrite=overwrite)
    added = (added or Added()).among(table.columns)
    roles = roles_to_apply(columns, takes_of(calibrator))
    rows: Counter[str] = Counter()
    batches = _calibrated(calibrator, table, roles, added, rows, progress)
    made: Any = []
    if output is None:
        made = _back(table, list(batches))
    else:
        write_table(target, _noting(batches, made))
    if rows["blank"]:
        blank = f"{rows['blank']} of {rows['read']} rows {NO_FORECAST}"
        warnings.warn(f"{blank}; the new columns are blank there", stacklevel=2)
    return made if output is None else made[len(table.columns) :]


def roles_to_apply(columns: Columns, taken: Takes) -> Columns:
    """Forecasts, and groups and features where they are taken."""
    roles = columns.without("target", "weight", "time", "id", *([] if "horizon" in taken.beside else ["horizon"]))
    if "horizon" in taken.needs and not roles.horizon:
        raise RoleError("the calibrator has one correction a horizon; say which column tells it: {horizon}.")
    roles = roles if "groups" in taken.beside else replace(roles, group=())
    if "X" in taken.needs and not roles.feature:
        raise RoleError("the calibrator uses features; say which columns they are: {feature}.")
    return roles if "X" in taken.beside else roles.without_features()


def roles_to_measure(columns: Columns, taken: Takes | None) -> Columns:
    """Forecasts, outcomes, weights and groups, and what a calibrator takes beside, where there is one."""
    roles = columns.without("time", "id")
    if taken is None:
        return roles.without("horizon").without_features()
    asked = roles_to_apply(columns, taken)
    return replace(asked, target=columns.target, weight=columns.weight, group=columns.group)


def outcomes_of(columns: Columns, rows: TableRows) -> NDArray[Any]:
    """Outcomes, or labels."""
    if rows.y is None:
        raise RoleError("a column of outcomes must be named: {target}.")
    return np.asarray(columns.keys)[rows.y] if columns.kind == "classes" else rows.y


def _sentence(note: str) -> str:
    return f"{note[:1].upper()}{note[1:]}."


def _watched(pieces: Iterator[TableRows], sample: Sample | None, progress: Progress | None) -> Iterator[TableRows]:
    for rows in pieces:
        if sample is not None:
            sample.add(rows)
        if progress is not None:
            progress(rows.read)
        yield rows


def _rows_with_outcomes(sample: Sample, columns: Columns, least: int = 1) -> TableRows:
    if sample.seen < least:
        _refuse_too_few(sample.seen, sample.blank, columns, least)
    return sample.rows()


def _refuse_too_few(seen: int, blank: int, columns: Columns, least: int) -> NoReturn:
    """Tell that too few rows have an outcome, or a forecast beside it."""
    rows = "some row; it has none" if least == 1 or not seen else f"{least} rows at least; it has {seen}"
    if not blank:
        raise ValueError(f"column `{columns.target}` must have an outcome in {rows}.")
    without = f"{blank} of {seen + blank} rows with an outcome"
    raise ValueError(f"{columns} must be finite in {rows.partition(';')[0]} with an outcome; {without} {NO_FORECAST}.")


def _calibrated(
    calibrator: Any, table: Table, columns: Columns, added: Added, count: Counter[str], progress: Progress | None
) -> Iterator[pa.RecordBatch]:
    """All columns of each batch, and the new ones; these are blank where there is no forecast."""
    start = 0
    for batch in table.batches(types=table.settled() | columns.types()):
        made, rows = calibrated_batch(calibrator, batch, columns, added, start, strict=table.strict)
        yield made
        start += batch.num_rows
        count.update(read=rows.read, blank=rows.blank)
        if progress is not None:
            progress(batch.num_rows)


def _noting(batches: Iterator[pa.RecordBatch], names: list[str]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        names[:] = batch.schema.names
        yield batch


def _back(table: Table, batches: list[pa.RecordBatch]) -> Any:
    """A frame of the kind that the table came in."""
    whole = pa.Table.from_batches(batches)
    if table.frame is None:
        return whole
    made = whole.select(whole.column_names[len(table.columns) :])
    kind = table.frame.implementation
    new = nw.from_arrow(made, backend=kind)
    return table.frame.with_columns(*new.iter_columns()).to_native()
