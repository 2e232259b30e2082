"""Mixtures beside direct sums, quadrature and scoringrules."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scoringrules
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_ndtr, ndtr, ndtri
from scipy.stats import kstest

from calibrant.distributions import (
    Ensemble,
    Gamma,
    Histogram,
    Laplace,
    LogNormal,
    Mixture,
    Normal,
    Poisson,
    Recalibrated,
    StudentT,
    concatenate,
)
from calibrant.distributions.integrals import quadrature
from calibrant.distributions.mixture import crps as mixture_crps
from calibrant.distributions.mixture.quantiles import by_newton
from calibrant.maps import AffineMap, BetaMap, fit_spline

N = 40


def normals(rng, c=3, spread=1.0):
    return [Normal(rng.normal(0, spread, N), np.exp(rng.normal(0, 0.5, N))) for _ in range(c)]


@pytest.fixture
def law(rng):
    return Mixture(normals(rng), weights=rng.dirichlet(np.ones(3), N))


def test_probabilities_and_densities_are_weighted_sums(law, rng):
    y = rng.normal(0, 2, (N, 5))
    w = law.weights[:, :, None]
    for name in ("cdf", "sf", "pdf"):
        parts = np.stack([getattr(part, name)(y) for part in law.components], axis=1)
        np.testing.assert_allclose(getattr(law, name)(y), (w * parts).sum(axis=1), rtol=1e-12)
    slope = (law.to_normal(y + 1e-6) - law.to_normal(y - 1e-6)) / 2e-6
    np.testing.assert_allclose(np.exp(law.log_slope(y)), slope, rtol=1e-7)


def test_far_tails_keep_their_digits():
    law = Mixture([Normal([0.0], 1.0), Normal([3.0], 2.0)], weights=[0.3, 0.7])
    y = -120.0
    exact = np.log(0.7) + log_ndtr((y - 3) / 2)  # beside which the other is nothing
    assert law.logcdf([y])[0] == pytest.approx(exact, rel=1e-13)
    z = np.array([[-60.0, -37.0, -8.0, 0.0, 8.0, 37.0, 60.0]])
    np.testing.assert_allclose(law.to_normal(law.from_normal(z)), z, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("spread", [0.01, 1.0, 30.0])
def test_quantiles_invert_the_cdf(rng, spread):
    law = Mixture(normals(rng, 5, spread))
    q = np.concatenate([[1e-12, 1e-4], np.linspace(0.02, 0.98, 13), [0.9999]])
    np.testing.assert_allclose(law.cdf(law.quantiles(q)), np.tile(q, (N, 1)), rtol=1e-11)


def test_moments_and_crps_agree_with_quadrature_and_scoringrules(law, rng):
    y = rng.normal(0, 2, N)
    np.testing.assert_allclose(law.mean(), quadrature.mean(law), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(law.var(), quadrature.variance(law), rtol=1e-8)
    np.testing.assert_allclose(law.crps(y), quadrature.crps(law, y), rtol=1e-8)
    loc, scale = (np.stack([getattr(part, name) for part in law.components], axis=1) for name in ("loc", "scale"))
    np.testing.assert_allclose(law.crps(y), scoringrules.crps_mixnorm(y, loc, scale, law.weights), rtol=1e-9)


@pytest.mark.parametrize("kind", ["laplace", "recalibrated", "student", "positive", "ensemble", "far", "many"])
def test_crps_by_disagreement_agrees_with_quadrature(rng, kind):
    parts = normals(rng, 3, 0.5)
    y = rng.normal(0, 2, N)
    make = {
        "laplace": lambda p: Laplace(p.loc, p.scale),
        "recalibrated": lambda p: Recalibrated(p, fit_spline(rng.gamma(2, 1, 200) - 2)),
        "student": lambda p: StudentT(p.loc, p.scale, np.full(N, 2.5)),
        "positive": lambda p: LogNormal(p.loc, p.scale),
        "ensemble": lambda p: Ensemble(p.sample(15, random_state=rng)),
        "far": lambda p: Recalibrated(Normal(1e3 * p.loc, p.scale), AffineMap(0.0, 1.1)),
        "many": lambda p: p,
    }[kind]
    law = Mixture([make(part) for part in parts] * (9 if kind == "many" else 1))
    some = slice(0, 8)
    np.testing.assert_allclose(law[some].crps(y[some]), quadrature.crps(law[some], y[some]), rtol=1e-6)


@pytest.mark.parametrize("kind", [Laplace, lambda loc, scale: Recalibrated(Normal(loc, scale), AffineMap(0.1, 0.8))])
def test_disagreement_needs_no_quadrature(rng, kind, monkeypatch):
    law = Mixture([kind(part.loc, part.scale) for part in normals(rng, 3, 0.5)], weights=rng.dirichlet(np.ones(3), N))
    y = rng.normal(0, 2, N)
    expected = quadrature.crps(law, y)
    monkeypatch.setattr(mixture_crps.quadrature, "crps", None)
    np.testing.assert_allclose(law.crps(y), expected, rtol=3e-7)


def test_atoms_and_gaps_have_generalised_inverses():
    gap = Mixture([Histogram([0.0, 1.0], [[1.0]]), Histogram([2.0, 3.0], [[1.0]])])
    assert gap.ppf([0.5])[0] == 1.0 and gap.ppf([0.5 + 1e-9])[0] > 2.0
    assert gap.support[0][0] == 0.0 and gap.support[1][0] == 3.0
    zeros = Mixture([Ensemble([[0.0]], kind="discrete"), Normal([1.0], 1.0)])  # half zeros
    assert zeros.has_atoms and not zeros.is_discrete
    assert zeros.ppf(zeros.cdf([0.0]))[0] == 0.0 and zeros.ppf([0.3])[0] == 0.0
    below = 0.5 * ndtr(-1.0)
    assert np.exp(zeros.logpmf([0.0]))[0] == pytest.approx(0.5)
    assert zeros.ppf([below - 1e-9])[0] < 0 < zeros.ppf([0.5 + below + 1e-9])[0]
    apart = Mixture([Ensemble([[0.0, 1.0]], kind="discrete"), Ensemble([[10.0, 11.0]], kind="discrete")])
    assert apart.ppf([[0.2, 0.25, 0.5, 0.7, 1.0]])[0].tolist() == [0, 0, 1, 10, 11]
    np.testing.assert_allclose(zeros.crps([0.4]), quadrature.crps(zeros, np.array([0.4])), rtol=1e-7)


@given(seed=st.integers(0, 1000), q=st.floats(0.001, 0.999))
def test_counts_mix(seed, q):
    rng = np.random.default_rng(seed)
    law = Mixture([Poisson(np.exp(rng.uniform(-1, 5, 3))), Poisson(np.exp(rng.uniform(-1, 5, 3)))])
    assert law.is_discrete and law.on_integers
    y = law.ppf(q)
    assert np.array_equal(y, np.round(y))
    assert np.all(law.cdf(y) >= q - 1e-11) and np.all(law.cdf(y - 1) < q + 1e-11)
    counts = np.arange(0.0, 30.0)[None, :]
    firm = (law.logpmf(counts) > -25) & (law.sf(counts) > 1e-13)  # further out floats cannot tell the counts apart
    assert np.array_equal(law.ppf(law.cdf(counts))[firm], np.broadcast_to(counts, (3, 30))[firm])


def test_samples_follow_the_mixture():
    law = Mixture([Normal([0.0], 1.0), Normal([8.0], 0.5)], weights=[0.8, 0.2])
    draws = law.sample(20_000, random_state=1)
    assert kstest(law.cdf(draws)[0], "uniform").pvalue > 1e-4
    assert np.mean(draws > 5) == pytest.approx(0.2, abs=0.015)
    assert np.array_equal(draws, law.sample(20_000, random_state=1))


def test_what_a_mixture_tells_about_itself(rng):
    law = Mixture([StudentT([0.0, 0.0], 1.0, [3.0, 8.0]), Normal([0.0, 0.0], 1.0)], weights=[[0.5, 0.5], [0.0, 1.0]])
    assert law.tail_index.tolist() == [3.0, np.inf]  # a component without weight does not count
    heavy = Mixture([StudentT([0.0], 1.0, [1.5]), Normal([0.0], 1.0)])
    assert heavy.var()[0] == np.inf and heavy.mean()[0] == 0.0
    positive = Mixture([Gamma([2.0], [1.0]), LogNormal([0.0], 0.5)])
    assert positive.support[0][0] == 0.0 and positive.logpdf([-1.0])[0] == -np.inf
    assert positive.ppf([1e-6])[0] > 0


def test_rows_weights_and_index(law, rng):
    y = rng.normal(0, 2, N)
    rows = np.array([5, 1, 5])
    np.testing.assert_allclose(law[rows].cdf(y[rows]), law.cdf(y)[rows], rtol=1e-13)
    np.testing.assert_allclose(concatenate([law[:3], law[3:]]).cdf(y), law.cdf(y), rtol=1e-13)
    shared = Mixture(law.components, weights=[2, 1, 1])
    assert shared.weights.tolist() == [0.5, 0.25, 0.25] and concatenate([shared, shared]).weights.ndim == 1
    assert len(concatenate([law, shared])) == 2 * N
    frame = pd.Series([1.0, 2.0], index=["a", "b"])
    assert list(Mixture([Normal([0.0, 0.0], 1.0), Normal(frame, 1.0)])[1:].index) == ["b"]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Mixture([]), TypeError, "`components` must be one or more distributions; got none"),
        (lambda: Mixture([(0.0, 1.0)]), TypeError, "got tuple. Wrap them with as_distribution"),
        (lambda: Mixture([Normal([0], [1]), Normal([0, 1], 1)]), ValueError, "as many rows; got 1, 2"),
        (lambda: Mixture([Normal([0], [1])], weights=[1, 2]), ValueError, r"`weights` must be \(1,\) or \(1, 1\)"),
        (lambda: Mixture([Normal([0], [1])], weights=[0]), ValueError, "`sum of weights` must be positive"),
        (lambda: Mixture([Normal([0], [1])] * 2, weights=[-1, 2]), ValueError, r"non-negative.*weights\[0\] = -1.0"),
    ],
)
def test_errors_say_what_is_wrong(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_crps_of_components_that_are_points_to_rounding():
    apart = Mixture([Laplace([1.0], 1e-300), Laplace([2.0], 1e-300)])
    np.testing.assert_allclose(apart.crps([1.5]), 0.25, rtol=1e-6)
    assert Mixture([Laplace([5.0], 1e-300), Laplace([5.0], 1e-300)]).crps([5.0])[0] < 1e-290


def test_newton_steps_end_where_the_search_does():
    levels = [1e-9, 0.01, 0.3, 0.5, 0.7499, 0.75, 0.9, 0.999]
    gap = Mixture([Normal([0.0, 5.0], 1.0), Normal([1e3, 5.0], [1e-3, 2.0])], [0.75, 0.25])
    heavy = Mixture([StudentT([0.0, 5.0], 1.0, 1.5), Mixture([Normal([1.0, 5.0], 0.1), Laplace(0.0, [3.0, 1.0])])])
    bent = Mixture([Recalibrated(Normal([0.0, 1.0], 2.0), BetaMap(0.5, 2.0, 0.3)), Normal(1.0, [0.1, 3.0])])
    for law in (gap, heavy, bent):
        z = np.broadcast_to(ndtri(levels), (2, len(levels)))
        np.testing.assert_allclose(law.quantiles(levels), law._by_search(z), rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(law.ppf([0.3, 0.9]), law.quantiles([0.3, 0.9])[[0, 1], [0, 1]], rtol=1e-12)
    assert by_newton(gap, z)[1].any() and not by_newton(bent, z)[1].any()
