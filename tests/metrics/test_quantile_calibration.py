from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri

from calibrant import metrics
from calibrant.distributions.families.normal import Normal
from calibrant.distributions.tables.ensemble import Ensemble


def at_pits(p):
    """Outcomes of standard normal forecasts that have these PITs."""
    p = np.asarray(p, dtype=float)
    return ndtri(p), Normal(np.zeros(len(p)), 1.0)


def test_curve_by_hand():
    y, law = at_pits([0.05, 0.15, 0.15, 0.85])
    levels, observed = metrics.calibration_curve(y, law, levels=5)
    np.testing.assert_allclose(levels, [0.2, 0.4, 0.6, 0.8, 1.0])
    np.testing.assert_allclose(observed, [0.75, 0.75, 0.75, 0.75, 1.0])


def test_error_by_hand():
    y, law = at_pits([0.05, 0.15, 0.15, 0.85])
    squares = np.array([0.55, 0.35, 0.15, 0.05, 0.0]) ** 2
    assert metrics.calibration_error(y, law, levels=5) == pytest.approx(squares.sum())
    counts = np.array([3, 3, 3, 3, 4]) * 5 / 16
    assert metrics.calibration_error(y, law, levels=5, weights="counts") == pytest.approx((counts * squares).sum())
    noise = 4 * 0.75 * 0.25 / 3  # p(1-p)/(n-1) at four of the levels
    assert metrics.calibration_error(y, law, levels=5, debiased=True) == pytest.approx(squares.sum() - noise)


def test_a_pit_on_a_level_counts_as_below():
    law = Normal(np.zeros(10), 1.0)
    levels = np.arange(1, 11) / 10
    y = law.ppf(np.append(levels[:-1], 0.95))
    np.testing.assert_allclose(metrics.calibration_curve(y, law)[1], levels)
    assert metrics.calibration_error(y, law) == pytest.approx(0.0, abs=1e-30)


def test_far_tails_do_not_saturate():
    law = Normal(np.zeros(4), 1.0)
    levels = [1e-300, 1e-100, 0.5]
    _, observed = metrics.calibration_curve([-38.0, -30.0, -5.0, 50.0], law, levels=levels)
    np.testing.assert_allclose(observed, [0.25, 0.5, 0.75])


def test_atoms_count_with_their_share():
    die = Ensemble(np.tile(np.arange(1.0, 7.0), (6, 1)), kind="discrete")
    levels, observed = metrics.calibration_curve(np.arange(1.0, 7.0), die)
    np.testing.assert_allclose(observed, levels, atol=1e-12)  # each face once is perfectly calibrated
    assert metrics.calibration_error(np.full(6, 1.0), die, levels=[1 / 12]) == pytest.approx((1 / 12 - 1 / 2) ** 2)


def test_floor_by_hand():
    assert metrics.calibration_floor(40) == pytest.approx(1.65 / 40)
    assert metrics.calibration_floor(100, 50) == pytest.approx(1.65 * (1 / 100 + 1 / 50))
    assert metrics.calibration_floor(100, 50, n_bins=7) == pytest.approx(1.65 * (7 / 100 + 1 / 50))
    assert metrics.calibration_floor(10, levels=[0.5]) == pytest.approx(0.025)
    counts = np.arange(1, 11) / 5.5
    p = np.arange(1, 11) / 10
    assert metrics.calibration_floor(10, weights="counts") == pytest.approx((counts * p * (1 - p)).sum() / 10)


def test_perfect_forecasts_score_the_floor_and_0_debiased(rng):
    n, repeats = 25, 4000
    law = Normal(np.zeros(n), 1.0)
    draws = rng.normal(size=(repeats, n))
    raw = np.array([metrics.calibration_error(y, law) for y in draws])
    fair = np.array([metrics.calibration_error(y, law, debiased=True) for y in draws])
    assert abs(raw.mean() - metrics.calibration_floor(n)) < 4 * raw.std() / np.sqrt(repeats)
    assert abs(fair.mean()) < 4 * fair.std() / np.sqrt(repeats)
    assert fair.min() < 0


def test_the_debiased_error_is_unbiased_for_bad_forecasts_too(rng):
    n, repeats = 10, 4000
    law = Normal(np.full(n, 0.5), 1.0)
    fair = np.array([metrics.calibration_error(y, law, debiased=True) for y in rng.normal(size=(repeats, n))])
    y = rng.normal(size=2_000_000)
    many = metrics.calibration_error(y, Normal(np.full(len(y), 0.5), 1.0))
    assert abs(fair.mean() - many) < 4 * fair.std() / np.sqrt(repeats)


def test_floor_of_an_ecdf_recalibrated_forecaster(rng):
    n_test, n_cal, repeats = 40, 30, 3000
    levels = np.arange(1, 11) / 10
    scores = []
    for _ in range(repeats):
        calibration, test = np.sort(rng.random(n_cal)), rng.random(n_test)
        recalibrated = np.searchsorted(calibration, test) / n_cal
        scores.append(np.sum((levels - (recalibrated[:, None] <= levels).mean(axis=0)) ** 2))
    floor = metrics.calibration_floor(n_test, n_cal)
    assert np.mean(scores) == pytest.approx(floor, rel=0.1)


def test_errors_name_the_argument():
    y, law = at_pits([0.5])
    with pytest.raises(ValueError, match=r"`levels` must be increasing; 1 of 2 values is not, first levels\[1\] = 0.2"):
        metrics.calibration_error(y, law, levels=[0.5, 0.2])
    with pytest.raises(ValueError, match="`levels` must be between 0 and 1.*Percent"):
        metrics.calibration_error(y, law, levels=[10.0, 90.0])
    with pytest.raises(ValueError, match="`levels` must be a whole number of at least 1; got 0"):
        metrics.calibration_error(y, law, levels=0)
    with pytest.raises(ValueError, match="`weights` must be one of 'uniform', 'counts'; got 'equal'"):
        metrics.calibration_error(y, law, weights="equal")
    with pytest.raises(ValueError, match="`debiased` needs more than one row in a group; the smallest has 1"):
        metrics.calibration_error(y, law, debiased=True)
    with pytest.raises(ValueError, match="`n_test` must be positive; got 0"):
        metrics.calibration_floor(0)


@pytest.mark.parametrize("levels", [True, 0, -3])
def test_numbers_of_levels_are_whole(levels):
    with pytest.raises(ValueError, match="`levels` must be a whole number of at least 1"):
        metrics.calibration_error([0.0, 1.0], Normal([0.0, 0.0], 1.0), levels=levels)
