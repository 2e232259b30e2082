"""Frames that an engine has not worked out yet, read batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
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


def batches_of(frame: Any, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """Batches of some columns, as the engine works them out."""
    native = frame.select(*columns).to_native()
    kind = frame.implementation.name.lower()
    if kind == "polars":
        parts = native.collect_batches(chunk_size=ROWS) if hasattr(native, "collect_batches") else [native.collect()]
        for part in parts:
            yield from part.to_arrow().to_batches()
    elif kind == "dask":
        for number in range(native.npartitions):
            part = native.get_partition(number).compute()
            yield from pa.Table.from_pandas(part, preserve_index=False).to_batches()
    elif kind == "ibis":
        yield from native.to_pyarrow().to_batches(ROWS)
    elif hasattr(native, "__arrow_c_stream__"):  # DuckDB, and PySpark from 4.1 on
        yield from pa.RecordBatchReader.from_stream(native)
    else:
        yield from frame.select(*columns).collect().to_arrow().to_batches()
