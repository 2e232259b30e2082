"""Rows as arrays; what is wrong in a column is told with its row."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from calibrant.tables.columns import Columns
from calibrant.tables.rows import TableRows, forecasts_of, read_rows, scan_rows
from calibrant.tables.sources import open_table

NORMAL = Columns("normal", ("mu", "sigma"), target="y")


def rows(columns: Columns = NORMAL, strict: bool = False, **values: Any) -> TableRows:
    base = {"mu": [0.0, 1.0, 2.0], "sigma": [1.0, 1.0, 1.0], "y": [0.5, 0.5, 3.5]}
    (batch,) = pa.table(base | values).to_batches()
    return read_rows(batch, columns, start=100, strict=strict)


def test_rows_without_outcome_are_left_out_with_their_forecasts() -> None:
    got = rows(y=[None, 2, float("nan")], mu=[None, 1.0, float("nan")])
    assert (len(got), got.read, got.numbers.tolist()) == (1, 3, [101])
    assert [part.tolist() for part in got.parts] == [[1.0], [1.0]] and got.y is not None and got.y.tolist() == [2.0]


def test_numbers_of_every_type() -> None:
    decimals = pa.array([1, 2, 3], pa.decimal128(5, 2))
    got = rows(mu=decimals, sigma=pa.array([1, 2, 3], pa.int8()), y=pa.array([1, 2, 3], pa.float32()))
    assert [part.tolist() for part in got.parts] == [[1, 2, 3], [1, 2, 3]]
    coded = pa.array(["1", "2", "1"]).dictionary_encode()
    with pytest.raises(ValueError, match=r"column `mu` must be numbers; row 100 \(the first is 0\) holds '1'"):
        rows(mu=coded)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"mu": [0.0, None, float("nan")]}, "column `mu` must be finite numbers; rows 101, 102 (the first is 0): nan."),
        ({"sigma": [1.0, float("inf"), 1.0]}, "column `sigma` must be finite numbers; row 101 (the first is 0): inf."),
        ({"sigma": [1.0, 0.0, -1.0]}, "column `sigma` must be positive; rows 101, 102 (the first is 0): 0.0."),
        ({"y": [1.0, float("-inf"), 1.0]}, "column `y` must be finite; row 101 (the first is 0): -inf."),
        ({"mu": ["1", "abc", "2"]}, "column `mu` must be numbers; row 101 (the first is 0) holds 'abc' (string)."),
        ({"mu": [[1.0], [2.0], [3.0]]}, "column `mu` must be numbers; row 100 (the first is 0) holds [1.0]"),
    ],
)
def test_wrong_values(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        rows(strict=True, **values)


@pytest.mark.parametrize("bad", [None, float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize(
    "columns",
    [
        NORMAL,
        Columns("quantiles", ("mu", "sigma"), (0.1, 0.9), target="y"),
        Columns("samples", ("mu", "sigma"), target="y"),
        Columns("points", ("sigma",), target="y"),
        Columns("classes", ("mu", "sigma"), ("1", "2"), target="y"),
    ],
    ids=lambda columns: columns.kind,
)
def test_rows_without_a_forecast_are_counted_and_left_out(columns: Columns, bad: float | None) -> None:
    columns = replace(columns, weight="w", group=("shop",), time="day")
    extra: dict[str, Any] = {"w": [1, 2, 3], "shop": ["a", "b", "c"], "day": [7, 8, 9]}
    got = rows(columns, y=[1, 2, 1], sigma=[0.5, bad, 0.25], **extra)
    assert (len(got), got.read, got.blank, got.numbers.tolist()) == (2, 3, 1, [100, 102])
    assert got.parts[-1].tolist() == [0.5, 0.25] and {len(part) for part in got.parts} == {2}
    assert got.weights is not None and got.weights.tolist() == [1, 3]
    assert got.y is not None and len(got.y) == 2
    assert got.groups is not None and got.groups.tolist() == [["a"], ["c"]]
    assert got.time is not None and got.time.tolist() == [7, 9]
    whole = TableRows.joined([got, rows(columns, y=[1, 2, 1], **extra)])
    assert (len(whole), whole.read, whole.blank) == (5, 6, 1)
    with pytest.raises(ValueError, match=r"^column `sigma` must be finite numbers; row 101 \(the first is 0\): "):
        rows(columns, strict=True, y=[1, 2, 1], sigma=[0.5, bad, 0.25], **extra)


def test_a_spread_that_is_not_positive_is_no_missing_one() -> None:
    with pytest.raises(ValueError, match=r"column `sigma` must be positive; row 102 \(the first is 0\): 0.0"):
        rows(sigma=[1.0, None, 0.0])
    assert len(rows(mu=[0.0, None, 1.0], sigma=[1.0, -1.0, 2.0])) == 2  # nobody needs it there


def test_huge_forecasts_are_finite() -> None:
    assert len(rows(mu=[1.7e308, 1.7e308, 0.0])) == 3  # their sum is not


def test_weights_groups_and_time() -> None:
    columns = Columns("normal", ("mu", "sigma"), target="y", weight="w", group=("shop", "region"), time="day")
    days = np.array(["2026-01-03", "2026-01-01", "2026-01-02"], dtype="M8[s]")
    extra: dict[str, Any] = {"w": [1, 0, 2], "shop": [1.0, 2.0, None], "region": ["n", "s", "n"], "day": days}
    got = rows(columns, **extra)
    assert got.weights is not None and got.weights.tolist() == [1, 0, 2]
    assert got.groups is not None and got.groups.tolist() == [["1", "n"], ["2", "s"], ["(missing)", "n"]]
    assert got.time is not None and np.argsort(got.time).tolist() == [1, 2, 0]
    with pytest.raises(ValueError, match=r"column `w` must be 0 or positive; row 102"):
        rows(columns, **extra | {"w": [1.0, 0.0, -2.0]})
    with pytest.raises(ValueError, match=r"column `day` must not be missing; it is in row 101"):
        rows(columns, **extra | {"day": [1, None, 2]})


@pytest.mark.parametrize(
    ("keys", "labels", "codes"),
    [
        (("a", "b"), ["b", None, "a"], [1, 0]),
        (("0", "1"), [1, 0, 1], [1, 0, 1]),
        (("0", "1"), [1.0, float("nan"), 0.0], [1, 0]),
        (("0", "1"), [True, False, True], [1, 0, 1]),
        (("False", "True"), [True, False, True], [1, 0, 1]),
        (("no", "yes"), pd.Categorical(["yes", "no", "no"]), [1, 0, 0]),
    ],
)
def test_labels_of_every_type(keys: tuple[str, ...], labels: Any, codes: list[int]) -> None:
    columns = Columns("classes", ("p", "q"), keys, target="label")
    frame = pd.DataFrame({"p": [0.1, 0.2, 0.3], "q": [0.9, 0.8, 0.7], "label": labels})
    (got,) = scan_rows(open_table(frame), columns)
    assert got.y is not None and got.y.tolist() == codes


def test_labels_and_scores_that_do_not_fit() -> None:
    columns = Columns("classes", ("p", "q"), ("a", "b"), target="label")
    wrong = open_table(pa.table({"p": [0.1, 0.2], "q": [0.9, 0.8], "label": ["a", "c"]}))
    with pytest.raises(
        ValueError, match=r"labels in `label` must be among 'a', 'b'.*row 1 \(the first is 0\) holds 'c'"
    ):
        list(scan_rows(wrong, columns))
    (got,) = scan_rows(open_table(pa.table({"p": [0.1, 0.2], "q": [0.9, 0.9], "label": ["a", "b"]})), columns)
    with pytest.raises(
        ValueError, match="class probabilities in `p`, `q`, rows 0 to 1: rows of `scores` must add up to 1"
    ):
        forecasts_of(columns, got)
