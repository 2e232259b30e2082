"""Decisions of least expected cost."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from calibrant import DecisionCalibrator, bayes_decisions


def test_as_written(rng):
    p, costs = rng.dirichlet(np.ones(4), 50), rng.normal(0, 3, (4, 4))
    for row, label in zip(p, bayes_decisions(p, costs), strict=True):
        expected = [sum(row[j] * costs[j, k] for j in range(4)) for k in range(4)]
        assert label == expected.index(min(expected))


def test_threshold_of_two_classes(rng):
    p, costs = rng.random(500), np.array([[-1.0, 3.0], [8.0, 0.5]])
    threshold = (3 + 1) / (3 + 1 + 8 - 0.5)
    np.testing.assert_array_equal(bayes_decisions(p, costs), (p > threshold).astype(int))


def test_new_costs_need_no_labels_if_probabilities_are_right(rng):
    """As good as weights that are learned from labelled rows for these very costs, on new rows."""
    p = rng.beta(0.7, 1.5, 60_000)
    y = (rng.random(60_000) < p).astype(int)
    new, real = p[30_000:], y[30_000:]
    for false_alarm, missed in ((1, 1), (1, 9), (6, 1)):
        costs = np.array([[0, false_alarm], [missed, 0]], dtype=float)
        learned = DecisionCalibrator("cost", cost_matrix=costs).fit(p[:30_000], y[:30_000]).predict(new)
        mine, theirs = (costs[real, guess].mean() for guess in (bayes_decisions(new, costs), learned))
        assert mine < theirs + 0.005


def test_kinds_of_input():
    p, costs = np.array([[0.2, 0.8], [0.95, 0.05]]), [[0, 1], [10, 0]]
    for form in (p, p.tolist(), p.astype(np.float32), p[:, 1], pd.Series(p[:, 1]), pl.Series(p[:, 1])):
        np.testing.assert_array_equal(bayes_decisions(form, costs, classes=["a", "b"]), ["b", "a"])
    np.testing.assert_array_equal(bayes_decisions(pd.DataFrame(p, columns=["a", "b"]), costs), ["b", "a"])
    turned = pd.DataFrame(p[:, ::-1], columns=["b", "a"])
    np.testing.assert_array_equal(bayes_decisions(turned, costs, classes=["a", "b"]), ["b", "a"])
    assert bayes_decisions([0.5], np.ones((2, 2))) == 0  # the first of equally cheap ones


def test_errors():
    with pytest.raises(
        ValueError, match=r"`cost_matrix` must be \(2, 2\): real classes by predicted ones; got \(3, 3\)"
    ):
        bayes_decisions([0.5], np.eye(3))
    with pytest.raises(ValueError, match="`y_proba` must be probabilities between 0 and 1"):
        bayes_decisions([3.0], np.eye(2))
    with pytest.raises(ValueError, match="a column for each of the 3 classes; got 2"):
        bayes_decisions([0.5], np.eye(2), classes=["a", "b", "c"])
    with pytest.raises(ValueError, match="`classes` must be given: the one column"):
        bayes_decisions(pd.Series([0.5], name="p_spam"), np.eye(2))
