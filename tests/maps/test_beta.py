"""The beta map."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, ndtr, ndtri
from scipy.stats import beta

from calibrant.maps import BetaMap, UnitTails, fit_beta


def test_formula():
    p = np.array([0.05, 0.4, 0.9])
    expected = expit(1.7 * np.log(p) - 0.6 * np.log1p(-p) + 0.3)
    assert np.allclose(ndtr(BetaMap(1.7, 0.6, 0.3)(ndtri(p))), expected, rtol=1e-12)


def test_finite_in_both_tails():
    far = np.array([-200.0, 200.0])
    map = BetaMap(2.0, 0.5, 1.0)
    assert np.allclose(map(far) / (far * np.sqrt([2.0, 0.5])), 1, rtol=0.01)
    assert np.allclose(map.inverse(map(far)), far)


def test_one_map_a_row():
    rows = BetaMap(np.array([1.0, 2.0]), np.array([1.0, 0.5]), np.array([0.0, 1.0]))
    z = np.array([0.3, 0.3])
    assert rows.rows == 2
    assert np.allclose(rows(z), [BetaMap()(z)[0], BetaMap(2.0, 0.5, 1.0)(z)[1]])
    assert np.allclose(rows(np.array([[0.3, 1.0]]))[:, 0], rows(z))
    assert np.allclose(rows[1:](z[1:]), rows(z)[1:])


def test_recovers_known_parameters():
    rng = np.random.default_rng(0)
    true = BetaMap(1.5, 0.7, 0.4)
    fitted = fit_beta(true.inverse(rng.standard_normal(50_000)))
    assert (fitted.a, fitted.b, fitted.c) == pytest.approx((1.5, 0.7, 0.4), abs=0.05)


def test_likelihood_of_the_fit_beats_its_neighbours():
    z = ndtri(beta(2, 3).rvs(2000, random_state=1))

    def likelihood(m):
        return (m.log_slope(z) - 0.5 * m(z) ** 2).sum()

    best = fit_beta(z)
    for a, b, c in [(1.02, 1, 0), (1, 1.02, 0), (1, 1, 0.02), (0.98, 1, 0), (1, 0.98, 0), (1, 1, -0.02)]:
        assert likelihood(best) > likelihood(BetaMap(best.a * a, best.b * b, best.c + c))


def test_heavy_tails_get_unit_slope_beyond_the_data():
    z = 2 * np.random.default_rng(0).standard_normal(500)
    fitted = fit_beta(z, heavy_tails=True)
    assert isinstance(fitted, UnitTails)
    assert np.allclose(np.diff(fitted(np.array([20.0, 21.0]))), 1)
