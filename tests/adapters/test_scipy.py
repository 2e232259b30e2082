"""SciPy's laws, frozen and new-style."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from calibrant.adapters import ScipyLaw, as_distribution
from calibrant.distributions import (
    GEV,
    GPD,
    Beta,
    Gamma,
    Gumbel,
    Histogram,
    Laplace,
    Logistic,
    LogNormal,
    Mixture,
    NegativeBinomial,
    Normal,
    Poisson,
    SkewNormal,
    StudentT,
    Truncated,
    concatenate,
)

A = np.array([0.5, 1.0, 2.0])
FROZEN = {
    "norm": (stats.norm(A, 2 * A), Normal),
    "norm, one": (stats.norm(loc=3.0), Normal),
    "t": (stats.t(5, A, 2.0), StudentT),
    "cauchy": (stats.cauchy(A, 2.0), StudentT),
    "laplace": (stats.laplace(A, A), Laplace),
    "logistic": (stats.logistic(A, A), Logistic),
    "lognorm": (stats.lognorm(A, scale=2.0), LogNormal),
    "lognorm, moved": (stats.lognorm(A, loc=1.0), ScipyLaw),
    "gamma": (stats.gamma(A, scale=2.0), Gamma),
    "expon": (stats.expon(scale=A), Gamma),
    "uniform": (stats.uniform(A, 2.0), Histogram),
    "truncnorm": (stats.truncnorm(-A, 2.0, loc=A, scale=3.0), Truncated),
    "weibull": (stats.weibull_min(A, scale=2.0), ScipyLaw),
    "gumbel": (stats.gumbel_r(A), Gumbel),
    "smallest values": (stats.gumbel_l(A), ScipyLaw),
    "skewnorm": (stats.skewnorm(A, loc=1.0), SkewNormal),
    "beta": (stats.beta(A, 2.0, loc=-1.0, scale=6.0), Beta),
    "genextreme": (stats.genextreme(0.2 * A - 0.3, loc=A), GEV),
    "genpareto": (stats.genpareto(0.2 * A - 0.2, scale=3 * A), GPD),
    "poisson": (stats.poisson(3 * A), Poisson),
    "nbinom": (stats.nbinom(3 * A, 0.3), NegativeBinomial),
    "binom": (stats.binom(10, A / 3), ScipyLaw),
    "poisson, moved": (stats.poisson(3 * A, loc=2), ScipyLaw),
}


@pytest.mark.parametrize("name", FROZEN)
def test_frozen_laws(name):
    frozen, kind = FROZEN[name]
    law = as_distribution(frozen)
    assert type(law) is kind
    n = len(law)
    q, y = np.array([0.1, 0.5, 0.97])[:n], np.array([1.0, 2.0, 4.0])[:n]
    np.testing.assert_allclose(law.cdf(y), frozen.cdf(y), rtol=1e-12)
    np.testing.assert_allclose(law.sf(y), frozen.sf(y), rtol=1e-11)
    np.testing.assert_allclose(law.ppf(q), frozen.ppf(q), rtol=1e-10)
    if law.is_discrete:
        np.testing.assert_allclose(law.logpmf(y), frozen.logpmf(y), rtol=1e-10)
    else:
        np.testing.assert_allclose(law.logpdf(y), frozen.logpdf(y), rtol=1e-11)
    if np.isfinite(frozen.var()).all():
        np.testing.assert_allclose(law.mean(), frozen.mean(), rtol=1e-8)
        np.testing.assert_allclose(law.var(), frozen.var(), rtol=1e-8)


def test_generic_laws_have_the_whole_contract():
    frozen = stats.hypsecant(A)
    law = as_distribution(frozen)
    y = np.array([0.0, 2.0, 9.0])
    draws = law.sample(40_000, random_state=0)
    crps = np.abs(draws - y[:, None]).mean(axis=1) - 0.5 * np.abs(draws[:, ::2] - draws[:, 1::2]).mean(axis=1)
    np.testing.assert_allclose(law.crps(y), crps, rtol=0.03)
    np.testing.assert_allclose(law.cdf(y[:, None] + [0.0, 1.0])[:, 0], frozen.cdf(y), rtol=1e-12)
    np.testing.assert_allclose(law[[2, 0]].median(), frozen.median()[[2, 0]], rtol=1e-12)
    np.testing.assert_allclose(concatenate([law[:1], law[1:]]).cdf(y), frozen.cdf(y), rtol=1e-12)
    slope = (law.to_normal(y + 1e-6) - law.to_normal(y - 1e-6)) / 2e-6
    np.testing.assert_allclose(np.exp(law.log_slope(y)), slope, rtol=1e-6)
    far = law.to_normal(np.array([60.0, 60.0, 60.0]))
    np.testing.assert_allclose(law.from_normal(far), 60.0, rtol=1e-9)


def test_generic_counts():
    law = as_distribution(stats.binom(10, [0.2, 0.5]))
    assert law.is_discrete and law.on_integers
    k = np.arange(0.0, 10.0)[None, :]
    assert np.array_equal(law.ppf(law.cdf(k)), np.broadcast_to(k, (2, 10)))
    left = law.to_normal(np.broadcast_to(k + 1, (2, 10)), "left")
    np.testing.assert_allclose(left, law.to_normal(k), rtol=1e-12)
    pmf = stats.binom(10, [[0.2], [0.5]]).pmf(np.arange(11))
    distance = np.abs(np.arange(11)[:, None] - np.arange(11))
    crps = pmf @ np.abs(np.arange(11) - 4.0) - 0.5 * np.einsum("ni,ij,nj->n", pmf, distance, pmf)
    np.testing.assert_allclose(law.crps([4.0, 4.0]), crps, rtol=1e-10)
    with pytest.raises(ValueError, match="use logpmf"):
        law.logpdf([1.0, 2.0])


def test_counts_stay_level_between_whole_numbers():
    modern = [stats.Binomial(n=9, p=np.array([0.2, 0.5]))] if MODERN else []
    for frozen in (stats.hypergeom(30, 12, np.array([6, 7])), *modern):
        law = as_distribution(frozen)
        assert np.array_equal(law.cdf([0.5, 1.9]), law.cdf([0.0, 1.0]))
        assert np.array_equal(law.to_normal(np.array([0.5, 1.9]), "left"), law.to_normal(np.array([0.0, 1.0])))


def test_atoms_anywhere():
    law = as_distribution(stats.rv_discrete(values=([1, 2, 4], [0.2, 0.3, 0.5]))(loc=[0.25, 1.0]))
    assert law.is_discrete and not law.on_integers
    assert law.median().tolist() == [2.25, 3.0]
    k, p, y = np.array([1.0, 2.0, 4.0]), np.array([0.2, 0.3, 0.5]), np.array([2.0, 9.0])
    shifted = k + np.array([[0.25], [1.0]])
    spread = 0.5 * p @ np.abs(k[:, None] - k) @ p
    np.testing.assert_allclose(law.crps(y), np.abs(shifted - y[:, None]) @ p - spread, rtol=1e-12)


def test_odd_places_of_values_in_a_table():
    law = as_distribution(stats.rv_discrete(values=((0.1, 0.7), (0.5, 0.5)))(loc=[0.0, 1.0]))
    np.testing.assert_allclose(law.mean(), [0.4, 1.4], rtol=1e-12)


def test_far_outcomes_of_counts():
    law = as_distribution(stats.geom([0.5, 0.5]))
    np.testing.assert_allclose(law.crps([1e9, -1e9]), [1e9 - 2 - 2 / 3, 1e9 + 2 - 2 / 3], rtol=1e-14)


def test_heavy_counts():
    law = as_distribution(stats.zipf([2.5, 3.5]))
    assert law.tail_index[0] == pytest.approx(1.5, abs=1e-3)
    assert np.isfinite(law.crps([1.0, 3.0])).all()
    with pytest.raises(ValueError, match=r"CRPS of zipf would sum over more than 1048576 whole numbers in 1 of 2 rows"):
        as_distribution(stats.zipf([1.4, 3.0])).crps([1.0, 1.0])


def test_heavy_tails_are_noticed():
    law = as_distribution(stats.lomax([5.0, 1.25, 1 / 1.5]))
    np.testing.assert_allclose(law.tail_index[1:], [1.25, 1 / 1.5], rtol=1e-6)
    assert law.tail_index[0] == np.inf
    assert law.mean()[2] == np.inf and law.var()[1] == np.inf and np.isfinite(law.crps([1.0, 1.0, 1.0])).all()


MODERN = hasattr(stats, "Binomial")  # SciPy before 1.16 has no such laws, or few
NEW = (
    {}
    if not MODERN
    else {
        "Normal": (stats.Normal(mu=A, sigma=2.0), Normal),
        "standard": (stats.Normal(), Normal),
        "moved": (3 * stats.Normal(mu=A, sigma=1.0) + 1, ScipyLaw),
        "Uniform": (stats.Uniform(a=0.0, b=3 * A), ScipyLaw),
        "truncated": (stats.truncate(stats.Normal(mu=A, sigma=1.0), 0.0, 5.0), Truncated),
        "Gamma": (stats.make_distribution(stats.gamma)(a=A), Gamma),
        "Poisson": (stats.make_distribution(stats.poisson)(mu=3 * A), Poisson),
        "Binomial": (stats.Binomial(n=9, p=A / 3), ScipyLaw),
        "mixture": (
            stats.Mixture([stats.Normal(mu=0, sigma=1), stats.Normal(mu=3, sigma=2)], weights=[0.3, 0.7]),
            Mixture,
        ),
    }
)


@pytest.mark.parametrize("name", NEW)
def test_new_style_laws(name):
    variable, kind = NEW[name]
    law = as_distribution(variable)
    assert type(law) is kind
    n = len(law)
    y = np.array([0.0 if law.is_discrete else 0.5, 1.0, 2.0])[:n]
    np.testing.assert_allclose(law.cdf(y), variable.cdf(y), rtol=1e-10)
    np.testing.assert_allclose(law.mean(), variable.mean(), rtol=1e-8)
    np.testing.assert_allclose(law.var(), variable.variance(), rtol=1e-8)
    np.testing.assert_allclose(law.ppf(np.full(n, 0.3)), variable.icdf(0.3), rtol=1e-6)
    np.testing.assert_allclose(law[:1].cdf(y[:1]), law.cdf(y)[:1], rtol=1e-13)
    if not law.is_discrete:
        np.testing.assert_allclose(law.pdf(y), variable.pdf(y), rtol=1e-9)


@pytest.mark.parametrize(
    ("frozen", "message"),
    [
        (stats.norm(0, [1.0, -1.0]), "`scale` must be positive; 1 of 2"),
        (stats.weibull_min([1.0, 2.0], scale=[1.0, -1.0]), "does not take the parameters of 1 of 2 rows, first row 1"),
        (stats.norm(np.zeros((2, 2))), r"must be scalars or 1-dimensional; together they have shape \(2, 2\)"),
    ],
)
def test_bad_parameters(frozen, message):
    with pytest.raises(ValueError, match=message):
        as_distribution(frozen)
