"""Text files: separators, types that hold to the end, and values that are none of their type."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from calibrant.tables import text as text_tables
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
