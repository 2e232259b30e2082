"""Text files: separators, types that hold to the end, and values that are none of their type."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from calibrant.tables import text as text_tables
from calibrant.tables.reading import Reading
from calibrant.tables.sources import open_table
from tests.tables.examples import one_table


def test_text_separators_marks_and_missing_values(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("\ufeffmu;y\n1.5; 2\nNA;\n".encode())
    table = open_table(path)
    assert table.columns == ["mu", "y"] and table.notes == ("fields of a.csv are separated by ';'",)
    assert one_table(table.batches(types={"mu": pa.float64(), "y": pa.float64()})).to_pydict() == {
        "mu": [1.5, None],
        "y": [2.0, None],
    }


def test_text_of_several_lines_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_tables, "BLOCK", 200)
    lines = [f'{i},"first, line\nsecond ""line"" {i}"' for i in range(100)]
    (tmp_path / "a.csv").write_text("\n".join(["n,text", *lines]) + "\n")
    table = open_table(tmp_path / "a.csv")
    back = one_table(table.batches(types=table.settled()))
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
    assert one_table(table.batches(types=settled))["zip"][0].as_py() == "000"
    with pytest.raises(
        ValueError, match=r"column `b` must be numbers; row 200 \(the first is 0\) of `.*a.csv` holds 'x'"
    ):
        list(table.batches(["b"], {"b": pa.float64()}))


def test_decimal_commas(tmp_path: Path) -> None:
    path, types = tmp_path / "a.csv", {"mu": pa.float64(), "y": pa.float64()}
    path.write_text("mu;y\n1,5;2\n-0,25;\n")
    table = open_table(path, Reading(decimal=","))
    assert one_table(table.batches(types=types)).to_pydict() == {"mu": [1.5, -0.25], "y": [2.0, None]}
    assert table.settled()["mu"] == pa.float64()
    holds = r"column `mu` must be numbers; row 0 \(the first is 0\) of `.*a.csv` holds"
    with pytest.raises(ValueError, match=rf"^{holds} '1,5'\. Other decimals\? Say decimal=','\.$"):
        list(open_table(path).batches(types=types))
    path.write_text("mu;y\n1.5;2\n")
    with pytest.raises(ValueError, match=rf"^{holds} '1.5'\. Other decimals\? Say decimal='\.'\.$"):
        list(open_table(path, Reading(decimal=",")).batches(types=types))


def test_texts_of_another_encoding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.csv"
    hint = r"Another encoding\? Say encoding='latin-1'\.$"
    told = r"^column `shop` of `.*a.csv` is no text in utf-8\. "
    path.write_bytes(("mu,shop\n" + "1,x\n" * 3000 + "1,süd\n" * 3).encode("latin-1"))
    for block in (text_tables.BLOCK, 100):  # in the first block, and later
        monkeypatch.setattr(text_tables, "BLOCK", block)
        table = open_table(path, Reading(encoding="latin-1"))
        assert one_table(table.batches(types=table.settled()))["shop"].to_pylist()[-1] == "süd"
        with pytest.raises(ValueError, match=told + hint):
            open_table(path).settled()
        with pytest.raises(ValueError, match=told + hint):
            list(open_table(path).batches(["shop"], {"shop": pa.string()}))
    path.write_bytes("größe,y\n1,2\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"^cannot read `.*a.csv`: 'utf-8' codec can't decode .*" + hint):
        open_table(path)
    assert open_table(path, Reading(encoding="latin-1")).columns == ["größe", "y"]
