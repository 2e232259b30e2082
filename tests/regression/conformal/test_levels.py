"""The narrowest intervals: how wide, what they hold, and what they do with what they are given."""

import numpy as np
import pytest
from scipy.stats import norm, poisson
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold

from calibrant import CalibratedRegressor, Censored, ConformalCalibrator, Mixture, Normal, Poisson, QuantileCalibrator
from calibrant.distributions.envelope import middle_scores
from calibrant.regression.conformal.levels import _whole


def normals(rng, n):
    mu, sigma = rng.normal(size=n), np.exp(rng.normal(0, 0.6, n))
    return Normal(mu, sigma), mu + sigma * rng.normal(size=n)


def best_mean_width(sigma, coverage):
    """The least mean width of intervals that hold a share of normal outcomes: one density at all ends."""
    levels = np.exp(np.linspace(-6, 0, 601))
    z = np.sqrt(np.maximum(-2 * np.log(levels[:, None] * sigma * np.sqrt(2 * np.pi)), 0))
    held = (2 * norm.cdf(z) - 1).mean(axis=1)
    return 2 * (z * sigma).mean(axis=1)[np.argmin(np.abs(held - coverage))]


def test_no_narrower_intervals_hold_as_much(rng):
    law, y = normals(rng, 20_000)
    made = ConformalCalibrator(score="density").fit(law[:10_000], y[:10_000]).transform(law[10_000:])
    even = ConformalCalibrator().fit(law[:10_000], y[:10_000]).transform(law[10_000:]).interval(0.9)
    low, high = made.interval(0.9).T
    assert np.mean((low <= y[10_000:]) & (y[10_000:] <= high)) == pytest.approx(0.9, abs=0.012)
    assert np.mean(high - low) == pytest.approx(best_mean_width(law.scale[10_000:], 0.9), rel=0.02)
    assert np.mean(high - low) < 0.96 * np.diff(even).mean()


def test_counts_are_those_of_the_largest_probabilities(rng):
    rate = rng.gamma(9.0, 1.0, 4000)
    y = rng.poisson(rate)
    made = ConformalCalibrator(score="density").fit(Poisson(rate[:2000]), y[:2000]).transform(Poisson(rate[2000:]))
    low, high = made.interval(0.8).T
    assert np.mean((low <= y[2000:]) & (y[2000:] <= high)) == pytest.approx(0.8, abs=0.03)
    k, some = np.arange(60), slice(0, 50)
    p = poisson.pmf(k, rate[2000:, None][some])
    inside = (low[some, None] <= k) & (k <= high[some, None])
    assert np.max(np.where(inside, 0, p)) < 1.15 * np.min(np.where(inside, p, 1))


def test_points_have_one_density(rng):
    x = rng.normal(size=60)
    y = x + rng.normal(size=60)
    ends = [ConformalCalibrator(score=score).fit(x, y).transform(x).interval(0.9) for score in ("absolute", "density")]
    np.testing.assert_allclose(*ends, atol=1e-3)


def test_a_row_of_which_nothing_is_as_dense_has_its_mode():
    law = Normal(np.zeros(50), 1.0)
    made = ConformalCalibrator(score="density").fit(law, np.linspace(-1, 1, 50)).transform(Normal([2.0], 1e3))
    np.testing.assert_allclose(made.interval(0.9), [[2.0, 2.0]])
    assert np.isinf(made.interval(0.99)).all()


def test_what_it_tells_and_refuses(rng):
    law, y = normals(rng, 100)
    calibrator = ConformalCalibrator(QuantileCalibrator(), score="density").fit(law, y)
    assert "Wide forecasts are held less often than narrow ones" in calibrator.guarantee_
    with pytest.raises(ValueError, match="forecasts must have densities, or be of counts"):
        ConformalCalibrator(score="density").fit(Censored(law, lower=0.0), np.maximum(y, 0.0))


def test_within_ranges_of_widths_it_holds_as_often_in_each(rng):
    law, y = normals(rng, 6000)
    made = ConformalCalibrator(score="density", by="width", n_bins=2, held_out=0.5).fit(law[:4000], y[:4000])
    low, high = made.transform(law[4000:]).interval(0.9).T
    held, wide = (low <= y[4000:]) & (y[4000:] <= high), law.scale[4000:] > 1
    assert held[wide].mean() == pytest.approx(0.9, abs=0.03) and held[~wide].mean() == pytest.approx(0.9, abs=0.03)


def test_cross_conformal_intervals(rng):
    X = rng.normal(size=(90, 1))
    y = X[:, 0] + rng.normal(size=90)
    models = [
        CalibratedRegressor(LinearRegression(), ConformalCalibrator(score=score), cv=KFold(3), ensemble=True).fit(X, y)
        for score in ("absolute", "density")
    ]
    np.testing.assert_allclose(*(model.predict_interval(X[:5], 0.9) for model in models), atol=0.02)


def test_two_modes_make_one_interval(rng):
    law = Mixture([Normal(np.full(200, -3.0), 0.5), Normal(np.full(200, 3.0), 0.5)], [0.5, 0.5])
    made = ConformalCalibrator(score="density").fit(law, law.sample(1, rng)[:, 0]).transform(law[:1])
    low, high = made.interval(0.9)[0]
    assert low < -3 < 3 < high


def test_the_only_count_whose_middle_lies_between_two_scores():
    law = Poisson([5.0])
    four, five = (middle_scores(law, np.array([k])) for k in (4.0, 5.0))
    first, last = (z[:, None] + 1e-6 for z in (four, five))  # within 4, but above its middle; within 5
    ends = law.from_normal(first), law.from_normal(last)
    assert (float(ends[0][0, 0]), float(ends[1][0, 0])) == (4.0, 5.0)
    low, high = _whole(law, (first, last), ends)
    assert (float(low[0, 0]), float(high[0, 0])) == (5.0, 5.0)
    low, high = _whole(law, (first, first), (ends[0], ends[0]))  # no middle lies there: what holds the first
    assert (float(low[0, 0]), float(high[0, 0])) == (4.0, 4.0)
