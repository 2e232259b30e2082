"""Outcomes that are rounded count with the mass of their cell, not with their density."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from calibrant import BoostedCalibrator, Mixture, Normal, Poisson
from calibrant.regression.boosted.rounding import rounded_scores, unit_of


def test_the_unit(rng):
    tenths = (rng.integers(0, 30, 600) / 10).astype(np.float32).astype(float)
    assert unit_of(tenths, np.ones(600)) == pytest.approx(0.1)
    assert unit_of(np.array([3.0, 9.0, 12.0]), np.full(3, 10.0)) == pytest.approx(3.0)
    assert unit_of(np.array([3.0, 9.0, 12.0]), np.full(3, 9.0)) == 0  # too few agree
    assert unit_of(rng.normal(size=20), np.full(20, 50.0)) == 0
    assert unit_of(np.ones(20), np.ones(20)) == 0


def test_scores_are_even_in_the_probability_of_the_cell():
    law, y = Normal([2.2, 0.0, 1.0], [0.7, 1.0, 0.5]), np.array([2.0, 1.0, 40.0])
    weights = np.array([30.0, 18.0, 9.0])
    z, w, rows = rounded_scores(law, y, weights)
    for row in (0, 1):
        low, high = norm.cdf(y[row] + np.array([-0.5, 0.5]), law.loc[row], law.scale[row])
        expected = [norm.ppf(low + (k + 0.5) / 9 * (high - low)) for k in range(9)]
        assert z[rows == row] == pytest.approx(expected, abs=1e-12)
        assert w[rows == row] == pytest.approx(np.full(9, weights[row] / 9))
    assert z[rows == 2] == pytest.approx(np.full(9, 78.0))  # too far off for its probability to be a number


def test_narrow_cells_few_copies_and_atoms_stay_as_they_are():
    y, many = np.array([2.0, 1.0, 4.0]), np.full(3, 10.0)
    wide = Normal(np.zeros(3), 5.0)
    assert rounded_scores(wide, y, many).z == pytest.approx(y / 5)
    assert rounded_scores(Normal(np.zeros(3), 1.0), y, np.ones(3)).z == pytest.approx(y)
    left, right = norm.ppf(Poisson([3.0]).cdf(np.array([3.0]))), norm.ppf(Poisson([3.0]).cdf(np.array([2.0])))
    z = rounded_scores(Poisson(np.full(3, 3.0)), np.array([3.0, 2.0, 3.0]), many).z
    assert len(z) == 27 and z[:9].max() < left and z[:9].min() > right


def test_spikes_on_whole_numbers_are_weighed_and_not_sharpened(rng):
    """The base says 0, 1 or 2, a third each; the feature says how often. Ideal is the entropy of the truth."""
    pytest.importorskip("lightgbm")
    x = rng.random((600, 1))
    shares = np.column_stack([0.8 - 0.7 * x, np.full((600, 1), 0.1), 0.1 + 0.7 * x])
    y = (rng.random(600)[:, None] > shares.cumsum(axis=1)).sum(axis=1).astype(float)
    law = Mixture([Normal(np.full(600, k), 0.1) for k in (0.0, 1.0, 2.0)], np.full(3, 1 / 3))
    seen, new = np.arange(400), np.arange(400, 600)
    after = BoostedCalibrator().fit(law[seen], y[seen], X=x[seen]).transform(law[new], X=x[new])
    mass = after.cdf(y[new] + 0.5) - after.cdf(y[new] - 0.5)
    ideal = -np.log(shares[new, y[new].astype(int)]).mean()
    assert ideal < np.log(3) - 0.15
    assert -np.log(mass).mean() == pytest.approx(ideal, abs=0.14)
