"""Files written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO


def write_atomically(path: Path, fill: Callable[[BinaryIO], None]) -> None:
    """Fill a temporary file beside the path and rename it; on any trouble nothing is left behind.

    What the system says of it is told with the path; errors of filling that are not the system's go through.
    """
    try:
        _write(path, fill)
    except OSError as reason:
        if reason.errno is None:  # it came from reading, and says so
            raise
        raise type(reason)(f"cannot write `{path}`: {reason.strerror}.") from reason


def _write(path: Path, fill: Callable[[BinaryIO], None]) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
