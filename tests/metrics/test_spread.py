from __future__ import annotations

import numpy as np
import pytest

from calibrant import metrics
from calibrant.distributions.families.normal import Normal
from calibrant.distributions.tables.ensemble import Ensemble


def test_sharpness_by_hand():
    law = Normal([0.0, 5.0], [1.0, 3.0])
    assert metrics.sharpness([0.0, 0.0], law) == 5.0
    assert metrics.sharpness(law, kind="std") == 2.0
    assert metrics.sharpness(law, sample_weight=[3, 1]) == 3.0
    assert metrics.sharpness(law, sample_weight=[0, 1]) == 9.0
    np.testing.assert_array_equal(metrics.sharpness(law, per_row=True), [1.0, 9.0])


def test_sharpness_checks_the_outcomes_it_is_given():
    with pytest.raises(ValueError, match="`y_true` must have one entry per forecast; got 1 for 2 forecasts"):
        metrics.sharpness([0.0], Normal([0.0, 5.0], 1.0))


def test_ence_by_hand():
    law = Normal(np.zeros(6), [1.0, 1.0, 1.0, 4.0, 4.0, 4.0])
    y = [1.0, 2.0, -2.0, 4.0, -4.0, 4.0]  # RMSE sqrt(3) against 1, and 4 against 4
    assert metrics.ence(y, law, n_bins=2) == pytest.approx((np.sqrt(3) - 1) / 2)
    assert metrics.ence(y, law, n_bins=1) == pytest.approx(abs(np.sqrt(9.5) - np.sqrt(8.5)) / np.sqrt(8.5))


def test_ence_is_the_textbook_loop_over_equal_bins(rng):
    mu, sigma = rng.normal(size=200), np.exp(rng.normal(size=200))
    y = mu + 1.7 * sigma * rng.normal(size=200)
    terms = []
    for rows in np.array_split(np.argsort(sigma), 10):
        rmv, rmse = np.sqrt(np.mean(sigma[rows] ** 2)), np.sqrt(np.mean((y - mu)[rows] ** 2))
        terms.append(abs(rmv - rmse) / rmv)
    assert metrics.ence(y, Normal(mu, sigma)) == pytest.approx(np.mean(terms), rel=1e-12)


def test_ence_does_not_split_equal_forecasts(rng):
    y = rng.normal(size=50)
    assert metrics.ence(y, Normal(np.zeros(50), 1.0)) == pytest.approx(abs(1 - np.sqrt(np.mean(y**2))))


def test_ence_of_a_perfect_forecaster_is_noise(rng):
    n, bins = 20_000, 10
    mu, sigma = rng.normal(size=n), np.exp(rng.normal(size=n))
    noise = [metrics.ence(mu + sigma * rng.normal(size=n), Normal(mu, sigma), n_bins=bins) for _ in range(30)]
    assert np.mean(noise) == pytest.approx(np.sqrt(bins / (np.pi * n)), rel=0.4)
    assert metrics.ence(mu + 2 * sigma * rng.normal(size=n), Normal(mu, sigma)) == pytest.approx(1.0, abs=0.05)


def test_ence_needs_variances():
    with pytest.raises(ValueError, match=r"`dist` must be of finite, positive variance; 1 of 2 .* dist\[1\] = 0.0"):
        metrics.ence([0.0, 1.0], Ensemble([[0.0, 1.0], [2.0, 2.0]], kind="discrete"))
    with pytest.raises(ValueError, match="`n_bins` must be a whole number of at least 1; got 0"):
        metrics.ence([0.0], Normal([0.0], 1.0), n_bins=0)
    with pytest.raises(ValueError, match="`kind` must be one of 'var', 'std'; got 'sd'"):
        metrics.sharpness(Normal([0.0], 1.0), kind="sd")
