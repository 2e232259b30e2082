"""Tables from files or frames, read by record batches."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import narwhals as nw
import pyarrow as pa

from .._checks import column_names
from .engine_files import database_frame, engine_frame, is_database, slices_for
from .files import PIPE, files_of, format_of, stored
from .json_lines import JsonLines
from .lazy_frames import Slices, batches_of, lazy_frame, schema_of
from .parquet import ROWS, ParquetFiles
from .reading import Reading
from .roles import RoleError
from .text import TextTable

Scan = Callable[[list[str], dict[str, Any]], Iterable[pa.RecordBatch]]


@dataclass(frozen=True, eq=False)
class Table:
    """A table that is never in memory as a whole, unless it came so.

    Attributes
    ----------
    name : str
        What messages call it.
    schema : pyarrow.Schema
    rows : int or None
        None if nobody has counted them: those of a text file.
    format : {"parquet", "csv", "jsonl", "arrow", "frame"}
    frame : narwhals.DataFrame or None
        The frame that it came in.
    notes : tuple of str
        What was found out about the file.
    settled : callable
        Gives the types with which all columns of a text file can be read to the end.
    strict : bool
        Whether a missing or infinite forecast is an error, rather than a row that is left out.
    lazy : narwhals.LazyFrame or None
        The frame of the engine that is to read it.
    slices : sequence of (int, int or None)
        First row and number of rows that the engine is to read at a time, lest it keep much in memory; none: all.
    """

    name: str
    schema: pa.Schema
    rows: int | None
    format: str
    scan: Scan
    frame: Any = None
    notes: tuple[str, ...] = ()
    settled: Callable[[], dict[str, Any]] = dict
    strict: bool = False
    lazy: Any = None
    slices: Slices = ()

    @property
    def columns(self) -> list[str]:
        """Names of all columns."""
        return list(self.schema.names)

    def batches(
        self, columns: list[str] | None = None, types: dict[str, Any] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Read batches of at most 131 072 rows.

        Parameters
        ----------
        columns : list of str, optional
            Which; all if None.
        types : dict, optional
            What columns of a text file, which has no types, are to be read as.
        """
        seen = 0
        with read_errors(self.name):
            for batch in self.scan(self.columns if columns is None else columns, types or {}):
                for start in range(0, batch.num_rows, ROWS):
                    part = batch.slice(start, ROWS)
                    seen += part.num_rows
                    yield part
        if not seen:
            raise ValueError(f"`{self.name}` has no rows.")


def open_table(source: Any, reading: Reading | None = None) -> Table:
    """Open a file, or a pandas, polars or pyarrow frame, as a table.

    Parameters
    ----------
    source : path or frame
        A Parquet, CSV, JSON lines or Arrow file; text files may be compressed with gzip. A folder of Parquet files, or
        a pattern that they match such as ``"day-*.parquet"``, is one table. ``"-"`` is what comes in by a pipe,
        ``"duckdb:///shop.db?table=forecasts"`` a table of a database. Frames may be of an engine that works later.
    reading : Reading, optional
        What the name and the content do not tell.

    Examples
    --------
    >>> table = open_table(pa.table({"mu": [0.0, 1.0], "sigma": [1.0, 1.0]}))
    >>> table.columns, table.rows
    (['mu', 'sigma'], 2)
    >>> [batch.num_rows for batch in table.batches(["mu"])]
    [2]
    """
    if isinstance(source, Table):
        return source
    reading = reading or Reading()
    reading.check()
    if not isinstance(source, (str, os.PathLike)):
        return replace(_of_frame(source), strict=reading.strict)
    if is_database(source) or (reading.engine != "arrow" and str(source) != PIPE):
        return replace(_of_engine(source, reading.engine), strict=reading.strict)
    if str(source) == PIPE:
        path = stored(sys.stdin.buffer)
        table = _of_files([path], "stdin", replace(reading, format=reading.format or format_of(path) or "csv"))
    else:
        table = _of_files(files_of(source), str(source), reading)
    _check_names(table.columns, table.name)
    return replace(table, strict=reading.strict)


def _of_files(files: list[Path], name: str, reading: Reading) -> Table:
    empty = [path for path in files if path.stat().st_size == 0]
    if empty:
        raise ValueError(f"`{name if len(files) == 1 else empty[0]}` is empty: it has 0 bytes.")
    kinds = [reading.format or format_of(path) for path in files]
    if None in kinds:
        text = "the format of `{path}` is unknown; name it .parquet, .csv, .tsv, .jsonl or .arrow, or say {format:csv}."
        raise RoleError(text, path=files[kinds.index(None)])
    odd = next((path for path, kind in zip(files, kinds, strict=True) if kind != "parquet"), None)
    if len(files) > 1 and odd is not None:
        raise ValueError(f"files of one table must be Parquet files; `{odd}` is none.")
    with read_errors(name):
        if kinds[0] == "parquet":
            return _of_parquet(files, name)
        return {"arrow": _of_arrow, "csv": _of_text, "jsonl": _of_json}[str(kinds[0])](files[0], name, reading)


def _check_names(names: list[Any], table: str | Path) -> None:
    twice = sorted({str(name) for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise ValueError(f"`{table}` has several columns called `{twice[0]}`.")


@contextmanager
def read_errors(name: str | Path) -> Iterator[None]:
    """Tell in one line why a table could not be read."""
    try:
        yield
    except UnicodeError as reason:
        text = "cannot read `{table}`: {reason} Another encoding? Say {encoding:latin-1}."
        raise RoleError(text, table=name, reason=one_line(reason)) from reason
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as reason:
        raise ValueError(f"cannot read `{name}`: {one_line(reason)}") from reason
    except EOFError as reason:  # the end of a compressed file is missing
        raise ValueError(f"cannot read `{name}`: {one_line(reason)}") from reason
    except OSError as reason:
        raise type(reason)(f"cannot read `{name}`: {one_line(reason.strerror or reason)}") from reason


def one_line(reason: Any) -> str:
    """A message without line breaks, ending in a stop.

    >>> one_line("no such   file")
    'no such file.'
    """
    text = " ".join(str(reason).split())
    return text if text.endswith((".", "?")) else f"{text}."


def _of_parquet(files: list[Path], name: str) -> Table:
    whole = ParquetFiles.of(files, Path(name) if os.path.isdir(name) else None)
    return Table(name, whole.schema, whole.rows, "parquet", whole.scan)


def _of_arrow(path: Path, name: str, reading: Reading) -> Table:
    with open(path, "rb") as file:
        whole = file.read(6) == b"ARROW1"

    def scan(columns: list[str], types: dict[str, Any]) -> Iterator[pa.RecordBatch]:
        with pa.OSFile(str(path)) as file:
            if whole:
                reader = pa.ipc.open_file(file)
                parts = (reader.get_batch(i) for i in range(reader.num_record_batches))
            else:
                parts = iter(pa.ipc.open_stream(file))
            for batch in parts:
                batch.validate(full=True)  # a damaged file may promise more bytes than there are
                yield batch.select(columns)

    with pa.OSFile(str(path)) as file:
        schema = (pa.ipc.open_file(file) if whole else pa.ipc.open_stream(file)).schema
    return Table(name, schema, None, "arrow", scan)


def _of_text(path: Path, name: str, reading: Reading) -> Table:
    text = TextTable.of(path, name, reading)
    notes = () if text.delimiter == "," else (f"fields of {Path(name).name} are separated by {text.delimiter!r}",)
    return Table(name, text.schema, None, "csv", text.scan, notes=notes, settled=cache(text.settled))


def _of_json(path: Path, name: str, reading: Reading) -> Table:
    lines = JsonLines.of(path, reading.encoding)
    return Table(name, lines.schema, None, "jsonl", lines.scan)


def _of_engine(source: Any, engine: str) -> Table:
    name = str(source)
    if is_database(source):
        return _of_lazy(database_frame(name), name)
    files = files_of(source)
    return _of_lazy(engine_frame(files, name, engine), name, slices_for(files, engine))


def _of_lazy(frame: Any, name: str, slices: Slices = ()) -> Table:
    def scan(columns: list[str], types: dict[str, Any]) -> Iterator[pa.RecordBatch]:
        return batches_of(frame, columns, slices)

    return Table(name, schema_of(frame), None, "frame", scan, lazy=frame, slices=slices)


def _of_frame(source: Any) -> Table:
    if (lazy := lazy_frame(source)) is not None:
        return _of_lazy(lazy, "the frame")
    _check_names(column_names(source) or [], "the frame")
    try:
        frame = nw.from_native(source, eager_only=True)
    except TypeError as reason:
        kind = type(source).__name__
        raise TypeError(f"a table must be a path or a pandas, polars or pyarrow frame; got {kind}.") from reason
    places = {str(name): place for place, name in enumerate(frame.columns)}

    def scan(columns: list[str], types: dict[str, Any]) -> list[pa.RecordBatch]:
        return pa.table({name: _column(frame, places[name]) for name in columns}).to_batches()  # type: ignore[no-any-return]

    kinds = [pa.float64() if dtype.is_float() else pa.null() for dtype in frame.schema.values()]
    schema = pa.schema(list(zip(places, kinds, strict=True)))
    return Table("the frame", schema, len(frame), "frame", scan, frame)


def _column(frame: Any, place: int) -> Any:
    name = frame.columns[place]
    try:
        return frame[:, [place]].to_arrow().column(0)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as reason:
        raise ValueError(f"column `{name}` must hold values of one type: {one_line(reason.args[0])}") from reason
