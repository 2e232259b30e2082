"""The files that a table is read from: one, those of a folder or that match a pattern, or what came in by a pipe."""

from __future__ import annotations

import atexit
import codecs
import gzip
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from glob import glob
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

from .roles import InputError

PIPE = "-"  # stdin, or stdout
FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".feather": "arrow",
}
_READ_ONLY = {".jsonl": "jsonl", ".ndjson": "jsonl"}
_MAGIC = {b"PAR1": "parquet", b"ARRO": "arrow", b"\xff\xff\xff\xff": "arrow"}


def files_of(source: str | os.PathLike[str]) -> list[Path]:
    """The files that a name stands for, in their order: a file, a folder of Parquet files, or a pattern."""
    path = Path(source)
    if path.is_dir():
        found = [file for file in sorted(path.rglob("*")) if _is_part(file, path)]
        if not found:
            raise FileNotFoundError(f"there is no Parquet file in the folder `{path}`.")
        return found
    if path.exists():
        return [path]
    if not _is_pattern(path):
        raise FileNotFoundError(f"there is no file `{path}`.")
    found = sorted(Path(name) for name in glob(str(path), recursive=True) if os.path.isfile(name))
    if not found:
        raise FileNotFoundError(f"there is no file that matches `{path}`.")
    return found


def _is_part(file: Path, folder: Path) -> bool:
    """Whether a file in a folder is one of its table; names such as _SUCCESS and .crc are none."""
    hidden = any(part.startswith(("_", ".")) for part in file.relative_to(folder).parts)
    return FORMATS.get(file.suffix.lower()) == "parquet" and not hidden and not file.is_dir()


def _is_pattern(path: Path) -> bool:
    return any(letter in str(path) for letter in "*?[")


def check_not_read(target: Path, inputs: Iterable[Any]) -> None:
    """Refuse an output that is an input, or that would be one the next time, by its folder or by its name."""
    for source in inputs:
        if isinstance(source, (str, os.PathLike)) and str(source) != PIPE and _would_be_read(target, Path(source)):
            raise InputError("`{path}` is an input; give another output, or say {overwrite:True}.", path=target)


def _would_be_read(target: Path, source: Path) -> bool:
    whole = Path(os.path.realpath(target))
    if source.is_dir():
        folder = source.resolve()
        return whole.is_relative_to(folder) and _is_part(whole, folder)
    if source.exists():
        return target.exists() and source.samefile(target)
    if not _is_pattern(source):
        return False
    among = target.exists() and any(Path(name).samefile(target) for name in glob(str(source), recursive=True))
    return among or Path(os.path.abspath(target)).match(os.path.abspath(source))


def format_of(path: Path) -> str | None:
    """The format that a file's name tells, or else its first bytes; None if neither does.

    >>> format_of(Path("forecasts.PQ")), format_of(Path("forecasts.csv.gz")), format_of(Path("forecasts.xlsx"))
    ('parquet', 'csv', None)
    """
    name = Path(path.stem) if path.suffix.lower() == ".gz" else path
    known = (FORMATS | _READ_ONLY).get(name.suffix.lower())
    if known is None and path.is_file():
        with open(path, "rb") as file:
            first = file.read(64)
        known = _MAGIC.get(first[:4]) or ("jsonl" if first.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{") else None)
    return known


def is_compressed(path: Path) -> bool:
    """Whether a file begins as gzip has it, whatever its name."""
    with open(path, "rb") as file:
        return file.read(2) == b"\x1f\x8b"


@contextmanager
def text_of(path: Path, encoding: str) -> Iterator[TextIO]:
    """A text file to read, decompressed; a mark at its beginning is no part of it."""
    codec = "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding
    opened = gzip.open if is_compressed(path) else open
    with opened(path, "rt", encoding=codec) as file:
        yield cast(TextIO, file)


def stored(stream: BinaryIO) -> Path:
    """What comes by a pipe, in a file that lasts as long as the process: a table is read more than once."""
    handle, name = tempfile.mkstemp(prefix="calibrant-")
    atexit.register(Path(name).unlink, missing_ok=True)
    with os.fdopen(handle, "wb") as file:
        shutil.copyfileobj(stream, file, 1 << 20)
    return Path(name)
