"""Smooth curves on [0, 1], one a row."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from calibrant import Normal, StudentT
from calibrant.distributions import Distribution
from calibrant.distributions.smoothed import Smoothed
from calibrant.maps import ProbabilityRows, SmoothRows

EDGES = np.linspace(-2.5, 3.0, 12)


def test_a_curve_by_hand():
    """Masses .1, .8, .1 over .25, .5, .25: mean slopes .4, 1.6, .4, so .8 at both knots; a = b = 1/2 between them."""
    rows = SmoothRows.from_log_masses(ndtri(np.array([[0.25, 0.75]])), np.log([[0.1, 0.8, 0.1]]))
    x = 0.25
    between = (x**2 + 0.5 * x * (1 - x)) / (1 - x * (1 - x))
    # the outer segment has a = 1, b = 2
    outer = (x**2 + x * (1 - x)) / (1 + x * (1 - x))
    p = np.array([[0.25 + 0.5 * x, 0.25 * x, 1 - 0.25 * x]])
    expected = [[0.1 + 0.8 * between, 0.1 * outer, 1 - 0.1 * outer]]
    np.testing.assert_allclose(ndtr(rows(ndtri(p))), expected, rtol=1e-12)


def test_slopes_are_continuous_and_the_inverse_is_exact(rng):
    knots = np.sort(rng.normal(0, 1, (20, 9)), axis=1)
    rows = SmoothRows.from_log_masses(knots, np.log(rng.dirichlet(np.full(10, 0.5), 20)))
    np.testing.assert_allclose(rows.log_slope(knots - 1e-10), rows.log_slope(knots + 1e-10), atol=1e-5)
    z = np.broadcast_to(np.concatenate([[-30.0, -9.0], np.linspace(-4, 4, 41), [9.0, 30.0]]), (20, 45))
    np.testing.assert_allclose(rows.inverse(rows(z)), z, rtol=1e-7, atol=1e-7)
    step = 1e-6
    numeric = (rows(z + step) - rows(z - step)) / (2 * step)
    np.testing.assert_allclose(np.exp(rows.log_slope(z))[:, 2:-2], numeric[:, 2:-2], rtol=1e-3)
    line = ProbabilityRows.from_log_masses(knots, np.zeros((20, 10)))
    np.testing.assert_allclose(SmoothRows.from_log_masses(knots, np.zeros((20, 10)))(knots), line(knots), atol=1e-9)


def test_nothing_changed_is_nothing_changed():
    law = Normal([0.0, 1.0], [1.0, 0.2])
    knots = law.to_normal(EDGES[None, :])
    rows = SmoothRows(knots, knots, np.zeros((2, 13)))
    z = np.array([[-40.0, -3.0, 0.1, 5.0, 40.0]])
    np.testing.assert_allclose(rows(z), np.broadcast_to(z, (2, 5)), rtol=1e-12)
    np.testing.assert_allclose(rows.log_slope(z), np.zeros((2, 5)), atol=1e-9)


@pytest.mark.parametrize(
    "base", [Normal([0.0, 1.0, -1.0], [1.0, 0.7, 2.0]), Normal([0.0, 1.0, 2.0], 0.05), StudentT([0.0, 1.0], 1.0, 4.0)]
)
def test_moments_and_scores_by_panels_agree_with_quadrature(base, rng):
    masses = np.log(rng.dirichlet(np.full(13, 2.0), len(base)))
    law = Smoothed(base, SmoothRows.from_log_masses(base.to_normal(EDGES[None, :]), masses), EDGES)
    assert law._narrow().all() == (isinstance(base, Normal) and base.scale[0] == 1.0)
    np.testing.assert_allclose(law.mean(), Distribution.mean(law), atol=2e-6)
    np.testing.assert_allclose(law.var(), Distribution.var(law), rtol=1e-5)
    for y in (np.zeros(len(base)), EDGES[: len(base)], np.full(len(base), 20.0), np.full(len(base), -9.0)):
        np.testing.assert_allclose(law.crps(y), Distribution.crps(law, y), rtol=1e-5)
