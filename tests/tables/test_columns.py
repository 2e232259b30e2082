"""Which column is what: as asked, or as found, and said so; what is wrong in a column is told with its row."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from calibrant import Ensemble, Normal, Quantiles
from calibrant.adapters.class_scores import ClassScores
from calibrant.cli.options import as_option
from calibrant.tables.columns import Columns
from calibrant.tables.detection import Asked, find_columns
from calibrant.tables.roles import SpelledError
from calibrant.tables.rows import Rows, forecasts_of, read_rows, scan_rows
from calibrant.tables.sources import open_table


def table(*names: str, **columns: Any) -> Any:
    return open_table(pa.table({name: columns.get(name, [0.5, 0.25]) for name in (*names, *columns)}))


def found(*names: str, asked: Asked | None = None, **columns: Any) -> Columns:
    return find_columns(table(*names, **columns), asked or Asked())[0]


@pytest.mark.parametrize(
    ("names", "kind", "forecast", "keys"),
    [
        (["id", "mu", "Sigma", "y"], "normal", ("mu", "Sigma"), ()),
        (["y", "mean", "std", "day"], "normal", ("mean", "std"), ()),
        (["q0.9", "q0.1", "y"], "quantiles", ("q0.1", "q0.9"), (0.1, 0.9)),
        (["0.1", "0.5", "y"], "quantiles", ("0.1", "0.5"), (0.1, 0.5)),
        (["q10", "median", "q90", "y"], "quantiles", ("q10", "median", "q90"), (0.1, 0.5, 0.9)),
        (
            ["ds", "Naive", "Naive-lo-90", "Naive-lo-80", "Naive-hi-80", "Naive-hi-90", "y"],
            "quantiles",
            ("Naive-lo-90", "Naive-lo-80", "Naive-hi-80", "Naive-hi-90"),
            (0.05, 0.1, 0.9, 0.95),
        ),
        (["p10", "p50", "p90", "y"], "quantiles", ("p10", "p50", "p90"), (0.1, 0.5, 0.9)),
        (["p_cat", "p_dog", "label"], "classes", ("p_cat", "p_dog"), ("cat", "dog")),
        (["prob_0", "prob_1", "target"], "classes", ("prob_0", "prob_1"), ("0", "1")),
    ],
)
def test_names_tell(names: list[str], kind: str, forecast: tuple[str, ...], keys: tuple[Any, ...]) -> None:
    columns, notes = find_columns(table(*names), Asked())
    assert (columns.kind, columns.forecast, columns.keys) == (kind, forecast, keys)
    assert columns.target in names
    assert all(f"`{name}`" in notes[0] for name in forecast) and f"`{columns.target}`" in notes[1]  # never silent
    assert Columns.from_dict(json.loads(json.dumps(columns.to_dict()))) == columns


def test_percentiles_or_classes_by_the_target() -> None:
    names = {"p_10": [1.0, 2.0], "p_90": [3.0, 4.0]}
    assert found(**names, y=[1.5, 2.5], asked=Asked(target="y")).kind == "quantiles"
    assert found(**names, y=["10", "90"], asked=Asked(target="y")).keys == ("10", "90")


def test_what_is_asked_for() -> None:
    names = ["a", "b", "c", "s_1", "s_2", "s_3", "y"]
    for asked, kind, forecast, keys in [
        (Asked(mean="b", std="a"), "normal", ("b", "a"), ()),
        (Asked(quantile=["0.9=c", "0.1=a"]), "quantiles", ("a", "c"), (0.1, 0.9)),
        (Asked(quantile=["q10=a", "75%=c"]), "quantiles", ("a", "c"), (0.1, 0.75)),
        (Asked(sample_prefix="s_"), "samples", ("s_1", "s_2", "s_3"), ()),
        (Asked(point="b"), "points", ("b",), ()),
        (Asked(class_prefix="s_"), "classes", ("s_1", "s_2", "s_3"), ("1", "2", "3")),
        (Asked(probability=["no=a", "yes=c"]), "classes", ("a", "c"), ("no", "yes")),
    ]:
        columns, notes = find_columns(table(*names), asked)
        assert (columns.kind, columns.forecast, columns.keys, columns.target) == (kind, forecast, keys, "y")
        assert len(notes) == 1  # the target was found, the rest was said
    columns = found(*names, asked=Asked(mean="a", std="b", target="c", weight="s_1", group=["s_2"], time="s_3"))
    assert columns.names() == ["a", "b", "c", "s_1", "s_3", "s_2"]
    assert found("q0.1", "q0.9", "x", asked=Asked(quantile=["q0.1", "q0.9"], target="x")).keys == (0.1, 0.9)


@pytest.mark.parametrize(
    ("names", "asked", "message"),
    [
        (["mu", "sigma", "y"], Asked(mean="muu", std="sigma"), "no column `muu` in `the frame`. Nearest: `mu`. It has"),
        (["mu", "sigma", "y"], Asked(mean="MU", std="sigma"), "no column `MU` in `the frame`. Nearest: `mu`"),
        (
            ["mu", "sigma", "y"],
            Asked(target="outcome"),
            "no column `outcome` in `the frame`. It has `mu`, `sigma`, `y`",
        ),
        (["mu", "sigma", "y"], Asked(mean="mu"), "--mean needs --std beside it. Point predictions only"),
        (["mu", "sigma", "y"], Asked(mean="mu", std="sigma", point="mu"), "of one kind; got --mean and --std with --p"),
        (["mu", "sigma", "z"], Asked(), "which column of `the frame` holds the outcomes? Say --target; it has `mu`"),
        (["mu", "sigma", "y", "target"], Asked(), "Say --target; several columns may hold them: `y`, `target`"),
        (["a", "b", "y"], Asked(), "has no forecast columns by their names. Say --mean and --std, --quantile"),
        (
            ["mu", "sigma", "q10", "q90", "y"],
            Asked(),
            "several kinds of forecast columns by their names. Say --mean and",
        ),
        (["A-lo-90", "B-lo-90", "A-hi-90", "y"], Asked(), "`A-lo-90` and `B-lo-90` are both of level 0.05. Two models"),
        (["a", "y"], Asked(quantile=["a"]), "--quantile 'a' must tell a level between 0 and 1, like --quantile 0.1=a"),
        (["a", "y"], Asked(quantile=["0.5=a"]), "quantiles must be of at least two levels; got one"),
        (["a", "y"], Asked(quantile=["0.5="]), "'0.5=' must be like --quantile 0.1=q10"),
        (["a", "y"], Asked(sample_prefix="s"), "--sample-prefix 's': no column of `the frame` begins so"),
        (["s1", "y"], Asked(sample_prefix="s"), "--sample-prefix 's': one column of `the frame` begins so"),
        (["p_a", "p_b"], Asked(scores_are="odds"), "`scores_are` must be one of 'probabilities', 'logits', 'margins'"),
    ],
)
def test_what_cannot_be(names: list[str], asked: Asked, message: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]*$") as caught:
        found(*names, asked=asked)
    error = caught.value
    assert message in (error.spelled(as_option) if isinstance(error, SpelledError) else str(error))


def test_one_column_of_two_classes() -> None:
    columns, notes = find_columns(table(p_spam=[0.2, 0.9], label=["ham", "spam"]), Asked())
    assert columns.keys == ("ham", "spam")
    assert notes[-1] == "`p_spam` is the probability of 'spam' against 'ham'"
    scores = columns.forecasts([np.array([0.2, 0.9])])
    assert isinstance(scores, ClassScores) and scores.values.tolist() == [[0.8, 0.2], [pytest.approx(0.1), 0.9]]
    with pytest.raises(ValueError, match="labels in `label` must be of two classes; all are 'spam'"):
        found(p_spam=[0.2, 0.9], label=["spam", "spam"])


def test_forecasts_of_every_kind() -> None:
    one, two = np.array([0.0, 1.0]), np.array([2.0, 3.0])
    law = Columns("normal", ("a", "b")).forecasts([one, two])
    assert isinstance(law, Normal) and law.loc.tolist() == [0, 1] and law.scale.tolist() == [2, 3]
    law = Columns("quantiles", ("a", "b"), (0.1, 0.9)).forecasts([one, two])
    assert isinstance(law, Quantiles) and law.ppf([0.9, 0.1]).tolist() == [2, 1]
    assert isinstance(Columns("samples", ("a", "b")).forecasts([one, two]), Ensemble)
    assert Columns("points", ("a",)).forecasts([one]) is one
    logits = Columns("classes", ("a", "b"), ("no", "yes"), scores_are="logits").forecasts([one, two])
    assert isinstance(logits, ClassScores) and logits.kind == "logits" and list(logits.classes) == ["no", "yes"]


NORMAL = Columns("normal", ("mu", "sigma"), target="y")


def rows(columns: Columns = NORMAL, **values: Any) -> Rows:
    base = {"mu": [0.0, 1.0, 2.0], "sigma": [1.0, 1.0, 1.0], "y": [0.5, 0.5, 3.5]}
    (batch,) = pa.table(base | values).to_batches()
    return read_rows(batch, columns, start=100)


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
        rows(**values)


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


def test_saved_roles_that_are_none() -> None:
    for saved in (None, [], {}, {"kind": "normal"}, {"kind": "x", "forecast": []}, {**NORMAL.to_dict(), "more": 1}):
        with pytest.raises(ValueError, match="the columns that the calibrator was fitted to are not known"):
            Columns.from_dict(saved)
