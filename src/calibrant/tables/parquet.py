"""Parquet files, one or many, as one table."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

ROWS, MOST_ROWS = 131_072, 524_288  # of a batch at most: of many columns, of few
CELLS = 1 << 22  # of a batch between
SLICE, MOST_LOOKS = 1_000_000, 10_000  # rows of a slice, about, and times that files are looked into


@dataclass(frozen=True)
class ParquetFiles:
    """Files one after another, whose columns have the same names and types that go together.

    What folders are called by, ``day=2026-01-01``, are columns of texts too.
    """

    files: list[Path]
    folders: list[dict[str, str]]
    schema: pa.Schema
    rows: int

    @classmethod
    def of(cls, files: list[Path], root: Path | None = None) -> ParquetFiles:
        """Look at the ends of all files."""
        schemas, rows = [], 0
        for path in files:
            with pq.ParquetFile(path) as file:
                schemas.append(file.schema_arrow)
                rows += file.metadata.num_rows
        folders = [_keys(path, root) if root else {} for path in files]
        schema = schemas[0] if len(files) == 1 else _common(files, schemas)
        for name in folders[0]:
            if name not in schema.names and all(name in keys for keys in folders):
                schema = schema.append(pa.field(name, pa.string()))
        return cls(files, folders, schema, rows)

    def scan(self, columns: list[str], types: dict[str, Any]) -> Iterator[pa.RecordBatch]:
        """Batches of some columns."""
        wanted = pa.schema([self.schema.field(name) for name in columns])
        for path, keys in zip(self.files, self.folders, strict=True):
            with pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20) as file:  # buffers would keep it all
                there = set(file.schema_arrow.names)  # asked once: it lists all columns anew each time
                inside = [name for name in columns if name in there]
                for batch in file.iter_batches(batch_rows(len(inside)), columns=inside):
                    yield batch if len(self.files) == 1 and not keys else _as(batch, wanted, keys)


def row_slices(files: list[Path]) -> list[tuple[int, int | None]]:
    """First row and number of rows (of the last: all that follow) of row groups that are together a million or more.

    Of many files there are fewer slices: who reads one looks at the files before it too.
    """
    sizes = []
    for path in files:
        with pq.ParquetFile(path) as file:
            sizes += [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
    least = max(SLICE, sum(sizes) * len(files) // MOST_LOOKS)
    starts, seen = [0], 0
    for size in sizes:
        if seen - starts[-1] >= least:
            starts.append(seen)
        seen += size
    return [*((start, end - start) for start, end in itertools.pairwise(starts)), (starts[-1], None)]


def batch_rows(columns: int) -> int:
    """Rows of a batch at most.

    >>> batch_rows(3), batch_rows(20), batch_rows(100)
    (524288, 209715, 131072)
    """
    return min(max(CELLS // max(columns, 1), ROWS), MOST_ROWS)


def _as(batch: pa.RecordBatch, schema: pa.Schema, keys: dict[str, str]) -> pa.RecordBatch:
    """A batch in the order and with the types of a schema; what is not in it is what its folders are called."""
    there = set(batch.schema.names)
    arrays = [
        batch[field.name].cast(field.type)
        if field.name in there
        else pa.repeat(pa.scalar(keys[field.name], field.type), batch.num_rows)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _keys(path: Path, root: Path) -> dict[str, str]:
    """Keys and values in the names of folders: a=1/b=2 is {"a": "1", "b": "2"}."""
    pairs = [part.partition("=") for part in path.relative_to(root).parts[:-1]]
    return {key: value for key, sign, value in pairs if sign and key}


def _common(files: list[Path], schemas: list[pa.Schema]) -> pa.Schema:
    """The schema of all files: the names of the first, and types that hold the values of each."""
    names = schemas[0].names
    for path, schema in zip(files, schemas, strict=True):
        odd = sorted(set(names) ^ set(schema.names))
        if odd:
            where, other = (files[0], path) if odd[0] in names else (path, files[0])
            text = f"`{odd[0]}` is in `{where}` and not in `{other}`"
            raise ValueError(f"files of one table must have the same columns; {text}.")
    by_name = {name: [schema.field(name).remove_metadata() for schema in schemas] for name in names}
    return pa.schema([_one_type(name, files, fields) for name, fields in by_name.items()])


def _one_type(name: str, files: list[Path], fields: list[pa.Field]) -> pa.Field:
    so_far = pa.schema([fields[0].with_nullable(True)])
    for path, field in zip(files, fields, strict=True):
        try:
            so_far = pa.unify_schemas([so_far, pa.schema([field])], promote_options="permissive")
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            kinds = f"{so_far.field(0).type} in `{files[0]}` and {field.type} in `{path}`"
            raise ValueError(f"column `{name}` must have one type in all files of a table; it is {kinds}.") from None
    return so_far.field(0)
