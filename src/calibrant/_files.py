"""Files written whole or not at all, and what killed runs left of theirs swept away.

While a file is filled it has another name beside its own, and a lock that ends with the process. A file of such a name
whose lock is free belongs to a run that was killed: the next one that writes to the folder removes it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import re
import secrets
import stat
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows: nothing is locked, so nothing is swept
    fcntl = None  # type: ignore[assignment]

DAY = 86_400.0  # seconds after which files of other machines are old; their locks may not reach here
_MARK = "calibrant-part"
_PART = re.compile(rf"\..*\.([0-9a-f]{{8}})-[0-9a-f]{{16}}\.{_MARK}", re.DOTALL)
_BINARY = getattr(os, "O_BINARY", 0)  # Windows
_SIDE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def write_atomically(path: Path, fill: Callable[[BinaryIO], None]) -> None:
    """Fill a temporary file beside the path and rename it; on any trouble nothing is left behind.

    Links are followed: the file that they lead to is written. Its mode stays as it was. What the system says of trouble
    is told with the path; errors of filling that are not the system's go through.
    """
    check_is_file(path)
    try:
        target = Path(os.path.realpath(path))
        sweep(target.parent)
        _write(target, fill)
    except OSError as reason:
        if reason.errno is None:  # it came from reading, and says so
            raise
        raise type(reason)(f"cannot write `{path}`: {reason.strerror}.") from reason


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all; what has no letters becomes question marks."""

    def fill(file: BinaryIO) -> None:
        file.write(text.encode(errors="replace"))

    write_atomically(path, fill)


def check_is_file(path: Path) -> None:
    """Raise OSError where there is something at the end of a path that is no file: a folder, a device, a pipe."""
    try:
        kind = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):  # to be made, or refused when it is
        return
    except OSError as reason:
        raise type(reason)(f"cannot write `{path}`: {reason.strerror}.") from reason
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(f"cannot write `{path}`: it is a folder.")
    if not stat.S_ISREG(kind):
        raise OSError(f"cannot write `{path}`: it is a device or a pipe; give the name of a file.")


def sweep(folder: Path) -> None:
    """Remove what runs that were killed left in a folder; files that are being written stay."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            found = _PART.fullmatch(entry.name)
            if found and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    _remove_if_left(entry, found[1])


def _remove_if_left(entry: os.DirEntry[str], machine: str) -> None:
    """Remove a file whose lock is free; one of another machine only if it has not been touched for a day."""
    handle = os.open(entry.path, os.O_RDWR | _SIDE)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if machine == _machine() or time.time() - os.fstat(handle).st_mtime > DAY:
            os.unlink(entry.path)
    finally:
        os.close(handle)


def _write(target: Path, fill: Callable[[BinaryIO], None]) -> None:
    old = _status(target)
    with _part_beside(target, 0o666 if old is None else 0o200 | old.st_mode & 0o777) as (part, file):
        fill(file)
        file.flush()
        os.fsync(file.fileno())
        if fcntl is None:
            file.close()  # Windows renames no open file; elsewhere the lock is kept till the end
        if old is not None:
            _keep_owner_and_mode(part, old)
        os.replace(part, target)
    _sync(target.parent)


@contextlib.contextmanager
def _part_beside(target: Path, mode: int) -> Iterator[tuple[str, BinaryIO]]:
    """A new file beside the target with a lock; gone at the end if it still has its first name."""
    part, handle = _made(target, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            yield part, file
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)


def _made(target: Path, mode: int) -> tuple[str, int]:
    """Name and handle of a new file with a lock; made again if it was swept before it had its lock."""
    while True:
        name = f".{target.name[:40]}.{_machine()}-{secrets.token_hex(8)}.{_MARK}"
        part = os.path.join(target.parent, name)
        handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY, mode)
        if _is_locked(handle) and os.path.exists(part):
            return part, handle
        os.close(handle)


def _is_locked(handle: int) -> bool:
    """Whether the lock of a new file could be taken. Where there are no locks, nobody sweeps."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as reason:
        return not isinstance(reason, BlockingIOError)  # it is just being swept
    return True


def _status(target: Path) -> os.stat_result | None:
    try:
        return os.stat(target)
    except FileNotFoundError:
        return None


def _keep_owner_and_mode(part: str, old: os.stat_result) -> None:
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):  # only root may give files away
            os.chown(part, old.st_uid, old.st_gid)
    os.chmod(part, old.st_mode & 0o777)


def _sync(folder: Path) -> None:
    """Have the folder written too, so that the new name outlasts a loss of power."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:  # one may write to a folder without reading it
        return
    try:
        os.fsync(handle)
    except OSError as reason:
        if reason.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):  # some file systems have no such thing
            raise
    finally:
        os.close(handle)


def _machine() -> str:
    """Eight letters for the name of the machine."""
    return f"{zlib.crc32(platform.node().encode(errors='replace')):08x}"
