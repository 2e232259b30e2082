"""The monotone flow."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, ndtr, ndtri
from scipy.stats import norm

from calibrant import Normal, Recalibrated, concatenate
from calibrant.maps import BetaMap
from calibrant.maps.flow import FlowMap, HatFlowMap
from calibrant.numerics.tails import normal_hazard as hazard


def some_map(n=3, bumps=4, seed=0):
    rng = np.random.default_rng(seed)
    a, b = np.exp(0.4 * rng.standard_normal((2, n)))
    heights, centres = np.exp(rng.standard_normal((n, bumps))), np.sort(rng.normal(0, 1.2, (n, bumps)), axis=1)
    width, scale = np.exp(rng.normal(-1, 0.3, n)), np.exp(0.3 * rng.standard_normal(n))
    return FlowMap(a, b, rng.normal(size=n), heights, centres, width, rng.normal(size=n), scale)


def test_formula():
    map = some_map(1)
    p = np.array([0.05, 0.4, 0.9])
    u = (ndtri(p) - map.location[0]) / map.scale[0]
    q = ndtr(u)
    h = map.a[0] * np.log(q) - map.b[0] * np.log1p(-q) + map.c[0]
    for height, centre in zip(map.heights[0], map.centres[0], strict=True):
        h = h + height * (1 / (1 + np.exp(-(u - centre) / map.width[0])) - 0.5)
    assert np.allclose(ndtr(map(ndtri(p)[None, :]))[0], expit(h), rtol=1e-11)


def test_without_steps_it_is_the_beta_map():
    map = some_map(3, 0)
    plain = FlowMap(map.a, map.b, map.c, map.heights, map.centres, map.width, 0 * map.a, 0 * map.a + 1)
    z = np.linspace(-9, 9, 37)[None, :]
    beta = BetaMap(map.a, map.b, map.c)
    assert np.allclose(plain(z), beta(z), rtol=1e-9, atol=1e-9)
    assert np.allclose(plain.log_slope(z), beta.log_slope(z), rtol=1e-8, atol=1e-8)


def test_slope_inverse_and_tails():
    map = some_map()
    z = np.array([[-200.0, -30.0, -4.0, -1.0, 0.0, 0.7, 3.0, 40.0, 200.0]])
    t = map(z)
    assert t.shape == (3, 9) and np.all(np.diff(t) > 0)
    step = 1e-5
    assert np.allclose(np.exp(map.log_slope(z)), (map(z + step) - map(z - step)) / (2 * step), rtol=1e-5)
    assert np.allclose(map.inverse(t), np.broadcast_to(z, t.shape), rtol=1e-9, atol=1e-9)
    far = np.array([[-1e100, 1e100]])
    assert np.isfinite(map(far)).all() and np.isfinite(map.log_slope(far)).all()
    assert np.array_equal(map.inverse(np.tile([-np.inf, np.inf], (3, 1))), np.tile([-np.inf, np.inf], (3, 1)))


def test_density_integrates_to_one_and_to_the_cdf():
    law = Recalibrated(Normal([1.0, -2.0, 0.0], [0.5, 3.0, 1.0]), some_map())
    for row in range(3):
        one, cuts = law[row], law[row].quantiles([1e-9, 1e-4, 0.2, 0.5, 0.8, 1 - 1e-4, 1 - 1e-9])[0]
        parts = [quad(lambda y, one=one: one.pdf([y])[0], a, b, limit=200)[0] for a, b in pairwise(cuts)]
        assert np.allclose(np.cumsum(parts), one.cdf(cuts[None, 1:])[0] - 1e-9, atol=1e-7)


def test_rows_slice_and_join():
    map = some_map(4)
    z = np.array([0.3, -1.0, 2.0, 0.0])
    assert map.rows == 4
    assert np.allclose(map[[2, 0]](z[[2, 0]]), map(z)[[2, 0]])
    assert np.allclose(map(z[None, :])[1], map[1:2](np.tile(z, (1, 1)))[0])
    law = concatenate(
        [Recalibrated(Normal([0.0], 1.0), some_map(1)), Recalibrated(Normal([0.0], 1.0), some_map(1, seed=5))]
    )
    assert np.allclose(law.to_normal(np.array([0.4, 0.4]))[1], some_map(1, seed=5)(np.array([0.4])))


@pytest.mark.parametrize("u", [-8.0, -1.0, 0.0, 2.5, 20.0])
def test_hazard(u):
    assert hazard(np.array(u)) == pytest.approx(np.exp(norm.logpdf(u) - norm.logsf(u)), rel=1e-12)


def test_steps_of_hats_are_their_integrals():
    knots, heights, u = np.array([[-1.2, -0.4, 0.1, 1.5]]), np.array([[0.7, 2.0, 0.3, 1.1]]), np.linspace(-4, 4, 17)
    one = np.ones(1)
    map = HatFlowMap(1.3 * one, 0.8 * one, 0.2 * one, heights, knots, 0.3 * one, 1.4 * one)
    ends = np.array([-2.0, *knots[0], 2.9])

    def slope(v):
        tops = 2 * heights[0] / (ends[2:] - ends[:-2])
        return np.interp(v, ends, [0.0, *tops, 0.0])  # hats add up to a line between the knots

    q = ndtr(u)
    h = 1.3 * np.log(q) - 0.8 * np.log1p(-q) + 0.2 - 0.5 * heights.sum()
    h = h + [quad(slope, -2.0, v, points=ends, limit=200)[0] if v > -2.0 else 0.0 for v in u]
    z = 0.3 + 1.4 * u
    found, log_slope = map.value_and_log_slope(z[None, :])
    assert np.allclose(ndtr(found)[0], expit(h), rtol=1e-10)
    expected = (1.3 * hazard(-u) + 0.8 * hazard(u) + slope(u)) / 1.4 * expit(h) * expit(-h) / norm.pdf(found[0])
    assert np.allclose(log_slope[0], np.log(expected), atol=1e-7)
    assert np.allclose(map.inverse(found)[0], z, atol=1e-9)
    assert np.allclose(map.row_bends, 0.3 + 1.4 * ends)


def test_a_flow_of_hats_without_any_is_the_beta_map():
    one, none = np.ones(2), np.empty((2, 0))
    map, z = HatFlowMap(1.5 * one, 0.7 * one, 0.1 * one, none, none, 0 * one, one), np.linspace(-3, 3, 7)[None, :]
    assert np.allclose(map(z)[0], BetaMap(1.5, 0.7, 0.1)(z[0])) and map.row_bends.shape == (2, 0)
