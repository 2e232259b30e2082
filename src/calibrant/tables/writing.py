"""Tables and pages into files: whole or not at all, and never over what they were made from."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from .._files import check_is_file, write_atomically
from .files import FORMATS, PIPE, check_not_read
from .roles import InputError
from .sources import one_line

_LOOKED_AT = 100  # bytes at the beginning of a file
_TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_dictionary)


class Kind(NamedTuple):
    """What files of a kind are called, and what they begin with."""

    name: str
    begins: re.Pattern[bytes]


CALIBRATOR = Kind("calibrator file", re.compile(rb"PK\x03\x04.{26}calibrator\.json", re.DOTALL))
PAGE = Kind("HTML page", re.compile(rb"\s*(<!doctype html|<html)", re.IGNORECASE))


def check_output(
    path: str | os.PathLike[str], *inputs: Any, overwrite: bool = False, table: bool = True, kind: Kind | None = None
) -> Path:
    """Return a path that may be written: a file that is there already is replaced, whole, unless it is precious.

    Parameters
    ----------
    path : path
        Links are followed; a folder, a device and a pipe are refused.
    *inputs : paths
        What must not be written over; things that are no paths are no matter.
    overwrite : bool
        Whether it may be, all the same.
    table : bool
        Whether a table is to be written, in the format that the name tells.
    kind : Kind, optional
        What is to be written; a file of another kind must not be written over either, but for an empty one.
    """
    target = Path(path)
    if table and str(target) == PIPE:
        return target
    if str(target) == PIPE:
        raise ValueError("`-` is stdout, to which only tables are written; name a file.")
    check_is_file(target)
    if not overwrite:
        check_not_read(target, inputs)
    if table and target.suffix.lower() not in FORMATS:
        raise ValueError(f"cannot tell the format of `{target}`; name it .parquet, .csv, .tsv or .arrow.")
    folder = Path(os.path.realpath(target)).parent
    if not folder.is_dir():
        shown = folder if target.is_symlink() else target.parent
        raise FileNotFoundError(f"cannot write `{target}`: there is no folder `{shown}`.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(f"cannot write `{target}`: its folder is not to be written to.")
    if kind is not None and target.exists() and not overwrite:
        _check_kind(target, kind)
    return target


def _check_kind(target: Path, kind: Kind) -> None:
    """What is there must be of the kind, or empty."""
    with open(target, "rb") as file:
        first = file.read(_LOOKED_AT)
    if first and not kind.begins.match(first):
        text = "`{path}` is there and is no {kind}; give another output, or say {overwrite:True}."
        raise InputError(text, path=target, kind=kind.name)


def write_table(path: Path, batches: Iterable[pa.RecordBatch]) -> None:
    """Write batches as Parquet, CSV or Arrow, as the name says; on any trouble the path is as it was.

    The path ``-`` is stdout, and CSV.
    """

    def fill(file: BinaryIO) -> None:
        parts = iter(batches)
        first = next(parts)
        with _writer(FORMATS.get(path.suffix.lower(), "csv"), path, file, first.schema) as writer:
            writer.write_batch(first)
            for batch in parts:
                writer.write_batch(batch)

    try:
        if str(path) == PIPE:
            _write_out(fill)
        else:
            write_atomically(path, fill)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as reason:
        raise ValueError(f"cannot write `{path}`: {one_line(reason)}") from reason


def _write_out(fill: Callable[[BinaryIO], None]) -> None:
    """Write to stdout; where nobody reads it to the end, say so once."""
    try:
        fill(sys.stdout.buffer)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else the end of the process complains again
        raise BrokenPipeError("cannot write stdout: nobody reads it to the end.") from None


def _writer(kind: str, path: Path, file: BinaryIO, schema: pa.Schema) -> Any:
    if kind == "parquet":
        texts = [field.name for field in schema if any(is_kind(field.type) for is_kind in _TEXTS)]
        return pq.ParquetWriter(file, schema, use_dictionary=texts or False)  # numbers hardly ever repeat
    if kind == "arrow":
        return pa.ipc.new_file(file, schema)
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    return csv.CSVWriter(file, schema, write_options=csv.WriteOptions(delimiter=delimiter))
