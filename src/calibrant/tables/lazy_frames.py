"""Frames that an engine has not worked out yet, read batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import narwhals as nw
import pyarrow as pa

from .parquet import ROWS


def lazy_frame(source: Any) -> Any:
    """The frame that narwhals makes of a source whose engine works later; None of any other source.

    >>> import polars as pl
    >>> lazy_frame(pl.LazyFrame({"y": [1.0]})).collect_schema().names()
    ['y']
    >>> lazy_frame(pl.DataFrame({"y": [1.0]})) is None
    True
    """
    frame = nw.from_native(source, pass_through=True)
    return frame if isinstance(frame, nw.LazyFrame) else None


def schema_of(frame: Any) -> pa.Schema:
    """Names of all columns; of their types only whether they are floating-point numbers, as for other frames."""
    found = frame.collect_schema()
    return pa.schema([(name, pa.float64() if kind.is_float() else pa.null()) for name, kind in found.items()])


Slices = Sequence[tuple[int, int | None]]


def batches_of(frame: Any, columns: list[str], slices: Slices = ()) -> Iterator[pa.RecordBatch]:
    """Batches of some columns, as the engine works them out; of Polars one slice of rows after another, if any."""
    kind, names = frame.implementation.name.lower(), frame.collect_schema().names()
    if kind == "pyspark" and columns != names:
        safe = nw.from_native(without_dots(frame.to_native()))
        wanted = safe.select(*(f"c{names.index(name)}" for name in columns))
    else:
        wanted = frame if columns == names else frame.select(*columns)
    native = wanted.to_native()
    if kind == "polars":
        for part in [native.slice(*rows) for rows in slices] or [native]:
            yield from _batches_of_polars(part)
    elif kind == "dask":
        for number in range(native.npartitions):
            part = native.get_partition(number).compute()
            yield from pa.Table.from_pandas(part, preserve_index=False).to_batches()
    elif kind == "ibis":
        yield from native.to_pyarrow().to_batches(ROWS)
    elif kind == "pyspark":
        for part in _streamed(without_dots(native)):
            yield part.rename_columns(columns)
    elif hasattr(native, "__arrow_c_stream__"):  # DuckDB
        yield from pa.RecordBatchReader.from_stream(native)
    else:
        yield from wanted.collect().to_arrow().to_batches()


def _batches_of_polars(frame: Any) -> Iterator[pa.RecordBatch]:
    parts = frame.collect_batches(chunk_size=ROWS) if hasattr(frame, "collect_batches") else [frame.collect()]
    for part in parts:
        yield from part.to_arrow().to_batches()


def without_dots(frame: Any) -> Any:
    """A frame of PySpark with columns called c0, c1, …: it takes a dot in a name for a part of a column."""
    return frame.toDF(*(f"c{place}" for place in range(len(frame.columns))))


def has_dots(frame: Any, names: list[str]) -> bool:
    """Whether an engine would take some of these columns for parts of others."""
    return frame.implementation.name.lower() == "pyspark" and any("." in name for name in names)


def _streamed(frame: Any) -> Iterator[pa.RecordBatch]:
    """Batches of a frame of PySpark, one partition after another from version 4.1 on."""
    if hasattr(frame, "__arrow_c_stream__"):
        yield from pa.RecordBatchReader.from_stream(frame)
    else:
        yield from pa.Table.from_pandas(frame.toPandas(), preserve_index=False).to_batches()
