from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from calibrant import metrics
from calibrant.distributions.families.normal import Normal
from calibrant.distributions.tables.ensemble import Ensemble


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
