"""Which column of class scores is whose."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from calibrant.adapters.class_labels import class_numbers, label_in, labels_of_columns
from calibrant.adapters.class_scores import ClassScores, as_scores

P = np.array([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]])


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (["p_cat", "p_dog"], ["cat", "dog"]),
        (["prob_small", "prob_large"], ["small", "large"]),
        (["proba_1", "proba_0"], ["1", "0"]),
        (["Probability_ja", "Probability_nein"], ["ja", "nein"]),
        (["p_süß", "p_日本"], ["süß", "日本"]),
        (["cat", "dog"], ["cat", "dog"]),
        (["p_cat", "prob_dog"], ["p_cat", "prob_dog"]),
        (["p_cat", "dog"], ["p_cat", "dog"]),
        ([2, 0], [2, 0]),
        (["a", 1], ["a", "1"]),
        ([("score", "a"), ("score", "b")], ["a", "b"]),
        ([0, 1], None),
        (["column_0", "column_1"], None),
        (None, None),
    ],
)
def test_names_of_columns_tell_labels(names, labels):
    found = labels_of_columns(names)
    assert (None if found is None else found.tolist()) == labels


def test_single_names():
    assert [label_in(name) for name in ("p_cat", "PROB_b_c", "pcat", "p_")] == ["cat", "b_c", None, None]


class TestClassNumbers:
    def test_who_decides(self):
        y = np.array([1, 0, 2])
        assert class_numbers(y, 3, [2, 1, 0], np.array([0, 2, 1]))[1].tolist() == [1, 2, 0]
        assert class_numbers(y, 3, None, np.array([0, 2, 1]))[1].tolist() == [2, 0, 1]
        assert class_numbers(y, 4)[0].tolist() == [0, 1, 2, 3]
        assert class_numbers(y + 5, 3)[0].tolist() == [5, 6, 7]

    @pytest.mark.parametrize(
        ("labels", "own", "known", "codes"),
        [
            ([11, 2], ["11", "2", "5"], [11, 2, 5], [0, 1]),
            ([1.0, 0.0], ["0", "1"], [0.0, 1.0], [1, 0]),
            ([0.5, 1.5], ["1.5", "0.5"], [1.5, 0.5], [1, 0]),
            (["11", "2"], [2, 11], ["2", "11"], [1, 0]),
            ([True, False], ["true", "false"], [True, False], [0, 1]),
            ([True, False], ["1", "0"], [True, False], [0, 1]),
            ([0, 1], ["1", "0", "other"], ["1", "0", "other"], [1, 0]),
            ([1, 2], ["1", "01", "2"], ["1", "01", "2"], [0, 2]),
        ],
    )
    def test_labels_and_columns_of_two_types(self, labels, own, known, codes):
        found, numbers = class_numbers(np.array(labels), len(own), own=np.array(own))
        assert found.tolist() == known and numbers.tolist() == codes

    def test_days(self):
        days = np.array([datetime.date(2024, 1, 2), datetime.date(2024, 1, 1)], dtype=object)
        assert class_numbers(days, 2, own=np.array(["2024-01-01", "2024-01-02"]))[1].tolist() == [1, 0]

    def test_errors_name_labels_and_columns(self):
        own = np.array(["cat", "dog"])
        with pytest.raises(ValueError, match=r"`y` must be one of the columns of `scores`, 'cat', 'dog'; 2 of 3"):
            class_numbers(np.array(["no", "cat", "yes"]), 2, own=own)
        with pytest.raises(ValueError, match=r"first y\[0\] = '1'. Rename the columns, or say classes=\[...\] in"):
            class_numbers(np.array([1, 0]), 2, own=own)
        with pytest.raises(ValueError, match=r"`classes` must name the 3 columns of `scores`; got \['a', 'b', 'a'\]"):
            class_numbers(np.array(["a", "b"]), 3, ["a", "b", "a"])


class TestClassScores:
    @pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
    def test_frames(self, kind):
        frame = kind({f"p_{label}": P[:, k] for k, label in enumerate("zxy")})
        scores = as_scores(frame)
        assert scores.classes.tolist() == ["z", "x", "y"]
        np.testing.assert_array_equal(scores.values, P)
        assert scores[:1].classes.tolist() == ["z", "x", "y"]

    def test_frames_that_number_their_columns(self):
        assert as_scores(pd.DataFrame(P)).classes is None
        assert as_scores(pl.DataFrame(P)).classes is None
        assert as_scores(pd.DataFrame({1: [0.2, 0.4]})).classes is None
        assert as_scores(pd.DataFrame({"p_spam": [0.2, 0.4]})).classes.tolist() == [None, "spam"]

    def test_order(self):
        scores = ClassScores(P, classes=["z", "x", "y"])
        turned = scores.in_order_of(np.array(["x", "y", "z"]))
        np.testing.assert_array_equal(turned.values, P[:, [1, 2, 0]])
        assert turned.classes.tolist() == ["x", "y", "z"]
        assert ClassScores(P).in_order_of(np.array(["x", "y", "z"])).values is P
        assert scores.in_order_of(np.array(["z", "x", "y"])) is scores
        with pytest.raises(ValueError, match=r"one of the columns of `scores`, 'z', 'x', 'y'; 1 of 3 .* = 'w'"):
            scores.in_order_of(np.array(["x", "y", "w"]))

    def test_labels_must_fit_the_columns(self):
        with pytest.raises(ValueError, match=r"`classes` must name the 3 columns of `scores`; got \['x', 'y'\]"):
            ClassScores(P, classes=["x", "y"])
