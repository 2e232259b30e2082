"""The REC curve."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant import metrics

Y, POINT = [1.0, 2.0, 3.0, 4.0, 0.0], [1.5, 2.0, 5.0, 4.5, -1.0]  # errors 0.5, 0, 2, 0.5, 1


def test_by_hand():
    curve = metrics.error_tolerance(Y, POINT)
    np.testing.assert_allclose(curve.tolerances, [0, 0.5, 1, 2])
    np.testing.assert_allclose(curve.shares, [0.2, 0.6, 0.8, 1])
    assert curve.area == pytest.approx(0.8)


def test_given_tolerances_include_their_own_value():
    curve = metrics.error_tolerance(Y, POINT, tolerances=[0.0, 0.49, 0.5, 1.7, 9.0])
    np.testing.assert_allclose(curve.shares, [0.2, 0.2, 0.6, 0.8, 1])
    assert curve.tolerances.tolist() == [0.0, 0.49, 0.5, 1.7, 9.0] and curve.area == pytest.approx(0.8)
    assert metrics.error_tolerance(Y, POINT, tolerances=0.7).shares.tolist() == [0.6]
    assert metrics.error_tolerance([1.0], [2.0], tolerances=0.7).shares.tolist() == [0.0]


def test_the_area_over_the_curve_is_the_mean_absolute_error(rng):
    y, point, w = rng.normal(size=300), rng.normal(size=300), rng.integers(0, 4, 300)
    for weight in (None, w):
        curve = metrics.error_tolerance(y, point, sample_weight=weight)
        over = np.sum((1 - curve.shares[:-1]) * np.diff(curve.tolerances))  # of a step function
        assert curve.area == pytest.approx(over, rel=1e-12)
        assert curve.area == pytest.approx(metrics.mae(y, point, sample_weight=weight), rel=1e-12)
        share = np.average(np.abs(y - point) <= 0.8, weights=weight)
        assert metrics.error_tolerance(y, point, tolerances=[0.8], sample_weight=weight).shares[0] == pytest.approx(
            share
        )


def test_weight_2_is_the_row_twice(rng):
    y, point, w = rng.normal(size=50).round(1), rng.normal(size=50).round(1), rng.integers(0, 4, 50)
    weighted = metrics.error_tolerance(y, point, sample_weight=w)
    repeated = metrics.error_tolerance(np.repeat(y, w), np.repeat(point, w))
    np.testing.assert_allclose(weighted.tolerances, repeated.tolerances)
    np.testing.assert_allclose(weighted.shares, repeated.shares, rtol=1e-12)


def test_bad_input():
    with pytest.raises(
        ValueError, match=r"`tolerances` must be at least 0, and increasing; 1 of 2 .*tolerances\[1\] = 1.0"
    ):
        metrics.error_tolerance(Y, POINT, tolerances=[2.0, 1.0])
    with pytest.raises(ValueError, match=r"first tolerances\[0\] = -1.0"):
        metrics.error_tolerance(Y, POINT, tolerances=[-1.0, 1.0])
    with pytest.raises(ValueError, match="`y_true` must have one entry per forecast; got 4 for 5 forecasts"):
        metrics.error_tolerance(Y[:4], POINT)
