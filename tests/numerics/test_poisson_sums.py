"""Sums of Poisson probabilities, against SciPy's, and the CRPS on both sides of where they are used."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from calibrant import Poisson
from calibrant.numerics.poisson_sums import are_few, poisson_sums

COUNTS, RATES = (
    np.array([0.0, 1.0, 2.0, 7.0, 40.0, 127.0, 128.0]),
    np.array([1e-300, 1e-3, 0.5, 1.0, 9.0, 120.0, 500.0]),
)


def test_probabilities():
    k, rate = (grid.ravel() for grid in np.meshgrid(COUNTS, RATES))
    below, mass = poisson_sums(k, rate)
    assert below == pytest.approx(stats.poisson.cdf(k, rate), rel=1e-12, abs=0)
    assert mass == pytest.approx(stats.poisson.pmf(k, rate), rel=1e-11, abs=1e-300)


def test_rows_keep_their_order(rng):
    k, rate = rng.integers(0, 30, 200).astype(float), rng.uniform(0.1, 40, 200)
    order = rng.permutation(200)
    for whole, mixed in zip(poisson_sums(k, rate), poisson_sums(k[order], rate[order]), strict=True):
        assert np.array_equal(whole[order], mixed)


@pytest.mark.parametrize("rate", [0.3, 100.0, 499.9, 500.1])
def test_crps_on_both_sides_of_the_limits(rate):
    y = np.array([-1.0, 0.0, 0.5, 3.0, 127.0, 128.0, 128.5, 129.0, 400.0, 900.0])
    law = Poisson(np.full(len(y), rate))
    k = np.arange(3000)
    cdf = stats.poisson.cdf(k, rate)
    # between whole numbers the distribution function is flat; below 0 it is 0
    wanted = [
        np.sum(np.where(k + 1 <= v, cdf**2, np.where(k >= v, (cdf - 1) ** 2, 0.0)))
        + (v % 1) * cdf[int(v)] ** 2 + (1 - v % 1) * (cdf[int(v)] - 1) ** 2 * (v % 1 > 0)
        if v >= 0 else np.sum((cdf - 1) ** 2) - v
        for v in y
    ]  # fmt: skip
    assert law.crps(y) == pytest.approx(np.array(wanted), rel=1e-11)
    assert 0 < are_few(np.floor(y), law.rate).sum() < len(y) or rate > 500


def test_missing_and_infinite_outcomes_are_not_summed():
    assert not are_few(np.array([-1.0, np.nan, np.inf, 129.0]), np.ones(4)).any()
    assert are_few(np.array([0.0, 128.0]), np.array([500.0, 1.0])).all()
