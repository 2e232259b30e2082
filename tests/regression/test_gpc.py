"""Calibration by a classifier of thresholds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri

from calibrant import Normal, metrics
from calibrant.regression.gpc import GPCCalibrator


def toy(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The two lines of Song et al. (2019), figure 1."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-10, 40, n)
    return x, np.where(rng.random(n) < 0.5, 0.5 * x, 0.0) + rng.normal(0, np.sqrt(2), n)


@pytest.fixture(scope="module")
def fitted() -> tuple[GPCCalibrator, Normal, np.ndarray]:
    x, y = toy(0, 360)
    line = np.polyfit(x, y, 1)
    sigma = np.std(y - np.polyval(line, x))
    new, outcome = toy(100, 4000)
    return GPCCalibrator().fit(Normal(np.polyval(line, x), sigma), y), Normal(np.polyval(line, new), sigma), outcome


def test_sees_the_second_mode(fitted):
    calibrator, forecasts, y = fitted
    law = calibrator.transform(forecasts)
    assert metrics.nll(y, law) < 2.50 < 3.0 < metrics.nll(y, forecasts)
    assert metrics.crps(y, law) < metrics.crps(y, forecasts)


def test_every_result_is_a_proper_law(fitted):
    calibrator, forecasts, _ = fitted
    law = calibrator.transform(forecasts[:50])
    grid = np.linspace(*calibrator.range_, 255 * 16 + 1)[None, :]  # the density jumps at its 256 thresholds
    cdf, pdf = law.cdf(grid), law.pdf(grid)
    assert np.all(np.diff(cdf) >= 0) and np.all(pdf >= 0)
    middle = 0.5 * (grid[:, 1:] + grid[:, :-1])
    mass = (law.pdf(middle) * np.diff(grid)).sum(axis=1) + cdf[:, 0] + law.sf(grid)[:, -1]
    assert np.allclose(mass, 1, atol=1e-4)
    assert np.allclose(law.cdf(law.quantiles([0.1, 0.5, 0.9])), [[0.1, 0.5, 0.9]], atol=1e-8)
    far = np.array([[-1e3, 1e3]])
    assert np.isfinite(law.logpdf(far)).all()


def test_the_raw_classifier_is_not_monotone(fitted):
    """Which is why its finite differences are no density (SPEC's trap)."""
    calibrator, forecasts, _ = fitted
    t = np.linspace(*calibrator.range_, 257)
    raw = calibrator.probability(forecasts[:200].to_normal(t[None, :]), t[None, :])
    assert raw.shape == (200, 257) and np.all((raw > 0) & (raw < 1))
    assert np.mean(np.diff(raw) < 0) > 0.01


def test_costs_little_when_nothing_is_wrong(rng):
    mu = rng.normal(0, 2, 5000)
    y = mu + rng.standard_normal(5000)
    law = GPCCalibrator().fit(Normal(mu[:1000], 1.0), y[:1000]).transform(Normal(mu[1000:], 1.0))
    assert metrics.nll(y[1000:], law) < metrics.nll(y[1000:], Normal(mu[1000:], 1.0)) + 0.012


def test_forecasts_that_are_far_too_narrow(rng):
    mu = rng.normal(0, 2, 3000)
    y = mu + 8 * rng.standard_normal(3000)
    law = GPCCalibrator().fit(Normal(mu[:1500], 1.0), y[:1500]).transform(Normal(mu[1500:], 1.0))
    assert metrics.nll(y[1500:], law) < metrics.nll(y[1500:], Normal(mu[1500:], 8.0)) + 0.03


def test_two_fits_are_the_same_to_the_bit_and_slices_agree(fitted):
    calibrator, forecasts, y = fitted
    x, outcome = toy(3, 120)
    first, second = (GPCCalibrator(n_basis=12).fit(Normal(0.25 * x, 5.0), outcome).coefficients_ for _ in range(2))
    assert np.array_equal(first, second)
    whole, part = calibrator.transform(forecasts[:20]), calibrator.transform(forecasts[5:9])
    assert np.allclose(whole[5:9].cdf(y[5:9]), part.cdf(y[5:9]))


def test_weight_two_is_the_row_twice():
    x, y = toy(5, 150)
    w = np.random.default_rng(0).integers(1, 3, 150)
    law = Normal(0.25 * x, 5.0)
    weighted = GPCCalibrator(n_basis=10).fit(law, y, sample_weight=w).transform(law[:5])
    repeated = GPCCalibrator(n_basis=10).fit(law[np.repeat(np.arange(150), w)], np.repeat(y, w)).transform(law[:5])
    levels = [0.1, 0.5, 0.9]
    assert np.allclose(weighted.quantiles(levels), repeated.quantiles(levels), rtol=0.02, atol=0.05)


def test_few_rows_keep_the_quantile_map_and_say_so():
    forecasts = Normal(np.zeros(4), 1.0)
    with pytest.warns(UserWarning, match="4 rows are too few"):
        calibrator = GPCCalibrator().fit(forecasts, [0.1, -0.4, 1.0, 0.3])
    assert np.isfinite(calibrator.transform(forecasts).interval(0.9)).all()
    assert calibrator.probability(ndtri(0.3), 0.0) == pytest.approx(0.3)


def test_constant_forecasts_and_outcomes_and_outliers(rng):
    law = GPCCalibrator(n_basis=8).fit(Normal(np.zeros(60), 1.0), np.full(60, 2.0)).transform(Normal([0.0], 1.0))
    assert np.isfinite(law.logpdf([2.0])).all()
    y = rng.standard_normal(200)
    y[0] = 50.0
    law = GPCCalibrator(n_basis=8).fit(Normal(np.zeros(200), 1.0), y).transform(Normal([0.0], 1.0))
    assert np.isfinite(law.logpdf([50.0])).all() and law.std()[0] < 10


@pytest.mark.parametrize("name", ["n_thresholds", "n_basis", "n_grid"])
def test_bad_settings(name):
    with pytest.raises(ValueError, match=f"`{name}` must be a whole number of at least 2; got 1"):
        GPCCalibrator(**{name: 1}).fit(Normal([0.0], 1.0), [1.0])
