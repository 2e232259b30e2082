"""Calibration loss."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from calibrant import metrics


def test_by_hand():
    # Pooled blocks: {0.1}, {0.4, 0.6}, {0.9} with frequencies 0, 1/2, 1.
    value = metrics.calloss([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9])
    assert value == pytest.approx((0.1**2 + 0.1**2 + 0.1**2 + 0.1**2) / 4)
    groups = metrics.calloss([0, 1, 1, 1], [0.2, 0.2, 0.8, 0.8], segments="scores")
    assert groups == pytest.approx((2 * 0.3**2 + 2 * 0.2**2) / 4)


def test_hull_of_scikit_learn(rng):
    p, weight = rng.random(300).round(2), rng.random(300)
    y = rng.random(300) < p**2
    fitted = IsotonicRegression().fit(p, y, sample_weight=weight).predict(p)
    expected = np.average((p - fitted) ** 2, weights=weight)
    assert metrics.calloss(y, p, sample_weight=weight) == pytest.approx(expected, rel=1e-12)


def test_equal_scores_are_murphys_miscalibration(rng):
    p, y = rng.random(300).round(1), rng.integers(0, 2, 300)
    expected = metrics.brier_decomposition(y, p).miscalibration
    assert metrics.calloss(y, p, segments="scores") == pytest.approx(expected, rel=1e-12)
    different = rng.random(300)
    assert metrics.calloss(y, different, segments="scores") == pytest.approx(metrics.brier_score(y, different))


def test_mean_over_the_classes(rng):
    y, p = rng.integers(0, 3, 200), rng.dirichlet(np.ones(3), 200)
    expected = np.mean([metrics.calloss(y == j, p[:, j]) for j in range(3)])
    assert metrics.calloss(y, p) == pytest.approx(expected, rel=1e-12)


def test_both_of_two_classes_have_the_same_value(rng):
    p, y = rng.random(100).round(2), rng.integers(0, 2, 100)
    assert metrics.calloss(1 - y, 1 - p) == pytest.approx(metrics.calloss(y, p), rel=1e-12)


def test_segments():
    with pytest.raises(ValueError, match="`segments` must be one of 'hull', 'scores'; got 'pav'"):
        metrics.calloss([0, 1], [0.1, 0.4], segments="pav")
