from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import mean_absolute_error, mean_absolute_percentage_error, mean_squared_error, r2_score

from calibrant import metrics
from calibrant.distributions.tables.ensemble import Ensemble

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
    smallest = np.finfo(float).smallest_normal
    assert metrics.mape([smallest], [3 * smallest]) == 2.0


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="`y_true` must have one entry per forecast; got 3 for 2 forecasts"):
        metrics.mae([1.0, 2.0, 3.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="`y_true` must have at least one row; it is empty"):
        metrics.mae([], [])
    with pytest.raises(ValueError, match=r"`y_pred` must be finite; 1 of 2 values is not, first y_pred\[1\] = nan"):
        metrics.mae([1.0, 2.0], [1.0, np.nan])


def test_squares_of_huge_errors_are_infinite_without_a_warning():
    assert metrics.mse([1e300], [-1e300]) == np.inf


# ---- calibration of points ----
@pytest.fixture
def case(rng):
    point = rng.uniform(1, 9, 400)
    return 1 + 1.5 * point + rng.normal(0, 0.3, 400), point


def test_mean_error_and_ratio_by_hand():
    y, point = [1.0, 2.0, -4.0], [2.0, 1.0, -6.0]
    assert metrics.mean_error(y, point) == pytest.approx((1 - 1 - 2) / 3)
    assert metrics.mean_ratio(y, point) == pytest.approx((2 + 0.5 + 1.5) / 3)
    np.testing.assert_allclose(metrics.mean_error(y, point, per_row=True), [1, -1, -2])
    np.testing.assert_allclose(metrics.mean_ratio(y, point, per_row=True), [2, 0.5, 1.5])
    assert metrics.mean_error(y, point, sample_weight=[3, 1, 0]) == pytest.approx(0.5)
    assert metrics.mean_ratio(y, point, sample_weight=[3, 1, 0]) == pytest.approx(1.625)


def test_relative_mse_is_what_the_coefficient_of_determination_leaves(case, rng):
    (y, point), w = case, rng.random(400)
    assert metrics.relative_mse(y, point) == pytest.approx(1 - r2_score(y, point), rel=1e-10)
    weighted = metrics.relative_mse(y, point, sample_weight=w)
    assert weighted == pytest.approx(1 - r2_score(y, point, sample_weight=w), rel=1e-10)
    assert metrics.relative_mse(y, np.full(400, y.mean())) == pytest.approx(1)
    assert metrics.relative_mse(1e-170 * y, 1e-170 * point) == pytest.approx(metrics.relative_mse(y, point))


def test_means_of_laws_are_their_points():
    law = Ensemble([[0.0, 0.0, 3.0], [0.0, 0.0, 3.0]], kind="discrete")  # median 0, mean 1
    assert metrics.mean_error([2.0, 3.0], law) == pytest.approx(-1.5)
    assert metrics.mean_ratio([2.0, 4.0], law) == pytest.approx(0.375)
    assert metrics.relative_mse([2.0, 4.0], law) == pytest.approx(5.0)
    np.testing.assert_allclose(metrics.error_tolerance([2.0, 3.0], law).tolerances, [0, 2, 3])


def test_what_has_no_ratio_is_told():
    with pytest.raises(
        ValueError, match=r"`y_true` must be away from 0; 1 of 3 .* y_true\[1\] = 0.0. Ratios.*mean_error"
    ):
        metrics.mean_ratio([1.0, 0.0, 3.0], [1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match=r"first y_true\[1\] = 1e-17"):
        metrics.mean_ratio([1.0, 1e-17, 3.0], [1.0, 1.0, 1.0])
    assert metrics.mean_ratio([1.0, 0.0], [3.0, 1.0], sample_weight=[1, 0]) == 3.0
    with pytest.raises(ValueError, match="`y_true` must not be constant; all 2 outcomes are 3. Use mse"):
        metrics.relative_mse([3.0, 3.0], [1.0, 2.0])


@pytest.mark.parametrize("measure", [metrics.mean_error, metrics.mean_ratio, metrics.relative_mse])
def test_weights_of_measures_of_calibration(measure, case, rng):
    (y, point), w = case, rng.integers(0, 4, 400)
    repeated = measure(np.repeat(y, w), np.repeat(point, w))
    assert measure(y, point, sample_weight=w) == pytest.approx(repeated, rel=1e-12)
    assert isinstance(measure(y, point), float)
