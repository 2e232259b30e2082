from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from calibrant import metrics
from calibrant.distributions.families.normal import Normal
from calibrant.metrics.distribution_calibration import similar_forecasts


def test_error_by_hand():
    law = Normal(np.repeat([0.0, 100.0, 100.0], 2), np.repeat([1.0, 1.0, 5.0], 2))
    y = law.ppf([0.2, 0.2, 0.2, 0.8, 0.8, 0.8])  # in three groups p̂(0.5) is 1, 0.5 and 0
    expected = (0.5**2 + 0.0 + 0.5**2) / 3
    assert metrics.distribution_calibration_error(y, law, n_bins=(2, 2), levels=[0.5]) == pytest.approx(expected)
    noise = (0 + 0.25 + 0) / 3  # p̂(1-p̂)/(n_g-1)
    fair = metrics.distribution_calibration_error(y, law, n_bins=(2, 2), levels=[0.5], debiased=True)
    assert fair == pytest.approx(expected - noise)


def test_groups_are_strata_of_location_cut_by_spread(rng):
    mu, sigma = rng.normal(size=400), np.exp(rng.normal(size=400))
    labels = similar_forecasts(Normal(mu, sigma), None, (4, 5))
    assert np.bincount(labels).tolist() == [20] * 20
    stratum = labels // 5
    for s in range(3):
        assert mu[stratum == s].max() < mu[stratum == s + 1].min()
    for g in range(4):
        assert sigma[labels == g].max() < sigma[labels == g + 1].min()


def test_equal_forecasts_are_not_split_by_rounding():
    mu = np.linspace(0, 1, 300)
    rounded = similar_forecasts(Normal(1e6 * mu, 0.1), None, (3, 4))  # mu + sigma rounds differently in each row
    assert rounded.max() == 2
    assert similar_forecasts(Normal(np.zeros(300), 0.1), None, (3, 4)).max() == 0


def test_groups_do_not_depend_on_units(rng):
    mu, sigma = rng.normal(size=100), np.exp(rng.normal(size=100))
    one = similar_forecasts(Normal(mu, sigma), None, (5, 4))
    np.testing.assert_array_equal(one, similar_forecasts(Normal(32 + 1.8 * mu, 1.8 * sigma), None, (5, 4)))


def test_labels_of_the_user(rng):
    y = rng.normal(size=30)
    law = Normal(np.full(30, 0.3), 1.0)
    shops = np.array(["a", "b", "c"])[np.arange(30) % 3]
    parts = [metrics.calibration_error(y[shops == s], law[shops == s]) for s in "abc"]
    assert metrics.distribution_calibration_error(y, law, groups=shops) == pytest.approx(np.mean(parts))
    weight = np.where(shops == "b", 0, 1 + np.arange(30) % 2)
    rows = np.repeat(np.arange(30), weight)
    twice = metrics.distribution_calibration_error(y[rows], law[rows], groups=shops[rows])
    assert metrics.distribution_calibration_error(y, law, groups=shops, sample_weight=weight) == pytest.approx(twice)


def test_perfect_forecasts_score_the_floor_and_0_debiased(rng):
    n, repeats = 200, 300
    mu, sigma = rng.normal(size=n), np.exp(rng.normal(size=n))
    law = Normal(mu, sigma)
    draws = mu + sigma * rng.normal(size=(repeats, n))
    raw = np.array([metrics.distribution_calibration_error(y, law) for y in draws])
    fair = np.array([metrics.distribution_calibration_error(y, law, debiased=True) for y in draws])
    assert abs(raw.mean() - metrics.calibration_floor(n, n_bins=20)) < 4 * raw.std() / np.sqrt(repeats)
    assert abs(fair.mean()) < 4 * fair.std() / np.sqrt(repeats)


@pytest.mark.parametrize("groups", [(5,), [1, 2, 3], "ab"])
def test_wrong_groups_are_told(groups):
    with pytest.raises(ValueError, match="`groups` must have a label for each of 2 rows; got shape"):
        metrics.distribution_calibration_error([0.0, 1.0], Normal([0.0, 0.0], 1.0), groups=groups)


@pytest.mark.parametrize(
    ("n_bins", "rule"),
    [((5,), "two numbers of strata"), (5, "two numbers of strata"), ((0, 3), "a whole"), ((2, 2.5), "a whole")],
)
def test_wrong_numbers_of_strata_are_told(n_bins, rule):
    with pytest.raises(ValueError, match=f"`n_bins` must be {rule}"):
        metrics.distribution_calibration_error([0.0, 1.0], Normal([0.0, 0.0], 1.0), n_bins=n_bins)


class TestTheorem1OfSong2019:
    """Distribution calibration implies quantile calibration, not conversely. Truth: Y | X ~ N(X, (1 + |X|)²)."""

    n = 200_000

    def sample(self, rng):
        x = rng.normal(size=self.n)
        return x, x + (1 + np.abs(x)) * rng.normal(size=self.n)

    def excess(self, y, law):
        """Both errors less their noise, in units of the noise of a perfect forecaster."""
        marginal = metrics.calibration_error(y, law) / metrics.calibration_floor(self.n)
        groups = int(similar_forecasts(law, None, (5, 4)).max()) + 1
        grouped = metrics.distribution_calibration_error(y, law) / metrics.calibration_floor(self.n, n_bins=groups)
        return marginal, grouped

    def test_distribution_calibrated_forecasts_are_quantile_calibrated(self, rng):
        x, y = self.sample(rng)
        marginal, grouped = self.excess(y, Normal(x, 1 + np.abs(x)))  # knows X: distribution-calibrated
        assert marginal < 4 and grouped < 2

    def test_so_is_a_forecaster_that_knows_less(self, rng):
        x, y = self.sample(rng)
        a, spread = np.abs(x), 1 + np.abs(x)  # sees |X| only; the law of Y given it is a mixture of two normals
        pit = 0.5 * ndtr((y - a) / spread) + 0.5 * ndtr((y + a) / spread)
        law = Normal(a, spread)  # one forecast per |X|; outcomes are placed at the mixture's PIT
        marginal, grouped = self.excess(law.ppf(pit), law)
        assert marginal < 4 and grouped < 2

    def test_the_converse_fails(self, rng):
        x, y = self.sample(rng)
        wrong = np.where(x > 0, 2.0, 0.5)  # too wide where x > 0, too narrow elsewhere
        z = (y - x) / (1 + np.abs(x)) / wrong
        recalibrated = (np.argsort(np.argsort(z)) + 0.5) / self.n  # uniform on the whole by construction
        law = Normal(x, wrong * (1 + np.abs(x)))
        marginal, grouped = self.excess(law.from_normal(ndtri(recalibrated)), law)
        assert marginal < 0.01
        assert grouped > 100
