from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from calibrant import metrics
from calibrant.distributions.families.normal import Normal


def test_one_threshold_by_hand():
    law = Normal([-1.0, -1.0, 1.0, 1.0], 1.0)
    y, weight = [-2.0, 0.5, -0.5, 2.0], [3, 1, 1, 1]
    curve = metrics.threshold_reliability(y, law, thresholds=[0.0], n_bins=2, sample_weight=weight)
    np.testing.assert_allclose(curve.forecast, [[ndtr(-1), ndtr(1)]])
    np.testing.assert_allclose(curve.observed, [[0.5, 0.75]])
    np.testing.assert_array_equal(curve.rows, [[2, 4]])
    assert curve.error == pytest.approx((2 * (0.5 - ndtr(-1)) ** 2 + 4 * (0.75 - ndtr(1)) ** 2) / 6)


def test_bins_of_one_row_count():
    curve = metrics.threshold_reliability([-2.0, -0.5], Normal([-1.0, 1.0], 1.0), thresholds=[0.0], n_bins=2)
    assert curve.error == pytest.approx((ndtr(1) ** 2 + ndtr(-1) ** 2) / 2)


def test_equal_forecasts_share_a_bin_and_unused_bins_are_empty():
    curve = metrics.threshold_reliability([-1.0, 1.0, 2.0], Normal([0.0] * 3, 1.0), thresholds=0.0, n_bins=4)
    np.testing.assert_array_equal(curve.rows, [[3, 0, 0, 0]])
    assert np.isnan(curve.forecast[0, 1:]).all()
    assert curve.error == pytest.approx((0.5 - 1 / 3) ** 2)


def test_thresholds_are_quantiles_of_the_outcomes():
    y = np.arange(1.0, 10.0)
    curve = metrics.threshold_reliability(y, Normal(y, 1.0), thresholds=2)
    np.testing.assert_array_equal(curve.thresholds, [3, 6])


def test_perfect_forecasts_are_reliable_and_biased_ones_are_not(rng):
    mu = rng.normal(size=50_000)
    y = mu + rng.normal(size=50_000)
    assert metrics.threshold_reliability(y, Normal(mu, 1.0)).error < 1e-4
    assert metrics.threshold_reliability(y, Normal(mu + 0.5, 1.0)).error > 5e-3


def test_wrong_thresholds_are_told():
    with pytest.raises(ValueError, match="`thresholds` must be a whole number of at least 1; got 0"):
        metrics.threshold_reliability([0.0], Normal([0.0], 1.0), thresholds=0)
    with pytest.raises(ValueError, match="`thresholds` must be finite"):
        metrics.threshold_reliability([0.0], Normal([0.0], 1.0), thresholds=[np.nan])
    with pytest.raises(ValueError, match="`n_bins` must be a whole number of at least 1; got 0"):
        metrics.threshold_reliability([0.0], Normal([0.0], 1.0), n_bins=0)


def test_even_thresholds_and_bins_of_equal_width():
    """Outcomes from 0 to 2: thresholds from 0 - 1 to 2 + 1."""
    y, law = np.array([0.0, 0.5, 2.0, 1.5]), Normal([0.0, 0.2, 3.0, 1.0], 1.0)
    weights = np.array([1.0, 2.0, 1.0, 1.0])
    curve = metrics.threshold_reliability(
        y, law, thresholds=3, n_bins=4, spaced="even", bins="width", sample_weight=weights
    )
    np.testing.assert_allclose(curve.thresholds, [-1.0, 1.0, 3.0])
    q = law.cdf(np.full(4, 1.0))  # 0.841, 0.788, 0.023, 0.5
    np.testing.assert_allclose(curve.rows[1], [1, 0, 1, 3])
    np.testing.assert_allclose(curve.forecast[1], [q[2], np.nan, q[3], (q[0] + 2 * q[1]) / 3])
    np.testing.assert_allclose(curve.observed[1], [0, np.nan, 0, 1])
    assert curve.error >= 0
    with pytest.raises(ValueError, match="`spaced` must be one of 'quantile', 'even'; got 'odd'"):
        metrics.threshold_reliability(y, law, spaced="odd")
    with pytest.raises(ValueError, match="`bins` must be one of 'mass', 'width'; got 'odd'"):
        metrics.threshold_reliability(y, law, bins="odd")
