"""Tables come in as they are, by batches; broken ones are told in one line."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibrant.tables import json_lines
from calibrant.tables import sources as tables
from calibrant.tables import text as text_tables
from calibrant.tables.reading import Reading
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
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match=r"there is no Parquet file in the folder `.*empty`\."):
        open_table(tmp_path / "empty")


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


TEXTS = TABLE.select(["mu", "shop", "count"])


def write_text(path: Path, table: pa.Table, encoding: str = "utf-8") -> None:
    """CSV or JSON lines, compressed where the name says so."""
    frame, name = table.to_pandas(), path.name.removesuffix(".gz")
    if name.endswith("sv"):
        text = frame.to_csv(index=False, sep="\t" if name.endswith(".tsv") else ",")
    else:
        text = frame.to_json(orient="records", lines=True, force_ascii=False)
    content = text.encode(encoding)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


@pytest.mark.parametrize("name", ["a.csv.gz", "a.tsv.gz", "a.jsonl", "a.ndjson", "a.jsonl.gz", "A.CSV.GZ"])
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16"])
@pytest.mark.usefixtures("small_batches")
def test_compressed_text_and_json_lines(
    name: str, encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_lines, "BLOCK", 2000)
    shops = pa.array([["größer", "süd", "x"][i % 3] for i in range(ROWS)])
    table = TEXTS.set_column(1, "shop", shops)
    write_text(tmp_path / name.lower(), table, encoding)
    (tmp_path / name.lower()).rename(tmp_path / name)
    opened = open_table(tmp_path / name, Reading(encoding=encoding))
    batches = list(opened.batches())
    assert len(batches) > 3 and max(batch.num_rows for batch in batches) <= 64
    back = pa.Table.from_batches(batches)
    assert back["shop"].to_pylist() == shops.to_pylist() and back["count"].to_pylist() == list(range(ROWS))
    np.testing.assert_allclose(back["mu"].to_numpy(), table["mu"].to_numpy(), rtol=1e-9, atol=1e-9)
    assert one_table(opened.batches(["count"])).column_names == ["count"]


def test_gzip_is_told_by_the_content(tmp_path: Path) -> None:
    write_text(tmp_path / "a.csv", TEXTS)
    plain = (tmp_path / "a.csv").read_bytes()
    (tmp_path / "plain.csv.gz").write_bytes(plain)
    (tmp_path / "zipped.csv").write_bytes(gzip.compress(plain))
    for name in ("plain.csv.gz", "zipped.csv"):
        assert one_table(open_table(tmp_path / name).batches()).num_rows == ROWS
    torn = gzip.compress(plain)[:-4000]
    for name in ("torn.csv.gz", "torn.jsonl.gz"):
        (tmp_path / name).write_bytes(torn)
        with pytest.raises((ValueError, OSError), match=f"^cannot read `.*{name}`: [^\n]*$"):
            list(open_table(tmp_path / name).batches())


def test_lines_of_json_that_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "BLOCK", 20)
    (tmp_path / "a.jsonl").write_text('\ufeff{"mu": 1}\r\n\n{"mu": NaN, "late": "x"}\n{"mu": 2.5, "y": {"a": 1}}\n{}')
    table = open_table(tmp_path / "a.jsonl")
    assert table.columns == ["mu", "late", "y"]
    got = one_table(table.batches(["late", "mu"])).to_pydict()
    assert got["late"] == [None, "x", None, None] and got["mu"][::2] == [1.0, 2.5]
    assert np.isnan(got["mu"][1]) and got["mu"][3] is None
    for text, message in {
        '{"mu": 1}\n{"mu": "a"}\n': "cannot read `.*b.jsonl`: .*",
        "[1, 2]\n": "cannot read `.*b.jsonl`: JSON parse error: .*from object to array",
        "mu,y\n1,2\n": "cannot read `.*b.jsonl`: JSON parse error: Invalid value",
        "\n\n": "`.*b.jsonl` has no rows",
    }.items():
        (tmp_path / "b.jsonl").write_text(text)
        with pytest.raises((ValueError, TypeError), match=f"^{message}[^\n]*$"):
            list(open_table(tmp_path / "b.jsonl").batches())


def split(folder: Path, sizes: tuple[int, ...] = (300, 500, 200)) -> None:
    start = 0
    for k, size in enumerate(sizes):
        pq.write_table(TABLE.slice(start, size), folder / f"part-{k}.parquet")
        start += size


@pytest.mark.usefixtures("small_batches")
def test_folders_and_patterns_are_one_table(tmp_path: Path) -> None:
    folder = tmp_path / "days"
    folder.mkdir()
    split(folder)
    for name in ("_SUCCESS", ".part-0.parquet.crc", "_metadata.parquet", "notes.txt"):
        (folder / name).write_bytes(b"x")
    for source in (folder, f"{folder}/part-*.parquet", f"{tmp_path}/**/[p]art-?.parquet"):
        table = open_table(source)
        assert (table.rows, table.format, table.name) == (ROWS, "parquet", str(source))
        assert one_table(table.batches()).equals(TABLE)
        assert max(batch.num_rows for batch in table.batches(["count"])) <= 64
        assert one_table(table.batches(["count", "mu"])).equals(TABLE.select(["count", "mu"]))
    assert open_table(f"{folder}/part-1*").rows == 500
    with pytest.raises(FileNotFoundError, match=r"^there is no file that matches `.*/x-\*.parquet`\.$"):
        open_table(tmp_path / "x-*.parquet")


def test_names_of_folders_are_columns(tmp_path: Path) -> None:
    for shop in ("north", "south"):
        (tmp_path / f"shop={shop}" / "year=2026").mkdir(parents=True)
        pq.write_table(TABLE.select(["mu"]).slice(0, 3), tmp_path / f"shop={shop}" / "year=2026" / "a.parquet")
    table = open_table(tmp_path)
    assert table.columns == ["mu", "shop", "year"]
    assert one_table(table.batches(["shop"]))["shop"].to_pylist() == ["north"] * 3 + ["south"] * 3
    assert one_table(table.batches())["year"].to_pylist() == ["2026"] * 6


def test_files_of_one_table_must_agree(tmp_path: Path) -> None:
    write = lambda name, **columns: pq.write_table(pa.table(columns), tmp_path / name)  # noqa: E731
    write("a.parquet", mu=[1, 2], y=[1.0, 2.0])
    write("b.parquet", y=[3.0, 4.0], mu=[1.5, 2.5])  # another order, and numbers that go together
    write("c.parquet", mu=pa.array([None, None]), y=[3.0, 4.0])
    assert one_table(open_table(tmp_path).batches()).to_pydict() == {
        "mu": [1.0, 2.0, 1.5, 2.5, None, None],
        "y": [1.0, 2.0, 3.0, 4.0, 3.0, 4.0],
    }
    write("d.parquet", mu=["x"], y=[1.0])
    with pytest.raises(ValueError, match=r"^column `mu` must have one type in all files of a table; it is double in "):
        open_table(tmp_path)
    write("d.parquet", mu=[1.0])
    with pytest.raises(ValueError, match=r"^files of one table must have the same columns; `y` is in `.*a.parquet`"):
        open_table(tmp_path)
    (tmp_path / "d.parquet").unlink()
    (tmp_path / "e.csv").write_text("mu,y\n1,2\n")
    assert open_table(tmp_path).rows == 6
    with pytest.raises(ValueError, match=r"^files of one table must be Parquet files; `.*e.csv` is none\.$"):
        open_table(tmp_path / "*")
    (tmp_path / "f.parquet").write_bytes(b"")
    with pytest.raises(ValueError, match=r"^`.*f.parquet` is empty: it has 0 bytes\.$"):
        open_table(tmp_path)


def piped(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz", "a.jsonl", "a.parquet", "a.arrow"])
def test_every_format_by_a_pipe(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name.endswith(("parquet", "arrow")):
        write_table(tmp_path / name, TEXTS.to_batches())
    else:
        write_text(tmp_path / name, TEXTS)
    piped(monkeypatch, (tmp_path / name).read_bytes())
    table = open_table("-")
    for _ in range(2):  # it may be read again
        assert one_table(table.batches(["count"]))["count"].to_pylist() == list(range(ROWS))
    assert table.name == "stdin"
    piped(monkeypatch, b"")
    with pytest.raises(ValueError, match="`stdin` is empty: it has 0 bytes"):
        open_table("-")


def test_formats_that_are_said(tmp_path: Path) -> None:
    write_text(tmp_path / "a.csv", TEXTS)
    (tmp_path / "a.csv").rename(tmp_path / "a.dat")
    assert open_table(tmp_path / "a.dat", Reading("csv")).columns == TEXTS.column_names
    with pytest.raises(ValueError, match="or say format='csv'"):
        open_table(tmp_path / "a.dat")
    for wrong, message in {
        "format": "format='xlsx' must be csv, jsonl, parquet or arrow",
        "decimal": "decimal='xlsx' must be '.' or ','",
        "encoding": "encoding='xlsx' is not known; say one such as encoding='latin-1'",
    }.items():
        with pytest.raises(ValueError, match=message):
            open_table(TABLE, Reading(**{wrong: "xlsx"}))  # type: ignore[arg-type]
