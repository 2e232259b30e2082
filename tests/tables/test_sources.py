"""Tables come in as they are, by batches; broken ones are told in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibrant.tables import sources as tables
from calibrant.tables import text as text_tables
from calibrant.tables.rows import texts
from calibrant.tables.sources import open_table
from calibrant.tables.writing import write_table
from tests.tables.examples import FORMATS, ROWS, TABLE, one_table


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
    part = one_table(open_table(tmp_path / name).batches(["count", "mu"]))
    assert sorted(part.column_names) == ["count", "mu"]
    assert part["mu"].to_pylist() == TABLE["mu"].to_pylist()


def test_arrow_streams_and_files_without_a_telling_name(tmp_path: Path) -> None:
    with pa.OSFile(str(tmp_path / "stream.arrow"), "wb") as file, pa.ipc.new_stream(file, TABLE.schema) as writer:
        writer.write_table(TABLE)
    assert one_table(open_table(tmp_path / "stream.arrow").batches()).equals(TABLE)
    pq.write_table(TABLE, tmp_path / "forecasts")
    assert open_table(tmp_path / "forecasts").rows == ROWS
    (tmp_path / "strange.dat").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"the format of `.*strange.dat` is unknown; name it .parquet"):
        open_table(tmp_path / "strange.dat")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_every_library(make: Any) -> None:
    table = open_table(make({"mu": [0.0, 1.5, 2.0], "q": [1, 2, 3], "s": ["a", "b", None]}))
    assert (table.columns, table.rows, table.format) == (["mu", "q", "s"], 3, "frame")
    back = one_table(table.batches(["q", "mu"]))
    assert back.to_pydict() == {"q": [1, 2, 3], "mu": [0.0, 1.5, 2.0]}


def test_frames_with_odd_columns() -> None:
    frame = pd.DataFrame({"a": [1.0, "x", None], "b": [1, 2, 3]}, index=[7, 8, 9])
    table = open_table(frame)
    assert one_table(table.batches(["b"])).to_pydict() == {"b": [1, 2, 3]}
    with pytest.raises(ValueError, match="column `a` must hold values of one type: Could not convert 'x'"):
        list(table.batches(["a"]))
    with pytest.raises(TypeError, match="a path or a pandas, polars or pyarrow frame; got list"):
        open_table([1, 2])
    with pytest.raises(ValueError, match="`the frame` has no rows"):
        list(open_table(frame[:0]).batches(["b"]))


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
