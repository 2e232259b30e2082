"""Quantiles of many rows of GPC from a table, beside the maps of all rows."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d
from scipy.optimize import isotonic_regression
from scipy.special import ndtri

from calibrant import Gamma, GPCCalibrator, Logistic, Normal, StudentT
from calibrant._later import Pending
from calibrant.calibration.pit_watch import unwatched
from calibrant.regression.gpc import law as gpc_law
from calibrant.regression.gpc import quick as gpc_quick
from calibrant.regression.gpc import score_table
from calibrant.regression.gpc.projection import band, blurred, made_to_rise, reach_of

pytestmark = pytest.mark.usefixtures("laws_only")
LEVELS = np.array([0.001, 0.05, 0.25, 0.5, 0.75, 0.95, 0.999])
CLOSE = 1e-6


def two_lines(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-10, 40, n)
    y = np.where(rng.random(n) < 0.5, 0.5 * x, 0.0) + rng.normal(0, np.sqrt(2), n)
    return Normal(0.25 * x, 5.5), y


def skewed(n, seed=0):
    rng = np.random.default_rng(seed)
    mu = rng.uniform(0, 10, n)
    y = mu + (0.5 + mu / 5) * np.where(rng.random(n) < 0.5, 1.0, 2.0) * rng.standard_normal(n)
    return Normal(mu, np.exp(rng.normal(0.5, 0.4, n))), y


def too_narrow(n, seed=0):
    rng = np.random.default_rng(seed)
    mu = rng.normal(0, 5, n)
    return Normal(mu, 0.2), mu + rng.standard_normal(n)


def sharp(n, seed=0):
    rng = np.random.default_rng(seed)
    mu = rng.normal(0, 30, n)
    return Normal(mu, 0.5), mu + 0.7 * rng.standard_normal(n)


def logistic(n, seed=0):
    law, y = skewed(n, seed)
    return Logistic(law.loc, law.scale), y


def positive(n, seed=0):
    rng = np.random.default_rng(seed)
    mean = rng.uniform(1, 9, n)
    return Gamma(4.0, mean / 4), rng.gamma(2.0, mean / 2)


def learned(scene, **settings):
    """A calibrator that has learned from 200 rows of a scene, of which only the laws are looked at."""
    with unwatched():
        return GPCCalibrator(**settings).fit(*scene(200))


@pytest.fixture(scope="module")
def fitted():
    """A calibrator to look at."""
    return learned(two_lines)


SCENES = [two_lines, skewed, too_narrow, sharp, logistic, positive]


def exact(law):
    """The same law by its maps."""
    assert law.map.knots.shape == (len(law), 256)
    return law


@pytest.mark.parametrize("scene", SCENES)
def test_quantiles_from_the_table_are_those_of_the_maps(scene):
    calibrator = learned(scene)
    forecasts, _ = scene(700, 1)
    law = calibrator.transform(forecasts)
    quick = law.quantiles(LEVELS)
    assert isinstance(vars(law)["map"], Pending)  # no maps were made
    by_maps = exact(calibrator.transform(forecasts))
    np.testing.assert_allclose(by_maps.cdf(quick), np.tile(LEVELS, (700, 1)), rtol=0, atol=CLOSE)
    assert np.all(np.diff(quick) > 0)
    np.testing.assert_array_equal(law.median(), law.quantiles([0.5])[:, 0])


@pytest.mark.parametrize("settings", [{"link": "probit"}, {"quantile_map": False}, {"mean": "zero"}, {"n_grid": 61}])
def test_other_settings(settings):
    calibrator = learned(two_lines, **settings)
    forecasts, _ = two_lines(600, 1)
    quick = calibrator.transform(forecasts).quantiles(LEVELS)
    law = calibrator.transform(forecasts)
    law.map  # noqa: B018
    np.testing.assert_allclose(law.cdf(quick), np.tile(LEVELS, (600, 1)), rtol=0, atol=CLOSE)


def test_the_table_is_the_classifier(fitted):
    calibrator = fitted
    table, grid = calibrator._quick().table, calibrator._grid()
    x = np.linspace(*table.ends, 2001)[1:-1]
    z = calibrator.quantile_.map_(x)
    for k in (0, 100, 180, 255):
        probability, tail = np.empty((2, len(x)))
        table.both(k, x, probability, tail)
        np.testing.assert_allclose(probability, calibrator.probability(z, grid[k]), rtol=0, atol=1e-7)
        low = np.where(tail < 0, 1 + tail, tail)
        np.testing.assert_allclose(ndtri(low[np.abs(z) < 5]), z[np.abs(z) < 5], atol=1e-5)


def test_rows_that_are_in_doubt_are_left_to_the_maps(fitted, monkeypatch):
    calibrator = fitted
    forecasts, _ = two_lines(600, 1)
    expected = calibrator.transform(forecasts).quantiles(LEVELS)
    honest = gpc_quick._scores
    monkeypatch.setattr(gpc_quick, "_scores", lambda *given: (honest(*given)[0] + 9, np.arange(600) % 3 >= 0))
    np.testing.assert_allclose(calibrator.transform(forecasts).quantiles(LEVELS), expected, atol=1e-3)


def test_who_has_no_table(fitted, monkeypatch):
    forecasts, _ = two_lines(600, 1)
    learned = GPCCalibrator(6, kernel="rbf", lengths="learn", n_basis=8, n_grid=16).fit(*two_lines(60))
    assert learned._quick() is None and learned.transform(forecasts).quantiles([0.5]).shape == (600, 1)
    calibrator = fitted
    heavy = calibrator.transform(StudentT(forecasts.loc, 5.0, 3.0))  # its tails are kept by another map
    assert heavy._tabulated([0.5]) is None and np.isfinite(heavy.quantiles([0.5])).all()
    law = calibrator.transform(forecasts)
    assert law._tabulated([0.5]) is not None
    assert law._tabulated([0.0005]) is None and law[:100]._tabulated([0.5]) is None
    assert np.all(np.diff(law.quantiles([1e-9, 1e-4, 0.5])) > 0)
    monkeypatch.setattr(score_table, "_MOST_PIECES", 10)
    again = GPCCalibrator().fit(*two_lines(100))
    assert again._quick() is None


def test_laws_stay_as_they_are_when_the_calibrator_learns_anew():
    calibrator = GPCCalibrator().fit(*two_lines(200))
    forecasts, y = two_lines(600, 1)
    law, before = calibrator.transform(forecasts), calibrator.transform(forecasts)
    known = dict(vars(calibrator))
    expected, cdf = before.quantiles([0.1, 0.9]), before.cdf(y)
    assert vars(calibrator) == known
    calibrator.fit(*skewed(100))
    np.testing.assert_array_equal(law.quantiles([0.1, 0.9]), expected)
    np.testing.assert_array_equal(law.cdf(y), cdf)


def test_some_rows_pickles_and_blocks(fitted, monkeypatch):
    calibrator = fitted
    forecasts, y = two_lines(1500, 1)
    law = calibrator.transform(forecasts)
    whole, rows = law.quantiles(LEVELS), np.arange(1500)[::-2]
    part = law[rows]
    assert isinstance(vars(part)["map"], Pending)
    np.testing.assert_allclose(part.quantiles(LEVELS), whole[rows], rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(part.logpdf(y[rows]), law.logpdf(y)[rows])
    np.testing.assert_allclose(law[rows].quantiles(LEVELS), whole[rows], atol=1e-4)  # by maps, now that they are made
    fresh = pickle.loads(pickle.dumps(calibrator.transform(forecasts)))
    np.testing.assert_array_equal(fresh.quantiles(LEVELS), whole)
    monkeypatch.setattr(gpc_quick, "_BLOCK", 256 * 100)
    np.testing.assert_allclose(calibrator.transform(forecasts).quantiles(LEVELS), whole, rtol=1e-6, atol=1e-6)


def test_projection_and_smoothing_are_those_of_single_rows():
    rng = np.random.default_rng(0)
    lines = np.sort(rng.uniform(size=(5, 40)), axis=1) + 0.1 * rng.normal(size=(5, 40))
    np.testing.assert_allclose(made_to_rise(lines), [isotonic_regression(line).x for line in lines], atol=1e-13)
    mass, table = rng.uniform(size=(255, 3)), band(256)
    expected = gaussian_filter1d(mass, 0.01 * 257, axis=0, mode="constant")
    np.testing.assert_allclose(blurred(mass, table, np.empty_like(mass)), expected, atol=1e-14)
    assert reach_of(table) == 10 and gpc_law._FEWEST <= 600
