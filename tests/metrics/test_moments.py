from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr, ndtri

from calibrant import metrics
from calibrant.distributions.families.normal import Normal
from calibrant.metrics.tests.moments import long_run_covariance


def steps_ahead(rng, n, h, wrong=1.0):
    """Outcomes and calibrated forecasts whose errors are moving averages over h steps."""
    noise = rng.normal(size=n + h - 1)
    return np.convolve(noise, np.ones(h), "valid") / np.sqrt(h), Normal(np.zeros(n), wrong)


def test_first_moment_by_hand():
    p = np.array([0.2, 0.6, 0.9])
    s = np.sqrt(12) * (p - 0.5)
    expected = s.sum() ** 2 / np.sum(s**2)
    result = metrics.knueppel_test(ndtri(p), Normal(np.zeros(3), 1.0), moments=[1], lags=0)
    assert result.statistic == pytest.approx(expected, rel=1e-10)
    assert result.pvalue == pytest.approx(stats.chi2.sf(expected, 1), rel=1e-10)


def test_all_moments_are_the_sum_of_two_quadratic_forms(rng):
    y = rng.normal(size=40)
    s = np.sqrt(12) * (ndtr(y) - 0.5)
    expected = 0.0
    for x in (np.column_stack([s, s**3]), np.column_stack([s**2 - 1, s**4 - 1.8])):
        first = sum(np.outer(x[t], x[t - 1]) for t in range(1, 40)) / 40
        spread = x.T @ x / 40 + 0.5 * (first + first.T)
        expected += 40 * x.mean(axis=0) @ np.linalg.inv(spread) @ x.mean(axis=0)
    result = metrics.knueppel_test(y, Normal(np.zeros(40), 1.0), lags=1)
    assert result.statistic == pytest.approx(expected, rel=1e-9)
    assert result.pvalue == pytest.approx(stats.chi2.sf(expected, 4), rel=1e-9)


def test_long_run_variance_of_an_autoregression(rng):
    noise, x = rng.normal(size=200_000), np.empty(200_000)
    x[0] = 0.0
    for t in range(1, len(x)):
        x[t] = 0.5 * x[t - 1] + noise[t]
    assert long_run_covariance(x[:, None], 40)[0, 0] == pytest.approx(4.0, rel=0.06)  # 1 / (1 - 0.5)²
    assert long_run_covariance(x[:, None], 0)[0, 0] == pytest.approx(4 / 3, rel=0.02)


def test_lags_by_hand():
    """Andrews (1991) for Bartlett weights: 1.1447 (4ρ²n / (1 - ρ²)²)^(1/3) for one moment."""
    p = np.array([0.9, 0.8, 0.6, 0.3, 0.2, 0.45, 0.5, 0.55])
    x = p - p.mean()
    rho = sum(x[t] * x[t - 1] for t in range(1, 8)) / sum(x[t - 1] ** 2 for t in range(1, 8))
    lags = 1.1447 * (4 * rho**2 * 8 / (1 - rho**2) ** 2) ** (1 / 3)
    assert 3 < lags < 4
    y, law = ndtri(p), Normal(np.zeros(8), 1.0)
    chosen = metrics.knueppel_test(y, law, moments=[1])
    assert chosen.statistic == pytest.approx(metrics.knueppel_test(y, law, moments=[1], lags=3).statistic, rel=1e-12)


@pytest.mark.parametrize("h", [1, 4])
def test_size_is_right_for_dependent_rows(h, rng):
    values = np.array([metrics.knueppel_test(*steps_ahead(rng, 400, h)).pvalue for _ in range(600)])
    for a in (0.05, 0.1, 0.5):
        assert abs(np.mean(values < a) - a) < 4 * np.sqrt(a * (1 - a) / 600)


def test_independence_assumed_wrongly_rejects_calibrated_forecasts(rng):
    values = np.array([metrics.knueppel_test(*steps_ahead(rng, 400, 4), lags=0).pvalue for _ in range(200)])
    assert np.mean(values < 0.05) > 0.25


@pytest.mark.parametrize("wrong", [0.1, 0.6, 1.6, 5.0])
def test_power_even_against_gross_errors(wrong, rng):
    assert metrics.knueppel_test(*steps_ahead(rng, 400, 3, wrong)).pvalue < 0.01


def test_weights_are_for_independent_rows(rng):
    y, law = steps_ahead(rng, 60, 1)
    weight = rng.integers(0, 3, 60)
    rows = np.repeat(np.arange(60), weight)
    twice = metrics.knueppel_test(y[rows], law[rows], lags=0)
    assert metrics.knueppel_test(y, law, lags=0, sample_weight=weight).statistic == pytest.approx(twice.statistic)
    with pytest.raises(ValueError, match="`sample_weight` must be None unless lags=0"):
        metrics.knueppel_test(y, law, sample_weight=weight)


def test_wrong_arguments_are_told():
    y, law = np.array([0.1, 0.2, 0.7]), Normal(np.zeros(3), 1.0)
    with pytest.raises(ValueError, match=r"`moments` must be a whole number of at least 1; got 0"):
        metrics.knueppel_test(y, law, moments=(0, 1))
    with pytest.raises(ValueError, match="`lags` must be a whole number of at least 0; got -1"):
        metrics.knueppel_test(y, law, lags=-1)
    with pytest.raises(ValueError, match="`y_true` must have more rows than there are moments; got 2 for 4"):
        metrics.knueppel_test(y[:2], law[:2])
    with pytest.raises(ValueError, match="must give more than one or two different PITs"):
        metrics.knueppel_test(np.full(30, 0.3), Normal(np.zeros(30), 1.0))
