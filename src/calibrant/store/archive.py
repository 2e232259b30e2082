"""One file: a zip of a text and of arrays, read with care and written whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import math
import os
import re
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from .._files import write_atomically
from .._printable import printable

TEXT = "calibrator.json"
LARGEST = 512 * 2**20  # bytes of all arrays together
LONGEST = 16 * 2**20  # bytes of the text
MOST = 20_000  # members
MOST_PARTS, MOST_ENTRIES = 60_000, 1_000_000  # objects of classes, and values of any kind, in the text
DEEPEST = 200  # brackets in one another
_TOLD = 300  # letters of a reason
_LETTERS = 0x10FFFF  # the last one there is
_EMPTY = 10_000  # numbers that an empty array may seem to have, but for its sides of length 0
_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00(..)\{'descr': '([<>|][biufU]\d{1,7})', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,12}, ?)*(?:\d{1,12})?)\), \} *\n",
    re.DOTALL,
)
_BAD = (zipfile.BadZipFile, zlib.error, struct.error, KeyError, IndexError, EOFError, OverflowError, RecursionError)
_ALSO_BAD = (NotImplementedError, RuntimeError, TypeError, AttributeError, MemoryError, SyntaxError, LookupError)


def write(path: str | os.PathLike[str], text: dict[str, Any], arrays: list[NDArray[Any]]) -> None:
    """Write exactly this path, or leave it as it was."""
    members = [_npy(array) for array in arrays]
    text = {**text, "digest": _digest({**text, "digest": None}, members)}
    body = json.dumps(text, allow_nan=False).encode()
    if sum(map(len, members)) > LARGEST or len(body) > LONGEST or len(members) > MOST:
        raise ValueError(f"a calibrator of more than {LARGEST >> 20} MiB cannot be saved.")

    def fill(file: BinaryIO) -> None:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(_entry(TEXT), body)
            for place, member in enumerate(members):
                archive.writestr(_entry(f"{place}.npy"), member)

    write_atomically(Path(path), fill)


def read(path: str | os.PathLike[str], *, only_text: bool = False) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """Text and arrays, or the text alone; ValueError for anything but a whole file of ours."""
    with open(path, "rb", buffering=0) as raw, _Bounded(raw) as file:
        try:
            return _read(file, only_text)
        except (*_BAD, *_ALSO_BAD, OSError) as reason:
            if isinstance(reason, OSError) and reason.errno != errno.EINVAL:  # a place before the beginning
                raise
            told = in_a_line(f"{type(reason).__name__}: {reason}.")
            raise ValueError(f"`{os.fspath(path)}` is no calibrator file, or damaged: {told}") from reason
        except ValueError as reason:
            raise ValueError(f"`{os.fspath(path)}` is no calibrator file, or damaged: {in_a_line(reason)}") from reason


def _read(file: BinaryIO, only_text: bool) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    with zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        if len(entries) > MOST + 1 or any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
            raise ValueError("its parts are too many or compressed.")
        sizes = [entry.file_size for entry in entries]
        if sum(sizes) > LARGEST + LONGEST or sum(sizes) > os.fstat(file.fileno()).st_size:
            raise ValueError("its parts are larger than allowed, or than the file.")
        text = _parsed(archive.read(TEXT))
        members = [archive.read(f"{place}.npy") for place in range(len(entries) - 1)]
    if text.get("digest") != _digest({**text, "digest": None}, members):
        raise ValueError("its content is not what was saved: the digest differs.")
    if only_text:
        return text, []
    members.reverse()
    return text, [_array(members.pop()) for _ in range(len(members))]  # each is let go once it is read


def _parsed(body: bytes) -> dict[str, Any]:
    """The text, once it is known that it cannot become much more than it is."""
    if len(body) > LONGEST:
        raise ValueError("its text is too long.")
    if body.count(b",") + body.count(b":") > MOST_ENTRIES or body.count(b'"class"') > MOST_PARTS:
        raise ValueError("its text has too many parts.")
    if _depth(body) > DEEPEST:
        raise ValueError("its parts lie too deep in one another.")
    text = json.loads(body)
    if not isinstance(text, dict):
        raise ValueError("its text is no object.")
    return text


def _depth(body: bytes) -> int:
    """How deep brackets lie in one another; those in texts are counted too."""
    letters = np.frombuffer(body, np.uint8)
    opened, closed = ((letters == first) | (letters == second) for first, second in ((91, 123), (93, 125)))
    return int(np.cumsum(opened.astype(np.int32) - closed, dtype=np.int32).max(initial=0))


def in_a_line(reason: Any) -> str:
    r"""What went wrong in one line that is not too long: it may quote the file.

    >>> in_a_line("two\nlines " + "x" * 1000)[:20], len(in_a_line("x" * 1000))
    ('two lines xxxxxxxxxx', 300)
    """
    return printable(" ".join(str(reason).split()))[:_TOLD]


class _Bounded(io.BufferedReader):
    """A file of which no more is asked than it has: a forged size must not be allocated."""

    def read(self, size: int | None = -1, /) -> bytes:
        left = max(0, os.fstat(self.fileno()).st_size - self.tell())
        return super().read(left if size is None or size < 0 else min(size, left))


def _npy(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    npy.write_array(buffer, np.asarray(array), allow_pickle=False)
    return buffer.getvalue()


def _array(member: bytes) -> NDArray[Any]:
    """An array whose header promises just the bytes that are there."""
    header = _HEADER.match(member[:1000])
    if header is None or int.from_bytes(header[1], "little") != header.end() - 10:
        raise ValueError("an array is not as long as it says, or not of numbers or texts.")
    shape = tuple(int(side) for side in header[4].replace(b",", b" ").split())
    dtype = np.dtype(header[2].decode())
    seems = math.prod(max(side, 1) for side in shape)
    if math.prod(shape) * dtype.itemsize != len(member) - header.end() or seems > max(math.prod(shape), _EMPTY):
        raise ValueError("an array is not as long as it says.")
    flat = np.frombuffer(member, dtype, offset=header.end())
    if dtype.kind == "U" and np.frombuffer(member, f"{dtype.str[0]}u4", offset=header.end()).max(initial=0) > _LETTERS:
        raise ValueError("an array of texts has letters that do not exist.")
    return flat.reshape(shape, order="F" if header[3] == b"True" else "C").copy(order="K")


def _digest(text: dict[str, Any], members: list[bytes]) -> str:
    digest = hashlib.sha256(json.dumps(text, sort_keys=True, allow_nan=False).encode())
    for member in members:
        digest.update(len(member).to_bytes(8, "little"))
        digest.update(member)
    return digest.hexdigest()


def _entry(name: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
