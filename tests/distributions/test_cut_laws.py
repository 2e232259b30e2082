"""Truncated and censored laws: closed forms beside quadrature and scoringrules; atoms on the cuts."""

from __future__ import annotations

import numpy as np
import pytest
import scoringrules
from scipy import stats

from calibrant import metrics
from calibrant.distributions import Censored, Laplace, Logistic, Normal, Poisson, StudentT, Truncated, concatenate
from calibrant.distributions.integrals import cut_laws, quadrature

ROWS = 240
BASES = {
    "normal": lambda rng, loc, scale: Normal(loc, scale),
    "logistic": lambda rng, loc, scale: Logistic(loc, scale),
    "t": lambda rng, loc, scale: StudentT(loc, scale, rng.uniform(4, 12, ROWS)),
}


@pytest.fixture
def cut(rng):
    """Cuts from the middle to far in both tails, some of them infinite, and outcomes on both sides of them."""
    loc, scale = rng.normal(0, 1, ROWS), np.exp(rng.normal(0, 0.5, ROWS))
    lower = loc + scale * rng.uniform(-7, 7, ROWS)
    upper = lower + scale * np.exp(rng.uniform(-1, 3, ROWS))
    lower[:40], upper[30:80] = -np.inf, np.inf
    y = np.clip(loc + scale * rng.normal(0, 3, ROWS), lower, upper) + 0.3 * scale * rng.normal(0, 1, ROWS)
    return loc, scale, lower, upper, y


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("kind", [Truncated, Censored])
def test_closed_forms_are_the_integrals(kind, name, rng, cut):
    loc, scale, lower, upper, y = cut
    law = kind(BASES[name](rng, loc, scale), lower, upper)
    rtol = 3e-7 if name == "t" else 1e-9  # quadrature's own error in tails of index 4
    np.testing.assert_allclose(law.mean(), quadrature.mean(law), rtol=rtol, atol=rtol)
    np.testing.assert_allclose(law.std(), np.sqrt(quadrature.variance(law)), rtol=10 * rtol)
    np.testing.assert_allclose(law.crps(y), quadrature.crps(law, y), rtol=1e-10)


@pytest.mark.parametrize("name", BASES)
def test_closed_forms_are_used(name, rng, cut, monkeypatch):
    loc, scale, lower, upper, y = cut
    law = Truncated(BASES[name](rng, loc, scale), lower, upper)
    assert law._cuts.clear(second=True).mean() > 0.9
    monkeypatch.setattr(quadrature, "crps", None)
    clear = law._cuts.clear()
    assert np.isfinite(law[clear].crps(y[clear])).all()
    assert np.isfinite(Censored(law.base, lower, upper).crps(y)).all()


@pytest.mark.parametrize(
    ("name", "truncated", "censored"),
    [
        ("normal", scoringrules.crps_tnormal, scoringrules.crps_cnormal),
        ("logistic", scoringrules.crps_tlogistic, scoringrules.crps_clogistic),
    ],
)
def test_agrees_with_scoringrules(name, truncated, censored, rng):
    loc, scale, y = rng.normal(0, 1, ROWS), np.exp(rng.normal(0, 0.5, ROWS)), rng.normal(0, 2, ROWS)
    base, lower, upper = BASES[name](rng, loc, scale), loc - scale, loc + 2 * scale
    np.testing.assert_allclose(
        Truncated(base, lower, upper).crps(y), truncated(y, loc, scale, lower, upper), rtol=1e-10
    )
    np.testing.assert_allclose(Censored(base, lower, upper).crps(y), censored(y, loc, scale, lower, upper), rtol=1e-10)


def test_t_agrees_with_scoringrules(rng):
    loc, scale, y, df = (
        rng.normal(0, 1, 50),
        np.exp(rng.normal(0, 0.5, 50)),
        rng.normal(0, 2, 50),
        rng.uniform(2, 9, 50),
    )
    base, lower, upper = StudentT(loc, scale, df), loc - scale, loc + 2 * scale
    expected = scoringrules.crps_tt(y, df, loc, scale, lower, upper)
    np.testing.assert_allclose(Truncated(base, lower, upper).crps(y), expected, rtol=1e-9)
    np.testing.assert_allclose(
        Censored(base, lower, upper).crps(y), scoringrules.crps_ct(y, df, loc, scale, lower, upper), rtol=1e-9
    )


@pytest.mark.parametrize("start", [1.5, 4.0, 11.0, 30.0])
def test_far_cuts_keep_their_digits(start):
    """Beyond a far cut the law is nearly exponential with rate equal to the cut."""
    law = Truncated(Normal([0.0, 0.0], 1.0), [start, -np.inf], [np.inf, -start])
    hazard = np.exp(stats.norm.logpdf(start) - stats.norm.logsf(start))
    np.testing.assert_allclose(law.mean(), [hazard, -hazard], rtol=1e-12)
    np.testing.assert_allclose(law.var(), quadrature.variance(law), rtol=1e-9)
    y = np.array([start + 1 / start, -start - 1 / start])
    np.testing.assert_allclose(law.crps(y), quadrature.crps(law, y), rtol=1e-9)
    exponential = (1 + 2 * np.exp(-1) - 1.5) / start
    assert law.crps(y)[0] == pytest.approx(exponential, rel=1.2 / start**2)


def test_narrow_intervals_are_uniform():
    law = Truncated(Normal([0.0], 1.0), 0.5, 0.5 + 1e-6)
    np.testing.assert_allclose(law.mean(), 0.5 + 0.5e-6, rtol=1e-12)
    np.testing.assert_allclose(law.crps([0.5]), 1e-6 / 3, rtol=1e-5)
    assert cut_laws.NARROW > 1e-6


def test_mirror_images(rng):
    y = rng.normal(0, 1, 3)
    for kind in (Truncated, Censored):
        law, image = kind(Logistic([0.3] * 3, 1.0), -1.0, 4.0), kind(Logistic([-0.3] * 3, 1.0), -4.0, 1.0)
        np.testing.assert_allclose(law.crps(y), image.crps(-y), rtol=1e-13)
        np.testing.assert_allclose(law.mean(), -image.mean(), rtol=1e-13)
        np.testing.assert_allclose(law.std(), image.std(), rtol=1e-13)


def test_heavy_tails():
    for kind in (Truncated, Censored):
        law = kind(StudentT([0.0] * 3, 1.0, [0.4, 1.0, 1.5]), 0.0, [np.inf, 3.0, np.inf])
        assert law.crps([1.0] * 3)[0] == np.inf and np.isfinite(law.crps([1.0] * 3)[1:]).all()
        assert law.mean()[0] == np.inf and np.isfinite(law.mean()[1:]).all()
        assert law.std()[[0, 2]].tolist() == [np.inf, np.inf] and np.isfinite(law.std()[1])


# ---- censored laws are laws with atoms ----
def test_masses_sit_on_the_cuts():
    law = Censored(Normal([0.0, 1.0], 1.0), 0.0, 2.0)
    assert law.has_atoms and not law.is_discrete
    np.testing.assert_allclose(np.exp(law.logpmf(0.0)), stats.norm.cdf([0.0, -1.0]), rtol=1e-12)
    np.testing.assert_allclose(np.exp(law.logpmf(2.0)), stats.norm.sf([2.0, 1.0]), rtol=1e-12)
    assert law.logpmf(1.0).tolist() == [-np.inf, -np.inf]
    np.testing.assert_allclose(law.logpdf(1.0), stats.norm.logpdf([1.0, 0.0]), rtol=1e-12)
    assert law.logpdf([-1.0, 3.0]).tolist() == [-np.inf, -np.inf]
    with pytest.raises(ValueError, match=r"sits on an atom .* Use logpmf"):
        law.logpdf(0.0)
    assert law.ppf(0.05).tolist() == [0.0, 0.0] and law.ppf(0.999).tolist() == [2.0, 2.0]
    assert law.cdf([-1e-9, 2.0]).tolist() == [0.0, 1.0] and law.sf([0.0, -1.0]).tolist() == [0.5, 1.0]


def test_scores_and_slopes_together(rng):
    law = Censored(Normal([0.0, 1.0], 1.0), 0.0, 2.0)
    y = np.array([[0.3, 1.9, -1.0], [0.1, 1.0, 5.0]])
    z, log_slope = law.score_and_log_slope(y)
    np.testing.assert_array_equal(z, law.to_normal(y))
    np.testing.assert_array_equal(log_slope, law.log_slope(y))
    assert log_slope[:, 2].tolist() == [-np.inf, -np.inf] and z[:, 2].tolist() == [-np.inf, np.inf]


def test_log_score_is_density_inside_and_mass_on_the_cuts():
    law = Censored(Normal([0.0, 1.0, 1.0], 1.0), 0.0)
    expected = -np.array([np.log(0.5), stats.norm.logpdf(1.0), stats.norm.logpdf(0.5)])
    np.testing.assert_allclose(metrics.nll([0.0, 2.0, 1.5], law, per_row=True), expected, rtol=1e-12)


def test_draws_are_clipped(rng):
    law = Censored(Laplace([0.0], 1.0), -1.0, 2.0)
    draws = law.sample(200_000, random_state=0)[0]
    assert draws.min() == -1.0 and draws.max() == 2.0
    assert np.mean(draws == -1.0) == pytest.approx(0.5 * np.exp(-1), abs=3e-3)
    assert law.mean()[0] == pytest.approx(draws.mean(), abs=0.01)
    assert law.std()[0] == pytest.approx(draws.std(), abs=0.01)
    spread = 0.5 * np.abs(draws[::2] - draws[1::2]).mean()
    assert law.crps([0.7])[0] == pytest.approx(np.abs(draws - 0.7).mean() - spread, abs=0.01)


def test_counts_that_end_with_the_stock():
    law = Censored(Poisson([3.0]), upper=4.0)
    k = np.arange(5.0)
    p = stats.poisson.pmf(k, 3.0)
    p[-1] = stats.poisson.sf(3, 3.0)
    np.testing.assert_allclose(np.exp(law.logpmf(k[None]))[0], p, rtol=1e-10)
    assert law.on_integers and law.is_discrete
    np.testing.assert_allclose(law.mean(), k @ p, rtol=1e-10)
    crps = p @ np.abs(k - 2) - 0.5 * p @ np.abs(k[:, None] - k) @ p
    np.testing.assert_allclose(law.crps([2.0]), crps, rtol=1e-9)
    assert not Censored(Poisson([3.0]), upper=4.5).on_integers


def test_rows_join():
    law = Censored(Normal([0.0, 1.0, 2.0], 1.0), [0.0, 0.5, 1.0])
    again = concatenate([law[:1], law[1:]])
    assert isinstance(again, Censored) and np.array_equal(again.mean(), law.mean())


def test_bad_cuts():
    with pytest.raises(ValueError, match=r"`lower` must not exceed `upper`; it does in 1 of 2 rows, first row 1"):
        Censored(Normal([0.0, 0.0], 1.0), [0.0, 3.0], 2.0)
    with pytest.raises(TypeError, match="`base` must be a distribution; got tuple"):
        Censored((0, 1), 0.0)
