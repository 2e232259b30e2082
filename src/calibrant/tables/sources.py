"""Tables from files or frames, read by record batches."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import narwhals as nw
import pyarrow as pa
import pyarrow.parquet as pq

from .._checks import column_names
from .reading import Reading
from .text import TextTable

ROWS = 131_072  # of a batch at most
FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".feather": "arrow",
}
_MAGIC = {b"PAR1": "parquet", b"ARRO": "arrow", b"\xff\xff\xff\xff": "arrow"}
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
    format : {"parquet", "csv", "arrow", "frame"}
    frame : narwhals.DataFrame or None
        The frame that it came in.
    notes : tuple of str
        What was found out about the file.
    settled : callable
        Gives the types with which all columns of a text file can be read to the end.
    strict : bool
        Whether a missing or infinite forecast is an error, rather than a row that is left out.
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
    """Open a Parquet, CSV or Arrow file, or a pandas, polars or pyarrow frame, as a table.

    Parameters
    ----------
    source : path or frame
    reading : Reading, optional

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
    table = _opened(source) if isinstance(source, (str, os.PathLike)) else _of_frame(source)
    return replace(table, strict=reading.strict) if reading is not None else table


def _opened(source: str | os.PathLike[str]) -> Table:
    path = Path(source)
    if not path.exists():
        raise FileNotFoundError(f"there is no file `{path}`.")
    if path.is_dir():
        raise IsADirectoryError(f"`{path}` is a folder; a table is one file.")
    if path.stat().st_size == 0:
        raise ValueError(f"`{path}` is empty: it has 0 bytes.")
    with read_errors(path):
        table = {"parquet": _of_parquet, "arrow": _of_arrow, "csv": _of_text}[format_of(path)](path)
    _check_names(table.columns, path)
    return table


def _check_names(names: list[Any], table: str | Path) -> None:
    twice = sorted({str(name) for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise ValueError(f"`{table}` has several columns called `{twice[0]}`.")


def format_of(path: Path) -> str:
    """The format that a file's name tells, or else its first bytes.

    >>> format_of(Path("forecasts.PQ"))
    'parquet'
    """
    known = FORMATS.get(path.suffix.lower())
    if known is None and path.is_file():
        with open(path, "rb") as file:
            known = _MAGIC.get(file.read(4))
    if known is None:
        raise ValueError(f"the format of `{path}` is unknown; name it .parquet, .csv, .tsv or .arrow.")
    return known


@contextmanager
def read_errors(name: str | Path) -> Iterator[None]:
    """Tell in one line why a table could not be read."""
    try:
        yield
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, UnicodeError) as reason:
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


def _of_parquet(path: Path) -> Table:
    with pq.ParquetFile(path) as file:
        schema, rows = file.schema_arrow, file.metadata.num_rows

    def scan(columns: list[str], types: dict[str, Any]) -> Iterator[pa.RecordBatch]:
        with pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20) as file:  # buffers would keep the whole file
            yield from file.iter_batches(ROWS, columns=columns)

    return Table(str(path), schema, rows, "parquet", scan)


def _of_arrow(path: Path) -> Table:
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
    return Table(str(path), schema, None, "arrow", scan)


def _of_text(path: Path) -> Table:
    text = TextTable.of(path)
    notes = () if text.delimiter == "," else (f"fields of {path.name} are separated by {text.delimiter!r}",)
    return Table(str(path), text.schema, None, "csv", text.scan, notes=notes, settled=text.settled)


def _of_frame(source: Any) -> Table:
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
