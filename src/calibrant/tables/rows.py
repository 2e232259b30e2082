"""Rows of a table as arrays, checked; what is wrong is told with the column's name and the row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from .._checks import Array
from ..calibration.feature_table import features_of
from .columns import Columns, Forecasts
from .roles import RoleError
from .sources import Table

MISSING = "(missing)"  # the group of rows that name none
_NUMBERS = [getattr(pa.types, f"is_{kind}") for kind in ("floating", "integer", "decimal", "boolean", "null")]
_EXTRA = ("y", "weights", "groups", "time", "ids", "horizon")
TRUTH = {"true": "true", "1": "true", "false": "false", "0": "false"}

RowNumbers = Any  # an array, or RowRange


class RowRange:
    """The numbers of consecutive rows, made only where somebody asks."""

    def __init__(self, start: int, rows: int) -> None:
        self.start, self.rows = start, rows

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, rows: Any) -> Any:
        return np.asarray(self)[rows]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[np.int64]:
        return np.arange(self.start, self.start + self.rows)


@dataclass(frozen=True, eq=False)
class TableRows:
    """Some rows: the parts of forecasts, and what goes with them.

    Outcomes of classes are the labels' places among ``columns.keys``. Rows without an outcome are not here, nor rows
    whose forecast is missing or infinite; ``numbers`` are the places of the others in the table, ``read`` is how many
    rows were read to find them, ``blank`` how many of those have an outcome and no forecast. Features are numbers, NaN
    where missing, and texts, null where missing.
    """

    parts: list[Array]
    numbers: RowNumbers
    y: NDArray[Any] | None = None
    weights: Array | None = None
    groups: NDArray[np.object_] | None = None
    time: NDArray[Any] | None = None
    ids: NDArray[np.object_] | None = None
    features: pa.Table | None = None
    read: int = 0
    blank: int = 0
    horizon: Array | None = None

    def __len__(self) -> int:
        return len(self.parts[0])

    def take(self, rows: Any) -> TableRows:
        """Some of them."""
        kept: dict[str, Any] = {name: None if (v := getattr(self, name)) is None else v[rows] for name in _EXTRA}
        kept["features"] = features_of(self.features, rows)
        return TableRows([part[rows] for part in self.parts], self.numbers[rows], **kept)

    @classmethod
    def joined(cls, pieces: list[TableRows]) -> TableRows:
        """One after another."""
        parts = [np.concatenate(columns) for columns in zip(*(piece.parts for piece in pieces), strict=True)]
        there = [name for name in _EXTRA if getattr(pieces[0], name) is not None]
        extra: dict[str, Any] = {name: np.concatenate([getattr(piece, name) for piece in pieces]) for name in there}
        if pieces[0].features is not None:
            extra["features"] = pa.concat_tables([piece.features for piece in pieces])
        numbers = np.concatenate([np.asarray(piece.numbers) for piece in pieces])
        counts = {name: sum(getattr(piece, name) for piece in pieces) for name in ("read", "blank")}
        return cls(parts, numbers, **extra, **counts)


def scan_rows(table: Table, columns: Columns) -> Iterator[TableRows]:
    """Rows of a table that have an outcome and a forecast, batch by batch; where no target is named, a forecast."""
    start = 0
    types = table.settled() if columns.feature else {}
    for batch in table.batches(columns.names(), types | columns.types()):
        yield read_rows(batch, columns, start, strict=table.strict)
        start += batch.num_rows


def read_rows(batch: pa.RecordBatch, columns: Columns, start: int = 0, *, strict: bool = False) -> TableRows:
    """Rows of a batch that begins at row ``start`` of its table; if strict, a missing forecast is an error."""
    places: RowNumbers = RowRange(start, batch.num_rows)
    y, read = None if columns.target is None else _outcomes(batch, columns, places), batch.num_rows
    if y is not None:
        kept = _with_outcome(y, columns)
        if kept is not None:
            y, places, batch = y[kept], places[kept], batch.filter(pa.array(kept))
    parts, kept = _forecast_columns(batch, columns, places, strict)
    blank = 0 if kept is None else len(kept) - int(kept.sum())
    if kept is not None:
        y, places, batch = None if y is None else y[kept], places[kept], batch.filter(pa.array(kept))
    if columns.kind == "normal" and not parts[1].min(initial=1.0) > 0:
        _complain(parts[1] <= 0, parts[1], columns.forecast[1], "positive", places)
    weights = None
    if columns.weight is not None:
        weights = _finite(numbers(batch, columns.weight, places), columns.weight, places)
        _complain(weights < 0, weights, columns.weight, "0 or positive", places)
    groups = np.column_stack([texts(batch[name]) for name in columns.group]) if columns.group else None
    time = None if columns.time is None else _time(batch, columns.time, places)
    ids = None if columns.id is None else texts(batch[columns.id])
    features, horizon = _features(batch, columns, places), _horizon(batch, columns, places)
    return TableRows(parts, places, y, weights, groups, time, ids, features, read, blank, horizon)


def stand_in(batch: pa.RecordBatch, columns: Columns) -> TableRows:
    """One row with some forecast in the first group of a batch: what comes of it tells columns, but no numbers."""
    first = batch.slice(0, 1)
    groups = np.column_stack([texts(first[name]) for name in columns.group]) if columns.group else None
    features = _features(first, columns, RowRange(0, 1))
    horizon = None if columns.horizon is None else np.ones(1)
    return TableRows(columns.any_forecast(), RowRange(0, 1), groups=groups, features=features, horizon=horizon)


def forecasts_of(columns: Columns, rows: TableRows) -> Forecasts:
    """The forecasts of some rows; what is wrong with them is told with where they are."""
    try:
        return columns.forecasts(rows.parts)
    except ValueError as reason:
        first, last = (rows.numbers[0], rows.numbers[-1]) if len(rows) else (0, 0)
        raise ValueError(f"{columns}, rows {first} to {last}: {reason}") from reason


def numbers(batch: pa.RecordBatch, name: str, places: RowNumbers) -> Array:
    """A column of numbers; missing ones are NaN."""
    column = _decoded(batch[name])
    kind = column.type
    if not are_numbers(kind):
        value, row = _first_value(column, places)
        raise ValueError(f"column `{name}` must be numbers; row {row} (the first is 0) holds {value!r} ({kind}).")
    if kind != pa.float64():
        column = column.cast(pa.float64(), safe=False)
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)


def are_numbers(kind: pa.DataType) -> bool:
    """Whether values of a type are read as numbers: booleans are 0 and 1."""
    return any(is_kind(kind) for is_kind in _NUMBERS)


def texts(column: pa.Array) -> NDArray[np.object_]:
    """Labels as texts, so that a number and its name are one label; equal ones are one text in memory."""
    coded = _text(column).fill_null(MISSING).dictionary_encode()
    names = np.asarray(coded.dictionary.to_numpy(zero_copy_only=False), dtype=object)
    return np.asarray(names[coded.indices.to_numpy()], dtype=object)


def _text(column: pa.Array) -> pa.Array:
    column = _decoded(column)
    if pa.types.is_floating(column.type) and pc.all(pc.equal(pc.floor(column), column)).as_py() is not False:
        column = column.cast(pa.int64(), safe=False)
    text = column.cast(pa.string())
    return pc.if_else(pc.equal(text, ""), None, text)  # a text file has no other way to say nothing


def _features(batch: pa.RecordBatch, columns: Columns, places: RowNumbers) -> pa.Table | None:
    """Numbers and texts of the rows, by name; what is missing stays so."""
    if not columns.feature:
        return None
    arrays = [
        _text(_unless_nan(_decoded(batch[name])))
        if name in columns.category
        else pa.array(numbers(batch, name, places), pa.float64())
        for name in columns.feature
    ]
    return pa.table(arrays, names=list(columns.feature))


def _horizon(batch: pa.RecordBatch, columns: Columns, places: RowNumbers) -> Array | None:
    name = columns.horizon
    return None if name is None else _finite(numbers(batch, name, places), name, places)


def _decoded(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _outcomes(batch: pa.RecordBatch, columns: Columns, places: RowNumbers) -> NDArray[Any]:
    """Numbers, NaN where missing; or places of labels, -1 where missing."""
    target = str(columns.target)
    if columns.kind != "classes":
        y = numbers(batch, target, places)
        if not _all_finite(y):
            _complain(np.isinf(y), y, target, "finite", places)
        return y
    text, keys = _text(_unless_nan(_decoded(batch[target]))), [str(key) for key in columns.keys]
    if pa.types.is_boolean(_decoded(batch[target]).type) and {key.lower() for key in keys} <= TRUTH.keys():
        keys = [TRUTH[key.lower()] for key in keys]
    codes = pc.index_in(text, value_set=pa.array(keys, pa.string()))
    unknown = pc.and_(pc.is_null(codes), pc.is_valid(text)).to_numpy(zero_copy_only=False)
    if unknown.any():
        first = int(np.argmax(unknown))
        raise RoleError(
            "labels in `{column}` must be among {listed}, as the class columns are; row {row} (the first is 0) holds "
            "{label!r}. Other names? Say {probability:LABEL=column}.",
            column=target, listed=", ".join(map(repr, keys)), row=places[first], label=text[first].as_py(),
        )  # fmt: skip
    return np.asarray(codes.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.intp)


def _with_outcome(y: NDArray[Any], columns: Columns) -> NDArray[np.bool_] | None:
    """Which rows have an outcome; None if all have."""
    if columns.kind != "classes" and _all_finite(y):
        return None
    kept = y >= 0 if columns.kind == "classes" else ~np.isnan(y)
    return None if kept.all() else np.asarray(kept)


def _forecast_columns(
    batch: pa.RecordBatch, columns: Columns, places: RowNumbers, strict: bool
) -> tuple[list[Array], NDArray[np.bool_] | None]:
    """Parts of the forecasts where none is missing or infinite, and which rows these are; None if all are."""
    parts = [numbers(batch, name, places) for name in columns.forecast]
    if all(map(_all_finite, parts)):
        return parts, None
    if strict:
        parts = [_finite(part, name, places) for part, name in zip(parts, columns.forecast, strict=True)]
    kept = np.logical_and.reduce([np.isfinite(part) for part in parts])
    return ([part[kept] for part in parts], kept) if not kept.all() else (parts, None)


def _unless_nan(column: pa.Array) -> pa.Array:
    return pc.if_else(pc.is_nan(column), None, column) if pa.types.is_floating(column.type) else column


def _time(batch: pa.RecordBatch, name: str, places: RowNumbers) -> NDArray[Any]:
    column = _decoded(batch[name])
    if column.null_count:
        row = places[int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))]
        raise ValueError(f"column `{name}` must not be missing; it is in row {row} (the first is 0).")
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _finite(values: Array, name: str, places: RowNumbers) -> Array:
    if not _all_finite(values):
        _complain(~np.isfinite(values), values, name, "finite numbers", places)
    return values


def _all_finite(values: Array) -> bool:
    """Whether one cheap pass tells so; an overflowing sum has to be looked at closer."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum()))


def _complain(bad: NDArray[np.bool_], values: Array, name: str, rule: str, places: RowNumbers) -> None:
    if not bad.any():
        return
    rows = places[bad]
    listed = ", ".join(map(str, rows[:5])) + (f" and {len(rows) - 5} more" if len(rows) > 5 else "")
    plural = "s" if len(rows) > 1 else ""
    raise ValueError(f"column `{name}` must be {rule}; row{plural} {listed} (the first is 0): {values[bad][0]}.")


def _first_value(column: pa.Array, places: RowNumbers) -> tuple[Any, int]:
    """The first value that is no number; of texts that all look like numbers the first."""
    values = column.to_pylist()
    odd = [i for i, value in enumerate(values) if value is not None and not _looks_like_a_number(value)]
    first = next(iter(odd or [i for i, value in enumerate(values) if value is not None]), 0)
    return (values[first], int(places[first])) if values else (None, 0)


def _looks_like_a_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
