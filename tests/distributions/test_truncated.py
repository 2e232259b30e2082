"""Truncated laws beside SciPy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import log_ndtr

from calibrant.distributions import (
    Ensemble,
    Histogram,
    Normal,
    Poisson,
    Quantiles,
    StudentT,
    Truncated,
    concatenate,
)
from calibrant.distributions.integrals import quadrature

LOWER, UPPER = np.array([-1.0, 0.0, 10.0, -np.inf]), np.array([2.0, np.inf, 11.0, -30.0])


@pytest.fixture
def law():
    return Truncated(Normal(np.zeros(4), 1.0), LOWER, UPPER)


def test_agrees_with_scipy(law):
    peer = stats.truncnorm(LOWER, UPPER)
    y = np.array([0.3, 1.0, 10.05, -30.02])
    np.testing.assert_allclose(law.cdf(y), peer.cdf(y), rtol=1e-11)
    np.testing.assert_allclose(law.logsf(y), peer.logsf(y), rtol=1e-11)
    np.testing.assert_allclose(law.logpdf(y), peer.logpdf(y), rtol=1e-12)
    np.testing.assert_allclose(law.mean(), peer.mean(), rtol=1e-9)
    np.testing.assert_allclose(law.var(), peer.var(), rtol=1e-6)
    q = np.array([[0.001, 0.3, 0.5, 0.9, 0.999]])
    np.testing.assert_allclose(law.ppf(q), stats.truncnorm(LOWER[:, None], UPPER[:, None]).ppf(q), rtol=1e-12)


@pytest.mark.parametrize("start", [1.0, 10.0, 40.0])
def test_far_tails_keep_their_digits(start):
    law = Truncated(Normal([0.0], 1.0), lower=start)
    y = start + 1.5 / start
    exact = log_ndtr(-y) - log_ndtr(-start)
    assert law.logsf([y])[0] == pytest.approx(exact, rel=1e-11)
    assert law.logcdf([y])[0] == pytest.approx(np.log(-np.expm1(exact)), rel=1e-10)
    assert law.from_normal(law.to_normal(np.array([y])))[0] == pytest.approx(y, rel=1e-14)


@given(a=st.floats(-6, 6), width=st.floats(0.01, 8), z=st.floats(-4, 4), loc=st.floats(-3, 3), scale=st.floats(0.2, 5))
def test_primitives_invert_each_other(a, width, z, loc, scale):
    law = Truncated(Normal([loc], [scale]), a, a + width)
    y = law.from_normal(np.array([z]))
    assert a <= y[0] <= a + width
    assert law.to_normal(y)[0] == pytest.approx(z, abs=1e-7)
    middle = law.from_normal(np.array([0.3]))
    step = 1e-6 * width
    slope = (law.to_normal(middle + step) - law.to_normal(middle - step)) / (2 * step)
    assert np.exp(law.log_slope(middle))[0] == pytest.approx(slope[0], rel=1e-4)


def test_support_and_what_lies_outside(law):
    low, high = law.support
    assert np.array_equal(low, LOWER) and np.array_equal(high, UPPER)
    assert law.cdf(LOWER - 1).tolist() == [0, 0, 0, 0] and law.sf(UPPER + 1).tolist() == [0, 0, 0, 0]
    assert law.logpdf(UPPER + 1)[[0, 2, 3]].tolist() == [-np.inf] * 3
    assert law.ppf(0.0).tolist() == LOWER.tolist() and law.ppf(1.0).tolist() == UPPER.tolist()
    inner = Truncated(Histogram([0.0, 1.0], [[1.0]]), -5.0, 0.5)
    assert inner.support[0][0] == 0.0 and inner.median()[0] == pytest.approx(0.25)


def test_atoms_on_the_ends_stay():
    law = Truncated(Poisson([3.0]), 1.0, 6.0)
    k = np.arange(0.0, 9.0)
    peer = stats.poisson(3.0)
    expected = np.where((k >= 1) & (k <= 6), peer.pmf(k), 0.0) / (peer.cdf(6) - peer.cdf(0))
    np.testing.assert_allclose(np.exp(law.logpmf(k[None]))[0], expected, rtol=1e-11)
    assert law.ppf(law.cdf(k[None]))[0].tolist() == [1, 1, 2, 3, 4, 5, 6, 6, 6]
    assert law.on_integers and law.is_discrete
    np.testing.assert_allclose(law.mean(), (k * expected).sum(), rtol=1e-10)
    counts = np.abs(k[:, None] - k[None, :])
    crps = expected @ np.abs(k - 2.0) - 0.5 * expected @ counts @ expected
    np.testing.assert_allclose(law.crps([2.0]), crps, rtol=1e-9)


def test_bounded_quantiles_and_ensembles_stay_positive(rng):
    bounded = Truncated(Quantiles([0.1, 0.5, 0.9], [[0.0, 0.0, 3.0]]), lower=0.0)
    assert bounded.ppf([0.001])[0] == 0.0 and bounded.has_atoms
    assert np.exp(bounded.logpmf([0.0]))[0] == pytest.approx(0.4 / 0.9, rel=1e-9)
    law = Truncated(Ensemble(rng.exponential(1, (5, 9))), lower=0.0)
    assert np.all(law.sample(200, random_state=0) >= 0)
    y = rng.exponential(1, 5)
    np.testing.assert_allclose(law.crps(y), quadrature.crps(law, y), rtol=1e-9)


def test_one_end_is_enough():
    base = Normal([0.0], 1.0)
    np.testing.assert_allclose(Truncated(base, upper=0.0).median(), -Truncated(base, lower=0.0).median(), rtol=1e-13)
    np.testing.assert_allclose(Truncated(base).cdf([0.7]), base.cdf([0.7]), rtol=1e-13)


def test_tail_index():
    law = Truncated(StudentT([0.0, 0.0], 1.0, 1.5), 0.0, [np.inf, 5.0])
    assert law.tail_index.tolist() == [1.5, np.inf]
    assert law.var()[0] == np.inf and np.isfinite(law.var()[1])


def test_rows_and_index(law):
    y = np.array([0.3, 1.0, 10.05, -30.02])
    assert np.allclose(law[[3, 1]].cdf(y[[3, 1]]), law.cdf(y)[[3, 1]])
    assert np.allclose(concatenate([law[:1], law[1:]]).cdf(y), law.cdf(y))
    series = pd.Series([1.0, 2.0], index=["a", "b"])
    assert list(Truncated(Normal(series, 1.0), 0.0)[1:].index) == ["b"]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: Truncated(Normal([0, 0], 1), [0, 1], 0),
            ValueError,
            r"`lower` must not exceed `upper`; .*1 of 2 rows, first row 1",
        ),
        (
            lambda: Truncated(Histogram([0, 1], [[1.0]]), 2, 3),
            ValueError,
            r"some probability; .* first row 0: \[2.0, 3.0\]",
        ),
        (lambda: Truncated(Normal([0], [1]), np.nan), ValueError, r"`lower` must be a number; 1 of 1"),
        (lambda: Truncated(Normal([0], [1]), [1, 2]), ValueError, r"`lower` must be a scalar or \(1,\)"),
        (lambda: Truncated((0, 1), 0), TypeError, "`base` must be a distribution; got tuple"),
    ],
)
def test_errors_say_what_is_wrong(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_outcomes_beyond_every_score():
    law = Truncated(Normal([0.0], 1e-300), lower=0.0)
    y = np.array([[-1.0, 1.0, 1e300]])
    assert law.cdf(y).tolist() == [[0, 1, 1]] and law.sf(y).tolist() == [[1, 0, 0]]
    assert law.logsf(y).tolist() == [[0, -np.inf, -np.inf]] and law.logpdf(y).tolist() == [[-np.inf] * 3]


def _exact_normal(mp, a, b):
    """Standard deviation and CRPS at the lower cut of the standard normal law between two cuts, in 350 digits."""
    with mp.workdps(350):
        a, b = mp.mpf(a), mp.mpf(b)
        ends = [(x, mp.erfc(x / mp.sqrt(2)) / 2, mp.npdf(x)) if x < mp.inf else (mp.mpf(0),) * 3 for x in (a, b)]
        (_, sf, low), (end, rest, high) = ends
        mass = sf - rest
        mean = (low - high) / mass
        std = mp.sqrt(1 + (a * low - end * high) / mass - mean**2)
        squares = [x * s * s - 2 * f * s - mp.erfc(-x) / (2 * mp.sqrt(mp.pi)) for x, s, f in ends]  # of S
        squares[1] = squares[1] if b < mp.inf else -1 / mp.sqrt(mp.pi)
        plain = [x * s - f for x, s, f in ends]
        width = b - a if b < mp.inf else 0
        score = squares[1] - squares[0] - 2 * rest * (plain[1] - plain[0]) + rest * rest * width
        return float(std), float(score / mass**2)


def test_normal_laws_at_every_cut():
    mp = pytest.importorskip("mpmath")
    cuts = [(a, a + width) for a in (-10.0, -5.0, 0.0, 5.0, 11.0, 25.0) for width in (0.01, 0.06, 0.5, 4.0, np.inf)]
    a, b = np.transpose(cuts)
    law = Truncated(Normal(np.zeros(len(a)), 1.0), a, b)
    std, score = np.transpose([_exact_normal(mp, *cut) for cut in cuts])
    np.testing.assert_allclose(law.std(), std, rtol=1e-10)
    np.testing.assert_allclose(law.crps(a), score, rtol=1e-10)
