from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import simpson
from scipy.special import ndtri

from calibrant import metrics
from calibrant.distributions.families.normal import Normal
from calibrant.distributions.tables.ensemble import Ensemble
from calibrant.metrics.tests.null_laws import anderson_darling_sf, cramer_von_mises_sf

TESTS = [metrics.anderson_darling_test, metrics.cramer_von_mises_test, metrics.ks_test]


def at_pits(p):
    return ndtri(np.asarray(p)), Normal(np.zeros(len(p)), 1.0)


def test_anderson_darling_by_hand():
    p = np.array([0.1, 0.4, 0.7])
    expected = -3 - (np.log(0.1 * 0.3) + 3 * np.log(0.4 * 0.6) + 5 * np.log(0.7 * 0.9)) / 3
    assert metrics.anderson_darling(*at_pits(p[[2, 0, 1]])) == pytest.approx(expected, rel=1e-12)


def test_anderson_darling_is_finite_where_probabilities_round_to_1():
    y = np.array([-60.0, 0.0, 60.0])
    tail = 60.0**2 / 2 + np.log(60 * np.sqrt(2 * np.pi))  # -log of either tail
    expected = -3 + (2 * tail + 6 * np.log(2)) / 3
    assert metrics.anderson_darling(y, Normal(np.zeros(3), 1.0)) == pytest.approx(expected, rel=1e-6)


def test_anderson_darling_sees_both_tails_alike(rng):
    y, law = 3 + rng.normal(size=100), Normal(np.zeros(100), 1.0)
    assert metrics.anderson_darling(y, law) == pytest.approx(metrics.anderson_darling(-y, law), rel=1e-9)


def test_anderson_darling_of_atoms_uses_the_middle():
    die = Ensemble(np.tile(np.arange(1.0, 7.0), (3, 1)), kind="discrete")
    expected = metrics.anderson_darling(*at_pits((np.array([1, 4, 6]) - 0.5) / 6))
    assert metrics.anderson_darling([4.0, 6.0, 1.0], die) == pytest.approx(expected, rel=1e-9)
    assert metrics.anderson_darling([4.0, 7.0, 1.0], die) == np.inf  # 7 is impossible


def test_statistics_and_p_values_are_scipys(rng):
    p = rng.beta(1.1, 0.9, 60)
    ks, theirs = metrics.ks_test(*at_pits(p)), stats.kstest(p, "uniform")
    assert ks.statistic == pytest.approx(theirs.statistic, rel=1e-9)
    assert ks.pvalue == pytest.approx(theirs.pvalue, rel=1e-9)
    cvm, theirs = metrics.cramer_von_mises_test(*at_pits(p)), stats.cramervonmises(p, "uniform")
    assert cvm.statistic == pytest.approx(theirs.statistic, rel=1e-9)
    assert cvm.pvalue == pytest.approx(theirs.pvalue, rel=1e-9)


@pytest.mark.parametrize("n", [3, 20, 1000])
def test_cramer_von_mises_law_is_scipys(n):
    for distance in (0.01, 0.1, 0.3, 0.5, 0.7):
        p = np.clip((np.arange(n) + 0.5) / n + distance / np.sqrt(n), 0, 1)
        theirs = stats.cramervonmises(p, "uniform")
        assert cramer_von_mises_sf(theirs.statistic, n) == pytest.approx(min(theirs.pvalue, 1.0), abs=1e-12)


@pytest.mark.parametrize(("p", "statistic"), [(0.25, 1.2480), (0.10, 1.9330), (0.05, 2.4922), (0.01, 3.8784)])
def test_anderson_darling_law_has_the_published_quantiles(p, statistic):
    assert anderson_darling_sf(statistic, 1e9) == pytest.approx(p, rel=2e-3)


@pytest.mark.parametrize("n", [5, 8])
def test_anderson_darling_law_of_few_rows_is_that_of_draws(n, rng):
    u = np.sort(rng.random((300_000, n)), axis=1)
    odd = 2 * np.arange(1, n + 1) - 1
    drawn = -n - np.sum(odd * (np.log(u) + np.log1p(-u[:, ::-1])), axis=1) / n
    for p in (0.008, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99):
        error = 4 * np.sqrt(p * (1 - p) / 300_000) + 5e-4  # of the draws, and of Marsaglia & Marsaglia's fit
        assert 1 - anderson_darling_sf(np.quantile(drawn, p), n) == pytest.approx(p, abs=error)


@pytest.mark.parametrize(("p", "statistic"), [(0.25, 0.20939), (0.10, 0.34730), (0.05, 0.46136), (0.01, 0.74346)])
def test_cramer_von_mises_law_has_the_published_quantiles(p, statistic):
    assert cramer_von_mises_sf(statistic, 1e9) == pytest.approx(p, rel=1e-4)


def imhof(xs, eigenvalues, rest):
    """P(Σ λ χ² > x) by Imhof's integral, for each x; the eigenvalues that are left out act through their sum."""
    u = np.linspace(1e-9, 400, 8001)[:, None]
    angle = 0.5 * np.sum(np.arctan(eigenvalues * u), axis=1)
    decay = np.exp(-0.25 * np.sum(np.log1p((eigenvalues * u) ** 2), axis=1))
    u = u[:, 0]
    return [0.5 + simpson(np.sin(angle + 0.5 * (rest - x) * u) * decay / u, x=u) / np.pi for x in xs]


def test_limiting_laws_by_another_integral():
    j, xs = np.arange(1, 2001), [0.3, 0.5, 1.0, 3.0]
    found = [anderson_darling_sf(x, 1e12) for x in xs]
    assert found == pytest.approx(imhof(xs, 1 / (j * (j + 1)), 1 / 2001), abs=1e-7)
    rest = 1 / 6 - np.sum(1 / (j * np.pi) ** 2)
    found = [cramer_von_mises_sf(x / 6, 1e12) for x in xs]
    assert found == pytest.approx(imhof(xs, 6 / (j * np.pi) ** 2, 6 * rest), abs=1e-7)


def test_far_tails_keep_their_relative_accuracy():
    # the largest eigenvalue rules: P(A² > x) ~ c x^-1/2 exp(-x), P(ω² > x) ~ c x^-1/2 exp(-π² x / 2)
    ratio = anderson_darling_sf(101.0, 1e9) / anderson_darling_sf(100.0, 1e9)
    assert ratio == pytest.approx(np.exp(-1) * np.sqrt(100 / 101), rel=1e-3)
    ratio = cramer_von_mises_sf(31.0, 1e9) / cramer_von_mises_sf(30.0, 1e9)
    assert ratio == pytest.approx(np.exp(-(np.pi**2) / 2) * np.sqrt(30 / 31), rel=1e-3)
    assert 0 < anderson_darling_sf(100.0, 50) < 1e-40


@pytest.mark.parametrize("law", [anderson_darling_sf, cramer_von_mises_sf])
@pytest.mark.parametrize("n", [1, 5, 50, 1e6])
def test_p_values_fall_as_the_statistic_grows(law, n):
    values = [law(x, n) for x in np.linspace(0.0, 12.0, 801)]
    assert values[0] == 1.0 and np.all(np.diff(values) <= 1e-9) and 0 <= values[-1] < 1e-4


@pytest.mark.parametrize("n", [3, 8, 40])
def test_p_values_are_uniform_for_calibrated_forecasts(n, rng):
    """Under calibration P(p-value <= a) = a, here to four standard errors of 2500 repetitions."""
    repeats = 2500
    p = np.sort(rng.random((repeats, n)), axis=1)
    ranks = 2 * np.arange(1, n + 1) - 1
    a2 = -n - ((np.log(p) + np.log1p(-p[:, ::-1])) * ranks).mean(axis=1)
    w2 = 1 / (12 * n) + ((p - ranks / (2 * n)) ** 2).sum(axis=1)
    for law, statistics in ((anderson_darling_sf, a2), (cramer_von_mises_sf, w2)):
        values = np.array([law(s, n) for s in statistics])
        for a in (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9):
            assert abs(np.mean(values <= a) - a) < 4 * np.sqrt(a * (1 - a) / repeats)


@pytest.mark.parametrize("test", TESTS)
def test_calibrated_forecasts_pass_and_others_fail(test, rng):
    mu = rng.normal(size=500)
    passed = [test(mu + rng.normal(size=500), Normal(mu, 1.0)).pvalue for _ in range(200)]
    assert stats.kstest(passed, "uniform").pvalue > 0.01
    for wrong in (Normal(mu, 0.7), Normal(mu, 1.5), Normal(mu + 0.3, 1.0)):
        assert test(mu + rng.normal(size=500), wrong).pvalue < 0.001


@pytest.mark.parametrize("test", TESTS)
def test_counts_are_tested_by_randomised_values(test, rng):
    counts = rng.poisson(0.7, (400, 300)).astype(float)
    law = Ensemble(counts, kind="discrete")
    y = counts[np.arange(400), rng.integers(0, 300, 400)]
    assert test(y, law, random_state=3).pvalue > 0.01
    assert test(y, law, random_state=3) == test(y, law, random_state=3)
    assert test(y, law, kind="mid").pvalue < 1e-6
    with pytest.raises(ValueError, match="`random_state` must be None with kind='mid'"):
        test(y, law, kind="mid", random_state=3)


def test_results_have_names():
    names = [test([0.0], Normal([0.0], 1.0)).name for test in TESTS]
    assert names == ["Anderson-Darling", "Cramér-von Mises", "Kolmogorov-Smirnov"]
