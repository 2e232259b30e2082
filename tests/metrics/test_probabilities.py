"""Log loss and sharpness of class probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

from calibrant import metrics
from calibrant.adapters.class_scores import ClassScores


@pytest.mark.parametrize("weighted", [False, True])
def test_log_loss_of_scikit_learn(weighted, rng):
    weight = rng.random(500) if weighted else None
    y, p = rng.integers(0, 2, 500), rng.random(500)
    expected = sklearn_metrics.log_loss(y, p, sample_weight=weight)
    assert metrics.log_loss(y, p, sample_weight=weight) == pytest.approx(expected, rel=4e-15)
    y, p = rng.integers(0, 6, 500), rng.dirichlet(np.ones(6), 500)
    expected = sklearn_metrics.log_loss(y, p, sample_weight=weight)
    assert metrics.log_loss(y, p, sample_weight=weight) == pytest.approx(expected, rel=4e-15)


def test_log_loss_by_hand():
    value = metrics.log_loss(["a", "b", "c"], [[0.5, 0.25, 0.25], [0.2, 0.8, 0.0], [0.3, 0.3, 0.4]])
    assert value == pytest.approx(-np.log(0.5 * 0.8 * 0.4) / 3, rel=1e-14)
    assert value > 0  # the chapter's formula lacks the minus


def test_impossible_outcomes_cost_infinity():
    assert metrics.log_loss([0, 1], [0.5, 0.0]) == np.inf
    np.testing.assert_array_equal(metrics.log_loss([0, 1, 1], [1.0, 0.0, 1.0], per_row=True), [np.inf, np.inf, 0.0])


def test_both_columns_count_where_one_rounds_to_1():
    assert metrics.log_loss([0], [[1e-20, 1.0]]) == pytest.approx(20 * np.log(10), rel=1e-14)


def test_scores_that_say_they_are_logits():
    scores = ClassScores(np.array([[0.0, 2.0], [0.0, -1.0]]), "logits")
    expected = np.mean(np.log1p(np.exp([-2.0, -1.0])))
    assert metrics.log_loss([1, 0], scores) == pytest.approx(expected, rel=1e-14)
    with pytest.raises(ValueError, match="margins are no probabilities"):
        metrics.log_loss([1, 0], ClassScores(np.array([[-2.0, 2.0], [1.0, -1.0]]), "margins"))


def test_probabilities_of_half_precision_are_divided_by_their_sums():
    p = np.array([[0.3, 0.7005], [0.6, 0.4]])
    assert metrics.log_loss([1, 0], p) == pytest.approx(-0.5 * (np.log(0.7005 / 1.0005) + np.log(0.6)), rel=1e-14)


def test_sharpness_is_the_brier_score_to_expect(rng):
    p = rng.dirichlet([0.5, 1.0, 2.0], 200_000)
    y = (rng.random(len(p))[:, None] > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
    for scale in ("auto", "chapter", "sum"):
        expected = metrics.brier_score(y, p, scale=scale)
        assert metrics.class_sharpness(y, p, scale=scale) == pytest.approx(expected, abs=3e-3)
    assert metrics.class_sharpness(p, scale="sum") == pytest.approx(3 * metrics.class_sharpness(p, scale="chapter"))


def test_sharpness_by_hand():
    np.testing.assert_allclose(metrics.class_sharpness([0.5, 0.9, 1.0], per_row=True), [0.25, 0.09, 0.0], atol=1e-16)
    np.testing.assert_allclose(metrics.class_sharpness([[0.5, 0.25, 0.25]], per_row=True), [0.625])
    assert metrics.class_sharpness([0.5, 0.9], sample_weight=[1, 3]) == pytest.approx(0.13)
