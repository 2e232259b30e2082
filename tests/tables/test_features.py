"""Which columns are features, and how they are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from calibrant.tables.columns import Columns
from calibrant.tables.detection import Asked, find_columns, open_columns
from calibrant.tables.features import with_features
from calibrant.tables.reading import Reading
from calibrant.tables.rows import TableRows, scan_rows
from calibrant.tables.sources import open_table

NORMAL = Columns("normal", ("mu", "sigma"), target="y")
BASE: dict[str, Any] = {"mu": [0.0, 1.0, 2.0], "sigma": [1.0, 1.0, 1.0], "y": [0.5, 0.5, 3.5]}


def _read(source: Any, *features: str, asked: Asked | None = None) -> pa.Table:
    table, columns, _ = open_columns(source, asked or Asked(feature=list(features)))
    return TableRows.joined(list(scan_rows(table, columns))).features


TYPES = {
    "floats": (pa.array([1.5, None, 2.0]), [1.5, np.nan, 2.0]),
    "whole numbers": (pa.array([1, None, 2], pa.int8()), [1.0, np.nan, 2.0]),
    "float32": (pa.array([0.5, None, 2.0], pa.float32()), [0.5, np.nan, 2.0]),
    "decimals": (pa.array([1, None, 2]).cast(pa.decimal128(21, 2)), [1.0, np.nan, 2.0]),
    "booleans": (pa.array([True, None, False]), [1.0, np.nan, 0.0]),
    "nothing": (pa.nulls(3), [np.nan] * 3),
    "texts": (pa.array(["a", None, "007"]), ["a", None, "007"]),
    "empty texts": (pa.array(["a", "", "b"], pa.large_string()), ["a", None, "b"]),
    "dictionary": (pa.array(["a", None, "b"]).dictionary_encode(), ["a", None, "b"]),
    "dictionary of numbers": (pa.array([3, None, 4]).dictionary_encode(), ["3", None, "4"]),
}


@pytest.mark.parametrize("name", TYPES)
def test_types(name: str) -> None:
    column, expected = TYPES[name]
    found = _read(pa.table({**BASE, "x": column}), "x")
    if isinstance(expected[0], float):
        assert found.schema.field("x").type == pa.float64()
        assert np.array_equal(found["x"].to_numpy(), expected, equal_nan=True)
    else:
        assert found["x"].to_pylist() == expected and found.schema.field("x").type == pa.string()


NO_FEATURES = {
    "dates": pa.array([0, 1, 2], pa.date32()),
    "times": pa.array([0, 1, 2], pa.timestamp("s")),
    "lists": pa.array([[1], [2], [3]]),
}


@pytest.mark.parametrize("name", NO_FEATURES)
def test_no_features(name: str) -> None:
    table = open_table(pa.table({**BASE, "x": NO_FEATURES[name], "z": [1, 2, 3]}))
    with pytest.raises(ValueError, match=r"`x` must hold numbers or texts to be a feature; it holds .*\. Dates\?"):
        find_columns(table, Asked(feature=["x"]))
    columns, notes = find_columns(table, Asked(feature=["*"]))
    assert columns.feature == ("z",) and notes[-1] == "left out of the features, being neither numbers nor texts: `x`"
    with pytest.raises(ValueError, match=r"feature=\['\*'\]: `the frame` has no other column that could be a feature"):
        find_columns(open_table(pa.table({**BASE, "x": NO_FEATURES[name]})), Asked(feature=["*"]))


def test_frames_of_every_kind() -> None:
    texts = ["a", None, "b"]
    expected = _read(pa.table({**BASE, "x": texts, "n": [1.0, None, 3.0]}), "x", "n")
    for frame in (
        pd.DataFrame({**BASE, "x": pd.Categorical(texts), "n": pd.array([1, None, 3], dtype="Int64")}),
        pd.DataFrame({**BASE, "x": texts, "n": [1.0, np.nan, 3.0]}),
        pl.DataFrame({**BASE, "x": texts, "n": [1, None, 3]}).with_columns(pl.col("x").cast(pl.Categorical)),
    ):
        found = _read(frame, "n", "x")
        assert found.column_names == ["n", "x"] and found["x"].to_pylist() == expected["x"].to_pylist()
        assert np.array_equal(found["n"].to_numpy(), expected["n"].to_numpy(), equal_nan=True)


def test_a_feature_is_never_a_forecast_or_an_outcome() -> None:
    """Names that would tell a forecast or an outcome are free where the column is a feature."""
    two = open_table(pa.table({**BASE, "actual": [9.0, 9.0, 9.0], "q10": [0.0] * 3, "q90": [1.0] * 3}))
    columns, _ = find_columns(two, Asked(feature=["actual", "q10", "q90"]))
    assert (columns.kind, columns.target, columns.feature) == ("normal", "y", ("actual", "q10", "q90"))
    sampled = {"s_1": [0.0] * 3, "s_2": [1.0] * 3, "s_size": ["l"] * 3, "y": [0.5] * 3}
    columns, _ = find_columns(open_table(pa.table(sampled)), Asked(sample_prefix="s_", feature=["s_size"]))
    assert columns.forecast == ("s_1", "s_2")
    with pytest.raises(ValueError, match="which column of `the frame` holds the outcomes"):
        find_columns(open_table(pa.table(BASE)), Asked(feature=["y"]))
    with pytest.raises(ValueError, match="column `y` holds the outcomes, which are no feature="):
        with_features(open_table(pa.table(BASE)), NORMAL, ["y"])


def test_all_others_have_no_other_role() -> None:
    more = {"w": [1, 2, 3], "g": ["a", "b", "a"], "t": [1, 2, 3], "z": [1, 2, 3], "b": ["x"] * 3, "n": ["i", "j", "k"]}
    roles: dict[str, Any] = {"mean": "mu", "std": "sigma", "weight": "w", "group": ["g"], "time": "t", "id": "n"}
    asked = Asked(**roles, feature=["*", "mu"])
    columns, notes = find_columns(open_table(pa.table({**more, **BASE})), asked)
    assert columns.feature == ("b", "mu", "z") and columns.category == ("b",)
    assert notes[-1] == "features are `mu`, `b`, `z`"


def test_order_of_the_names_said() -> None:
    table = open_table(pa.table({**BASE, "b": [1, 2, 3], "a": [1, 2, 3]}))
    assert find_columns(table, Asked(feature=["b", "a", "b"]))[0].feature == ("a", "b")
    assert with_features(table, NORMAL, ["b", "a", "b"])[0].feature == ("b", "a")


def test_text_files_are_read_to_their_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A column whose first block looks like numbers, dates or truth and whose last does not is one of texts."""
    monkeypatch.setattr("calibrant.tables.text.BLOCK", 200)
    n = 60
    frame = pd.DataFrame({"mu": np.arange(n), "sigma": 1.0, "y": np.arange(n), "late": np.arange(n).astype(str)})
    frame["day"], frame["half"], frame["code"] = "2026-01-01", np.arange(n).astype(str), "007"
    frame["flag"] = "true"
    frame.loc[n - 1, ["late", "day", "half", "flag"]] = ["B7", "later", "0.5", ""]
    frame.to_csv(tmp_path / "t.csv", index=False)
    found = _read(tmp_path / "t.csv", "late", "day", "half", "code", "flag")
    assert found["late"].to_pylist()[::59] == ["0", "B7"] and found["day"].to_pylist()[::59] == ["2026-01-01", "later"]
    assert found["half"].to_pylist()[::59] == [0.0, 0.5] and found["code"].to_pylist()[0] == "007"
    flags = found["flag"].to_numpy()
    assert flags[0] == 1.0 and np.isnan(flags[-1])


def test_decimal_commas(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("mu;sigma;y;x\n0;1;0,5;1,5\n1;1;0,25;\n")
    asked = Asked(feature=["x"], reading=Reading(decimal=","))
    assert np.array_equal(_read(path, asked=asked)["x"].to_numpy(), [1.5, np.nan], equal_nan=True)


def test_rows_keep_their_features() -> None:
    frame = pd.DataFrame({**BASE, "x": ["a", "b", "c"], "n": [1, 2, 3]})
    frame.loc[1, "y"] = np.nan  # no outcome
    table, columns, _ = open_columns(frame, Asked(feature=["x", "n"]))
    rows = TableRows.joined(list(scan_rows(table, columns)) * 2)
    assert rows.features["x"].to_pylist() == ["a", "c", "a", "c"]
    assert rows.take(np.array([3, 0])).features.to_pylist() == [{"n": 3.0, "x": "c"}, {"n": 1.0, "x": "a"}]
    assert rows.take(np.array([False, True, False, False])).features["n"].to_pylist() == [3.0]


def test_saved_columns() -> None:
    columns = Columns("normal", ("mu", "sigma"), feature=("a", "b"), category=("b",))
    saved = columns.to_dict()
    assert Columns.from_dict(saved) == columns and columns.types()["b"] == pa.string() and "a" not in columns.types()
    plain = Columns("normal", ("mu", "sigma"))
    assert columns.without_features() == plain and not {"feature", "category"} & plain.to_dict().keys()
    for wrong in ({"category": ["c"]}, {"feature": "ab"}, {"feature": [1]}, {"category": [[]]}):
        with pytest.raises(ValueError, match="columns that the calibrator was fitted to are not known"):
            Columns.from_dict({**saved, **wrong})
