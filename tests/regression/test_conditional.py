"""What holds for all calibrators that treat forecasts differently: bad input, precision, proper laws, cross-fitting."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.stats import kstest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression

from calibrant import (
    CalibratedRegressor,
    DensityCalibrator,
    FlowCalibrator,
    GPBetaCalibrator,
    GPCCalibrator,
    Normal,
    StackCalibrator,
    metrics,
)
from calibrant.distributions import Distribution
from experiments.song2019.toy.toy import toy

CALIBRATORS = {
    "density": DensityCalibrator(),
    "gpc": GPCCalibrator(),
    "gp-beta": GPBetaCalibrator(random_state=0),
    "flow": FlowCalibrator(random_state=0),
    "stack": StackCalibrator(random_state=0),
}
QUICK = CALIBRATORS | {
    "gpc": GPCCalibrator(16, n_basis=16, n_grid=64),
    "stack": StackCalibrator([FlowCalibrator(penalty=1.0), DensityCalibrator(n_thresholds=12)], random_state=0),
}
LEVELS = np.array([1e-6, 0.01, 0.1, 0.5, 0.9, 0.99, 1 - 1e-6])
every = pytest.mark.parametrize("name", CALIBRATORS)
pytestmark = pytest.mark.filterwarnings("ignore:.*made the probabilistic calibration worse:UserWarning")


@cache
def on_the_toy(name):
    """Fitted to 360 rows of two regimes, with forecasts of fresh rows and their outcomes."""
    old, new = toy(0, fresh=200)
    return clone(CALIBRATORS[name]).fit(old.base, old.y), new.base, new.y


def rows():
    rng = np.random.default_rng(20180710)
    mu, sigma = rng.normal(0, 2, 150), np.exp(rng.normal(0, 0.5, 150))
    return mu, sigma, mu + 0.3 + 1.5 * sigma * rng.standard_normal(150)


@pytest.fixture
def data():
    return rows()


def fitted(name, mu, sigma, y, **weights):
    return clone(QUICK[name]).fit(Normal(mu, sigma), y, **weights)


@cache
def as_they_are(name):
    """Log densities and cdf of the outcomes after a fit to the rows in double precision."""
    mu, sigma, y = rows()
    law = fitted(name, mu, sigma, y).transform(Normal(mu, sigma))
    return law.logpdf(y), law.cdf(y)


def check_law(law: Distribution, y):
    """Finite everywhere, and quantiles and cdf are inverses; of what has to be integrated, every third row is asked."""
    some, y_some = law[::3], y[::3]
    assert np.isfinite(law.logpdf(y)).all() and np.isfinite(some.crps(y_some)).all()
    variance = some.var()
    assert np.isfinite(some.mean()).all() and np.isfinite(variance).all() and (variance > 0).all()
    quantiles = law.quantiles(LEVELS)
    assert np.isfinite(quantiles).all() and (np.diff(quantiles) > 0).all()
    assert np.allclose(law.cdf(quantiles), LEVELS, atol=1e-8)


class TestProperLaws:
    @every
    def test_densities_are_valid(self, name):
        calibrator, forecasts, _ = on_the_toy(name)
        law = calibrator.transform(forecasts[:12])
        points, weights = _rule(calibrator)
        density = law.pdf(points[None, :])
        assert density.min() >= 0
        assert np.diff(law.cdf(points[None, :])).min() >= 0
        assert density @ weights == pytest.approx(1, abs=1e-4)
        mean = density @ (weights * points)
        assert mean == pytest.approx(law.mean(), abs=1e-3)
        spread = np.array([d @ (weights * (points - m) ** 2) for d, m in zip(density, mean, strict=True)])
        assert spread == pytest.approx(law.var(), rel=1e-3)

    @every
    def test_quantiles_and_far_outcomes(self, name):
        calibrator, forecasts, y = on_the_toy(name)
        law = calibrator.transform(forecasts)
        check_law(law, y)
        for far in (-1e3, -100.0, 100.0, 1e3):  # no threshold and no outcome lies there
            assert np.isfinite(law.logpdf(np.full(len(law), far))).all()
            assert np.isfinite(law[::3].crps(np.full(len(law[::3]), far))).all()

    @every
    def test_samples_follow_the_law(self, name):
        calibrator, forecasts, y = on_the_toy(name)
        law = calibrator.transform(forecasts)
        draws = law.sample(50, random_state=1)
        assert kstest(law.cdf(draws).ravel(), "uniform").pvalue > 0.01
        deviations = (draws.mean(axis=1) - law.mean()) / np.sqrt(law.var() / 50)
        assert np.mean(deviations**2) == pytest.approx(1, abs=0.3)
        other = law.sample(50, random_state=2)
        by_samples = np.abs(draws - y[:, None]).mean(axis=1) - 0.5 * np.abs(draws - other).mean(axis=1)
        assert by_samples.mean() == pytest.approx(law.crps(y).mean(), rel=0.05)

    @every
    def test_same_on_every_call(self, name):
        calibrator, forecasts, y = on_the_toy(name)
        first, second = (calibrator.transform(forecasts) for _ in range(2))
        assert np.array_equal(first.logpdf(y), second.logpdf(y))
        assert np.array_equal(first.quantiles(LEVELS), second.quantiles(LEVELS))
        part = calibrator.transform(forecasts[5:9])
        assert part.logpdf(y[5:9]) == pytest.approx(first.logpdf(y)[5:9], abs=1e-9)

    @every
    def test_better_than_the_base_and_both_distances_told(self, name):
        calibrator, forecasts, y = on_the_toy(name)
        assert metrics.nll(y, calibrator.transform(forecasts)) < metrics.nll(y, forecasts) - 0.2
        before, after = calibrator.pit_distances_
        assert 0.04 < before < 0.06 and 0 < after < 0.2


def _rule(calibrator):
    """Points and weights of Gauss-Legendre's rule between all thresholds, from far left to far right."""
    edges = np.concatenate([np.arange(-500.0, -60.0, 5.0), np.arange(-60.0, 80.0, 0.25), np.arange(80.0, 501.0, 5.0)])
    if isinstance(calibrator, DensityCalibrator):
        edges = np.union1d(edges, calibrator.thresholds_)
    if isinstance(calibrator, GPCCalibrator):
        edges = np.union1d(edges, np.linspace(*calibrator.range_, calibrator.n_grid))
    nodes, weights = np.polynomial.legendre.leggauss(4)
    middle, half = 0.5 * (edges[1:] + edges[:-1]), 0.5 * np.diff(edges)
    return (middle[:, None] + half[:, None] * nodes).ravel(), (half[:, None] * weights).ravel()


class TestPrecision:
    @every
    def test_two_fits_are_the_same_to_the_bit(self, name, data):
        mu, sigma, y = data
        logs, _ = as_they_are(name)
        assert np.array_equal(fitted(name, mu, sigma, y).transform(Normal(mu, sigma)).logpdf(y), logs)

    @every
    @pytest.mark.usefixtures("laws_only")
    def test_single_precision(self, name, data):
        mu, sigma, y = (a.astype(np.float32) for a in data)
        single = fitted(name, mu, sigma, y).transform((mu, sigma))
        logs, cdf = as_they_are(name)
        assert single.cdf(y) == pytest.approx(cdf, abs=1e-5)
        assert single.logpdf(y) == pytest.approx(logs, abs=1e-5)

    @every
    def test_weights_are_frequencies(self, name, data):
        mu, sigma, y = data
        w = np.random.default_rng(0).integers(0, 3, len(y))
        many = np.repeat(np.arange(len(y)), w)
        weighted = fitted(name, mu, sigma, y, sample_weight=w)
        repeated = fitted(name, mu[many], sigma[many], y[many])
        law = Normal(mu, sigma)
        assert weighted.transform(law).logpdf(y) == pytest.approx(repeated.transform(law).logpdf(y), abs=1e-5)
        assert weighted.pit_distances_ == pytest.approx(repeated.pit_distances_, abs=1e-5)


class TestBadInput:
    @every
    @pytest.mark.parametrize("kind", ["constant", "one width", "one mean", "every row three times"])
    def test_little_to_tell_forecasts_apart(self, name, data, kind):
        mu, sigma, y = data
        if kind == "every row three times":
            mu, sigma, y = (np.tile(a[:50], 3) for a in data)
        elif kind != "one mean":
            sigma = np.ones(len(y))
        if kind in ("constant", "one mean"):
            mu, y = 0 * mu, y - mu
        law = fitted(name, mu, sigma, y).transform(Normal(mu, sigma))
        check_law(law, y)
        assert metrics.nll(y, law) < metrics.nll(y, Normal(mu, sigma))  # 1.5 times too narrow

    @every
    @pytest.mark.parametrize("n", [2, 3, 6, 10])
    def test_few_rows_change_little_and_it_says_so(self, name, n):
        rng = np.random.default_rng(n)
        mu, sigma = rng.normal(0, 2, n), np.exp(rng.normal(0, 0.5, n))
        y = mu + sigma * rng.standard_normal(n)
        with pytest.warns(UserWarning, match=rf"{n} .*rows|rows .*{n}"):
            law = fitted(name, mu, sigma, y).transform(Normal([0.0, 1.0], [1.0, 2.0]))
        check_law(law, np.array([0.3, -0.5]))
        change = law.quantiles([0.1, 0.5, 0.9]) / [[1.0], [2.0]] - [[0.0], [0.5]]
        assert np.abs(change - [-1.2816, 0.0, 1.2816]).max() < 0.6

    @every
    def test_outliers(self, name, data):
        mu, sigma, y = data
        y = np.where(np.arange(len(y)) < 2, mu + 50 * sigma, y)
        law = fitted(name, mu, sigma, y).transform(Normal(mu, sigma))
        check_law(law, y)
        assert np.isfinite(law.logpdf(mu - 50 * sigma)).all()
        inside = (law.ppf(np.full(len(y), 0.1)) < y) & (y < law.ppf(np.full(len(y), 0.9)))
        assert 0.7 < inside.mean() < 0.93  # two rows do not ruin the rest

    @every
    def test_forecasts_unlike_any_seen(self, name):
        calibrator, forecasts, _ = on_the_toy(name)
        sigma = forecasts.scale[0]
        strange = Normal([-200.0, 0.0, 500.0, 0.0], [sigma, 0.05 * sigma, sigma, 20 * sigma])
        check_law(calibrator.transform(strange), np.zeros(4))


@every
@pytest.mark.usefixtures("laws_only")
@pytest.mark.parametrize("ensemble", [False, True])
def test_cross_fitted(name, ensemble):
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (240, 1))
    y = 2 * x[:, 0] + np.exp(x[:, 0]) * rng.standard_normal(240)
    model = CalibratedRegressor(LinearRegression(), calibrator=QUICK[name], cv=2, ensemble=ensemble).fit(x, y)
    new = np.linspace(-1, 1, 100)[:, None]
    law = model.predict_dist(new)
    outcome = 2 * new[:, 0] + np.exp(new[:, 0]) * rng.standard_normal(100)
    check_law(law, outcome)
    assert np.allclose(model.predict(new), law.mean())
    assert np.allclose(model.predict_quantiles(new, [0.5])[:, 0], law.median())
    assert kstest(law.cdf(law.sample(20, random_state=0)).ravel(), "uniform").pvalue > 0.01
    if name in ("gp-beta", "flow", "stack"):  # 120 rows are few for thresholds
        low, high = np.diff(law.interval(0.8))[[0, -1], 0]
        assert high > 1.5 * low  # the truth has 7.4, the base 1
    assert metrics.crps(outcome, law) < 1.05 * metrics.crps(outcome, model.predict_dist(new, calibrated=False))
