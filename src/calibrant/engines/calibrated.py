"""Record batches with columns of calibrated forecasts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .._checks import Array
from ..calibration.contract import transform_with
from ..tables.columns import Columns
from ..tables.roles import RoleError
from ..tables.rows import RowRange, TableRows, forecasts_of, numbers, read_rows, stand_in
from .added import Added, Place, free_names
from .analysis import joint_labels


def calibrated_batch(
    calibrator: Any, batch: pa.RecordBatch, columns: Columns, added: Added, start: int = 0, *, strict: bool = False
) -> tuple[pa.RecordBatch, TableRows]:
    """A batch that begins at row ``start`` of its table, with new columns, and its rows that have a forecast."""
    rows = read_rows(batch, columns, start, strict=strict)
    tried = rows if len(rows) else stand_in(batch, columns)
    groups = None if tried.groups is None else group_of(tried)
    law = transform_with(
        calibrator, forecasts_of(columns, tried), groups=groups, X=tried.features, horizon=tried.horizon
    )
    new = added.columns(law, columns.keys, lambda place: _numbers_at(place, batch, rows, start))
    names = free_names(new, batch.schema.names)
    fields = [*batch.schema, *(pa.field(name, pa.float64()) for name in names.values())]
    chances = added.chances()
    made = [_with_blanks(values, rows, start, unless_nan=name in chances) for name, values in new.items()]
    arrays = [*batch.columns, *made]
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields, metadata=batch.schema.metadata)), rows


def _numbers_at(place: Place, batch: pa.RecordBatch, rows: TableRows, start: int) -> Array:
    """A column of a batch, or one number, for each row with a forecast; a stand-in where no row has one."""
    if not len(rows) or not isinstance(place, str):
        return np.full(max(len(rows), 1), 0.0 if isinstance(place, str) else place)
    values = numbers(batch, place, RowRange(start, batch.num_rows))
    return values[np.asarray(rows.numbers) - start] if rows.blank else values


def _with_blanks(values: Array, rows: TableRows, start: int, *, unless_nan: bool) -> pa.Array:
    """A column of a batch from the values of its rows with a forecast; the others are null, and NaN may be too."""
    if not rows.blank:
        return pa.array(values, pa.float64(), from_pandas=unless_nan)
    whole, gone = np.zeros(rows.read), np.ones(rows.read, dtype=bool)
    places = np.asarray(rows.numbers) - start
    whole[places] = values = values[: len(places)]
    gone[places] = np.isnan(values) & unless_nan
    return pa.array(whole, pa.float64(), mask=gone)


def group_of(rows: TableRows) -> NDArray[np.object_]:
    """The group of each row, by all columns of groups together."""
    if rows.groups is None:
        raise RoleError("a column of groups must be named: {group}.")
    return np.asarray(joint_labels(*rows.groups.T))
