from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from calibrant import metrics
from calibrant.distributions.families.normal import Normal
from calibrant.distributions.tables.ensemble import Ensemble


@pytest.fixture
def dice():
    return Ensemble(np.tile(np.arange(1.0, 7.0), (6, 1)), kind="discrete")


def test_continuous_laws_give_the_cdf_whatever_the_kind(rng):
    mu, y = rng.normal(size=(2, 50))
    expected = stats.norm.cdf(y, mu, 2.0)
    for kind in ("mid", "randomised"):
        np.testing.assert_allclose(metrics.pit(y, Normal(mu, 2.0), kind=kind), expected, rtol=1e-13)
    interval = metrics.pit(y, Normal(mu, 2.0), kind="interval")
    np.testing.assert_allclose(interval, np.column_stack([expected, expected]), rtol=1e-13)


def test_atoms_by_hand(dice):
    y = np.arange(1.0, 7.0)
    np.testing.assert_allclose(metrics.pit(y, dice, kind="interval"), np.column_stack([y - 1, y]) / 6, atol=1e-12)
    np.testing.assert_allclose(metrics.pit(y, dice), (y - 0.5) / 6, atol=1e-12)
    np.testing.assert_allclose(metrics.pit(y + 0.5, dice), y / 6, atol=1e-12)  # between the atoms


def test_randomised_values_lie_in_the_interval_and_are_uniform(rng):
    n = 4000
    counts = rng.poisson(1.3, (n, 400)).astype(float)
    law = Ensemble(counts, kind="discrete")
    y = counts[np.arange(n), rng.integers(0, 400, n)]
    low, high = metrics.pit(y, law, kind="interval").T
    drawn = metrics.pit(y, law, kind="randomised", random_state=1)
    assert np.all((low <= drawn) & (drawn <= high))
    assert stats.kstest(drawn, "uniform").pvalue > 0.01
    assert stats.kstest(metrics.pit(y, law), "uniform").pvalue < 1e-6  # mid-P values are not uniform
    np.testing.assert_array_equal(drawn, metrics.pit(y, law, kind="randomised", random_state=1))
    assert np.any(drawn != metrics.pit(y, law, kind="randomised", random_state=2))


def test_randomness_is_only_for_randomised_values(dice):
    with pytest.raises(ValueError, match="`random_state` must be None with kind='mid', which draws nothing"):
        metrics.pit(np.arange(1.0, 7.0), dice, random_state=1)
    with pytest.raises(ValueError, match="`kind` must be one of 'mid', 'randomised', 'interval'; got 'middle'"):
        metrics.pit(np.arange(1.0, 7.0), dice, kind="middle")
