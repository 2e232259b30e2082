"""Parametric laws beside SciPy, scoringrules, quadrature and many-digit arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scoringrules
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad
from scipy.special import ndtr

from calibrant.distributions.base import Distribution
from calibrant.distributions.families.gamma import Gamma
from calibrant.distributions.families.laplace import Laplace
from calibrant.distributions.families.logistic import Logistic
from calibrant.distributions.families.lognormal import LogNormal
from calibrant.distributions.families.negative_binomial import NegativeBinomial
from calibrant.distributions.families.normal import Normal
from calibrant.distributions.families.poisson import Poisson
from calibrant.distributions.families.student_t import StudentT, polished
from calibrant.distributions.joined import concatenate
from calibrant.distributions.recalibrated import Recalibrated
from calibrant.maps import AffineMap
from calibrant.numerics.factorials import log_beta_kernel, log_gamma_kernel, log_half_step, stirling_error
from calibrant.numerics.tails import log_normal_hazard, score_from_log

ROWS = 60
Pair = tuple[Distribution, Any]


def _loc_scale(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return rng.normal(0, 5, ROWS), np.exp(rng.normal(0, 2, ROWS))


def _student_t(rng: np.random.Generator) -> Pair:
    loc, scale = _loc_scale(rng)
    df = np.exp(rng.uniform(np.log(2.2), 6, ROWS))
    return StudentT(loc, scale, df), stats.t(df, loc, scale)


def _laplace(rng: np.random.Generator) -> Pair:
    loc, scale = _loc_scale(rng)
    return Laplace(loc, scale), stats.laplace(loc, scale)


def _logistic(rng: np.random.Generator) -> Pair:
    loc, scale = _loc_scale(rng)
    return Logistic(loc, scale), stats.logistic(loc, scale)


def _lognormal(rng: np.random.Generator) -> Pair:
    loc, scale = rng.normal(0, 2, ROWS), rng.uniform(0.005, 1.5, ROWS)
    return LogNormal(loc, scale), stats.lognorm(scale, scale=np.exp(loc))


def _gamma(rng: np.random.Generator) -> Pair:
    shape, scale = np.exp(rng.uniform(-2, 8, ROWS)), np.exp(rng.normal(0, 2, ROWS))
    return Gamma(shape, scale), stats.gamma(shape, scale=scale)


def _poisson(rng: np.random.Generator) -> Pair:
    rate = np.exp(rng.uniform(-6, 9, ROWS))
    return Poisson(rate), stats.poisson(rate)


def _negative_binomial(rng: np.random.Generator) -> Pair:
    mean, dispersion = np.exp(rng.uniform(-4, 7, ROWS)), np.exp(rng.uniform(-5, 2, ROWS))
    return NegativeBinomial(mean, dispersion), stats.nbinom(1 / dispersion, 1 / (1 + dispersion * mean))


CONTINUOUS = {
    "StudentT": _student_t,
    "Laplace": _laplace,
    "Logistic": _logistic,
    "LogNormal": _lognormal,
    "Gamma": _gamma,
}
COUNTS = {"Poisson": _poisson, "NegativeBinomial": _negative_binomial}
continuous = pytest.mark.parametrize("make", CONTINUOUS.values(), ids=CONTINUOUS)
counts = pytest.mark.parametrize("make", COUNTS.values(), ids=COUNTS)
every = pytest.mark.parametrize("make", {**CONTINUOUS, **COUNTS}.values(), ids={**CONTINUOUS, **COUNTS})
Maker = Callable[[np.random.Generator], Pair]


# ---- beside SciPy ----
@continuous
def test_continuous_laws_agree_with_scipy(make: Maker, rng: np.random.Generator) -> None:
    law, peer = make(rng)
    q = rng.uniform(1e-6, 1 - 1e-6, ROWS)
    y = peer.ppf(q)
    np.testing.assert_allclose(law.ppf(q), y, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(law.cdf(y), peer.cdf(y), rtol=1e-11)
    np.testing.assert_allclose(law.sf(y), peer.sf(y), rtol=1e-9)
    np.testing.assert_allclose(law.logcdf(y), peer.logcdf(y), rtol=1e-9)
    np.testing.assert_allclose(law.logpdf(y), peer.logpdf(y), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(law.pdf(y), peer.pdf(y), rtol=1e-9)
    np.testing.assert_allclose(law.mean(), peer.mean(), rtol=1e-12)
    np.testing.assert_allclose(law.var(), peer.var(), rtol=1e-9)


@continuous
def test_closed_density_is_the_one_the_primitives_imply(make: Maker, rng: np.random.Generator) -> None:
    law, _ = make(rng)
    y = law.from_normal(rng.normal(0, 4, (ROWS, 9)))
    np.testing.assert_allclose(law.logpdf(y), Distribution.logpdf(law, y), rtol=1e-11, atol=1e-11)


@counts
def test_counts_agree_with_scipy(make: Maker, rng: np.random.Generator) -> None:
    law, peer = make(rng)
    q = rng.uniform(1e-6, 1 - 1e-6, ROWS)
    k = peer.ppf(q)
    np.testing.assert_array_equal(law.ppf(q), k)
    np.testing.assert_allclose(law.cdf(k), peer.cdf(k), rtol=1e-10)
    np.testing.assert_allclose(law.sf(k), peer.sf(k), rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(law.cdf(k + 0.4), peer.cdf(k), rtol=1e-10)
    np.testing.assert_allclose(law.logpmf(k), peer.logpmf(k), rtol=1e-9)
    np.testing.assert_allclose(law.logpmf(k), Distribution.logpmf(law, k), rtol=1e-8)
    np.testing.assert_allclose(law.mean(), peer.mean(), rtol=1e-12)
    np.testing.assert_allclose(law.var(), peer.var(), rtol=1e-12)


def test_dispersion_maps_to_scipys_parameters_as_documented() -> None:
    n, p = np.array([0.7, 12.0]), np.array([0.2, 0.6])
    law = NegativeBinomial(n * (1 - p) / p, 1 / n)
    np.testing.assert_allclose(np.exp(law.logpmf([3, 3])), stats.nbinom.pmf(3, n, p), rtol=1e-12)
    np.testing.assert_allclose(NegativeBinomial(10.0, 0.3).var(), 10 + 0.3 * 100)


# ---- CRPS ----
def _scoringrules_crps(law: Distribution, y: np.ndarray) -> np.ndarray:
    if isinstance(law, StudentT):
        return scoringrules.crps_t(y, law.df, law.loc, law.scale)
    if isinstance(law, Laplace):
        return scoringrules.crps_laplace(y, law.loc, law.scale)
    if isinstance(law, Logistic):
        return scoringrules.crps_logistic(y, law.loc, law.scale)
    if isinstance(law, LogNormal):
        return scoringrules.crps_lognormal(y, law.loc, law.scale)
    if isinstance(law, Gamma):
        return scoringrules.crps_gamma(y, law.shape, 1 / law.scale)
    if isinstance(law, Poisson):
        return scoringrules.crps_poisson(y, law.rate)
    return scoringrules.crps_negbinom(y, 1 / law.dispersion, 1 / (1 + law.dispersion * law.rate))


@every
def test_crps_agrees_with_scoringrules(make: Maker, rng: np.random.Generator) -> None:
    law, peer = make(rng)
    y = peer.ppf(rng.uniform(1e-4, 1 - 1e-4, ROWS))
    with np.errstate(all="ignore"):  # theirs overflow for large means
        theirs = _scoringrules_crps(law, y)
    fine = np.isfinite(theirs)
    assert fine.mean() > 0.6
    np.testing.assert_allclose(law.crps(y)[fine], theirs[fine], rtol=1e-8)


@continuous
def test_crps_agrees_with_quadrature(make: Maker, rng: np.random.Generator) -> None:
    law, _ = make(rng)
    for q in (1e-4, 0.3, 1 - 1e-4):
        y = law.ppf(np.full(ROWS, q))
        np.testing.assert_allclose(law.crps(y), _squared_area(law, y), rtol=1e-9)


@pytest.mark.parametrize(
    "law",
    [Gamma([1e8, 0.1], 3.0), StudentT([1.0, 2.0], 1.0, [1e6, 1e12]), LogNormal([2.0, 0.0], [1e-4, 3.0])],
    ids=lambda law: type(law).__name__,
)
def test_crps_of_extreme_shapes_agrees_with_quadrature(law: Distribution) -> None:
    for z in (-1.5, 0.4, 2.0):
        y = law.from_normal(np.full(2, z))
        np.testing.assert_allclose(law.crps(y), _squared_area(law, y), rtol=1e-8)


def _squared_area(law: Distribution, y: np.ndarray) -> np.ndarray:
    """∫ (F - 1{t >= y})² dt by Gauss-Legendre between the points where the score is a multiple of 1/3, and at y."""
    nodes, weights = np.polynomial.legendre.leggauss(16)
    grid = law.from_normal(np.linspace(-30, 30, 181)[None, :])
    edges = np.sort(np.column_stack([grid, y, np.clip(law.median(), grid[:, 0], None)]), axis=1)
    half, total = np.diff(edges, axis=1) / 2, np.zeros(len(law))
    for node, weight in zip(nodes, weights, strict=True):
        t = edges[:, :-1] + half * (1 + node)
        total += (half * weight * np.where(t < y[:, None], law.cdf(t), law.sf(t)) ** 2).sum(axis=1)
    return total


@counts
def test_crps_of_counts_is_the_sum_it_stands_for(make: Maker, rng: np.random.Generator) -> None:
    law, peer = make(rng)
    y = peer.ppf(rng.uniform(0.001, 0.999, ROWS)) + rng.choice([0.0, 0.3, -1.7], ROWS)
    for i in np.flatnonzero(law.var() < 3e3):
        np.testing.assert_allclose(law[i].crps(y[i]), _sum_of_squares(law[i], y[i]), rtol=1e-9)


@pytest.mark.parametrize("law", [Poisson(3e5), NegativeBinomial(1e5, 1e-6), NegativeBinomial(300.0, 0.8)])
@pytest.mark.parametrize("z", [-2.0, 0.3])
def test_crps_of_large_counts_is_the_sum_it_stands_for(law: Distribution, z: float) -> None:
    y = law.from_normal(np.array([z]))[0]
    np.testing.assert_allclose(law.crps(y), _sum_of_squares(law, y), rtol=1e-9)


def _sum_of_squares(law: Distribution, y: float) -> float:
    low, high = law.from_normal(np.array([-9.0]))[0], law.from_normal(np.array([9.0]))[0]
    edges = np.sort(np.append(np.arange(low - 4, high + 4), y))
    f = law.cdf(edges[None, :-1])[0]
    return float((np.diff(edges) * (f - (edges[:-1] >= y)) ** 2).sum())


@pytest.mark.parametrize("df", [0.6, 0.9, 1.0, 1.0 + 1e-7, 1.0 - 3e-6, 1.0 + 2e-5, 1.5])
def test_crps_of_very_heavy_tails(df: float) -> None:
    def area(y: float) -> float:
        def square(u: float, sign: float) -> float:
            return stats.t.sf(sign * y + np.exp(u) - 1, df) ** 2 * np.exp(u)

        ends = np.append(np.linspace(0, 60, 31), 400.0)
        pieces = pairwise(ends)
        return sum(quad(square, a, b, args=(s,), epsrel=1e-12, epsabs=0)[0] for a, b in pieces for s in (1.0, -1.0))

    law = StudentT(0.0, 1.0, df)
    np.testing.assert_allclose([law.crps(y)[0] for y in (0.0, 2.5)], [area(0.0), area(2.5)], rtol=1e-8)


def test_crps_worked_by_hand() -> None:
    np.testing.assert_allclose(Laplace(1.0, 2.0).crps(1.0), 2 * 0.25)  # |u| + e^-|u| - 3/4 at u = 0
    np.testing.assert_allclose(Logistic(1.0, 2.0).crps(1.0), 2 * (2 * np.log(2) - 1))
    np.testing.assert_allclose(Gamma(1.0, 2.0).crps(0.0), 2 * 0.5)  # ∫ e^{-2t} dt
    np.testing.assert_allclose(Gamma(1.0, 2.0).crps(-3.0), 3 + 2 * 0.5)
    np.testing.assert_allclose(Gamma(0.01, 3.0).crps(0.0), 0.00040822164078871371, rtol=1e-11)  # 3 (a - 1/B(½, a))
    geometric = NegativeBinomial(1.0, 1.0)  # P(Y > k) = 2^-(k+1), Σ 4^-(k+1) = 1/3
    np.testing.assert_allclose(geometric.crps(0.0), 1 / 3)


def test_crps_of_large_parameters_tends_to_the_normals() -> None:
    normal = scoringrules.crps_normal(np.array([0.7, -1.2]), 0.0, 1.0)
    z = np.array([0.7, -1.2])
    for mean, law in (
        (1e9, Poisson([1e9, 1e9])),
        (1e9, Gamma([1e9, 1e9], 1.0)),
        (1e9, NegativeBinomial([1e9, 1e9], 1e-12)),
        (1e6, NegativeBinomial([1e6, 1e6], 1e-6)),
        (1.0, LogNormal([0.0, 0.0], 1e-6)),
        (0.0, StudentT([0.0, 0.0], 1.0, 1e9)),
    ):
        std = law.std()
        np.testing.assert_allclose(law.crps(mean + z * std) / std, normal, rtol=2e-3)


def test_crps_of_wide_and_narrow_lognormals() -> None:
    mp = pytest.importorskip("mpmath")
    with mp.workdps(400):
        for scale, z in (
            (30.0, 0.5),
            (12.0, -2.0),
            (2.0, 1.0),
            (0.0101, 0.3),
            (0.0099, 0.3),
            (1e-5, -2.0),
            (1e-9, 1.0),
        ):
            law = LogNormal(0.3, scale)
            y = float(law.from_normal(np.array([z]))[0])
            m, s = mp.mpf(0.3), mp.mpf(scale)
            w = (mp.log(mp.mpf(y)) - m) / s
            mean = mp.exp(m + s**2 / 2)
            exact = y * (2 * mp.ncdf(w) - 1) - 2 * mean * (mp.ncdf(w - s) + mp.ncdf(s / mp.sqrt(2)) - 1)
            slack = 1e-15 / scale  # y itself is rounded, which moves z by so much
            np.testing.assert_allclose(law.crps(y), float(exact), rtol=1e-11 + 10 * slack)


def test_crps_of_overdispersed_counts_against_the_hypergeometric_function() -> None:
    mp = pytest.importorskip("mpmath")
    with mp.workdps(40):
        for mean, dispersion in ((3.0, 0.21), (3.0, 0.19), (1e4, 0.02), (1e-2, 1e-3), (1e6, 3.0), (5e9, 0.0527)):
            n, odds = 1 / mp.mpf(dispersion), mp.mpf(dispersion) * mean
            c = 4 * odds * (1 + odds)  # the Euler integral of 2F1(n+1, 1/2; 2; -c), u = sin²
            width = 1 / mp.sqrt((n + 1) * c)
            cuts = sorted({mp.mpf(0), mp.pi / 2, *(width * j for j in (1, 3, 10, 100, 1e4, 1e6) if width * j < 1.5)})
            integral = mp.quad(lambda t, c=c, n=n: mp.cos(t) ** 2 * (1 + c * mp.sin(t) ** 2) ** (-n - 1), cuts)
            at_minus_five = mean + 5 - mean * (1 + odds) * 4 / mp.pi * integral
            np.testing.assert_allclose(NegativeBinomial(mean, dispersion).crps(-5.0), float(at_minus_five), rtol=1e-10)


# ---- far tails ----
def _mp_score(mp: Any, log_tail: Any) -> float:
    z = mp.mpf(float(score_from_log(np.array([float(log_tail)]))[0]))
    for _ in range(3):
        value = mp.log(mp.erfc(-z / mp.sqrt(2)) / 2)
        z -= (value - log_tail) * mp.exp(value + z * z / 2) * mp.sqrt(2 * mp.pi)
    return float(z)


@pytest.mark.parametrize(("df", "u"), [(30.0, 1e12), (3.0, 1e200), (0.5, 1e300), (300.0, 1e4), (1e4, 60.0), (5.0, 7.0)])
def test_student_t_far_out(df: float, u: float) -> None:
    mp = pytest.importorskip("mpmath")
    law = StudentT([0.0], 1.0, df)
    with mp.workdps(60):
        x = df / (df + mp.mpf(u) ** 2)
        tail = mp.betainc(mp.mpf(df) / 2, 0.5, 0, x, regularized=True) / 2
        z = -_mp_score(mp, mp.log(tail))
        log_density = -(mp.mpf(df) + 1) / 2 * mp.log1p(mp.mpf(u) ** 2 / df) - mp.log(
            mp.sqrt(df) * mp.beta(mp.mpf(df) / 2, 0.5)
        )
    point = np.array([u])
    np.testing.assert_allclose(law.to_normal(point), z, rtol=1e-13)
    np.testing.assert_allclose(law.to_normal(-point), -z, rtol=1e-13)
    np.testing.assert_allclose(law.logpdf(point), float(log_density), rtol=1e-13)
    np.testing.assert_allclose(law.log_slope(point) - z * z / 2 - np.log(2 * np.pi) / 2, float(log_density), rtol=1e-12)
    np.testing.assert_allclose(law.from_normal(np.array([-z])), -u, rtol=1e-12)


@pytest.mark.parametrize(
    ("shape", "y"),
    [(2.0, 5000.0), (2.0, 1e-200), (0.5, 1e-300), (50.0, 1e-12), (0.01, 700.0), (1e4, 5e3), (3e4, 3.3e4), (3e4, 2.7e4)],
)
def test_gamma_far_out(shape: float, y: float) -> None:
    mp = pytest.importorskip("mpmath")
    law = Gamma([shape], 1.0)
    upper = y > shape
    with mp.workdps(60):
        a, x = mp.mpf(shape), mp.mpf(y)
        ends = (x, mp.inf) if upper else (0, x)
        tail = mp.gammainc(a, *ends, regularized=True)
        z = (-1 if upper else 1) * _mp_score(mp, mp.log(tail))
        log_density = float((a - 1) * mp.log(x) - x - mp.loggamma(a))
    point = np.array([y])
    np.testing.assert_allclose(law.to_normal(point), z, rtol=1e-13)
    np.testing.assert_allclose(law.logpdf(point), log_density, rtol=1e-13)
    np.testing.assert_allclose(law.log_slope(point) - z * z / 2 - np.log(2 * np.pi) / 2, log_density, rtol=1e-12)
    np.testing.assert_allclose(law.from_normal(np.array([z])), y, rtol=1e-12)


def _mp_sum(mp: Any, start: Any, ratio: Callable[[int], Any]) -> Any:
    """start (1 + r(1) + r(1) r(2) + …), terms falling."""
    total, term, j = mp.mpf(0), mp.mpf(1), 0
    while term > mp.mpf(10) ** -30 * total:
        total += term
        j += 1
        term *= ratio(j)
    return start + mp.log(total)


@pytest.mark.parametrize(("rate", "k"), [(1e-3, 150), (4.0, 2000), (5e3, 1500), (5e3, 9000), (1e9, 1_001_500_000)])
def test_poisson_far_out(rate: float, k: int) -> None:
    mp = pytest.importorskip("mpmath")
    law, upper = Poisson([rate]), k > rate
    with mp.workdps(50):
        m = mp.mpf(rate)
        first = k + 1 if upper else k
        log_mass = first * mp.log(m) - m - mp.loggamma(first + 1)
        log_tail = _mp_sum(mp, log_mass, (lambda j: m / (first + j)) if upper else lambda j: (first + 1 - j) / m)
        z = (-1 if upper else 1) * _mp_score(mp, log_tail)
        at_k = float(k * mp.log(m) - m - mp.loggamma(k + 1))
    np.testing.assert_allclose(law.to_normal(np.array([float(k)])), z, rtol=1e-13)
    np.testing.assert_allclose(law.logpmf(k), at_k, rtol=1e-13)
    assert law.from_normal(np.array([z]))[0] == k


@pytest.mark.parametrize(
    ("mean", "dispersion", "k"),
    [(1e-3, 1e-9, 400), (4.0, 0.5, 9000), (5e3, 1e-4, 800), (5e3, 1e-12, 2000), (5e3, 1e-12, 9000), (1e7, 2.0, 10**11)],
)
def test_negative_binomial_far_out(mean: float, dispersion: float, k: int) -> None:
    mp = pytest.importorskip("mpmath")
    law, upper = NegativeBinomial([mean], dispersion), k > mean
    with mp.workdps(60):
        n = 1 / mp.mpf(dispersion)
        q = mp.mpf(dispersion) * mean / (1 + mp.mpf(dispersion) * mean)

        def log_mass(i: int) -> Any:
            return mp.loggamma(n + i) - mp.loggamma(n) - mp.loggamma(i + 1) + n * mp.log(1 - q) + i * mp.log(q)

        at_k = float(log_mass(k))
        if k > 10**6:
            area = mp.quad(lambda s: mp.exp(-s) * (1 - q * mp.exp(-s / (k + 1))) ** (n - 1), [0, 1, 10, 100, mp.inf])
            log_tail = mp.log(area) + (k + 1) * mp.log(q) - mp.log((k + 1) * mp.beta(k + 1, n))
        elif upper:
            log_tail = _mp_sum(mp, log_mass(k + 1), lambda j: q * (n + k + j) / (k + 1 + j))
        else:
            log_tail = _mp_sum(mp, log_mass(k), lambda j: (k + 1 - j) / (q * (n + k - j)))
        z = (-1 if upper else 1) * _mp_score(mp, log_tail)
    np.testing.assert_allclose(law.to_normal(np.array([float(k)])), z, rtol=1e-12)
    np.testing.assert_allclose(law.logpmf(k), at_k, rtol=1e-12)


@continuous
def test_quantiles_and_scores_undo_each_other_far_into_both_tails(make: Maker, rng: np.random.Generator) -> None:
    law, _ = make(rng)
    z = np.concatenate([[-37.0, -20, -9, 9, 20, 37, 0.0], rng.normal(0, 3, 20)])[None, :]
    y = law.from_normal(z)
    inside = np.isfinite(y) & (np.abs(y) > 0) & (np.abs(y - law.median()[:, None]) > 0)
    assert inside.mean() > 0.85
    np.testing.assert_allclose(law.to_normal(y)[inside], np.broadcast_to(z, y.shape)[inside], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(law.from_normal(law.to_normal(y))[inside], y[inside], rtol=1e-11)


@given(
    shape=st.floats(-3, 9).map(lambda e: 10.0**e),
    z=st.floats(-37, 37),
    scale=st.floats(-5, 5).map(lambda e: 10.0**e),
)
def test_gamma_round_trip(shape: float, z: float, scale: float) -> None:
    law = Gamma(shape, scale)
    y = law.from_normal(np.array([z]))
    if y[0] > 1e-300:
        np.testing.assert_allclose(law.to_normal(y), z, rtol=1e-12, atol=1e-15 * np.sqrt(shape) + 1e-12)


@given(df=st.floats(-0.5, 9).map(lambda e: 10.0**e), z=st.floats(-37, 37))
def test_student_t_round_trip(df: float, z: float) -> None:
    law = StudentT(0.0, 1.0, df)
    y = law.from_normal(np.array([z]))
    if np.isfinite(y[0]):
        np.testing.assert_allclose(law.to_normal(y), z, rtol=1e-11, atol=1e-11)


@continuous
def test_log_slope_is_the_derivative_of_the_score(make: Maker, rng: np.random.Generator) -> None:
    law, _ = make(rng)
    for z in (-45.0, -8.0, -1.0, 0.6, 8.0, 45.0):
        y = law.from_normal(np.full(ROWS, z))
        good = np.isfinite(y) & (np.abs(y) > 1e-280) & (np.abs(y) < 1e200)
        width = np.exp(-law.log_slope(y)[good]) * 1e-4
        low, high = y[good] - width, y[good] + width
        slope = (law[good].to_normal(high) - law[good].to_normal(low)) / (high - low)
        np.testing.assert_allclose(np.log(slope), law.log_slope(y)[good], atol=2e-6)


def test_the_far_ends_are_finite() -> None:
    for law, y in (
        (Gamma(2.0, 1.0), 5000.0),
        (Gamma(2.0, 1.0), 1e300),
        (Gamma(2.0, 1.0), 1e-200),
        (StudentT(0.0, 1.0, 30.0), 1e12),
        (StudentT(0.0, 1.0, 1e8), 1e12),
        (Laplace(0.0, 1.0), 1e12),
        (Logistic(0.0, 1.0), -1e12),
        (LogNormal(0.0, 0.01), 1e300),
    ):
        point = np.array([y])
        assert np.isfinite([law.to_normal(point), law.logpdf(point), law.log_slope(point)]).all()
        np.testing.assert_allclose(law.from_normal(law.to_normal(point)), point, rtol=1e-12)


def test_the_slope_of_an_exponential_tail() -> None:
    u = np.array([1e12, -1e12])  # z = √(2u), so that dz/du = 1/√(2u), up to 1e-11
    np.testing.assert_allclose(Laplace([0.0, 0.0], 1.0).log_slope(u), -0.5 * np.log(2e12), rtol=1e-11)
    np.testing.assert_allclose(Logistic([0.0, 0.0], 1.0).log_slope(u), -0.5 * np.log(2e12), rtol=1e-11)


# ---- ends of the support, missing values ----
@every
def test_infinite_and_missing_values(make: Maker, rng: np.random.Generator) -> None:
    law, _ = make(rng)
    lower, upper = law.support
    np.testing.assert_array_equal(law.cdf([[-np.inf, np.inf, np.nan]]), np.tile([0.0, 1.0, np.nan], (ROWS, 1)))
    np.testing.assert_array_equal(law.from_normal(np.full(ROWS, -np.inf)), lower)
    np.testing.assert_array_equal(law.from_normal(np.full(ROWS, np.inf)), upper)
    np.testing.assert_array_equal(law.from_normal(np.full(ROWS, np.nan)), np.full(ROWS, np.nan))
    np.testing.assert_array_equal(law.ppf([[0.0, 1.0]]), np.column_stack([lower, upper]))
    log_likelihood = law.logpmf if law.is_discrete else law.logpdf
    np.testing.assert_array_equal(log_likelihood([[-np.inf, np.inf]]), -np.inf)
    assert np.isnan(log_likelihood(np.nan)).all()
    np.testing.assert_array_equal(law.crps(np.inf), np.inf)
    np.testing.assert_array_equal(law.crps(-np.inf), np.inf)
    assert np.isnan(law.crps(np.nan)).all()
    assert not np.isnan(law.from_normal(np.tile([-1e5, -1e3, 1e3, 1e5], (ROWS, 1)))).any()


@pytest.mark.parametrize("law", [LogNormal([0.0, 1.0], 0.5), Gamma([2.0, 0.3], 1.0)], ids=["LogNormal", "Gamma"])
def test_nothing_lies_below_a_bounded_support(law: Distribution) -> None:
    y = np.array([-3.0, -1e-9])
    np.testing.assert_array_equal(law.to_normal(y), -np.inf)
    np.testing.assert_array_equal(law.log_slope(y), -np.inf)
    np.testing.assert_array_equal(law.logpdf(y), -np.inf)
    np.testing.assert_allclose(law.crps(y), law.crps(0.0) - y, rtol=1e-12)


def test_density_of_gamma_at_zero_is_the_limit() -> None:
    np.testing.assert_array_equal(Gamma([0.5, 1.0, 2.0], 4.0).logpdf(0.0), [np.inf, -np.log(4.0), -np.inf])


def test_moments_that_do_not_exist_are_infinite() -> None:
    law = StudentT([1.0, 1.0, 1.0, 1.0], 2.0, [0.5, 1.0, 2.0, 4.0])
    np.testing.assert_array_equal(law.mean(), [np.inf, np.inf, 1.0, 1.0])
    np.testing.assert_array_equal(law.var(), [np.inf, np.inf, np.inf, 8.0])
    np.testing.assert_array_equal(np.isinf(law.crps(0.0)), [True, False, False, False])
    np.testing.assert_array_equal(law.tail_index, law.df)


def test_parameters_and_values_of_any_size_give_numbers(rng: np.random.Generator) -> None:
    def sizes(low: float, high: float) -> np.ndarray:
        return 10.0 ** rng.uniform(low, high, 400)

    wide = (-300, 300)
    y = np.concatenate([sizes(*wide)[:200], -sizes(*wide)[:200]])
    z = rng.standard_normal(400) * rng.choice([1.0, 10.0, 1e3], 400)
    for law in (
        StudentT(y[::-1], sizes(*wide), sizes(-4, 300)),
        Laplace(y[::-1], sizes(*wide)),
        Logistic(y[::-1], sizes(*wide)),
        LogNormal(y[::-1], sizes(*wide)),
        LogNormal(sizes(-3, 2), sizes(-12, 2)),
        Gamma(sizes(*wide), sizes(*wide)),
        Gamma(sizes(-4, 12), sizes(-3, 3)),
        Poisson(sizes(*wide)),
        NegativeBinomial(sizes(*wide), sizes(*wide)),
        NegativeBinomial(sizes(-4, 10), sizes(-12, 4)),
    ):
        with np.errstate(all="raise", under="ignore"):
            points = law.from_normal(z)
            results = [points, law.mean(), law.var()]
            for at in (y, points):
                results += [law.to_normal(at), law.crps(at), law.logpmf(at) if law.is_discrete else law.logpdf(at)]
        assert not np.isnan(results).any(), type(law).__name__


# ---- counts ----
@pytest.mark.parametrize("rate", [1e-3, 0.1, 1.0, 30.0, 1e4, 1e6, 1e9])
@pytest.mark.parametrize("dispersion", [None, 1e-10, 1e-3, 0.5, 20.0])
def test_quantiles_of_counts_are_exact(rate: float, dispersion: float | None, rng: np.random.Generator) -> None:
    law = Poisson([rate]) if dispersion is None else NegativeBinomial([rate], dispersion)
    z = np.concatenate([rng.normal(0, 2, 60), rng.uniform(-37, 37, 20), [-37.0, 37.0, 0.0]])[None, :]
    k = law.from_normal(z)
    assert (k == np.floor(k)).all() and (k >= 0).all()
    slack = 5e-13 * (1 + np.abs(z))
    assert (law.to_normal(k) >= z - slack).all()
    assert (law.to_normal(k - 1) < z + slack).all()
    again = law.from_normal(law.to_normal(k))
    np.testing.assert_array_equal(again[k < 1e10], k[k < 1e10])
    np.testing.assert_allclose(again, k, rtol=2e-12)  # beyond, neighbours differ by less than scores can tell


@counts
def test_quantile_of_a_counts_probability_is_the_count(make: Maker, rng: np.random.Generator) -> None:
    law, _ = make(rng)
    k = law.sample(30, random_state=3)
    q = law.cdf(k)
    np.testing.assert_array_equal(law.ppf(q), k)
    np.testing.assert_array_equal(law.ppf(np.nextafter(q, 0)), k)
    above = np.nextafter(q, 1)
    beyond = above < 1
    np.testing.assert_array_equal(law.ppf(above)[beyond], k[beyond] + 1)


@given(
    rate=st.floats(-3, 6).map(lambda e: 10.0**e),
    dispersion=st.floats(-6, 1).map(lambda e: 10.0**e),
    q=st.floats(1e-9, 1 - 1e-9),
    y=st.floats(0, 2),
)
def test_quantiles_and_probabilities_of_counts_are_adjoint(rate: float, dispersion: float, q: float, y: float) -> None:
    for law in (Poisson(rate), NegativeBinomial(rate, dispersion)):
        at = y * law.ppf(q)[0]
        assert (law.ppf(q)[0] <= at) == (q <= law.cdf(at)[0])


@counts
def test_sides_of_an_atom(make: Maker, rng: np.random.Generator) -> None:
    law, _ = make(rng)
    k = law.median() + 2
    np.testing.assert_array_equal(law.to_normal(k, "left"), law.to_normal(k - 1))
    np.testing.assert_array_equal(law.to_normal(k - 0.5, "left"), law.to_normal(k - 0.5))
    mass = ndtr(-law.to_normal(k, "left")) - ndtr(-law.to_normal(k, "right"))
    np.testing.assert_allclose(mass, np.exp(law.logpmf(k)), rtol=1e-7, atol=1e-15)
    np.testing.assert_array_equal(law.to_normal(np.zeros(ROWS), "left"), -np.inf)
    np.testing.assert_array_equal(law.logpmf([[0.5, -1.0, np.inf]]), -np.inf)
    assert law.has_atoms and law.is_discrete and law.on_integers


@counts
def test_probabilities_of_counts_add_up(make: Maker, rng: np.random.Generator) -> None:
    law, _ = make(rng)
    k = np.arange(200.0)[None, :]
    np.testing.assert_allclose(np.cumsum(np.exp(law.logpmf(k)), axis=1), law.cdf(k), rtol=1e-10, atol=1e-300)


def test_counts_have_no_density() -> None:
    for law in (Poisson(1.0), NegativeBinomial(1.0, 0.5)):
        name = type(law).__name__
        message = f"{name} has atoms, no density; use logpmf, or metrics.nll which does."
        for ask in (
            lambda law=law: law.log_slope(np.zeros(1)),
            lambda law=law: law.logpdf(0),
            lambda law=law: law.pdf(0),
        ):
            with pytest.raises(TypeError, match=message):
                ask()


def test_little_dispersion_is_poisson() -> None:
    k = np.array([[0.0, 1.0, 7.0, 30.0, 500.0]])
    for dispersion in (1e-18, 1e-99, 5e-324):
        law = NegativeBinomial([7.0, 0.5], dispersion)
        np.testing.assert_allclose(law.to_normal(k), Poisson([7.0, 0.5]).to_normal(k), rtol=1e-12)
        np.testing.assert_allclose(law.logpmf(k), Poisson([7.0, 0.5]).logpmf(k), rtol=1e-12)
        np.testing.assert_allclose(law.crps(3.0), Poisson([7.0, 0.5]).crps(3.0), rtol=1e-12)


# ---- batches ----
@every
def test_shapes(make: Maker, rng: np.random.Generator) -> None:
    law, _ = make(rng)
    y = law.sample(4, random_state=0)
    assert y.shape == (ROWS, 4)
    table = law.cdf(y)
    assert table.shape == (ROWS, 4)
    np.testing.assert_array_equal(table[:, 1], law.cdf(y[:, 1]))
    np.testing.assert_array_equal(law.cdf(y[:1])[7], law[7].cdf(y[:1])[0])
    np.testing.assert_array_equal(law.cdf(2.5), law.cdf(np.full(ROWS, 2.5)))
    np.testing.assert_array_equal(law.to_normal(np.asarray(2.5)), law.to_normal(np.full(ROWS, 2.5)))
    np.testing.assert_array_equal(law.from_normal(np.asarray(0.3)), law.from_normal(np.full(ROWS, 0.3)))
    assert law.quantiles([0.1, 0.5, 0.9]).shape == (ROWS, 3)
    assert law.ppf([[0.2, 0.7]]).shape == (ROWS, 2)
    assert law.crps(y[:, 0]).shape == law.mean().shape == law.var().shape == (ROWS,)


@every
def test_rows_can_be_taken_and_laid_end_to_end(make: Maker, rng: np.random.Generator) -> None:
    law, _ = make(rng)
    y = law.sample(1, random_state=1)[:, 0]
    mask = np.arange(ROWS) % 3 == 0
    np.testing.assert_array_equal(law[mask].cdf(y[mask]), law.cdf(y)[mask])
    whole = concatenate([law[:20], law[20:]])
    assert type(whole) is type(law)
    np.testing.assert_array_equal(whole.crps(y), law.crps(y))
    assert len(law[3]) == 1 and len(law[:0]) == 0
    assert law[:0].cdf(np.empty(0)).shape == law[:0].crps(np.empty(0)).shape == law[:0].median().shape == (0,)


@every
def test_large_batches_are_worked_on_in_blocks(make: Maker, rng: np.random.Generator) -> None:
    law, _ = make(rng)
    many = law[np.arange(20_000) % ROWS]
    y = many.median()
    np.testing.assert_array_equal(y[:ROWS], law.median())
    np.testing.assert_array_equal(many.crps(y)[-1], law.crps(law.median())[(20_000 - 1) % ROWS])


@every
def test_samples_follow_the_law(make: Maker, rng: np.random.Generator) -> None:
    law, _ = make(rng)
    y = law.sample(200, random_state=5)
    low, high = ndtr(law.to_normal(y, "left")), ndtr(law.to_normal(y, "right"))
    pit = low + rng.uniform(size=y.shape) * (high - low)
    assert stats.kstest(pit.ravel(), "uniform").pvalue > 0.001


def test_parameters_of_many_kinds() -> None:
    index = pd.Index(["a", "b"])
    law = Gamma(pd.Series([1, 2], index=index), 3)
    assert list(law.to_frame().index) == ["a", "b"]
    assert list(NegativeBinomial(mean=pd.Series([1, 2], index=index), dispersion=1).index) == ["a", "b"]
    np.testing.assert_array_equal(Poisson(np.array([[1.0], [2.0]], dtype=np.float32)).mean(), [1.0, 2.0])
    assert repr(StudentT([0, 1], 1, 3)) == "StudentT(n=2)"


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: StudentT([0.0, 0.0], 1.0, [3.0, 0.0]),
            r"`df` must be positive; 1 of 2 values is not, first df\[1\] = 0.0",
        ),
        (lambda: StudentT(0.0, -1.0, 3.0), "Constant predictions"),
        (lambda: Laplace([0.0, np.nan], 1.0), r"`loc` must be finite; 1 of 2 values is not, first loc\[1\] = nan"),
        (lambda: Logistic(0.0, [1.0, 0.0]), r"`scale` must be positive; 1 of 2"),
        (lambda: LogNormal(0.0, 0.0), "It is the standard deviation of log y"),
        (
            lambda: Gamma([-1.0, 2.0, -3.0], 1.0),
            r"`shape` must be positive; 2 of 3 values are not, first shape\[0\] = -1.0",
        ),
        (lambda: Gamma(1.0, np.inf), "`scale` must be finite"),
        (
            lambda: Poisson([1.0, 0.0]),
            r"`rate` must be positive; .* rate\[1\] = 0.0. A rate of 0 rules out every count but 0",
        ),
        (
            lambda: NegativeBinomial([1.0, 0.0], 1.0),
            r"`mean` must be positive; 1 of 2 values is not, first mean\[1\] = 0.0",
        ),
        (lambda: NegativeBinomial(1.0, [0.0, 1.0]), "`dispersion` must be positive.*No overdispersion. Use Poisson"),
        (lambda: Gamma([1.0, 2.0], [1.0, 2.0, 3.0]), "parameters must have one length; got shape 2, scale 3"),
        (lambda: Poisson([1.0, 2.0]).cdf([1.0, 2.0, 3.0]), "for 2 forecasts"),
        (lambda: Poisson([1.0, 2.0]).ppf([50, 90]), "Percent"),
    ],
)
def test_errors_name_what_is_wrong(build: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()


# ---- the pieces ----
def test_factorials_keep_their_digits() -> None:
    mp = pytest.importorskip("mpmath")
    a = np.array([1e-3, 0.3, 2.0, 15.9, 16.1, 300.0, 1e7, 1e14])
    with mp.workdps(50):
        half = [float(mp.loggamma(mp.mpf(v) + 0.5) - mp.loggamma(mp.mpf(v))) for v in a]
        log_factorials = [mp.loggamma(mp.mpf(v) + 1) for v in a]
        steps = [(mp.mpf(v) + 0.5) * mp.log(mp.mpf(v)) - mp.mpf(v) + mp.log(2 * mp.pi) / 2 for v in a]
        stirling = [float(f - s) for f, s in zip(log_factorials, steps, strict=True)]
        x = a * 1.0001
        poisson = [
            float(mp.mpf(v) * mp.log(mp.mpf(w)) - mp.mpf(w) - f) for v, w, f in zip(a, x, log_factorials, strict=True)
        ]
        beta = [
            float(mp.mpf(v) * mp.log(mp.mpf(1) / 3) + 5 * mp.log(mp.mpf(2) / 3) - mp.log(mp.beta(v, 5))) for v in a[:-2]
        ]
    np.testing.assert_allclose(log_half_step(a), half, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(stirling_error(a), stirling, rtol=1e-12, atol=2e-14)
    np.testing.assert_allclose(log_gamma_kernel(a, x), poisson, rtol=1e-12)
    five, odds = np.full(6, 5.0), np.full(6, 2.0)
    np.testing.assert_allclose(log_beta_kernel(a[:-2], five, odds, (2 * a[:-2] - 5) / 3), beta, rtol=1e-12)


def test_scores_of_log_probabilities() -> None:
    mp = pytest.importorskip("mpmath")
    z = np.array([-0.1, -3.0, -40.0, -1e3, -1e6])
    with mp.workdps(40):
        logs = [float(mp.log(mp.erfc(-mp.mpf(v) / mp.sqrt(2)) / 2)) for v in z]
        hazards = [
            float(-(mp.mpf(v) ** 2) / 2 - mp.log(2 * mp.pi) / 2 - mp.log(mp.erfc(-mp.mpf(v) / mp.sqrt(2)) / 2))
            for v in z
        ]
    np.testing.assert_allclose(score_from_log(np.array(logs)), z, rtol=1e-14)
    np.testing.assert_allclose(log_normal_hazard(-z), hazards, rtol=1e-14, atol=1e-15)
    assert score_from_log(np.array([-np.inf]))[0] == -np.inf


def test_units_at_the_ends_of_the_floats():
    assert Normal([0.0], 1e300).var()[0] == np.inf and Normal([0.0], 1e-300).var()[0] == 0
    assert Recalibrated(Normal([0.0], 1e300), AffineMap(slope=0.5)).var()[0] == np.inf
    assert Poisson([1.0]).logpmf([1e307])[0] == -np.inf and Poisson([1.0]).cdf([1e307])[0] == 1


def test_rough_quantiles_of_t_are_polished(rng: np.random.Generator) -> None:
    """What is done where SciPy's inverse has eight digits only."""
    df, size = rng.uniform(0.5, 40, 200), np.exp(rng.normal(0, 1, 200))
    rough = size * (1 + 4e-9 * rng.choice([-1.0, 1.0], 200))
    np.testing.assert_allclose(polished(df, rough, stats.t.sf(size, df)), size, rtol=1e-13)
    assert np.array_equal(polished(df, 3 * size, stats.t.sf(size, df)), 3 * size)  # too far for one step


def test_quantiles_of_one_shape_are_worked_out_once():
    levels, df = [0.001, 0.05, 0.5, 0.99], np.array([5.0, 5.0, 2.5])
    for rows in (slice(0, 2), slice(0, 3)):  # one shape, two shapes
        law = StudentT([0.0, 10.0, -3.0], [1.0, 2.0, 0.5], df)[rows]
        expected = stats.t.ppf(levels, law.df[:, None], law.loc[:, None], law.scale[:, None])
        np.testing.assert_allclose(law.quantiles(levels), expected, rtol=1e-12, atol=1e-12)
