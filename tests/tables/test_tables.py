"""Tables come in as they are, by batches, and go out whole or not at all."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from calibrant.tables import sources as tables
from calibrant.tables import text as text_tables
from calibrant.tables.rows import texts
from calibrant.tables.sources import open_table
from calibrant.tables.writing import check_target, write_table, write_text

ROWS = 1000
TABLE = pa.table(
    {
        "mu": np.random.default_rng(0).normal(size=ROWS),
        "day": pa.array(np.arange(ROWS) + np.datetime64("2026-01-01")),
        "shop": [["north", "south", None][i % 3] for i in range(ROWS)],
        "count": np.arange(ROWS),
    }
)
FORMATS = ["forecasts.parquet", "forecasts.csv", "forecasts.tsv", "forecasts.arrow"]


def together(batches: Iterator[pa.RecordBatch]) -> pa.Table:
    return pa.Table.from_batches(list(batches))


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "ROWS", 64)
    monkeypatch.setattr(text_tables, "BLOCK", 2000)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.usefixtures("small_batches")
def test_every_format_there_and_back(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    write_table(path, TABLE.to_batches(max_chunksize=300))
    table = open_table(path)
    assert table.columns == TABLE.column_names
    batches = list(table.batches())
    assert len(batches) > 3 and max(batch.num_rows for batch in batches) <= 64
    back = pa.Table.from_batches(batches)
    for column in TABLE.column_names:
        as_text = column == "shop" and name.endswith("sv")  # text files know no missing texts
        assert back[column].to_pylist() == (TABLE[column].fill_null("") if as_text else TABLE[column]).to_pylist()
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", FORMATS)
def test_some_columns_only(name: str, tmp_path: Path) -> None:
    write_table(tmp_path / name, TABLE.to_batches())
    part = together(open_table(tmp_path / name).batches(["count", "mu"]))
    assert sorted(part.column_names) == ["count", "mu"]
    assert part["mu"].to_pylist() == TABLE["mu"].to_pylist()


def test_arrow_streams_and_files_without_a_telling_name(tmp_path: Path) -> None:
    with pa.OSFile(str(tmp_path / "stream.arrow"), "wb") as file, pa.ipc.new_stream(file, TABLE.schema) as writer:
        writer.write_table(TABLE)
    assert together(open_table(tmp_path / "stream.arrow").batches()).equals(TABLE)
    pq.write_table(TABLE, tmp_path / "forecasts")
    assert open_table(tmp_path / "forecasts").rows == ROWS
    (tmp_path / "strange.dat").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"the format of `.*strange.dat` is unknown; name it .parquet"):
        open_table(tmp_path / "strange.dat")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_every_library(make: Any) -> None:
    table = open_table(make({"mu": [0.0, 1.5, 2.0], "q": [1, 2, 3], "s": ["a", "b", None]}))
    assert (table.columns, table.rows, table.format) == (["mu", "q", "s"], 3, "frame")
    back = together(table.batches(["q", "mu"]))
    assert back.to_pydict() == {"q": [1, 2, 3], "mu": [0.0, 1.5, 2.0]}


def test_frames_with_odd_columns() -> None:
    frame = pd.DataFrame({"a": [1.0, "x", None], "b": [1, 2, 3]}, index=[7, 8, 9])
    table = open_table(frame)
    assert together(table.batches(["b"])).to_pydict() == {"b": [1, 2, 3]}
    with pytest.raises(ValueError, match="column `a` must hold values of one type: Could not convert 'x'"):
        list(table.batches(["a"]))
    with pytest.raises(TypeError, match="a path or a pandas, polars or pyarrow frame; got list"):
        open_table([1, 2])
    with pytest.raises(ValueError, match="`the frame` has no rows"):
        list(open_table(frame[:0]).batches(["b"]))


def test_text_separators_marks_and_missing_values(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("\ufeffmu;y\n1.5; 2\nNA;\n".encode())
    table = open_table(path)
    assert table.columns == ["mu", "y"] and table.notes == ("fields of a.csv are separated by ';'",)
    assert together(table.batches(types={"mu": pa.float64(), "y": pa.float64()})).to_pydict() == {
        "mu": [1.5, None],
        "y": [2.0, None],
    }


def test_text_of_several_lines_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_tables, "BLOCK", 200)
    lines = [f'{i},"first, line\nsecond ""line"" {i}"' for i in range(100)]
    (tmp_path / "a.csv").write_text("\n".join(["n,text", *lines]) + "\n")
    table = open_table(tmp_path / "a.csv")
    back = together(table.batches(types=table.settled()))
    assert back["text"][99].as_py() == 'first, line\nsecond "line" 99' and back["n"].to_pylist() == list(range(100))


def test_types_of_text_hold_to_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_tables, "BLOCK", 300)
    path = tmp_path / "a.csv"
    lines = [f"{i},{i},00{i},{i}" for i in range(200)] + ["1.5,x,001,7"]
    path.write_text("\n".join(["a,b,zip,n", *lines]) + "\n")
    table = open_table(path)
    assert table.schema.field("a").type == pa.int64()
    settled = table.settled()
    assert [str(settled[name]) for name in table.columns] == ["double", "string", "string", "int64"]
    assert together(table.batches(types=settled))["zip"][0].as_py() == "000"
    with pytest.raises(
        ValueError, match=r"column `b` must be numbers; row 200 \(the first is 0\) of `.*a.csv` holds 'x'"
    ):
        list(table.batches(["b"], {"b": pa.float64()}))


BROKEN = {
    "empty.parquet": (b"", "is empty: it has 0 bytes"),
    "empty.csv": (b"", "is empty: it has 0 bytes"),
    "short.parquet": (b"PAR1", "cannot read `.*short.parquet`: Parquet file size is 4 bytes"),
    "torn.arrow": (b"ARROW1\0\0", "cannot read `.*torn.arrow`"),
    "blank.csv": (b"\n\n", "has no first line with the names of columns"),
    "picture.csv": (b"\x89PNG\x00\xff\n", "cannot read `.*picture.csv`: 'utf-8' codec"),
    "header.csv": (b"mu,y\n", "has no rows"),
    "ragged.csv": (b"mu,y\n1,2\n3\n", "cannot read `.*ragged.csv`: CSV parse error: .*Expected 2 columns, got 1"),
    "twice.csv": (b"mu,mu\n1,2\n", "has several columns called `mu`"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_told_in_one_line(name: str, tmp_path: Path) -> None:
    content, message = BROKEN[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        list(open_table(tmp_path / name).batches())
    assert "\n" not in str(caught.value)


def test_truncated_parquet_and_missing_files(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "b.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="cannot read `.*b.parquet`: .*"):
        open_table(tmp_path / "b.parquet")
    damaged = bytearray(whole)
    damaged[4:2000] = bytes(1996)
    (tmp_path / "c.parquet").write_bytes(damaged)
    with pytest.raises((ValueError, OSError), match="cannot read `.*c.parquet`: .*"):
        list(open_table(tmp_path / "c.parquet").batches())
    with pytest.raises(FileNotFoundError, match=r"there is no file `.*nope.csv`\."):
        open_table(tmp_path / "nope.csv")
    with pytest.raises(IsADirectoryError, match="is a folder; a table is one file"):
        open_table(tmp_path)


@pytest.mark.parametrize("name", FORMATS)
def test_damaged_files_are_told_or_read(name: str, tmp_path: Path) -> None:
    path, rng, told = tmp_path / name, np.random.default_rng(0), []
    write_table(path, TABLE.slice(0, 40).to_batches())
    whole = np.frombuffer(path.read_bytes(), np.uint8)
    for _ in range(150):
        damaged = whole[: rng.integers(1, len(whole)) if rng.random() < 0.2 else len(whole)].copy()
        damaged[rng.integers(len(damaged), size=3)] = rng.integers(256, size=3)
        path.write_bytes(damaged.tobytes())
        try:
            for batch in open_table(path).batches():
                _ = [texts(batch[column]) for column in batch.schema.names]
        except (ValueError, OSError) as reason:
            told.append(str(reason))
    assert len(told) > 10 and not any("\n" in line for line in told)


def test_targets_that_may_not_be_written(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(TABLE, path)
    (tmp_path / "link.parquet").symlink_to(path)
    for target in (path, tmp_path / "link.parquet"):
        with pytest.raises(FileExistsError, match="is an input; give another output, or say overwrite=True"):
            check_target(target, path)
    assert check_target(path, path, overwrite=True) == path
    assert check_target(path, None, tmp_path / "other.csv") == path
    with pytest.raises(ValueError, match=r"cannot tell the format of `out.xlsx`; name it .parquet"):
        check_target("out.xlsx")
    with pytest.raises(FileNotFoundError, match=r"there is no folder `.*nowhere`"):
        check_target(tmp_path / "nowhere" / "a.csv")
    with pytest.raises(IsADirectoryError, match="it is a folder"):
        check_target(tmp_path, table=False)


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
    def refuse(**_: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", "/somewhere/.a.csv-x1")

    nested = pa.table({"a": [[1], [2, 3]]})
    with pytest.raises(ValueError, match="cannot write `.*a.csv`: .*"):
        write_table(tmp_path / "a.csv", nested.to_batches())
    monkeypatch.setattr("tempfile.mkstemp", refuse)
    with pytest.raises(PermissionError, match=r"^cannot write `.*page.html`: Permission denied\.$"):
        write_text(tmp_path / "page.html", "page")
    assert not list(tmp_path.iterdir())


def test_categories_become_texts(tmp_path: Path) -> None:
    coded = pa.table({"a": pa.array(["x", "y", "x"]).dictionary_encode()})
    for name in FORMATS:
        write_table(tmp_path / name, coded.to_batches())
        assert together(open_table(tmp_path / name).batches())["a"].to_pylist() == ["x", "y", "x"]


def test_texts_are_written_as_they_are(tmp_path: Path) -> None:
    write_text(tmp_path / "a.html", "ä\n")
    assert (tmp_path / "a.html").read_bytes() == "ä\n".encode()
    write_table(tmp_path / "a.csv", pa.table({"a": ['say "x", y']}).to_batches())
    assert csv.read_csv(tmp_path / "a.csv")["a"].to_pylist() == ['say "x", y']
