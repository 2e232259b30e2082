"""Which column is what: as asked, or as found, and said so."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from calibrant.adapters.class_scores import ClassScores
from calibrant.cli.options import as_option
from calibrant.tables.columns import Columns
from calibrant.tables.detection import Asked, find_columns
from calibrant.tables.roles import SpelledError
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
    with pytest.raises(
        ValueError, match="labels in `label` must be 'spam' and one other, as one probability is given; all are 'spam'"
    ):
        found(p_spam=[0.2, 0.9], label=["spam", "spam"])


def test_levels_and_classes_are_told_apart_by_the_outcomes():
    """`p_10`, `p_50`, `p_90` are quantiles beside numbers, and classes beside labels."""
    columns = {"p_10": [0.1, 0.2], "p_50": [0.4, 0.3], "p_90": [0.5, 0.5]}
    numbers, _ = find_columns(open_table(pa.table({**columns, "y": [0.3, 1.4]})), Asked())
    labels, _ = find_columns(open_table(pa.table({**columns, "y": ["10", "50"]})), Asked())
    assert numbers.kind == "quantiles" and numbers.keys == (0.1, 0.5, 0.9)
    assert labels.kind == "classes" and labels.keys == ("10", "50", "90")


@pytest.mark.parametrize(
    ("labels", "keys"),
    [
        (["ham", "spam"], ("ham", "spam")),
        ([0, 1], ("0", "1")),
        ([10, 9], ("9", "10")),
        ([True, False], ("false", "true")),
    ],
)
def test_one_probability_is_that_of_the_second_label(labels: list[Any], keys: tuple[str, str]) -> None:
    columns, notes = find_columns(table(probability=[0.2, 0.9], label=labels), Asked())
    assert (columns.kind, columns.forecast, columns.keys) == ("classes", ("probability",), keys)
    assert notes[-1] == f"`probability` is the probability of {keys[1]!r} against {keys[0]!r}"


def test_one_probability_of_no_two_labels() -> None:
    for labels, said in ((["a", "b", "c"], "they are 'a', 'b', 'c'"), (["a", "a", "a"], "they are 'a'")):
        message = f"labels in `label` must be two, as one probability is given; {said}."
        with pytest.raises(ValueError, match=re.escape(message)):
            found(probability=[0.2, 0.9, 0.5], label=labels)


def test_a_point_is_found_where_there_is_nothing_else() -> None:
    columns, notes = find_columns(table("day", "prediction", "y"), Asked())
    assert (columns.kind, columns.forecast, notes[0]) == (
        "points",
        ("prediction",),
        "found point predictions in `prediction`",
    )
    with pytest.raises(ValueError, match="has several forecast columns by their names. Say point="):
        found("pred", "yhat", "y")


def test_samples_are_counted() -> None:
    names = ["s1", "s2", "s10", "shop", "y"]
    assert found(*names, asked=Asked(sample_prefix="s")).forecast == ("s1", "s2", "s10")
    assert found("f_a", "f_b", "y", asked=Asked(sample_prefix="f_")).forecast == ("f_a", "f_b")
