"""Gamma, Poisson and negative binomial laws at the ends of their parameters: numbers, never NaN."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import beta, i0e, i1e

from calibrant.distributions import Gamma, NegativeBinomial, Normal, Poisson

SIZES = np.array([1e-300, 1e-100, 1e-20, 1e-8, 1e-3, 1.0, 1e3, 1e8, 1e16, 1e50, 1e150, 1e300])
OUTCOMES = np.array([[0.0, 1e-300, 1e-10, 0.5, 1.0, 3.0, 1e3, 1e8, 1e16, 1e100, 1e300, np.inf]])
LEVELS = np.array([[0.0, 1e-300, 1e-10, 0.01, 0.5, 0.99, 1 - 1e-12, 1.0]])
sizes = st.floats(-300, 300).map(lambda e: 10.0**e)


def _check(law, outcomes=OUTCOMES):
    cdf, sf, quantiles = law.cdf(outcomes), law.sf(outcomes), law.ppf(LEVELS)
    assert np.allclose(cdf + sf, 1, atol=1e-12)
    assert np.all(np.diff(cdf) >= -1e-12) and np.all(quantiles[:, 1:] >= quantiles[:, :-1])
    assert not np.isnan(law.logcdf(outcomes)).any() and not np.isnan(law.logsf(outcomes)).any()
    assert not np.isnan((law.logpmf if law.is_discrete else law.logpdf)(outcomes)).any()
    for value in outcomes[0, :-1]:
        assert np.all(law.crps(np.full(len(law), value)) >= 0)  # false for NaN
    assert np.all(law.mean() >= 0) and np.all(law.std() >= 0)


@pytest.mark.parametrize("second", SIZES)
@pytest.mark.parametrize("kind", [Gamma, NegativeBinomial])
def test_no_nan_on_a_wide_grid(kind, second):
    _check(kind(SIZES, second))


def test_no_nan_in_poisson():
    _check(Poisson(SIZES))


@given(first=sizes, second=sizes, outcome=sizes)
def test_no_nan_anywhere(first, second, outcome):
    for law in (Gamma([first], [second]), NegativeBinomial([first], [second])):
        _check(law, np.array([[0.0, min(outcome, 1e307), np.inf]]))


@pytest.mark.parametrize(("mean", "dispersion"), [(1e16, 1e-20), (1e16, 1e-100), (1e20, 1e-16), (1e16, 1e-300)])
def test_huge_means_are_normal(mean, dispersion):
    law = NegativeBinomial([mean], [dispersion])
    peer = Normal([mean], law.std())
    y = peer.ppf([0.3])
    np.testing.assert_allclose(law.cdf(y), 0.3, rtol=1e-6)
    np.testing.assert_allclose(law.crps(y), peer.crps(y), rtol=1e-6)
    np.testing.assert_allclose(law.ppf([0.3]), y, rtol=1e-12)


@pytest.mark.parametrize(
    ("mean", "dispersion"), [(1e300, 1.0), (1e200, 1e-3), (1e300, 1e-20), (1e160, 2.0), (1e250, 0.5)]
)
def test_wide_laws_are_gamma_laws(mean, dispersion):
    law, peer = NegativeBinomial([mean], [dispersion]), Gamma([1 / dispersion], [dispersion * mean])
    y = peer.ppf([0.3])
    np.testing.assert_allclose(law.cdf(y), 0.3, rtol=1e-6)
    np.testing.assert_allclose(law.crps(y), peer.crps(y), rtol=1e-6)
    np.testing.assert_allclose(law.ppf([0.3]), y, rtol=1e-9)
    np.testing.assert_allclose(law.std(), peer.std(), rtol=1e-12)
    assert np.isfinite(law.std()).all()


def test_outcomes_beyond_every_scale():
    np.testing.assert_allclose(Gamma([2.0], [1e-300]).crps([1e300]), 1e300, rtol=1e-14)
    np.testing.assert_allclose(NegativeBinomial([1e-300], [1.0]).crps([1e300]), 1e300, rtol=1e-14)
    assert Gamma([1e4], [1e200]).std()[0] == pytest.approx(1e202)


def test_crps_of_gamma_laws_where_the_tail_is_small_but_counts():
    a = 1e6
    x = a + np.array([-6.0, -5.0, 5.0, 6.0]) * np.sqrt(a)
    law = stats.gamma(a)
    closed = (x - a) * (2 * law.cdf(x) - 1) + 2 * x * law.pdf(x) - 1 / beta(0.5, a)
    np.testing.assert_allclose(Gamma(np.full(4, a), 1.0).crps(x), closed, rtol=1e-9)
    counts = np.floor(x)
    kernel = 2 * a * stats.poisson(a).pmf(counts) - a * (i0e(2 * a) + i1e(2 * a))
    closed = (counts - a) * (2 * stats.poisson(a).cdf(counts) - 1) + kernel
    np.testing.assert_allclose(Poisson(np.full(4, a)).crps(counts), closed, rtol=1e-9)
