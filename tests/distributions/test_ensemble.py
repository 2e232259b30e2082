"""Ensembles beside quadrature, scoringrules and properscoring."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import properscoring
import pytest
import scoringrules
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import quad
from scipy.special import ndtr, ndtri

from calibrant.distributions import Ensemble, Recalibrated, concatenate
from calibrant.distributions.tables.segments import hat_products, mean_square, square_below, tail_moments
from calibrant.maps import AffineMap


def moments_by_quadrature(law, y):
    """Mean, variance and CRPS of single laws from their cdf alone."""
    return np.array([_moments_of_one(law[i], outcome) for i, outcome in enumerate(y)]).T


def _moments_of_one(law, outcome):
    def cdf(t):
        return float(law.cdf([t])[0])

    centre, (low, high) = float(law.median()[0]), law.from_normal(np.array([[-12.0, 12.0]]))[0]
    cuts = np.unique(np.concatenate([law.samples[0], [low, high, outcome, centre]]))
    first = second = crps = 0.0
    for a, b in pairwise(cuts):
        tail = (lambda t: -cdf(t)) if b <= centre else (lambda t: 1 - cdf(t))
        step = float(a >= outcome)
        first += quad(tail, a, b, epsabs=1e-13)[0]
        second += quad(lambda t, tail=tail: 2 * (t - centre) * tail(t), a, b, epsabs=1e-13)[0]
        crps += quad(lambda t, step=step: (cdf(t) - step) ** 2, a, b, epsabs=1e-13)[0]
    return centre + first, second - first**2, crps


@pytest.fixture
def samples(rng):
    x = 10 + 3 * rng.standard_normal((5, 8))
    x[1, :4] = x[1, 0]  # an atom
    x[2] = np.round(x[2])
    x[3] *= 1e-4
    return x


@pytest.mark.parametrize("weights", [None, [1, 2, 0, 3, 1, 1, 0.5, 0.25], [0.3, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]])
@pytest.mark.parametrize("kind", ["smooth", "discrete"])
def test_closed_forms_agree_with_quadrature(samples, weights, kind):
    law = Ensemble(samples, weights=weights, kind=kind)
    y = np.array([9.0, samples[1, 0], 40.0, samples[3].mean(), -20.0])
    mean, var, crps = moments_by_quadrature(law, y)
    np.testing.assert_allclose(law.mean(), mean, rtol=1e-10)
    np.testing.assert_allclose(law.var(), var, rtol=1e-8)
    np.testing.assert_allclose(law.std(), np.sqrt(var), rtol=1e-8)
    np.testing.assert_allclose(law.crps(y), crps, rtol=1e-9)


def test_smooth_ensemble_passes_through_ranks_and_ends_with_slope_one_over_sd(rng):
    x = rng.standard_normal((3, 9))
    law = Ensemble(x)
    np.testing.assert_allclose(law.cdf(np.sort(x, axis=1)), np.tile(np.arange(1, 10) / 10, (3, 1)), rtol=1e-13)
    sd = x.std(axis=1, ddof=1)
    beyond = x.max(axis=1) + 2.5 * sd
    np.testing.assert_allclose(law.to_normal(beyond), ndtri(0.9) + 2.5, rtol=1e-12)
    np.testing.assert_allclose(law.log_slope(beyond), -np.log(sd), rtol=1e-12)
    np.testing.assert_allclose(law.to_normal(x.min(axis=1) - sd), ndtri(0.1) - 1, rtol=1e-12)


@pytest.mark.parametrize("kind", ["smooth", "discrete"])
def test_weight_two_is_the_member_twice(samples, rng, kind):
    weights = np.array([1, 2, 0, 3, 1, 1, 4, 1])
    law, repeated = Ensemble(samples, weights, kind), Ensemble(np.repeat(samples, weights, axis=1), kind=kind)
    y, grid = rng.normal(10, 3, 5), np.concatenate([np.linspace(0, 20, 41), samples[1]])[None, :]
    for side in ("left", "right"):
        np.testing.assert_allclose(law.to_normal(grid, side), repeated.to_normal(grid, side), atol=1e-13)
    levels = np.linspace(0.01, 0.99, 33)
    np.testing.assert_allclose(law.quantiles(levels), repeated.quantiles(levels), rtol=1e-13)
    for name in ("mean", "std"):
        np.testing.assert_allclose(getattr(law, name)(), getattr(repeated, name)(), rtol=1e-12)
    np.testing.assert_allclose(law.crps(y), repeated.crps(y), rtol=1e-12)
    for estimator in ("empirical", "fair"):
        np.testing.assert_allclose(law.ensemble_crps(y, estimator), repeated.ensemble_crps(y, estimator), rtol=1e-11)
    assert law.has_atoms and repeated.has_atoms


def test_equal_probabilities_are_equal_members_and_missing_members_weigh_nothing(rng):
    x, y = rng.standard_normal((4, 6)), rng.standard_normal(4)
    plain, shares = Ensemble(x), Ensemble(x, weights=np.full((4, 6), 1 / 6))
    np.testing.assert_allclose(shares.cdf(y), plain.cdf(y), rtol=1e-12)
    np.testing.assert_allclose(shares.ensemble_crps(y, "fair"), plain.ensemble_crps(y, "fair"), rtol=1e-12)
    assert not shares.has_atoms
    with_gap = np.column_stack([x, np.full(4, np.nan)])
    gappy = Ensemble(with_gap, weights=[1, 1, 1, 1, 1, 1, 0])
    np.testing.assert_allclose(gappy.cdf(y), plain.cdf(y), rtol=1e-12)
    np.testing.assert_allclose(gappy.crps(y), plain.crps(y), rtol=1e-12)


def test_ensemble_crps_agrees_with_scoringrules_and_properscoring(rng):
    x, y = rng.standard_normal((200, 17)) * 2 + 5, rng.normal(5, 4, 200)
    law = Ensemble(x)
    np.testing.assert_allclose(law.ensemble_crps(y), properscoring.crps_ensemble(y, x), rtol=1e-10)
    np.testing.assert_allclose(law.ensemble_crps(y), scoringrules.crps_ensemble(y, x, estimator="nrg"), rtol=1e-10)
    fair = scoringrules.crps_ensemble(y, x, estimator="fair")
    np.testing.assert_allclose(law.ensemble_crps(y, "fair"), fair, rtol=1e-9, atol=1e-12)
    w = rng.uniform(0.1, 2, x.shape)
    weighted = properscoring.crps_ensemble(y, x, weights=w)
    np.testing.assert_allclose(Ensemble(x, w).ensemble_crps(y), weighted, rtol=1e-9)
    np.testing.assert_allclose(Ensemble(x, kind="discrete").crps(y), law.ensemble_crps(y), rtol=1e-13)


def test_fair_crps_does_not_depend_on_the_number_of_members(rng):
    y = rng.standard_normal(60_000)
    fair = [Ensemble(rng.standard_normal((60_000, m)), kind="discrete").ensemble_crps(y, "fair") for m in (2, 30)]
    truth = 1 / np.sqrt(np.pi)  # expected CRPS of the true standard normal law
    for scores in fair:
        assert abs(scores.mean() - truth) < 4 * scores.std() / np.sqrt(len(y))
    assert Ensemble(rng.standard_normal((60_000, 2))).ensemble_crps(y).mean() > truth + 0.2


values = st.integers(-4, 4).map(float) | st.floats(-5, 5, allow_subnormal=False)


@given(
    x=arrays(float, (2, 6), elements=values), kind=st.sampled_from(["smooth", "discrete"]), q=st.floats(0.001, 0.999)
)
def test_generalised_inverse_also_with_ties(x, kind, q):
    x[:, 0] = x.max(axis=1) + 1.0  # no constant rows
    law = Ensemble(x, kind=kind)
    grid = np.sort(np.concatenate([x, x + 0.25], axis=1), axis=1)
    quantile, cdf = law.ppf(q), law.cdf(grid)
    clear = np.abs(cdf - q) > 1e-11
    assert np.array_equal((quantile[:, None] <= grid)[clear], (q <= cdf)[clear])
    assert np.all(np.diff(cdf) >= 0)
    inner = (cdf > 0) & (cdf < 1)
    again = law.ppf(np.clip(cdf, 1e-9, 1 - 1e-9))
    if kind == "discrete":
        members = np.sort(x, axis=1)
        assert np.array_equal(law.ppf(law.cdf(members)), members)
    else:
        np.testing.assert_allclose(again[inner], grid[inner], rtol=1e-7, atol=1e-7)
        ties = law.to_normal(law.samples) > law.to_normal(law.samples, "left")
        assert np.array_equal(law.ppf(law.cdf(law.samples))[ties], law.samples[ties])


def test_atoms_have_probability_but_no_density():
    law = Ensemble([[1.0, 1.0, 1.0, 2.0, 5.0]])
    assert law.has_atoms and not law.is_discrete
    assert np.exp(law.logpmf([1.0]))[0] == pytest.approx(2 / 6)
    assert law.logpmf([2.0])[0] == -np.inf
    with pytest.raises(ValueError, match=r"`y` sits on an atom .* 1 of 1 places, first y\[0\] = 1.0.*Use logpmf"):
        law.logpdf([1.0])
    assert np.isfinite(law.logpdf([1.5])).all()
    raw = Ensemble([[1.0, 1.0, 2.0, 5.0]], kind="discrete")
    assert raw.is_discrete and np.exp(raw.logpmf([1.0]))[0] == pytest.approx(0.5)
    assert raw.support[0][0] == 1.0 and raw.support[1][0] == 5.0
    with pytest.raises(ValueError, match="use logpmf"):
        raw.logpdf([1.0])


def test_both_tails_of_weighted_members_keep_their_digits():
    law = Ensemble([[1.0, 2.0, 3.0]], weights=[1e-20, 5.0, 1e-20], kind="discrete")
    np.testing.assert_allclose(law.cdf([1.0]), 2e-21, rtol=1e-10)
    np.testing.assert_allclose(law.sf([2.0]), 2e-21, rtol=1e-10)
    assert law.from_normal(law.to_normal(np.array([[1.0, 2.0, 3.0]])))[0].tolist() == [1.0, 2.0, 3.0]


def test_recalibrated_narrow_ensembles_cover(rng):
    n, truth = 5000, rng.standard_normal(5000)
    law = Ensemble(truth[:, None] + 0.5 * rng.standard_normal((n, 20)))
    y = truth + rng.standard_normal(n)
    z = law.to_normal(y)
    wide = Recalibrated(law, AffineMap(0.0, 1 / z.std())).interval(0.9)
    cover = np.mean((wide[:, 0] <= y) & (y <= wide[:, 1]))
    raw = Ensemble(law.samples, kind="discrete").interval(0.99999)
    assert 0.88 < cover < 0.92
    assert np.mean((raw[:, 0] <= y) & (y <= raw[:, 1])) < 0.75


def test_rows_and_index():
    frame = pd.DataFrame([[3.0, 1.0, 2.0], [6.0, 4.0, 5.0]], index=["a", "b"])
    law = Ensemble(frame)
    assert list(law[1:].index) == ["b"] and list(concatenate([law, law]).index) == ["a", "b", "a", "b"]
    assert list(frame.iloc[0]) == [3.0, 1.0, 2.0]
    weighted = Ensemble(frame, weights=[[1, 2, 1], [1, 1, 3]])
    y = np.array([1.5, 5.5])
    for whole in (law, weighted):
        assert np.allclose(concatenate([whole[1], whole[0]]).cdf(y[::-1]), whole.cdf(y)[::-1])
        assert np.allclose(whole[[1, 0, 1]].crps(y[[1, 0, 1]]), whole.crps(y)[[1, 0, 1]])
    mixed = concatenate([law, Ensemble([[1.0, 2.0]])])  # other numbers of members: no common table
    assert np.allclose(mixed.median(), [2.0, 5.0, 1.5])
    assert np.allclose(concatenate([law, weighted]).median(), np.concatenate([law.median(), weighted.median()]))


def test_inputs_of_all_kinds_give_the_same_law_and_stay_untouched(rng):
    x = rng.integers(0, 50, (6, 5)) + np.arange(5)
    y = rng.normal(25, 10, 6)
    expected = Ensemble(x.astype(float)).crps(y)
    frozen = x.astype(float)
    frozen.setflags(write=False)
    wide = np.repeat(x.astype(float), 2, axis=1)
    for given_ in (x, x.astype(np.float32), x.tolist(), frozen, wide[:, ::2], np.asfortranarray(x), pd.DataFrame(x)):
        np.testing.assert_allclose(Ensemble(given_).crps(y), expected, rtol=1e-12)
    before = wide.copy()
    Ensemble(wide)
    assert np.array_equal(wide, before)


@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_extreme_scales(scale):
    base, law = Ensemble([[1.0, 2.0, 4.0, 8.0]]), Ensemble([[scale, 2 * scale, 4 * scale, 8 * scale]])
    for name in ("mean", "std", "median"):
        np.testing.assert_allclose(getattr(law, name)(), getattr(base, name)() * scale, rtol=1e-12)
    np.testing.assert_allclose(law.crps([3 * scale]), base.crps([3.0]) * scale, rtol=1e-12)
    np.testing.assert_allclose(law.to_normal(np.array([20 * scale])), base.to_normal(np.array([20.0])), rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Ensemble([[1.0, np.nan], [1, 2]]), r"`samples` must be finite; 1 of 4 .* samples\[0, 1\] = nan"),
        (lambda: Ensemble([[1.0, np.inf]], weights=[1, 1]), r"`samples` must be finite; 1 of 2"),
        (lambda: Ensemble([1.0, 2.0]), r"`samples` must be \(n, m\).*shape \(2,\)"),
        (lambda: Ensemble(np.empty((2, 0))), "at least one member"),
        (
            lambda: Ensemble([[1, 2], [3, 3], [5, 5]]),
            r"equal in 2 of 3 rows, first row 1 \(all 3.0\).*ResidualCalibrator",
        ),
        (lambda: Ensemble([[1, 2]], weights=[1, -1]), r"`weights` must be non-negative; 1 of 2"),
        (lambda: Ensemble([[1, 2]], weights=[0, 0]), "`sum of weights` must be positive"),
        (lambda: Ensemble([[1, 2]], weights=[1, 2, 3]), r"`weights` must be \(2,\) or \(1, 2\)"),
        (lambda: Ensemble([[1, 2]], kind="raw"), "`kind` must be one of 'smooth', 'discrete'"),
        (lambda: Ensemble([[1, 2]]).ensemble_crps([1.0], "biased"), "`estimator` must be one of"),
        (lambda: Ensemble([[1]], kind="discrete").ensemble_crps([1.0], "fair"), "at least two members"),
        (lambda: Ensemble([[-1e308, 1e308]]), "spread of samples"),
        (lambda: Ensemble([[1, 2], [1, 3]]).crps([1.0]), r"`y` must be"),
    ],
)
def test_errors_say_what_is_wrong(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@given(a=st.floats(-8, 8), width=st.floats(1e-9, 9))
def test_segment_integrals_agree_with_quadrature(a, width):
    b = a + width
    square, _ = quad(lambda t: ndtr(t) ** 2, a, b, epsabs=1e-15, epsrel=1e-12)
    assert mean_square(np.array([a]), np.array([b]))[0] * width == pytest.approx(square, rel=1e-9, abs=1e-13)
    phi = lambda t: np.exp(-t * t / 2) / np.sqrt(2 * np.pi)  # noqa: E731
    weights = (lambda r: (1 - r) ** 2, lambda r: r * (1 - r), lambda r: r**2)
    for product, weight in zip(hat_products(np.array([a, b])), weights, strict=True):
        exact, _ = quad(lambda t, w=weight: w((t - a) / width) * phi(t), a, b, epsabs=1e-15, epsrel=1e-12)
        assert product[0] == pytest.approx(exact, rel=1e-10, abs=1e-13)


@pytest.mark.parametrize("t", [-3.0, 0.0, 0.7, 4.0])
def test_tail_integrals_agree_with_quadrature(t):
    assert square_below(np.array([t]))[0] == pytest.approx(
        quad(lambda s: ndtr(s) ** 2, -40, t, epsabs=1e-15)[0], abs=1e-13
    )
    phi = lambda s: np.exp(-s * s / 2) / np.sqrt(2 * np.pi)  # noqa: E731
    for order, moment in enumerate(tail_moments(np.array([t]))):
        assert moment[0] == pytest.approx(quad(lambda s, k=order: (s - t) ** k * phi(s), t, 40)[0], abs=1e-12)


@pytest.mark.parametrize("m", [11, 40, 300])
def test_many_members_weigh_as_they_count(rng, m):
    x, y = rng.gamma(2.0, 1.0, (20, m)), rng.gamma(2.0, 1.0, 20)
    plain = Ensemble(x)
    assert not plain.has_atoms and plain.knots.shape[1] < m
    gaps = np.column_stack([np.full((20, 2), np.nan), x, np.full((20, 1), np.nan)])
    for other in (
        Ensemble(x, np.ones(m)),
        Ensemble(x, np.full((20, m), 1 / m)),
        Ensemble(gaps, [0.0, 0.0, *np.ones(m), 0.0]),
        Ensemble(x[:, ::-1]),
    ):
        for name in ("cdf", "logpdf", "crps"):
            np.testing.assert_allclose(getattr(other, name)(y), getattr(plain, name)(y), rtol=1e-10, err_msg=name)
    doubled = Ensemble(x, 2 * np.ones(m))  # every member twice: atoms
    assert doubled.has_atoms and doubled.tied.all()


def test_density_of_many_members_is_near_that_of_the_law_they_are_drawn_from(rng):
    y = rng.standard_normal(20_000)
    truth = np.square(y) / 2 + np.log(2 * np.pi) / 2
    for m, most in ((20, 0.19), (100, 0.06), (400, 0.03)):
        law = Ensemble(rng.standard_normal((20_000, m)))
        loss = float(np.mean(-law.logpdf(y) - truth))
        assert 0 < loss < most


def test_rows_with_equal_members_keep_them_and_the_others_do_not_notice(rng):
    x = rng.standard_normal((6, 60))
    tied = x.copy()
    tied[2, 10:30] = tied[2, 10]
    law, plain = Ensemble(tied), Ensemble(x)
    others, y = [0, 1, 3, 4, 5], rng.standard_normal(6)
    for name in ("cdf", "logpdf", "crps"):
        rows = getattr(law[others], name)(y[others]), getattr(plain, name)(y)[others]
        np.testing.assert_allclose(*rows, rtol=1e-12, err_msg=name)
    np.testing.assert_allclose(law.mean()[others], plain.mean()[others], rtol=1e-12)
    atom = tied[2, 10]
    jump = law[2].to_normal(np.array([atom])), law[2].to_normal(np.array([atom]), "left")
    np.testing.assert_allclose(ndtr(jump[0]) - ndtr(jump[1]), 19 / 61, rtol=1e-12)
    both = concatenate([law, plain])
    np.testing.assert_allclose(both.cdf(np.tile(y, 2)), np.concatenate([law.cdf(y), plain.cdf(y)]), rtol=1e-12)
