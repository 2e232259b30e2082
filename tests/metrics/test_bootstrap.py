"""Intervals around measures."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.stats import binomtest
from scipy.stats import t as student

from calibrant import Normal, metrics


def data(rng, n=200):
    p = rng.random(n)
    return rng.random(n) < p, p


def test_mean_interval_by_hand(rng):
    y, p = data(rng, 50)
    values = (p - y) ** 2
    low, high = student.interval(0.9, 49, values.mean(), values.std(ddof=1) / np.sqrt(50))
    interval = metrics.mean_interval(metrics.brier_score, y, p)
    assert (interval.value, interval.low, interval.high) == pytest.approx((values.mean(), low, high), rel=1e-12)


def test_mean_interval_weight_2_is_the_row_twice(rng):
    y, p = data(rng, 50)
    weight = rng.integers(0, 4, 50)
    weighted = metrics.mean_interval(metrics.log_loss, y, p, sample_weight=weight)
    repeated = metrics.mean_interval(metrics.log_loss, np.repeat(y, weight), np.repeat(p, weight))
    assert (weighted.low, weighted.high) == pytest.approx((repeated.low, repeated.high), rel=1e-12)


def test_bootstrap_of_a_mean_is_near_the_analytic_one(rng):
    y, p = data(rng, 1000)
    analytic = metrics.mean_interval(metrics.brier_score, y, p)
    drawn = metrics.bootstrap_interval(metrics.brier_score, y, p, n_resamples=2000)
    width = analytic.high - analytic.low
    assert drawn.value == analytic.value == metrics.brier_score(y, p)
    assert (drawn.low, drawn.high) == pytest.approx((analytic.low, analytic.high), abs=0.06 * width)


def test_coverage():
    rng = np.random.default_rng(2)
    inside = 0
    for _ in range(200):
        p = rng.random(100)
        interval = metrics.bootstrap_interval(metrics.brier_score, rng.random(100) < p, p, n_resamples=200)
        inside += interval.low <= 1 / 6 <= interval.high
    assert binomtest(inside, 200, 0.9).pvalue > 0.01


@pytest.mark.parametrize("metric", [metrics.crps, metrics.calibration_error, metrics.mae, metrics.coverage])
def test_measures_of_laws(metric, rng):
    law = Normal(rng.normal(size=100), 1.0)
    y = law.sample(random_state=1)[:, 0] if law.sample(random_state=1).ndim == 2 else law.sample(random_state=1)
    interval = metrics.bootstrap_interval(metric, y, law, n_resamples=100, method="percentile")
    assert interval.low < interval.high
    assert interval.value == metric(y, law)


def test_no_class_is_lost():
    y = ["ham"] + ["spam"] * 30
    interval = metrics.bootstrap_interval(metrics.log_loss, y, np.full(31, 0.9))
    assert np.isfinite([interval.low, interval.high]).all()


def test_normal_of_a_mean_is_its_standard_error(rng):
    y = rng.normal(size=400)
    found = metrics.bootstrap_interval(metrics.mae, y, np.zeros(400), method="normal", n_resamples=2000)
    error = np.abs(y).std() / np.sqrt(400)
    assert found.value - found.low == pytest.approx(found.high - found.value)
    assert found.high - found.value == pytest.approx(1.6449 * error, rel=0.06)


def test_basic_is_percentile_reflected(rng):
    y, p = data(rng)
    one, other = (metrics.bootstrap_interval(metrics.ece, y, p, method=m) for m in ("percentile", "basic"))
    assert (other.low, other.high) == pytest.approx((2 * one.value - one.high, 2 * one.value - one.low))


def test_arrays(rng):
    y, guess = rng.integers(0, 2, (2, 100))
    interval = metrics.bootstrap_interval(partial(metrics.confusion, classes=[0, 1]), y, guess)
    assert interval.low.shape == interval.high.shape == (2, 2)
    assert (interval.low < interval.value).all()
    assert (interval.value < interval.high).all()


def test_weight_2_is_the_row_twice(rng):
    y, p = data(rng, 60)
    weight = rng.integers(0, 4, 60)
    weighted = metrics.bootstrap_interval(metrics.brier_score, y, p, sample_weight=weight)
    repeated = metrics.bootstrap_interval(metrics.brier_score, np.repeat(y, weight), np.repeat(p, weight))
    ours = weighted.value, weighted.low, weighted.high
    assert ours == pytest.approx((repeated.value, repeated.low, repeated.high), rel=1e-12)


def test_resamples_are_the_same_unless_told(rng):
    y, p = data(rng)
    interval = partial(metrics.bootstrap_interval, metrics.ece, y, p, n_resamples=50)
    assert interval() == interval()
    assert interval() != interval(random_state=1)
    assert interval(coverage=0.5).low > interval(coverage=0.95).low


def test_bad_settings():
    with pytest.raises(ValueError, match="`coverage` must be strictly between 0 and 1"):
        metrics.bootstrap_interval(metrics.ece, [0, 1], [0.2, 0.7], coverage=90)
    with pytest.raises(ValueError, match="`n_resamples` must be a whole number of at least 1"):
        metrics.bootstrap_interval(metrics.ece, [0, 1], [0.2, 0.7], n_resamples=0)
    with pytest.raises(ValueError, match="`method` must be one of 'percentile', 'basic', 'normal'; got 'bca'"):
        metrics.bootstrap_interval(metrics.ece, [0, 1], [0.2, 0.7], method="bca")
    with pytest.raises(ValueError, match="An interval needs more than one row; got 1"):
        metrics.mean_interval(metrics.brier_score, [1], [0.2])


def test_measures_that_are_means_are_worked_out_once(rng):
    y, law, calls = rng.normal(size=30), Normal(np.zeros(30), 1.0), []
    weights = rng.integers(0, 4, 30)

    def measure(y_true, dist, *, sample_weight=None, per_row=False):
        calls.append(per_row)
        return metrics.crps(y_true, dist, sample_weight=sample_weight, per_row=per_row)

    def root(y_true, dist, *, sample_weight=None, per_row=False):  # takes per_row, but is no mean of it
        calls.append(per_row)
        score = metrics.crps(y_true, dist, sample_weight=sample_weight, per_row=per_row)
        return score if per_row else np.sqrt(score)

    for chosen in (None, weights):
        found = metrics.bootstrap_interval(measure, y, law, n_resamples=40, sample_weight=chosen)
        slow = metrics.bootstrap_interval(
            lambda *a, **k: metrics.crps(*a, **k), y, law, n_resamples=40, sample_weight=chosen
        )
        np.testing.assert_allclose([found.value, found.low, found.high], [slow.value, slow.low, slow.high], rtol=1e-13)
    assert calls == [False, True] * 2
    calls.clear()
    found = metrics.bootstrap_interval(root, y, law, n_resamples=40, sample_weight=weights)
    np.testing.assert_allclose(
        np.square([found.value, found.low, found.high]), [slow.value, slow.low, slow.high], rtol=0.01
    )
    assert len(calls) == 42
