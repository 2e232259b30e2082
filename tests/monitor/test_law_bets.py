"""Alternatives to laws, against their densities written down again."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import legendre

from calibrant import Normal, Poisson
from calibrant.distributions import Censored
from calibrant.monitor.bets import CAP
from calibrant.monitor.law_bets import LawBets

BETS = LawBets(LawBets.KINDS)


def shifted(d):
    return lambda z: stats.norm.pdf(z, d) / stats.norm.pdf(z)


def scaled(log_scale):
    return lambda z: stats.norm.pdf(z, 0, np.exp(log_scale)) / stats.norm.pdf(z)


def with_outliers(share, scale):
    return lambda z: 1 - share + share * stats.norm.pdf(z, 0, scale) / stats.norm.pdf(z)


def tail(lower, often):
    """The lowest or highest twentieth comes so many times as often."""
    inside = (lambda z: stats.norm.cdf(z) < 0.05) if lower else (lambda z: stats.norm.cdf(z) > 0.95)
    return lambda z: np.where(inside(z), often, (1 - 0.05 * often) / 0.95)


def wave(k, height):
    return lambda z: 1 + height * legendre(k)(2 * stats.norm.cdf(z) - 1)


SHIFTS = (0.1, 0.2, 0.4, 0.8, 1.6)
RATIOS = [
    *[shifted(sign * d) for sign in (1, -1) for d in SHIFTS],
    *[scaled(s) for s in (-0.8, -0.4, -0.2, 0.2, 0.4, 0.8, 1.6)],
    with_outliers(0.02, 5.0),
    with_outliers(0.1, 2.5),
    *[tail(lower, often) for lower in (True, False) for often in (2.0, 0.4)],
    *[wave(k, height) for k in (3, 4) for height in (0.8, 0.4, -0.4, -0.8)],
]


def test_gains_are_log_ratios_of_densities():
    z = np.array([-3.1, -1.7, -0.4, 0.0, 0.8, 1.66, 2.9])
    seen = BETS.seen(Normal(np.full(7, 5.0), 2.0), 5.0 + 2.0 * z)
    expected = np.minimum(np.log([ratio(z) for ratio in RATIOS]).T, CAP)
    np.testing.assert_allclose(seen.gains, expected, atol=1e-12)
    np.testing.assert_allclose(seen.sums, np.column_stack([z**0, z, z**2, z < -1.645, z > 1.645]), atol=1e-12)


@pytest.mark.parametrize("law", [Poisson, lambda mu: Censored(Normal(mu, 1.5), 2.0, 5.0)])
def test_atoms_win_the_mean_ratio_over_their_pit_values(law):
    mu, y = 3.3, np.array([2.0, 3.0, 5.0])
    dist = law(np.full(3, mu))
    seen = BETS.seen(dist, y)
    cut = np.array([-1, 1]) * stats.norm.ppf(0.95)
    for row in range(3):
        low, high = (float(dist.to_normal(y, side)[row]) for side in ("left", "right"))
        if high - low < 1e-9:
            z = np.array([low, low + 1e-9])
        else:
            z = np.linspace(max(low, -37), min(high, 37), 20_001)
            z = np.sort(np.concatenate([z, [c + side for c in cut for side in (-1e-12, 1e-12) if low < c < high]]))
        density = stats.norm.pdf(z)
        mean = [integrate.trapezoid(ratio(z) * density, z) / integrate.trapezoid(density, z) for ratio in RATIOS]
        np.testing.assert_allclose(np.exp(seen.gains[row]), np.minimum(mean, np.exp(CAP)), rtol=1e-5)


def test_counts_are_fair_bets_and_have_the_moments_of_scores():
    y = np.arange(60.0)
    mass = stats.poisson(4.2).pmf(y)
    seen = BETS.seen(Poisson(np.full(60, 4.2)), y)
    mean = mass @ np.exp(seen.gains)
    assert (mean <= 1 + 1e-9).all() and (mean[:4] > 1 - 1e-5).all()
    np.testing.assert_allclose(mass @ seen.sums, [1, 0, 1, 0.05, 0.05], atol=1e-12)


def test_cut_bets_never_win_on_average():
    z = np.linspace(-12, 12, 20_001)
    mean = integrate.trapezoid(np.exp(BETS.seen(Normal(np.zeros(len(z)), 1.0), z).gains).T * stats.norm.pdf(z), z)
    assert (mean <= 1 + 2e-4).all() and (mean > 0.5).all()


def test_outcomes_out_of_reach_win_no_more_than_the_cap():
    seen = BETS.seen(Censored(Normal(np.zeros(3), 1.0), -1.0, 1.0), np.array([-5.0, 5.0, 0.0]))
    assert np.isfinite(seen.gains).all() and seen.gains.max() == CAP
    assert seen.sums[:2, 1].tolist() == [-10, 10] and seen.sums[:, 2].max() == 100


def test_tolerated_faults_do_not_win_on_average():
    """Means of exp(δz - δ²/2) and exp(az²)/s of z ~ N(m, σ²) are largest where m = 0.1 and σ = 1.1."""
    z, tau = np.array([0.3]), 0.1
    strict, lax = (LawBets(LawBets.KINDS, t).seen(Normal([0.0], 1.0), z).gains[0] for t in (0.0, tau))
    toll, shift, log_scale = strict - lax, 0.4, 0.2
    assert toll[2] == pytest.approx(shift * 0.1 + shift**2 * (1.1**2 - 1) / 2, abs=1e-5)
    a = 0.5 * (1 - np.exp(-2 * log_scale))
    rest = 1 - 2 * a * 1.1**2
    assert toll[13] == pytest.approx(-log_scale - 0.5 * np.log(rest) + a * 0.1**2 / rest, abs=1e-3)
    below = stats.norm.cdf(stats.norm.ppf(0.05), -0.1, 1.1)
    assert toll[19] == pytest.approx(np.log1p((below - 0.05) / 0.95), abs=1e-6)
    assert (toll > 0).all()


def test_some_kinds_are_columns_of_all():
    y = np.array([-2.0, 0.3])
    some, every = (LawBets(kinds).seen(Normal([0.0, 0.0], 1.0), y).gains for kinds in (("width", "shape"), BETS.kinds))
    np.testing.assert_array_equal(some, every[:, [*range(10, 17), *range(23, 31)]])
