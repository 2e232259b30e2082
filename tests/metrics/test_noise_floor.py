"""What measures make of perfect calibration."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from calibrant import metrics


def test_one_bin():
    """The mean of 400 fair coins is off by √(2/π)·0.025 on average."""
    floor = metrics.noise_floor(metrics.ece, np.full(400, 0.5), n_draws=4000)
    assert floor == pytest.approx(np.sqrt(2 / np.pi) * 0.025, rel=0.03)


def test_squares_in_bins():
    p = np.repeat([0.2, 0.5, 0.9], [100, 200, 50])
    floor = metrics.noise_floor(lambda y, q: metrics.ece(y, q, norm=2) ** 2, p, n_draws=2000)
    assert floor == pytest.approx((0.16 + 0.25 + 0.09) / 350, rel=0.06)


def test_three_classes(rng):
    p = np.tile([0.2, 0.3, 0.5], (100, 1))
    means = metrics.noise_floor(lambda y, q: (y == 1).mean(), p, n_draws=500)
    assert means == pytest.approx(0.3, abs=0.01)
    assert metrics.noise_floor(metrics.brier_score, p, n_draws=500) == pytest.approx(
        metrics.class_sharpness(p), rel=0.01
    )


def test_calibrated_data_are_at_the_floor(rng):
    p = rng.random(3000)
    y = rng.random(3000) < p
    for metric in (metrics.ece, metrics.calbin, metrics.smooth_ece, metrics.calloss):
        assert metric(y, p) == pytest.approx(metrics.noise_floor(metric, p, n_draws=50), rel=0.5)


def test_weight_2_is_the_row_twice(rng):
    p, weight = rng.random(40), rng.integers(0, 4, 40)
    weighted = metrics.noise_floor(metrics.calbin, p, sample_weight=weight)
    assert weighted == metrics.noise_floor(metrics.calbin, np.repeat(p, weight))
    assert weighted < metrics.noise_floor(metrics.calbin, p)


def test_weights_that_are_no_integers():
    p = np.full(100, 0.5)
    whole, more = (metrics.noise_floor(metrics.ece, p, sample_weight=np.full(100, w)) for w in (1.0, 1.5))
    assert more == pytest.approx(whole * np.sqrt(1.25) / 1.5, rel=0.15)  # half the rows count half


def test_draws_are_the_same_unless_told(rng):
    p = rng.random(50)
    floor = partial(metrics.noise_floor, metrics.ece, p)
    assert floor() == floor() == floor(random_state=0)
    assert floor() != floor(random_state=1)
    with pytest.raises(ValueError, match="`n_draws` must be a whole number of at least 1; got 0"):
        floor(n_draws=0)
    with pytest.raises(ValueError, match="`y_proba` must be probabilities between 0 and 1; 1 of 2 values is not"):
        metrics.noise_floor(metrics.ece, [0.2, 1.2])
