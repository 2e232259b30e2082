"""One definition of normal scores for calibrators and measures."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from calibrant import Normal, Poisson, calibration, metrics
from calibrant.distributions.scores import log_pits, normal_scores, score_intervals


def test_calibrators_and_measures_see_the_same_scores(rng):
    law, y = Normal(rng.normal(size=50), 2.0), rng.normal(size=50)
    z, weights = normal_scores(law, y)
    assert calibration.normal_scores is normal_scores and weights is None
    np.testing.assert_array_equal(ndtr(z), metrics.pit(y, law))


def test_an_atom_is_an_interval_of_scores():
    law, y = Poisson([1.0, 30.0]), np.array([1.0, 30.0])
    left, right = score_intervals(law, y)
    np.testing.assert_allclose(ndtr([left[0], right[0]]), np.exp(-1) * np.array([1.0, 2.0]), rtol=1e-12)
    z, weights = normal_scores(law, y, np.array([9.0, 18.0]))
    assert np.all((np.repeat(left, 9) < z) & (z < np.repeat(right, 9)))
    np.testing.assert_allclose(weights, np.repeat([1.0, 2.0], 9))
    low, high = log_pits(left, right, "mid")
    np.testing.assert_allclose(np.exp(low[0]), 1.5 * np.exp(-1), rtol=1e-12)
    np.testing.assert_allclose(np.exp(low) + np.exp(high), 1.0, rtol=1e-12)
