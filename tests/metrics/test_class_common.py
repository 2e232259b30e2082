"""What holds for every measure of class probabilities and labels: weights are frequencies, order is irrelevant."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from calibrant import metrics
from calibrant.adapters.class_scores import ClassScores
from tests.metrics.class_measures import (
    ANY_NUMBER,
    CASES,
    LABELS,
    MEANS,
    NEED_TWO_CLASSES,
    PROBABILITIES,
    numbers,
    three_classes,
    two_classes,
)

FREE_OF_LABELS = {"class_sharpness"}


@pytest.mark.parametrize(("measure", "data"), CASES)
def test_weight_2_is_the_row_twice(measure, data, rng):
    y, p = data(rng)
    weight = rng.integers(0, 4, len(y))
    rows = rng.permutation(np.repeat(np.arange(len(y)), weight))
    weighted = numbers(PROBABILITIES[measure](y, p, sample_weight=weight))
    np.testing.assert_allclose(weighted, numbers(PROBABILITIES[measure](y[rows], p[rows])), rtol=1e-8, atol=1e-12)
    assert not np.allclose(weighted, numbers(PROBABILITIES[measure](y, p)), rtol=1e-6)


@pytest.mark.parametrize(("measure", "data"), CASES)
def test_the_order_of_rows_does_not_matter(measure, data, rng):
    y, p = data(rng)
    rows = rng.permutation(len(y))
    one, other = (numbers(PROBABILITIES[measure](*pair)) for pair in ((y, p), (y[rows], p[rows])))
    np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize(("measure", "data"), CASES)
def test_unit_weights_change_nothing(measure, data, rng):
    y, p = data(rng)
    weighted = PROBABILITIES[measure](y, p, sample_weight=np.ones(len(y)))
    np.testing.assert_allclose(numbers(weighted), numbers(PROBABILITIES[measure](y, p)), rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize(("measure", "data"), CASES)
def test_weights_that_are_no_integers_are_in_between(measure, data, rng):
    y, p = data(rng)
    near = rng.integers(1, 3, len(y)).astype(float)
    exact = numbers(PROBABILITIES[measure](y, p, sample_weight=near))
    moved = numbers(PROBABILITIES[measure](y, p, sample_weight=near * (1 + 1e-10)))
    np.testing.assert_allclose(moved, exact, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("measure", PROBABILITIES)
def test_labels_of_any_type_and_forms_of_probabilities(measure, rng):
    y, p = two_classes(rng)
    expected = numbers(PROBABILITIES[measure](y, p))
    names = np.array(["ham", "spam"])
    forms = [p[:, None], np.column_stack([1 - p, p]), p.tolist(), pd.Series(p), pl.Series(p)]
    forms.append(ClassScores(np.column_stack([1 - p, p])))
    for form in forms:
        np.testing.assert_allclose(numbers(PROBABILITIES[measure](y, form)), expected, rtol=1e-7, atol=1e-12)
    for labels in (y.astype(bool), y.astype(float), 2 * y - 1, names[y], names[y].tolist(), pd.Series(names[y])):
        np.testing.assert_allclose(numbers(PROBABILITIES[measure](labels, p)), expected, rtol=1e-12)


@pytest.mark.parametrize("measure", sorted(set(PROBABILITIES) - FREE_OF_LABELS))
def test_classes_in_any_order(measure, rng):
    y, p = two_classes(rng)
    other = PROBABILITIES[measure](1 - y, p, classes=[1, 0])
    np.testing.assert_allclose(numbers(other), numbers(PROBABILITIES[measure](y, p)), rtol=1e-12)


@pytest.mark.parametrize("measure", sorted(set(ANY_NUMBER) - FREE_OF_LABELS))
def test_columns_of_a_frame_name_the_classes(measure, rng):
    y, p = three_classes(rng)
    names = np.array(["x", "y", "z"])
    shuffled = [2, 0, 1]
    frame = pd.DataFrame(p[:, shuffled], columns=names[shuffled])
    expected = numbers(ANY_NUMBER[measure](y, p))
    ordered = measure == "ranked_probability_score"  # by the order of the columns
    if not ordered and ("ece" not in measure or measure == "ece_class_wise"):  # of equal classes the first one counts
        np.testing.assert_allclose(numbers(ANY_NUMBER[measure](names[y], frame)), expected, rtol=1e-9, atol=1e-12)
    frame = pd.DataFrame(p, columns=names)
    np.testing.assert_allclose(numbers(ANY_NUMBER[measure](names[y], frame)), expected, rtol=1e-12)


@pytest.mark.parametrize("measure", sorted(set(PROBABILITIES) - NEED_TWO_CLASSES))
def test_one_class_present(measure, rng):
    _, p = two_classes(rng)
    y = np.ones(len(p), dtype=int)
    assert np.isfinite(numbers(PROBABILITIES[measure](y, np.clip(p, 0.05, 0.95)))).all()
    if measure not in FREE_OF_LABELS:
        with pytest.raises(ValueError, match=r"only the label 'spam'. Say classes=\[...\] with all labels"):
            PROBABILITIES[measure](["spam"] * len(p), p)
        named = PROBABILITIES[measure](["spam"] * len(p), p, classes=["ham", "spam"])
        np.testing.assert_array_equal(numbers(named), numbers(PROBABILITIES[measure](y, p)))


@pytest.mark.parametrize("measure", ANY_NUMBER)
def test_26_classes_of_which_some_have_no_rows(measure, rng):
    p = rng.dirichlet(np.ones(26), 50)
    assert np.isfinite(numbers(ANY_NUMBER[measure](rng.integers(0, 20, 50), p))).all()


@pytest.mark.parametrize("measure", sorted(set(PROBABILITIES) - NEED_TWO_CLASSES))
def test_one_row(measure):
    assert numbers(PROBABILITIES[measure]([1], [0.3])).size


@pytest.mark.parametrize("measure", MEANS)
@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_the_mean_of_the_rows_is_the_value(measure, data, rng):
    y, p = data(rng)
    p = 0.9 * p + 0.05
    p = p if p.ndim == 1 else p / p.sum(axis=1, keepdims=True)
    rows = MEANS[measure](y, p, per_row=True)
    assert rows.shape == y.shape
    assert MEANS[measure](y, p) == pytest.approx(rows.mean(), rel=1e-12)
    assert isinstance(MEANS[measure](y, p), float)
    with pytest.raises(ValueError, match="`sample_weight` must be None with per_row=True"):
        MEANS[measure](y, p, per_row=True, sample_weight=np.ones(len(y)))


@pytest.mark.parametrize("measure", PROBABILITIES)
class TestBadInput:
    def test_probabilities(self, measure):
        call = PROBABILITIES[measure]
        with pytest.raises(ValueError, match=r"`y_proba` must be finite; 1 of 3 .* first y_proba\[1\] = nan"):
            call([0, 1, 1], [0.1, np.nan, 0.3])
        with pytest.raises(ValueError, match=r"between 0 and 1; 2 of 3 values are not, first .*= -2.0. Logits or marg"):
            call([0, 1, 1], [-2.0, 3.0, 0.5])
        with pytest.raises(ValueError, match="rows of `y_proba` must add up to 1; 1 of 2 do not, first row 1 adds"):
            call([0, 1], [[0.5, 0.5], [0.5, 0.2]])
        with pytest.raises(ValueError, match="`y_proba` must have at least one row; it is empty"):
            call([], [])

    def test_shapes(self, measure):
        call = PROBABILITIES[measure]
        with pytest.raises(ValueError, match=r"`y_proba` must be \(n,\) or \(n, classes\); got shape \(1, 1, 2\)"):
            call([0], [[[0.4, 0.6]]])
        with pytest.raises(ValueError, match=r"`y_true` must be 1-dimensional class labels; got shape \(1, 2\)"):
            call([[0, 1]], [0.4])

    def test_labels(self, measure):
        call = PROBABILITIES[measure]
        with pytest.raises(ValueError, match="`y_true` must have one entry per forecast; got 2 for 3 forecasts"):
            call([0, 1], [0.1, 0.2, 0.3])
        with pytest.raises(ValueError, match=r"`y_true` must be labels; 1 of 3 .* first y_true\[1\] = None"):
            call(["a", None, "b"], [0.1, 0.2, 0.3])
        if measure in FREE_OF_LABELS:
            return
        with pytest.raises(ValueError, match="one of the classes 'a', 'b'; 1 of 3 labels are not, first .* = 'c'"):
            call(["a", "b", "c"], [0.1, 0.2, 0.3], classes=["a", "b"])
        with pytest.raises(ValueError, match="`y_proba` has 2 columns, `y_true` 3 classes"):
            call(["a", "b", "c"], [0.1, 0.2, 0.3])
        with pytest.raises(ValueError, match=r"`classes` must name the 2 columns of `y_proba`; got \['a'\]"):
            call(["a", "a", "a"], [0.1, 0.2, 0.3], classes=["a"])

    def test_weights(self, measure):
        call = PROBABILITIES[measure]
        with pytest.raises(ValueError, match="`sample_weight` must be non-negative; 1 of 3 values is not"):
            call([0, 1, 1], [0.1, 0.2, 0.3], sample_weight=[1, -1, 1])
        with pytest.raises(ValueError, match="`sample_weight` must not be all zero"):
            call([0, 1, 1], [0.1, 0.2, 0.3], sample_weight=[0, 0, 0])

    def test_input_is_not_modified(self, measure, rng):
        y, p = two_classes(rng)
        before = p.copy()
        p.flags.writeable = y.flags.writeable = False
        PROBABILITIES[measure](y, p)
        np.testing.assert_array_equal(p, before)


@pytest.mark.parametrize("measure", ["hosmer_lemeshow_test", "cox_calibration"])
def test_measures_of_two_classes(measure, rng):
    with pytest.raises(ValueError, match="is for two classes; got 3. Take one class against the rest"):
        PROBABILITIES[measure](*three_classes(rng))


def test_rows_of_weight_0_tell_that_their_class_exists():
    p = [[0.5, 0.3, 0.2], [0.2, 0.2, 0.6], [0.1, 0.8, 0.1]]
    assert metrics.log_loss(["a", "c", "b"], p, sample_weight=[1, 1, 0]) == pytest.approx(-0.5 * np.log(0.5 * 0.6))


@pytest.mark.parametrize("measure", LABELS)
class TestLabels:
    def test_weight_2_is_the_row_twice(self, measure, rng):
        y, guess = rng.integers(0, 3, (2, 60))
        weight = rng.integers(0, 4, 60)
        rows = rng.permutation(np.repeat(np.arange(60), weight))
        weighted = numbers(LABELS[measure](y, guess, sample_weight=weight))
        np.testing.assert_allclose(weighted, numbers(LABELS[measure](y[rows], guess[rows])), rtol=1e-12)
        assert not np.allclose(weighted, numbers(LABELS[measure](y, guess)))

    def test_rows_of_weight_0_are_as_if_absent(self, measure):
        with_it = LABELS[measure](["a", "b", "c"], ["a", "b", "d"], sample_weight=[1, 2, 0])
        without = LABELS[measure](["a", "b"], ["a", "b"], sample_weight=[1, 2])
        np.testing.assert_array_equal(numbers(with_it), numbers(without))

    def test_bad_input(self, measure):
        with pytest.raises(ValueError, match="`y_true` must have one entry per forecast; got 1 for 2 forecasts"):
            LABELS[measure](["a"], ["a", "b"])
        with pytest.raises(TypeError, match="`y_true` and `y_pred` must be labels of one type"):
            LABELS[measure](["a", "b"], [0, 1])
        with pytest.raises(ValueError, match="`y_pred` must be one of the classes 'a', 'b'; 1 of 2 labels are not"):
            LABELS[measure](["a", "b"], ["a", "c"], classes=["a", "b"])
        with pytest.raises(ValueError, match="`y_pred` must have at least one row"):
            LABELS[measure]([], [])
        with pytest.raises(ValueError, match=r"`y_pred` must be labels; 1 of 2 values is not"):
            LABELS[measure]([0.0, 1.0], [0.0, np.nan])
