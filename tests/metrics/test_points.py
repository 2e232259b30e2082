from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import mean_absolute_error, mean_absolute_percentage_error, mean_squared_error

from calibrant import metrics
from calibrant.distributions.ensemble import Ensemble

PAIRS = [
    (metrics.mape, mean_absolute_percentage_error),
    (metrics.mae, mean_absolute_error),
    (metrics.mse, mean_squared_error),
]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_agrees_with_scikit_learn(ours, theirs, rng):
    y, point, weight = rng.normal(5, 1, 100), rng.normal(5, 1, 100), rng.random(100)
    assert ours(y, point) == pytest.approx(theirs(y, point), rel=1e-12)
    assert ours(y, point, sample_weight=weight) == pytest.approx(theirs(y, point, sample_weight=weight), rel=1e-12)


@pytest.mark.parametrize(("measure", "_theirs"), PAIRS)
def test_weight_2_is_the_row_twice(measure, _theirs, rng):
    y, point, weight = rng.normal(5, 1, 50), rng.normal(5, 1, 50), rng.integers(0, 4, 50)
    twice = measure(np.repeat(y, weight), np.repeat(point, weight))
    assert measure(y, point, sample_weight=weight) == pytest.approx(twice, rel=1e-12)


def test_per_row_by_hand():
    np.testing.assert_allclose(metrics.mape([100.0, -200.0], [110.0, -150.0], per_row=True), [0.1, 0.25])
    np.testing.assert_allclose(metrics.mae([100.0, -200.0], [110.0, -150.0], per_row=True), [10, 50])
    np.testing.assert_allclose(metrics.mse([100.0, -200.0], [110.0, -150.0], per_row=True), [100, 2500])


def test_laws_are_reduced_to_the_optimal_point():
    law = Ensemble([[0.0, 0.0, 3.0]], kind="discrete")  # median 0, mean 1
    assert metrics.mae([2.0], law) == 2.0
    assert metrics.mape([2.0], law) == 1.0
    assert metrics.mse([2.0], law) == pytest.approx(1.0)


def test_zero_outcomes_have_no_percentage():
    with pytest.raises(ValueError, match=r"`y_true` must be non-zero; 2 of 3 values .* y_true\[1\] = 0.0.*use mae"):
        metrics.mape([1.0, 0.0, 0.0], [1.0, 1.0, 1.0])
    assert metrics.mape([1.0, 0.0], [3.0, 1.0], sample_weight=[1, 0]) == 2.0


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="`y_true` must have one entry per forecast; got 3 for 2 forecasts"):
        metrics.mae([1.0, 2.0, 3.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="`y_true` must have at least one row; it is empty"):
        metrics.mae([], [])
    with pytest.raises(ValueError, match=r"`y_pred` must be finite; 1 of 2 values is not, first y_pred\[1\] = nan"):
        metrics.mae([1.0, 2.0], [1.0, np.nan])


def test_squares_of_huge_errors_are_infinite_without_a_warning():
    assert metrics.mse([1e300], [-1e300]) == np.inf
