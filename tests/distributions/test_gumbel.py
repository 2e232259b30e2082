"""The Gumbel law, and what an asymmetric location-scale law must not break."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from calibrant import Gumbel, Laplace, Recalibrated, ResidualCalibrator, ScaleCalibrator, as_distribution
from calibrant.distributions.integrals import quadrature
from calibrant.distributions.segmented import Segmented
from calibrant.maps import AffineMap, PiecewiseLinearMap, ProbabilityRows, SplineMap

LAW = Gumbel([0.0, -3.0, 1e3], [1.0, 2.5, 0.1])
BENT = PiecewiseLinearMap(np.array([-0.7, 0.2, 1.1]), np.array([-0.4, 0.5, 0.9]), (0.8, 1.3))
SMOOTH = SplineMap.through(np.array([-1.0, 0.5, 2.0]), np.array([0.7, 1.4, 0.9]), 0.3, 1)


def test_agrees_with_scipy():
    peer = stats.gumbel_r(LAW.loc, LAW.scale)
    for q in (1e-12, 0.01, 0.3, 0.5, 0.9, 1 - 1e-12):
        y = peer.ppf(q)
        np.testing.assert_allclose(LAW.ppf(q), y, rtol=1e-13)
        np.testing.assert_allclose(LAW.logcdf(y), peer.logcdf(y), rtol=1e-9)
        upper = np.log1p(-np.exp(peer.logcdf(y))) if q < 0.5 else np.log(-np.expm1(peer.logcdf(y)))
        np.testing.assert_allclose(LAW.logsf(y), upper, rtol=1e-9)  # SciPy before 1.15 takes the log of 1 - cdf
        np.testing.assert_allclose(LAW.logpdf(y), peer.logpdf(y), rtol=1e-12)
    np.testing.assert_allclose(LAW.mean(), peer.mean(), rtol=1e-13)
    np.testing.assert_allclose(LAW.var(), peer.var(), rtol=1e-13)
    np.testing.assert_allclose(LAW.median(), peer.median(), rtol=1e-13)
    read = as_distribution(peer)
    assert isinstance(read, Gumbel) and np.array_equal(read.scale, LAW.scale)


def test_scores_do_not_saturate_and_slopes_are_theirs():
    law = Gumbel(np.zeros(1), 1.0)
    u = np.array([[-700.0, -100.0, -6.0, -1.0, 0.0, 0.3, 0.4, 1.0, 40.0, 800.0, 1e6, 1e300]])
    z = law.to_normal(u)
    assert np.isfinite(z).all() and np.all(np.diff(z) > 0)
    np.testing.assert_allclose(law.from_normal(z), u, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(law.logsf(u[:, -4:]), -u[:, -4:], rtol=1e-12)
    np.testing.assert_allclose(law.logcdf(u[:, :3]), -np.exp(-u[:, :3]), rtol=1e-12)
    step = 1e-5 * np.maximum(np.abs(u), 1.0)[:, 1:-1]
    inner = u[:, 1:-1]
    slope = (law.to_normal(inner + step) - law.to_normal(inner - step)) / (2 * step)
    np.testing.assert_allclose(np.exp(law.log_slope(inner)), slope, rtol=2e-6)
    density = law.log_slope(inner) - 0.5 * z[:, 1:-1] ** 2 - 0.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(density, law.logpdf(inner), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("y", [-5.0, -1.0, 0.0, 0.4, 2.0, 20.0, 35.99, 36.01, 50.0])
def test_crps_is_its_integral(y):
    law = stats.gumbel_r()
    below = quad(lambda t: law.cdf(t) ** 2, -10, y, epsabs=1e-13, limit=200)[0] if y > -10 else 0.0
    above = quad(lambda t: law.sf(t) ** 2, y, max(y, 0) + 60, epsabs=1e-13, limit=200)[0]
    np.testing.assert_allclose(Gumbel([2.0], 3.0).crps([2.0 + 3.0 * y]), 3 * (below + above), rtol=1e-10)


def expectation(law, h):
    """By substitution: the mean of h over quantiles at normal scores."""

    def integrand(z):
        return h(float(law.from_normal(np.array([z]))[0])) * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)

    return sum(quad(integrand, *ends, limit=400)[0] for ends in ((-12, -1), (-1, 0), (0, 1), (1, 12)))


@pytest.mark.parametrize("map", [AffineMap(0.4, 1.3), BENT, SMOOTH], ids=["affine", "bent", "smooth"])
def test_moments_through_a_map(map):
    law = Recalibrated(LAW, map)
    for row, mean, var in zip((law[i] for i in range(3)), law.mean(), law.var(), strict=True):
        assert expectation(row, lambda y: y) == pytest.approx(mean, rel=1e-7, abs=1e-7)
        assert expectation(row, lambda y, m=mean: (y - m) ** 2) == pytest.approx(var, rel=1e-6)


@pytest.mark.parametrize("base", [Gumbel([0.0, 4.0], [1.0, 2.0]), Laplace([0.0, 4.0], [1.0, 2.0])])
def test_moments_of_segments_know_the_kinks_and_the_skew(base):
    edges = np.array([-1.0, 1.5])
    whole = Recalibrated(base, AffineMap(0.3, 1.1))
    masses = np.log([[0.3, 0.4, 0.3], [0.1, 0.3, 0.6]])
    rows = ProbabilityRows.from_log_masses(whole.to_normal(edges[None, :]), masses)
    law = Segmented(whole, rows, edges)
    np.testing.assert_allclose(law.mean(), quadrature.mean(law), rtol=1e-9)
    np.testing.assert_allclose(law.var(), quadrature.variance(law), rtol=1e-8)


def test_a_wider_law_keeps_its_median():
    law = LAW.rescaled(3.0)
    np.testing.assert_allclose(law.median(), LAW.median(), rtol=1e-12)
    np.testing.assert_allclose(law.std(), 3 * LAW.std())


@pytest.mark.parametrize("method", ["nll", "coverage"])
def test_scale_is_recovered_on_a_skewed_law(method, rng):
    truth = Gumbel(rng.normal(size=40_000), 2.0)
    narrow = truth.rescaled(0.25)
    y = truth.sample(1, random_state=1)[:, 0]
    wide = ScaleCalibrator(method).fit(narrow, y).transform(narrow)
    assert wide.scale[0] == pytest.approx(2.0, rel=0.02)
    low, high = wide.interval(0.5).T
    assert np.mean(y < low) == pytest.approx(0.25, abs=0.01) and np.mean(y > high) == pytest.approx(0.25, abs=0.01)


def test_residuals_are_taken_from_the_median():
    law = Gumbel([0.0, 1.0, 2.0], 1.0)
    fitted = ResidualCalibrator(map="ecdf").fit(law, law.median() + np.array([-1.0, 0.0, 1.0]))
    assert np.array_equal(fitted.transform(law).base.loc, law.median())


def test_errors_name_the_offender():
    with pytest.raises(ValueError, match=r"`scale` must be positive; 1 of 2 values is not, first scale\[1\] = 0.0"):
        Gumbel([0.0, 0.0], [1.0, 0.0])
