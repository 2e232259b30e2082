"""Files are written whole or not at all, where links lead to, and litter of killed runs goes."""

from __future__ import annotations

import errno
import os
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from calibrant import _files
from calibrant._files import sweep, write_atomically

fcntl = pytest.importorskip("fcntl")


def content(text: bytes) -> Callable[[BinaryIO], None]:
    def fill(file: BinaryIO) -> None:
        file.write(text)

    return fill


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def part(folder: Path, machine: str | None = None, number: int = 0) -> Path:
    """What a run that was killed leaves."""
    found = folder / f".out.csv.{machine or _files._machine()}-{number:016x}.calibrant-part"
    found.write_bytes(b"half")
    return found


# ---- where to ----
def test_links_are_followed_and_stay_links(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a").write_bytes(b"old")
    for link, target in {"there": "data/a", "new": "data/b", "further": "there"}.items():
        (tmp_path / link).symlink_to(target)
    for link, target in {"there": "a", "new": "b", "further": "a"}.items():
        write_atomically(tmp_path / link, content(link.encode()))
        assert (tmp_path / link).is_symlink() and (tmp_path / "data" / target).read_bytes() == link.encode()
    assert names(tmp_path) == ["data", "further", "new", "there"] and names(tmp_path / "data") == ["a", "b"]


def test_links_that_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(OSError, match=r"^cannot write `.*round`: Too many levels of symbolic links\.$"):
        write_atomically(tmp_path / "round", content(b"x"))
    (tmp_path / "lost").symlink_to("nowhere/a")
    with pytest.raises(FileNotFoundError, match=r"^cannot write `.*lost`: No such file or directory\.$"):
        write_atomically(tmp_path / "lost", content(b"x"))
    assert names(tmp_path) == ["lost", "round"]


def test_devices_pipes_and_folders_are_refused_and_stay(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/null")
    for path in (tmp_path / "pipe", tmp_path / "link", Path("/dev/null"), Path("/dev/full")):
        with pytest.raises(
            OSError, match=r"^cannot write `.*`: it is a device or a pipe; give the name of a file\.$"
        ) as raised:
            write_atomically(path, content(b"x"))
        assert raised.value.errno is None
    with pytest.raises(IsADirectoryError, match=r"^cannot write `.*`: it is a folder\.$"):
        write_atomically(tmp_path, content(b"x"))
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode) and Path("/dev/full").is_char_device()
    assert names(tmp_path) == ["link", "pipe"]


def test_a_name_that_is_too_long(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="File name too long"):
        write_atomically(tmp_path / ("ä" * 200), content(b"x"))
    write_atomically(tmp_path / ("ä" * 120), content(b"x"))
    assert names(tmp_path) == ["ä" * 120]


# ---- what it is like ----
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444, 0o755])
def test_the_mode_of_an_older_file_is_kept(mode: int, tmp_path: Path) -> None:
    path, seen = tmp_path / "a", []
    path.write_bytes(b"old")
    path.chmod(mode)

    def fill(file: BinaryIO) -> None:
        file.write(b"new")
        seen.append(os.fstat(file.fileno()).st_mode & 0o777)

    write_atomically(path, fill)
    assert path.read_bytes() == b"new" and stat.S_IMODE(path.stat().st_mode) == mode
    assert not seen[0] & ~mode & 0o577  # nobody but the owner may do more on the way


def test_the_owner_of_an_older_file_is_kept(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may give files away")
    (tmp_path / "a").write_bytes(b"old")
    os.chown(tmp_path / "a", 1234, 4321)
    write_atomically(tmp_path / "a", content(b"new"))
    status = (tmp_path / "a").stat()
    assert (status.st_uid, status.st_gid) == (1234, 4321)


def test_new_files_are_as_open_as_the_umask_lets_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = os.umask(0o027)
    try:
        with monkeypatch.context() as patched:
            patched.setattr(os, "umask", lambda _: pytest.fail("the umask is everybody's"))
            write_atomically(tmp_path / "a", content(b"x"))
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_file_and_folder_are_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, seen = os.fsync, []

    def fsync(handle: int) -> None:
        seen.append(("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file", (tmp_path / "a").exists()))
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    write_atomically(tmp_path / "a", content(b"x"))
    assert seen == [("file", False), ("folder", True)]


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOTSUP])
def test_folders_that_cannot_be_synced(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fsync(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(number, "no such thing here")

    monkeypatch.setattr(os, "fsync", fsync)
    write_atomically(tmp_path / "a", content(b"x"))
    assert (tmp_path / "a").read_bytes() == b"x"


# ---- what killed runs left ----
def test_litter_goes_with_the_next_file(tmp_path: Path) -> None:
    for number in range(5):
        part(tmp_path, number=number)
    (tmp_path / "link").symlink_to("out.csv")
    write_atomically(tmp_path / "link", content(b"x"))
    assert names(tmp_path) == ["link", "out.csv"]


def test_files_that_are_being_written_stay(tmp_path: Path) -> None:
    left = part(tmp_path)

    def fill(file: BinaryIO) -> None:
        mine = names(tmp_path)
        sweep(tmp_path)  # what another run would do
        assert names(tmp_path) == mine and len(mine) == 1
        assert mine[0].endswith(".calibrant-part") and not left.exists()
        file.write(b"x")

    write_atomically(tmp_path / "out.csv", fill)
    assert names(tmp_path) == ["out.csv"]


def test_files_of_others_stay(tmp_path: Path) -> None:
    mine = [".a-1234567.calibrant-part", "a.00000000-0000000000000000.calibrant-part", ".out.csv-x1y2z3", ".calibrant"]
    for name in mine:
        (tmp_path / name).write_bytes(b"mine")
    os.mkfifo(tmp_path / ".p.00000000-0000000000000000.calibrant-part")
    (tmp_path / ".l.00000000-0000000000000000.calibrant-part").symlink_to(mine[0])
    before = names(tmp_path)
    sweep(tmp_path)
    assert names(tmp_path) == before


def test_files_of_other_machines_stay_for_a_day(tmp_path: Path) -> None:
    fresh, old = part(tmp_path, "00000001", 1), part(tmp_path, "00000001", 2)
    os.utime(old, (time.time() - 90_000,) * 2)
    sweep(tmp_path)
    assert fresh.exists() and not old.exists()


def test_a_part_that_is_swept_before_it_has_its_lock_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, made = os.open, []

    def swept_at_once(path: Any, flags: int, *more: Any) -> int:
        handle = real(path, flags, *more)
        if flags & os.O_EXCL:
            made.append(path)
            if len(made) == 1:
                monkeypatch.setattr(os, "open", real)
                sweep(tmp_path)
                monkeypatch.setattr(os, "open", swept_at_once)
        return handle

    monkeypatch.setattr(os, "open", swept_at_once)
    write_atomically(tmp_path / "a", content(b"x"))
    assert len(made) == 2 and names(tmp_path) == ["a"] and (tmp_path / "a").read_bytes() == b"x"


def test_many_writers_in_one_folder(tmp_path: Path) -> None:
    troubles: list[BaseException] = []

    def write(number: int) -> None:
        try:
            for _ in range(60):
                write_atomically(tmp_path / f"{number % 2}", content(bytes([number]) * 1000))
        except BaseException as reason:
            troubles.append(reason)

    threads = [threading.Thread(target=write, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not troubles and names(tmp_path) == ["0", "1"]
    assert all(len(set((tmp_path / name).read_bytes())) == 1 for name in names(tmp_path))


def test_where_there_are_no_locks_nothing_is_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = part(tmp_path)

    def no_locks(*_: Any) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    write_atomically(tmp_path / "a", content(b"x"))
    assert left.exists() and (tmp_path / "a").read_bytes() == b"x"
    monkeypatch.setattr(_files, "fcntl", None)
    write_atomically(tmp_path / "a", content(b"y"))
    assert left.exists() and (tmp_path / "a").read_bytes() == b"y"
