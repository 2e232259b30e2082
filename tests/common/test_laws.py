"""What must hold for every law, and for every law seen through every map."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import kstest

from calibrant import distributions as d
from calibrant.maps import StepMap, UnitTails
from tests.common.examples import BATCH_MAPS, LAWS, MAPS, ROWS, exported, missing, normal_levels, some_levels

PAIRS = [pytest.param(law, None, id=law) for law in LAWS] + [
    pytest.param(law, map, id=f"{law} x {map}") for law in LAWS for map in MAPS | BATCH_MAPS
]
# Every law through every second map, and every map on every second law: what has to be integrated or drawn takes long.
SOME = PAIRS[: len(LAWS)] + [
    pytest.param(law, map, id=f"{law} x {map}")
    for i, law in enumerate(LAWS)
    for j, map in enumerate(MAPS | BATCH_MAPS)
    if (i + j) % 2 == 0
]


def make(law_name, map_name, seed):
    rng = np.random.default_rng(seed)
    law = LAWS[law_name](rng)
    if map_name is None:
        return law, rng
    map = (MAPS | BATCH_MAPS)[map_name](rng)
    bounded = np.isfinite(np.concatenate(law.support)).all()  # far scores round to the ends of the support
    if bounded and map.has_steps:
        map = StepMap(5 * np.tanh(map.knots / 5), map.cumulative)
    if (law.has_heavy_tails or bounded or law.on_integers) and not map.has_steps:  # and counts reach far
        map = UnitTails(map, -2.0, 2.0)
    return d.Recalibrated(law, map), rng


def test_every_law_has_an_example(rng):
    laws = exported(d, d.Distribution)
    assert len(laws) >= 16 and not missing(d, d.Distribution, LAWS)
    for name, make_one in LAWS.items():
        law = make_one(rng)
        assert len(law) == ROWS and type(law) is laws[name.partition(",")[0]]


@pytest.mark.parametrize(("law_name", "map_name"), SOME)
def test_cdf_rises_and_ppf_inverts_it(law_name, map_name):
    for seed in (0, 4321):
        check_cdf_and_ppf(*make(law_name, map_name, seed))


def check_cdf_and_ppf(law, rng):
    q = some_levels(rng)
    y = law.quantiles(q)
    assert y.shape == (ROWS, len(q))
    assert np.all(np.diff(y, axis=1) >= 0)
    finite = np.isfinite(y)
    assert finite.mean() > 0.9
    grid = np.sort(np.where(finite, y, 0.0) + 0.3 * rng.standard_normal(y.shape), axis=1)
    assert np.all(np.diff(law.cdf(grid), axis=1) >= -1e-15)
    assert np.allclose(law.cdf(grid) + law.sf(grid), 1, atol=1e-12)
    if not law.has_atoms:
        assert np.allclose(law.cdf(y), np.broadcast_to(q, y.shape), rtol=1e-8, atol=1e-13)
    points = np.concatenate([grid, np.where(finite, y, 0.0)], axis=1)
    cdf = law.cdf(points)
    for level in q:
        reached = law.ppf(level)[:, None] <= points
        clear = np.abs(cdf - level) > 1e-9
        assert np.array_equal(reached[clear], (level <= cdf)[clear])


X, W = np.polynomial.legendre.leggauss(10)
FAR = np.array([14, 17, 20, 25, 30, 37])
SCORES = np.concatenate([-FAR, np.arange(-12, 0, 0.1), np.arange(0, 12.1, 0.25), FAR])


@cache
def split(law_name, map_name):
    """A law, and where integrals over y are split: quantiles, bends and atoms of the law and its parts."""
    law, _ = make(law_name, map_name, 0)
    bends = np.tile(np.arange(0.0, 800.0), (ROWS, 1)) if law.on_integers else law._kinks()
    base = getattr(law, "base", law)
    parts = (law, *getattr(base, "components", ()))
    return law, np.hstack([*(part.from_normal(SCORES[None, :]) for part in parts), bends])


def cuts_at(places, *more):
    """The same, and at given points."""
    return np.sort(np.clip(np.hstack([places, *(m[:, None] for m in more)]), -1e150, 1e150), axis=1)


def rule(cuts):
    """Points and weights of Gauss-Legendre between all cuts, (n, m)."""
    half = 0.5 * np.diff(cuts)[:, :, None]
    y = (cuts[:, :-1, None] + half) + half * X
    y = np.where(half > 0, y, np.take_along_axis(y, half.argmax(axis=1)[:, :, None], axis=1))  # no node on an atom
    return y.reshape(ROWS, -1), (half * W).reshape(ROWS, -1)


def by_blocks(function, y):
    """A function of many points; beyond 4000 maps may tabulate."""
    blocks = np.array_split(y, y.shape[1] // (200 * len(X)) + 1, axis=1)
    return np.hstack([function(block) for block in blocks])


def integral(function, cuts):
    """Gauss-Legendre between all cuts, (n,)."""
    y, weights = rule(cuts)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(weights > 0, weights * by_blocks(function, y), 0.0).sum(axis=1)


def resolved(law, cuts):
    """Cuts halved until the density adds up to 1: it may fall steeply beside a knot of smooth rows."""
    for _ in range(8):
        if np.allclose(expectations(law, cuts)(np.ones_like), 1, rtol=0, atol=1e-10):
            break
        cuts = np.sort(np.hstack([cuts, 0.5 * (cuts[:, 1:] + cuts[:, :-1])]), axis=1)
    return cuts


def both_tails(z):
    return ndtr(z) * ndtr(-z)


def expectations(law, cuts):
    """The function h -> E h(Y), from density and atoms, each of which is asked for once."""
    y, weights = rule(cuts)
    with np.errstate(over="ignore", invalid="ignore"):
        masses = 0.0 * y if law.is_discrete else weights * by_blocks(law.pdf, y)
    masses = np.where(weights > 0, masses, 0.0)
    if law.has_atoms:
        atoms = np.sort(cuts, axis=1)
        mass = np.where(np.diff(atoms, prepend=-np.inf) > 0, np.exp(law.logpmf(atoms)), 0.0)
        y, masses = np.hstack([y, atoms]), np.hstack([masses, mass])

    def expectation(h):
        with np.errstate(over="ignore", invalid="ignore"):
            return np.where(masses != 0, masses * h(y), 0.0).sum(axis=1)

    return expectation


@pytest.mark.parametrize(("law_name", "map_name"), SOME)
def test_density_and_atoms_add_up_to_the_cdf(law_name, map_name, rng):
    law, places = split(law_name, map_name)
    low, high = law.from_normal(np.sort(rng.normal(0, 1.2, (ROWS, 2)), axis=1)).T
    cuts = cuts_at(places, low, high)
    cuts = resolved(law, cuts) if map_name == "SmoothRows" else cuts
    inside = expectations(law, cuts)(lambda y: (y > low[:, None]) & (y <= high[:, None]))
    assert np.allclose(inside, law.cdf(high) - law.cdf(low), rtol=1e-7, atol=1e-9)
    if law.is_discrete:
        with pytest.raises((TypeError, ValueError), match="logpmf|atoms"):
            law.log_slope(low)


@pytest.mark.parametrize(("law_name", "map_name"), SOME)
def test_moments_and_crps_agree_with_quadrature(law_name, map_name, rng):
    law, places = split(law_name, map_name)
    y = law.from_normal(rng.normal(0, 1.5, ROWS)) + 0.1 * law.std()
    cuts = cuts_at(places, y)
    cuts = resolved(law, cuts) if map_name == "SmoothRows" else cuts
    expectation = expectations(law, cuts)
    mean = expectation(lambda t: t)
    var = expectation(lambda t: np.square(t - mean[:, None]))
    assert np.allclose(law.mean(), mean, rtol=1e-6, atol=1e-6 * np.sqrt(var))
    assert np.allclose(law.var(), var, rtol=1e-6)
    distance = expectation(lambda t: np.abs(t - y[:, None]))
    spread = integral(lambda t: both_tails(law.to_normal(t)), cuts)  # half the mean distance of two draws
    assert np.allclose(law.crps(y), distance - spread, rtol=1e-6)


@pytest.mark.parametrize(("law_name", "map_name"), SOME)
def test_samples_follow_the_cdf(law_name, map_name):
    law, rng = make(law_name, map_name, 7)
    draws = law.sample(2000, random_state=3)
    assert draws.shape == (ROWS, 2000)
    u = right = ndtr(law.to_normal(draws, "right"))
    if law.has_atoms:
        left = ndtr(law.to_normal(draws, "left"))
        u = left + rng.random(draws.shape) * (right - left)
    else:  # no value has a left side of its own
        assert np.array_equal(law.to_normal(draws[:, :50], "left"), law.to_normal(draws[:, :50]))
    for row in range(ROWS):
        assert kstest(u[row], "uniform").pvalue > 1e-5
    assert np.array_equal(law.sample(50, random_state=3), law.sample(50, random_state=3))


@pytest.mark.parametrize(("law_name", "map_name"), PAIRS)
def test_rows_slice_and_join(law_name, map_name):
    law, rng = make(law_name, map_name, 11)
    y = law.from_normal(rng.normal(0, 1, ROWS))
    whole = law.cdf(y)
    assert np.allclose(law[[2, 0]].cdf(y[[2, 0]]), whole[[2, 0]])
    assert np.allclose(law[np.array([False, True, True])].cdf(y[1:]), whole[1:])
    again = d.concatenate([law[:1], law[1:]])
    assert np.allclose(again.cdf(y), whole) and len(again) == ROWS
    assert np.allclose(again.median(), law.median())
    assert np.allclose(law.cdf(y[:, None])[:, 0], whole)
    assert np.allclose(law.cdf(np.tile(y[0], (1, 1)))[0, 0], whole[0])


@pytest.mark.parametrize(("law_name", "map_name"), PAIRS)
def test_nothing_returns_nan(law_name, map_name):
    law, _ = make(law_name, map_name, 5)
    wild = np.array([[-np.inf, -1e300, -1e5, -1e-300, 0.0, 1e-300, 1e5, 1e300, np.inf]])
    assert not np.isnan(law.cdf(wild)).any() and not np.isnan(law.logsf(wild)).any()
    assert np.all(np.diff(law.cdf(wild)) >= 0)
    assert np.all(law.cdf(wild)[:, [0, -1]] == [0, 1])
    assert not np.isnan(law.ppf(np.array([[0.0, 1e-300, 0.5, 1 - 1e-16, 1.0]]))).any()
    if law.is_discrete:
        assert not np.isnan(law.logpmf(wild)).any()
    elif not law.has_atoms:
        assert not np.isnan(law.logpdf(wild)).any()
    low, high = law.support
    draws = law.sample(50, random_state=0)
    assert np.all(draws >= low[:, None]) and np.all(draws <= high[:, None])


def test_normal_levels_are_scores_of_levels():
    assert np.allclose(ndtr(normal_levels(np.random.default_rng(0))), some_levels(np.random.default_rng(0)))
