from __future__ import annotations

import numpy as np
import pytest
import scoringrules
from scipy import stats
from sklearn.metrics import mean_pinball_loss

from calibrant import metrics
from calibrant.distributions.families.normal import Normal
from calibrant.distributions.tables.ensemble import Ensemble


@pytest.fixture
def case(rng):
    n = 300
    mu, sigma = rng.normal(size=n), np.exp(rng.normal(size=n))
    return mu + 2 * sigma * rng.normal(size=n), mu, sigma


def test_nll_is_scipys_log_density(case):
    y, mu, sigma = case
    rows = metrics.nll(y, Normal(mu, sigma), per_row=True)
    np.testing.assert_allclose(rows, -stats.norm.logpdf(y, mu, sigma), rtol=1e-12)
    assert metrics.nll(y, Normal(mu, sigma)) == pytest.approx(rows.mean(), rel=1e-12)


def test_nll_stays_finite_far_out():
    assert metrics.nll([100.0], Normal([0.0], 1.0)) == pytest.approx(5000 + 0.5 * np.log(2 * np.pi), rel=1e-14)


def test_nll_of_atoms_is_minus_log_probability():
    law = Ensemble([[1.0, 1.0, 2.0, 5.0]] * 2, kind="discrete")
    np.testing.assert_allclose(metrics.nll([1.0, 5.0], law, per_row=True), [np.log(2), np.log(4)], rtol=1e-9)
    assert metrics.nll([1.0, 3.0], law) == np.inf


def test_crps_is_scoringrules(case):
    y, mu, sigma = case
    expected = scoringrules.crps_normal(y, mu, sigma)
    np.testing.assert_allclose(metrics.crps(y, Normal(mu, sigma), per_row=True), expected, rtol=1e-9)


def test_pinball_loss_is_scikit_learns(case):
    y, mu, sigma = case
    law = Normal(mu, sigma)
    levels = np.arange(1, 20) / 20
    by_level = [mean_pinball_loss(y, stats.norm.ppf(q, mu, sigma), alpha=q) for q in levels]
    assert metrics.pinball_loss(y, law) == pytest.approx(np.mean(by_level), rel=1e-10)
    assert metrics.pinball_loss(y, law, levels=0.9) == pytest.approx(by_level[17], rel=1e-10)


def test_pinball_loss_by_hand():
    law = Normal([10.0, 10.0], 1e-9)
    rows = metrics.pinball_loss([12.0, 8.0], law, levels=[0.1], per_row=True)
    np.testing.assert_allclose(rows, [0.2, 1.8], atol=1e-8)


def test_twice_the_pinball_loss_over_all_levels_is_the_crps(case):
    y, mu, sigma = case
    law = Normal(mu, sigma)
    levels = (np.arange(2000) + 0.5) / 2000
    assert 2 * metrics.pinball_loss(y, law, levels=levels) == pytest.approx(metrics.crps(y, law), rel=1e-5)


def test_pinball_loss_does_not_depend_on_blocks(case):
    y, mu, sigma = case
    y, mu, sigma = (np.tile(v, 60) for v in (y, mu, sigma))
    law = Normal(mu, sigma)
    rows = metrics.pinball_loss(y, law, per_row=True)
    np.testing.assert_array_equal(rows[:300], rows[-300:])


def test_interval_score_is_scoringrules(case):
    y, mu, sigma = case
    low, high = stats.norm.interval(0.8, mu, sigma)
    expected = scoringrules.interval_score(y, low, high, 0.2)
    rows = metrics.interval_score(y, Normal(mu, sigma), coverage=0.8, per_row=True)
    np.testing.assert_allclose(rows, expected, rtol=1e-9)


def test_interval_score_by_hand():
    width = 2 * stats.norm.ppf(0.95)
    got = metrics.interval_score([0.0, 3.0, -3.0], Normal([0.0] * 3, 1.0), coverage=0.9, per_row=True)
    missed = 3 - width / 2
    np.testing.assert_allclose(got, [width, width + 20 * missed, width + 20 * missed], rtol=1e-12)


def test_levels_outside_the_unit_interval_are_told():
    with pytest.raises(ValueError, match=r"`levels` must be strictly between 0 and 1; 1 of 2 .*Divide by 100"):
        metrics.pinball_loss([0.0], Normal([0.0], 1.0), levels=[0.5, 95.0])
    with pytest.raises(ValueError, match=r"`coverage` must be strictly between 0 and 1"):
        metrics.interval_score([0.0], Normal([0.0], 1.0), coverage=90)
