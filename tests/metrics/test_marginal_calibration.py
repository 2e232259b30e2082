"""Mean forecasts against outcomes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from calibrant import Ensemble, Normal, Poisson, metrics
from calibrant.displays import MarginalCalibrationDisplay


def difference(y, cdfs, at):
    """Gneiting et al. (2007): mean over t of F_t(x), less the share of outcomes that are at most x."""
    return np.mean([cdf(at) for cdf in cdfs]) - np.mean([value <= at for value in y])


def test_against_the_definition(rng):
    mu, sigma = rng.normal(size=30), np.exp(rng.normal(size=30))
    y = rng.normal(mu, 2.0)
    curve = metrics.marginal_calibration(y, Normal(mu, sigma), points=np.linspace(-3, 3, 13))
    cdfs = [stats.norm(m, s).cdf for m, s in zip(mu, sigma, strict=True)]
    np.testing.assert_allclose(curve.difference[1::2], [difference(y, cdfs, at) for at in curve.points[1::2]])
    noise = [np.sqrt(sum(cdf(at) * (1 - cdf(at)) for cdf in cdfs)) / 30 for at in curve.points[1::2]]
    np.testing.assert_allclose(curve.noise[1::2], noise)


def test_counts_have_two_sides(rng):
    rate, y = np.array([1.0, 3.0, 2.0]), np.array([2.0, 2.0, 0.0])
    curve = metrics.marginal_calibration(y, Poisson(rate), points=[0.0, 2.0])
    np.testing.assert_allclose(curve.forecast, [0, *(stats.poisson(rate).cdf(k).mean() for k in (0, 1, 2))])
    np.testing.assert_allclose(curve.observed, [0, 1 / 3, 1 / 3, 1])


class TestDistances:
    def test_largest_is_that_of_kolmogorov_for_one_law(self, rng):
        y = rng.normal(0.3, 1.5, 80)
        found = metrics.marginal_calibration_error(y, Normal(np.zeros(80), 1.0))
        assert found == pytest.approx(stats.kstest(y, "norm")[0])

    def test_integrated_is_the_distance_to_move(self, rng):
        """For two ensembles of one law it is Wasserstein's distance of the members and the outcomes."""
        members, y = np.sort(rng.normal(size=12)), rng.normal(0.5, 1.0, 40)
        law = Ensemble(np.tile(members, (40, 1)), kind="discrete")
        at = np.union1d(members, y)
        found = metrics.marginal_calibration_error(y, law, distance="integrated", points=at)
        assert found == pytest.approx(stats.wasserstein_distance(members, y))
        squared = metrics.marginal_calibration_error(y, law, distance="squared", points=at)
        assert squared == pytest.approx(stats.energy_distance(members, y) ** 2 / 2)

    def test_default_points_are_fine_enough(self, rng):
        mu = rng.normal(size=4000)
        y, law = rng.normal(mu + 0.5), Normal(mu, 1.0)
        few, many = (metrics.marginal_calibration(y, law, points=k) for k in (256, 3000))
        assert few.largest == pytest.approx(many.largest, abs=0.004)
        assert few.integrated == pytest.approx(many.integrated, rel=0.01) == pytest.approx(0.5, abs=0.06)

    def test_perfect_forecasters_are_in_the_noise(self, rng):
        """The difference over its noise is a standard normal at each point."""
        z = []
        for _ in range(300):
            mu = rng.normal(size=100)
            curve = metrics.marginal_calibration(rng.normal(mu), Normal(mu, 1.0), points=[-1.0, 0.5])
            z.append(curve.difference[1::2] / curve.noise[1::2])
        assert np.mean(z) == pytest.approx(0, abs=0.12) and np.std(z) == pytest.approx(1, abs=0.09)

    def test_weaker_than_the_pit(self, rng):
        """The climate for every row is marginally calibrated and says nothing; opposite errors are seen."""
        mu = rng.normal(0, 1, 5000)
        y = rng.normal(mu)
        assert metrics.marginal_calibration_error(y, Normal(np.zeros(5000), np.sqrt(2))) < 0.03
        unfocused = Normal(mu + np.where(np.arange(5000) % 2, 1.0, -1.0), 1.0)
        assert metrics.marginal_calibration_error(y, unfocused) > 0.05

    def test_weights_and_words(self, rng):
        y, w = rng.normal(size=50), rng.integers(0, 4, 50)
        law, many = Normal(np.zeros(50), 2.0), np.repeat(np.arange(50), w)
        for distance in ("largest", "integrated", "squared"):
            one = metrics.marginal_calibration_error(y, law, distance=distance, sample_weight=w)
            assert one == pytest.approx(metrics.marginal_calibration_error(y[many], law[many], distance=distance))
        with pytest.raises(ValueError, match="`distance` must be one of 'largest', 'integrated', 'squared'; got 'L2'"):
            metrics.marginal_calibration_error(y, law, distance="L2")


def test_picture(rng):
    y = rng.normal(1.0, 1.0, 500)
    display = MarginalCalibrationDisplay.from_predictions(y, Normal(np.zeros(500), 1.0), name="raw").plot()
    np.testing.assert_array_equal(display.line_.get_ydata(), display.curve.difference)
    assert display.zero_ is not None and "raw: largest difference 0." in display.line_.get_label()
    second = MarginalCalibrationDisplay.from_predictions(y, Normal(np.ones(500), 1.0)).plot(display.ax_)
    assert second.zero_ is None and second.line_.get_color() != display.line_.get_color()
    assert display.curve.largest > 0.3 > 0.1 > second.curve.largest
