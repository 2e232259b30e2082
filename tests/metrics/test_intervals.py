from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from calibrant import metrics
from calibrant.displays import ConditionalCoverageDisplay, GroupCoverageDisplay
from calibrant.distributions.families.normal import Normal
from calibrant.distributions.tables.ensemble import Ensemble
from calibrant.metrics.scorers import coverage_scorer


def test_counts_what_scipys_intervals_hold(rng):
    mu, sigma = rng.normal(size=500), np.exp(rng.normal(size=500))
    y = mu + 1.5 * sigma * rng.normal(size=500)
    low, high = stats.norm.interval(0.8, mu, sigma)
    inside = (low <= y) & (y <= high)
    assert 0.5 < inside.mean() < 0.75
    assert metrics.coverage(y, Normal(mu, sigma), coverage=0.8) == inside.mean()
    np.testing.assert_array_equal(metrics.coverage(y, Normal(mu, sigma), coverage=0.8, per_row=True), inside)


def test_several_coverages_at_once():
    law = Normal([0.0] * 4, 1.0)
    y = [-3.0, 0.0, 1.0, 2.0]
    np.testing.assert_allclose(metrics.coverage(y, law, coverage=[0.5, 0.9, 0.99]), [0.25, 0.5, 0.75])
    rows = metrics.coverage(y, law, coverage=[0.5, 0.9, 0.99], per_row=True)
    np.testing.assert_array_equal(rows, [[0, 0, 0], [1, 1, 1], [0, 1, 1], [0, 0, 1]])


def test_ends_of_the_interval_of_a_discrete_law_count_as_inside():
    law = Ensemble(np.tile(np.arange(1.0, 11.0), (4, 1)), kind="discrete")  # the 80 % interval is [1, 9] or [2, 9]
    low, high = law.interval(0.8)[0]
    got = metrics.coverage([low, high, low - 0.1, high + 0.1], law, coverage=0.8, per_row=True)
    np.testing.assert_array_equal(got, [1, 1, 0, 0])


def test_percentages_are_told():
    with pytest.raises(ValueError, match="`coverage` must be strictly between 0 and 1.*Percent"):
        metrics.coverage([0.0], Normal([0.0], 1.0), coverage=90)


def eq_5(y, law, p1, p2):
    """Kuleshov et al. (2018), eq. 5, as printed, with the quantiles of scipy."""
    low, high = law.ppf(p1), law.ppf(p2)
    return sum(lo <= value <= hi for lo, value, hi in zip(low, y, high, strict=True)) / len(y)


class TestAnyTwoLevels:
    PAIRS = ((0.1, 0.4), (0.0, 0.3), (0.5, 1.0), (0.0, 1.0), (0.05, 0.95))

    def test_equation_5(self, rng):
        mu, sigma = rng.normal(size=300), np.exp(rng.normal(size=300))
        y = mu + 1.5 * sigma * rng.normal(size=300) + 0.2
        wanted = [eq_5(y, stats.norm(mu, sigma), *pair) for pair in self.PAIRS]
        found = metrics.coverage(y, Normal(mu, sigma), interval=self.PAIRS)
        np.testing.assert_allclose(found, wanted, atol=1e-12)
        assert [metrics.coverage(y, Normal(mu, sigma), interval=pair) for pair in self.PAIRS] == found.tolist()
        assert found[3] == 1.0 and found[0] < 0.3  # calibrated ones come to the difference of the levels
        both = (
            metrics.coverage(y, Normal(mu, sigma), **how) for how in ({"coverage": 0.9}, {"interval": [0.05, 0.95]})
        )
        assert len(set(both)) == 1

    def test_calibrated_forecasts_come_to_the_difference(self, rng):
        mu = rng.normal(size=20_000)
        found = metrics.coverage(rng.normal(mu), Normal(mu, 1.0), interval=self.PAIRS)
        assert found == pytest.approx(np.diff(self.PAIRS).ravel(), abs=0.012)

    def test_weights_and_rows(self, rng):
        y, law, w = rng.normal(size=40), Normal(np.zeros(40), 1.0), rng.integers(0, 3, 40)
        rows = metrics.coverage(y, law, interval=(0.2, 0.5), per_row=True)
        assert rows.shape == (40,) and metrics.coverage(y, law, interval=[(0.2, 0.5)], per_row=True).shape == (40, 1)
        weighted = metrics.coverage(y, law, interval=(0.2, 0.5), sample_weight=w)
        assert weighted == pytest.approx(np.average(rows, weights=w))

    @pytest.mark.parametrize(
        ("interval", "message"),
        [((0.5, 0.1), "two levels that rise"), ((0.1, 0.2, 0.3), "two levels that rise"), ((5, 95), "Percent")],
    )
    def test_bad_levels(self, interval, message):
        with pytest.raises(ValueError, match=f"`interval` must be .*{message}"):
            metrics.coverage([0.0], Normal([0.0], 1.0), interval=interval)

    def test_one_of_both(self):
        with pytest.raises(TypeError, match="give `coverage` or `interval`, not both"):
            metrics.coverage([0.0], Normal([0.0], 1.0), interval=(0.1, 0.2), coverage=0.9)
        with pytest.raises(TypeError, match="`interval` is for laws"):
            metrics.coverage([0.0], low=[0.0], high=[1.0], interval=(0.1, 0.2))

    def test_scorers_and_pictures_too(self, rng):
        y, law = rng.normal(size=200), Normal(np.zeros(200), 1.0)
        wanted = metrics.coverage(y, law, interval=(0.1, 0.5))

        class Model:
            def predict_dist(self, X):
                return law

        assert coverage_scorer(interval=(0.1, 0.5))(Model(), None, y) == wanted
        for display in (
            GroupCoverageDisplay.from_predictions(y, law, groups=["a"] * 200, coverage=(0.1, 0.5)),
            ConditionalCoverageDisplay.from_predictions(y, law, x=np.zeros(200), n_bins=1, coverage=(0.1, 0.5)),
        ):
            assert display.sides["forecasts"][0, 0] == pytest.approx(wanted) and display.goal == pytest.approx(0.4)
            assert display.label == "Share of outcomes between quantiles 0.1 and 0.5"
