"""Confusion matrices, class proportions, macro-averaged accuracy."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, confusion_matrix

from calibrant import metrics

# Bella et al. (2010), printed with the predicted classes as rows although the text says columns.
THREE = np.array([[20, 2, 3], [0, 30, 3], [0, 2, 40]]).T
TWO = np.array([[60, 2], [40, 23]]).T


def labels_of(table, names):
    """Actual and predicted labels that have this confusion matrix."""
    rows, columns = np.indices(table.shape)
    counts = table.ravel()
    return np.array(names)[np.repeat(rows.ravel(), counts)], np.array(names)[np.repeat(columns.ravel(), counts)]


class TestChapter:
    def test_three_classes(self):
        y, guess = labels_of(THREE, ["a", "b", "c"])
        np.testing.assert_array_equal(metrics.confusion(y, guess), THREE)
        shares = metrics.class_proportions(y, guess)
        np.testing.assert_allclose(100 * shares.actual, [20, 34, 46], rtol=1e-12)
        np.testing.assert_allclose(100 * shares.predicted, [25, 33, 42], rtol=1e-12)
        assert shares.classes.tolist() == ["a", "b", "c"]
        assert metrics.macro_accuracy(y, guess) == pytest.approx((20 / 20 + 30 / 34 + 40 / 46) / 3, rel=1e-12)

    def test_two_classes(self):
        y, guess = labels_of(TWO, ["a", "b"])
        np.testing.assert_array_equal(metrics.confusion(y, guess), [[60, 40], [2, 23]])
        shares = metrics.class_proportions(y, guess)
        np.testing.assert_allclose(125 * shares.actual, [100, 25], rtol=1e-12)
        np.testing.assert_allclose(125 * shares.predicted, [62, 63], rtol=1e-12)

    def test_weights_stand_for_the_cells(self):
        y, guess = ["a", "a", "b", "b"], ["a", "b", "a", "b"]
        weights = [60, 40, 2, 23]
        np.testing.assert_array_equal(metrics.confusion(y, guess, sample_weight=weights), [[60, 40], [2, 23]])
        assert metrics.macro_accuracy(y, guess, sample_weight=weights) == pytest.approx((0.6 + 0.92) / 2, rel=1e-12)


def test_scikit_learn_agrees(rng):
    y, guess = rng.integers(0, 5, (2, 400))
    weight = rng.random(400)
    np.testing.assert_array_equal(metrics.confusion(y, guess), confusion_matrix(y, guess))
    expected = confusion_matrix(y, guess, sample_weight=weight)
    np.testing.assert_allclose(metrics.confusion(y, guess, sample_weight=weight), expected, rtol=1e-12)
    expected = balanced_accuracy_score(y, guess, sample_weight=weight)
    assert metrics.macro_accuracy(y, guess, sample_weight=weight) == pytest.approx(expected, rel=1e-12)


def test_classes_that_do_not_occur():
    y, guess = ["a", "b", "b"], ["a", "b", "c"]  # nothing is actually c
    assert metrics.macro_accuracy(y, guess) == pytest.approx(0.75)
    np.testing.assert_array_equal(metrics.confusion(y, guess), [[1, 0, 0], [0, 1, 1], [0, 0, 0]])
    order = ["d", "c", "b", "a"]
    expected = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]]
    np.testing.assert_array_equal(metrics.confusion(y, guess, classes=order), expected)
    assert metrics.class_proportions(y, guess, classes=order).classes.tolist() == order


@pytest.mark.parametrize("kind", [str, bool, int, float])
def test_labels_of_any_type(kind):
    y, guess = ([kind(label) for label in row] for row in ([1, 0, 0, 1], [1, 1, 0, 1]))
    np.testing.assert_array_equal(metrics.confusion(y, guess), [[1, 1], [0, 2]])
