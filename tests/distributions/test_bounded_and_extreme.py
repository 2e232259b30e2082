"""Beta, generalised Pareto, generalised extreme value and skew-normal laws beside peers and quadrature."""

from __future__ import annotations

import numpy as np
import pytest
import scoringrules
from scipy import stats

from calibrant.distributions import GEV, GPD, Beta, Gumbel, Normal, SkewNormal
from calibrant.distributions.integrals import quadrature

N = 200


def _beta(rng):
    a, b = np.exp(rng.uniform(-0.5, 2.5, (2, N)))
    low, width = rng.normal(0, 1, N), np.exp(rng.normal(0, 0.5, N))
    return Beta(a, b, low, low + width), stats.beta(a, b, low, width)


def _shapes(rng):
    return np.concatenate([rng.uniform(-0.9, 0.3, N - 60), np.zeros(20), rng.uniform(-0.012, 0.012, 20),
                           rng.choice([1e-5, -1e-4, 1e-9, -1e-14], 20)])  # fmt: skip


def _gev(rng):
    loc, scale, shape = rng.normal(0, 1, N), np.exp(rng.normal(0, 0.5, N)), _shapes(rng)
    return GEV(loc, scale, shape), stats.genextreme(-shape, loc, scale)


def _gpd(rng):
    loc, scale, shape = rng.normal(0, 1, N), np.exp(rng.normal(0, 0.5, N)), _shapes(rng)
    return GPD(loc, scale, shape), stats.genpareto(shape, loc, scale)


def _skew(rng):
    loc, scale, shape = rng.normal(0, 1, N), np.exp(rng.normal(0, 0.5, N)), rng.normal(0, 4, N)
    return SkewNormal(loc, scale, shape), stats.skewnorm(shape, loc, scale)


LAWS = {"beta": _beta, "gev": _gev, "gpd": _gpd, "skew": _skew}


@pytest.mark.parametrize("name", LAWS)
def test_agrees_with_scipy(name, rng):
    law, peer = LAWS[name](rng)
    y = law.from_normal(rng.normal(0, 1, N))
    np.testing.assert_allclose(law.cdf(y), peer.cdf(y), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(law.sf(y), peer.sf(y), rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(law.logpdf(y), peer.logpdf(y), rtol=1e-9, atol=1e-9)
    if name != "gev":  # SciPy's moments of shapes near 0 are off
        np.testing.assert_allclose(law.mean(), peer.mean(), rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(law.std(), peer.std(), rtol=1e-6)
    low, high = peer.support()
    np.testing.assert_allclose(law.support[0], low, rtol=1e-12)
    np.testing.assert_allclose(law.support[1], high, rtol=1e-12)


@pytest.mark.parametrize("name", LAWS)
def test_closed_forms_are_the_integrals(name, rng):
    law, _ = LAWS[name](rng)
    np.testing.assert_allclose(law.mean(), quadrature.mean(law), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(law.std(), np.sqrt(quadrature.variance(law)), rtol=1e-6)
    y = law.from_normal(rng.normal(0, 2, N))
    np.testing.assert_allclose(law.crps(y), quadrature.crps(law, y), rtol=1e-10)
    low, high = law.from_normal(np.array([[-2.0, 2.0]])).T
    for beyond in (2 * low - high, 2 * high - low):  # outside the support, where there is an end
        np.testing.assert_allclose(law.crps(beyond), quadrature.crps(law, beyond), rtol=1e-10)


def test_agrees_with_scoringrules(rng):
    law, _ = _beta(rng)
    y = law.median()
    np.testing.assert_allclose(law.crps(y), scoringrules.crps_beta(y, law.a, law.b, law.lower, law.upper), rtol=1e-10)
    law, _ = _gev(rng)
    y, clear = law.median(), np.abs(law.shape) > 0.05
    peer = scoringrules.crps_gev(y, law.shape, law.loc, law.scale)
    np.testing.assert_allclose(law.crps(y)[clear], peer[clear], rtol=1e-10)
    law, _ = _gpd(rng)
    y, clear = law.median(), np.abs(law.shape) > 0.05
    peer = scoringrules.crps_gpd(y, law.shape, law.loc, law.scale)
    np.testing.assert_allclose(law.crps(y)[clear], peer[clear], rtol=1e-10)


def test_slopes_are_derivatives(rng):
    for name, make in LAWS.items():
        law, _ = make(rng)
        y = law.from_normal(rng.normal(0, 0.7, N))
        low, high = law.from_normal(np.array([[-1.0, 1.0]])).T
        step = 1e-6 * (high - low)
        slope = (law.to_normal(y + step) - law.to_normal(y - step)) / (2 * step)
        np.testing.assert_allclose(np.exp(law.log_slope(y)), slope, rtol=1e-4, err_msg=name)


def test_scores_reach_far_into_both_tails():
    z = np.array([[-37.0, -20.0, -9.0, 9.0, 20.0, 37.0]])
    laws = (
        SkewNormal([0.0] * 4, 1.0, [0.0, 0.5, -4.0, 60.0]),
        GEV(0.0, 1.0, [0.0, 0.1, 0.3]),
        GPD(0.0, 1.0, [0.0, 0.1, 0.3]),
        Beta([2.0, 30.0], [3.0, 0.5]),
    )
    for law in laws[:3]:
        np.testing.assert_allclose(law.to_normal(law.from_normal(z)), np.broadcast_to(z, (len(law), 6)), rtol=1e-9)
    low = laws[3].from_normal(z[:, :3])
    np.testing.assert_allclose(laws[3].to_normal(low), np.broadcast_to(z[:, :3], (2, 3)), rtol=1e-9)


def test_special_shapes():
    y = np.array([0.3, 2.0])
    np.testing.assert_allclose(GEV([0.0, 1.0], 2.0, 0.0).crps(y), Gumbel([0.0, 1.0], 2.0).crps(y), rtol=1e-12)
    np.testing.assert_allclose(GEV(0.0, [2.0], 0.0).mean(), 2 * np.euler_gamma, rtol=1e-14)
    np.testing.assert_allclose(SkewNormal([0.0, 1.0], 2.0, 0.0).crps(y), Normal([0.0, 1.0], 2.0).crps(y), rtol=1e-13)
    half = SkewNormal([0.0], 1.0, 1e9)
    np.testing.assert_allclose(half.mean(), np.sqrt(2 / np.pi), rtol=1e-12)
    np.testing.assert_allclose(half.cdf([0.5]), 2 * stats.norm.cdf(0.5) - 1, rtol=1e-9)
    np.testing.assert_allclose(Beta([1.0], [1.0]).crps([0.5]), 1 / 12, rtol=1e-12)
    uniform = GPD([0.0], 1.0, -1.0)
    np.testing.assert_allclose(uniform.crps([0.5]), 1 / 12, rtol=1e-12)


def test_heavy_tails():
    for kind in (GEV, GPD):
        law = kind(0.0, 1.0, [0.25, 0.6, 1.2, 2.5])
        assert law.tail_index.tolist() == [4.0, 1 / 0.6, 1 / 1.2, 0.4]
        assert np.isinf(law.var()).tolist() == [False, True, True, True]
        assert np.isinf(law.mean()).tolist() == [False, False, True, True]
        crps = law.crps(np.full(4, 1.5))
        assert np.isinf(crps).tolist() == [False, False, False, True]
        np.testing.assert_allclose(crps[:3], quadrature.crps(law, np.full(4, 1.5))[:3], rtol=1e-7)


def test_large_shapes_of_beta_do_not_cancel():
    law, peer = Beta([1e8], [3e8]), Normal([0.25], np.sqrt(0.25 * 0.75 / 4e8))
    y = law.mean() + 2e-5
    np.testing.assert_allclose(law.crps(y), peer.crps(y), rtol=1e-4)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Beta([1.0, 0.0], 1.0), r"`a` must be positive; 1 of 2 values is not, first a\[1\] = 0.0"),
        (lambda: Beta([1.0], 1.0, 2.0, 1.0), "`upper - lower` must be positive"),
        (lambda: GPD([0.0], [-1.0], 0.1), "`scale` must be positive"),
        (lambda: GEV([0.0], 1.0, np.nan), "`shape` must be finite"),
        (lambda: SkewNormal([0.0], 1.0, np.inf), "`shape` must be finite"),
    ],
)
def test_bad_parameters(make, message):
    with pytest.raises(ValueError, match=message):
        make()
