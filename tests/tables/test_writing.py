"""Files are written whole or not at all, and never over what they were made from."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from calibrant._files import write_text
from calibrant.tables.sources import open_table
from calibrant.tables.writing import CALIBRATOR, PAGE, check_output, write_table
from tests.tables.examples import FORMATS, TABLE, one_table


def test_targets_that_may_not_be_written(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(TABLE, path)
    (tmp_path / "link.parquet").symlink_to(path)
    for target in (path, tmp_path / "link.parquet"):
        with pytest.raises(FileExistsError, match="is an input; give another output, or say overwrite=True"):
            check_output(target, path)
    assert check_output(path, path, overwrite=True) == path
    assert check_output(path, None, tmp_path / "other.csv") == path
    with pytest.raises(ValueError, match=r"cannot tell the format of `out.xlsx`; name it .parquet"):
        check_output("out.xlsx")
    with pytest.raises(FileNotFoundError, match=r"there is no folder `.*nowhere`"):
        check_output(tmp_path / "nowhere" / "a.csv")
    with pytest.raises(IsADirectoryError, match="it is a folder"):
        check_output(tmp_path, table=False)


def test_files_of_another_kind_are_replaced_when_asked(tmp_path: Path) -> None:
    first = {
        "c": b"PK\x03\x04" + bytes(26) + b"calibrator.json",
        "h": b"<!DOCTYPE html>",
        "x": b"PK\x03\x04",
        "t": b"a,b",
    }
    for name, content in first.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "empty").touch()
    for kind, good in ((CALIBRATOR, "c"), (PAGE, "h")):
        for name in (good, "empty", "new"):
            assert check_output(tmp_path / name, table=False, kind=kind) == tmp_path / name
        for name in {*first} - {good}:
            with pytest.raises(
                FileExistsError, match=rf"`.*{name}` is there and is no {kind.name}; give another output"
            ):
                check_output(tmp_path / name, table=False, kind=kind)
            assert check_output(tmp_path / name, table=False, kind=kind, overwrite=True) == tmp_path / name


def test_folders_that_may_not_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lost.csv").symlink_to("nowhere/a.csv")
    with pytest.raises(FileNotFoundError, match=r"cannot write `.*lost.csv`: there is no folder `.*/nowhere`"):
        check_output(tmp_path / "lost.csv")
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(PermissionError, match=r"cannot write `.*a.csv`: its folder is not to be written to\."):
        check_output(tmp_path / "a.csv")


class Full:
    """A file on a disk with room for a few bytes."""

    def __init__(self, file: Any) -> None:
        self.file, self.room = file, 100

    def write(self, content: Any) -> int:
        self.room -= len(content)
        if self.room < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return int(self.file.write(content))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


@pytest.mark.parametrize("name", FORMATS)
def test_a_full_disk_leaves_the_old_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from calibrant.tables import writing

    (tmp_path / name).write_bytes(b"old")
    real = writing._writer
    monkeypatch.setattr(writing, "_writer", lambda kind, path, file, schema: real(kind, path, Full(file), schema))
    with pytest.raises(OSError, match=r"^cannot write `.*`: No space left on device\.$"):
        write_table(tmp_path / name, TABLE.to_batches(max_chunksize=100))
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]


@pytest.mark.parametrize("trouble", [KeyboardInterrupt(), ValueError("row 7"), MemoryError()])
@pytest.mark.parametrize("name", FORMATS)
def test_interrupted_writing_leaves_nothing(name: str, trouble: BaseException, tmp_path: Path) -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        yield from TABLE.to_batches(max_chunksize=400)[:2]
        raise trouble

    with pytest.raises(type(trouble)):
        write_table(tmp_path / name, batches())
    assert not list(tmp_path.iterdir())


def test_unwritable_folders_and_types(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", "/somewhere/.a.csv-x1")

    nested = pa.table({"a": [[1], [2, 3]]})
    with pytest.raises(ValueError, match="cannot write `.*a.csv`: .*"):
        write_table(tmp_path / "a.csv", nested.to_batches())
    monkeypatch.setattr("os.open", refuse)
    with pytest.raises(PermissionError, match=r"^cannot write `.*page.html`: Permission denied\.$"):
        write_text(tmp_path / "page.html", "page")
    assert not list(tmp_path.iterdir())


def test_categories_become_texts(tmp_path: Path) -> None:
    coded = pa.table({"a": pa.array(["x", "y", "x"]).dictionary_encode()})
    for name in FORMATS:
        write_table(tmp_path / name, coded.to_batches())
        assert one_table(open_table(tmp_path / name).batches())["a"].to_pylist() == ["x", "y", "x"]


def test_texts_are_written_as_they_are(tmp_path: Path) -> None:
    write_text(tmp_path / "a.html", "ä\n")
    assert (tmp_path / "a.html").read_bytes() == "ä\n".encode()
    write_table(tmp_path / "a.csv", pa.table({"a": ['say "x", y']}).to_batches())
    assert csv.read_csv(tmp_path / "a.csv")["a"].to_pylist() == ['say "x", y']


def test_outputs_that_would_be_inputs(tmp_path: Path) -> None:
    """In the folder of a table, or by a name that its pattern matches: the next run would read them."""
    folder = tmp_path / "days"
    (folder / "sub").mkdir(parents=True)
    pq.write_table(TABLE, folder / "a.parquet")
    (tmp_path / "link").symlink_to(folder)
    for output, source in [
        (folder / "a.parquet", folder),
        (folder / "new.parquet", folder),
        (folder / "sub" / "new.pq", folder),
        (tmp_path / "link" / "new.parquet", folder),
        (folder / "new.parquet", tmp_path / "link"),
        (folder / "a.parquet", f"{tmp_path}/*/*.parquet"),
        (folder / "a.parquet", f"{tmp_path}/**/*.parquet"),
        (folder / "new.parquet", f"{folder}/*.parquet"),
    ]:
        with pytest.raises(FileExistsError, match="is an input; give another output, or say overwrite=True"):
            check_output(output, source)
        assert check_output(output, source, overwrite=True) == output
    for output, source in [
        (tmp_path / "new.parquet", folder),
        (folder / "new.csv", folder),
        (folder / "_new.parquet", folder),
        (folder / "sub" / "new.parquet", f"{folder}/*.parquet"),
        (folder / "new.parquet", "-"),
    ]:
        assert check_output(output, source) == output


def test_tables_to_stdout(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write_table(check_output("-"), pa.table({"a": [1.5, None], "b": ["x", "y"]}).to_batches(max_chunksize=1))
    assert capfdbinary.readouterr().out == b'"a","b"\n1.5,"x"\n,"y"\n'
