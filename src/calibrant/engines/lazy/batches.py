"""Calibrating batch by batch where expressions will not do: the engine moves Arrow batches, the one Arrow path works.

What travels is the saved calibrator, in bytes; each worker loads it once.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from ...store.calibrators import load, save
from ...tables.columns import Columns
from ...tables.lazy_frames import batches_of, without_dots
from ..added import Added
from ..calibrated import calibrated_batch


@dataclass(frozen=True)
class Work:
    """What a worker does with batches.

    Attributes
    ----------
    saved : bytes
        The file of the calibrator.
    columns : Columns
    added : Added
    names : tuple of str
        What the columns are called, where batches call them otherwise.
    """

    saved: bytes
    columns: Columns
    added: Added
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, calibrator: Any, columns: Columns, added: Added) -> Work:
        """The work of a fitted calibrator."""
        with tempfile.TemporaryDirectory() as folder:
            save(calibrator, path := Path(folder, "calibrator"))
            return cls(path.read_bytes(), columns, added)

    def on_batches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches with new columns; empty ones are left out."""
        calibrator = _loaded(self.saved)
        for batch in batches:
            if batch.num_rows:
                named = batch.rename_columns(self.names) if self.names else batch
                yield calibrated_batch(calibrator, named, self.columns, self.added)[0]

    def on_table(self, table: pa.Table) -> pa.Table:
        """A table with new columns."""
        return pa.Table.from_batches(self.on_batches(table.combine_chunks().to_batches()))

    def on_polars(self, frame: Any) -> Any:
        """A Polars frame with new columns."""
        import polars as pl

        made = self.on_table(frame.to_arrow())
        return frame.with_columns(**{name: pl.from_arrow(made[name]) for name in made.column_names[frame.width :]})

    def on_pandas(self, frame: Any) -> Any:
        """A pandas frame with new columns."""
        made = self.on_table(pa.Table.from_pandas(frame, preserve_index=False))
        names = made.column_names[frame.shape[1] :]
        return frame.assign(**{name: made[name].to_numpy() for name in names})


@lru_cache(maxsize=4)
def _loaded(saved: bytes) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "calibrator")
        path.write_bytes(saved)
        return load(path)


def calibrated(frame: Any, work: Work) -> Any:
    """The frame with new columns, of the engine that it came from.

    Polars, Dask and Spark work later; DuckDB and Ibis have no functions of batches, and hold the result in memory.
    """
    native, kind = frame.to_native(), frame.implementation.name.lower()
    columns = frame.collect_schema().names()
    if kind in ("duckdb", "ibis"):
        return _held(native, kind, pa.Table.from_batches(work.on_batches(batches_of(frame, columns))))
    first = next(iter(batches_of(frame.head(1), columns)), None)
    if first is None or not first.num_rows:
        raise ValueError("`the frame` has no rows.")
    names = next(work.on_batches([first])).schema.names[len(columns) :]
    if kind == "polars":
        import polars as pl

        schema = native.collect_schema() | dict.fromkeys(names, pl.Float64())
        return native.map_batches(work.on_polars, schema=schema, streamable=True)
    if kind == "dask":
        return native.map_partitions(work.on_pandas, meta=native._meta.assign(**dict.fromkeys(names, 0.0)))
    from pyspark.sql.types import DoubleType, StructField, StructType

    fields = [*native.schema.fields, *(StructField(name, DoubleType()) for name in names)]
    return without_dots(native).mapInArrow(replace(work, names=tuple(columns)).on_batches, StructType(fields))


def _held(native: Any, kind: str, made: pa.Table) -> Any:
    if kind == "duckdb":
        return native.query("calibrated_from", "select * from made")
    import ibis

    return ibis.memtable(made)
