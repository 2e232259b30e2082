"""The monotone flow whose coefficients follow the forecast."""

from __future__ import annotations

import time
from functools import cache

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.base import clone

from calibrant import Gamma, Normal, Poisson, StudentT, load, metrics, save
from calibrant.calibration.pit_watch import unwatched
from calibrant.maps.flow import FlowMap, HatFlowMap
from calibrant.numerics import roots
from calibrant.numerics.copies import merged
from calibrant.regression import flow
from calibrant.regression.features import fit_basis, fit_features, weighted_quantiles
from calibrant.regression.flow import FlowCalibrator, _Problem
from experiments.song2019.toy.toy import toy

LEVELS = [0.1, 0.5, 0.9]


@pytest.fixture
def data(rng):
    mu, sigma = rng.normal(0, 2, 300), np.exp(rng.normal(0, 0.5, 300))
    return mu, sigma, mu + 0.3 + 2 * sigma * rng.standard_normal(300)


@cache
def on_the_toy(seed):
    """Fitted to the toy of that seed, once for tests that only look at it."""
    old, _ = toy(seed)
    return FlowCalibrator().fit(old.base, old.y)


class TestToy:
    def test_finds_the_two_modes(self):
        nll = []
        for seed in range(3):
            _, new = toy(seed)
            start = time.process_time()
            law = on_the_toy(seed).transform(new.base)
            assert time.process_time() - start < 2.0
            nll.append(metrics.nll(new.y, law))
        assert np.mean(nll) < 2.42  # the base has 3.11, no beta map less than 2.75, the true law 2.28

    def test_densities_are_proper(self):
        _, new = toy(0)
        law = on_the_toy(0).transform(new.base[:20])
        grid = np.linspace(-400.0, 400.0, 40_001)[None, :]
        density = law.pdf(grid)
        assert density.min() >= 0
        assert np.allclose(np.trapezoid(density, grid[0]), 1, atol=1e-6)
        assert np.allclose(law.cdf(law.quantiles(LEVELS)), LEVELS, atol=1e-9)
        assert np.allclose(np.trapezoid(density * grid, grid[0]), law.mean(), atol=1e-5)


def test_gradient():
    rng = np.random.default_rng(0)
    u, basis, w = rng.normal(0, 1.5, 20), rng.normal(size=(20, 3)), rng.uniform(0.5, 2, 20)
    problem = _Problem.of(u, basis, w, np.linspace(-1, 1, 4), 0.4)
    theta = 0.5 * rng.standard_normal(3 * 7)
    assert check_grad(lambda t: problem.loss(t)[0], lambda t: problem.loss(t)[1], theta) < 1e-6


def test_loss_is_the_log_density_of_the_map():
    rng = np.random.default_rng(1)
    u, w, centres = rng.normal(0, 1.5, 20), rng.uniform(0.5, 2, 20), np.linspace(-1, 1, 4)
    theta = 0.3 * rng.standard_normal(7)
    a, b, heights = np.exp(theta[0]), np.exp(theta[1]), np.exp(theta[3:] - 3)
    one = np.ones(20)
    map = FlowMap(
        a * one, b * one, theta[2] * one, np.tile(heights, (20, 1)), np.tile(centres, (20, 1)), 0.4 * one, 0 * one, one
    )
    expected = w @ (map.log_slope(u) - 0.5 * map(u) ** 2 + 0.5 * u**2)  # density of the new law over the base's
    at_zero = FlowMap(one, one, 0 * one, np.zeros((20, 4)), np.tile(centres, (20, 1)), 0.4 * one, 0 * one, one)
    assert np.allclose(at_zero.log_slope(u) - 0.5 * at_zero(u) ** 2 + 0.5 * u**2, 0, atol=1e-12)
    loss = _Problem.of(u, np.ones((20, 1)), w, centres, 0.4).loss(theta)[0] * w.sum() - 0.5 * theta @ theta
    flat = w @ (-0.5 * u**2 - 0.5 * np.log(2 * np.pi))
    assert -loss - flat == pytest.approx(expected, rel=1e-10)


def test_scaled_problem_is_the_same_likelihood_with_another_prior():
    rng = np.random.default_rng(1)
    u, basis, w, prior = (
        rng.normal(0, 1.5, 20),
        rng.normal(size=(20, 3)),
        rng.uniform(0.5, 2, 20),
        np.array([1, 0.5, 2]),
    )
    problem = _Problem.of(u, basis, w, np.linspace(-1, 1, 4), 0.4)
    theta = 0.3 * rng.standard_normal((7, 3))
    assert np.allclose(
        problem.scaled(prior).likelihood(theta.ravel())[0], problem.likelihood((theta * prior).ravel())[0]
    )
    for each in (problem, problem.scaled(prior)):
        expected = (0.5 * np.sum(theta**2) - w @ each.likelihood(theta.ravel())[0]) / w.sum()
        assert each.loss(theta.ravel())[0] == pytest.approx(expected)


@pytest.mark.usefixtures("laws_only")
@pytest.mark.parametrize(("n", "limit"), [(100, 0.008), (300, 0.004)])
def test_harmless_where_nothing_is_wrong(n, limit):
    cost = []
    for draw in range(8):
        rng = np.random.default_rng([n, draw])
        mu, sigma = rng.normal(size=n + 5000), np.exp(0.5 * rng.standard_normal(n + 5000))
        y = mu + sigma * rng.standard_normal(len(mu))
        law = Normal(mu, sigma)
        new = FlowCalibrator().fit(law[:n], y[:n]).transform(law[n:])
        cost.append(metrics.nll(y[n:], new) - metrics.nll(y[n:], law[n:]))
    assert np.mean(cost) < limit  # with penalty 1 about 0.06 and 0.04


@pytest.mark.usefixtures("laws_only")
def test_forecast_itself_keeps_the_share_that_unseen_outcomes_give_it():
    old, _ = toy(0)
    clearly_wrong = FlowCalibrator().fit(old.base, old.y)
    assert clearly_wrong.base_share_ <= 0.02 and clearly_wrong.penalty_ == 1
    right = FlowCalibrator().fit(old.base, old.base.from_normal(np.random.default_rng(0).standard_normal(360)))
    assert right.base_share_ >= 0.5
    law, expected = clearly_wrong.transform(old.base), clearly_wrong.base_share_
    clearly_wrong.base_share_ = 0.0
    alone = clearly_wrong.transform(old.base)
    share = (law.cdf(old.y) - alone.cdf(old.y)) / (old.base.cdf(old.y) - alone.cdf(old.y))
    assert np.allclose(share, expected, atol=1e-9)


def test_larger_penalty_makes_maps_more_alike():
    rng = np.random.default_rng(0)
    mu = rng.normal(size=400)
    base, y = Normal(mu, 1.2), mu + np.sin(2 * mu) + rng.standard_normal(400)
    spreads = []
    for penalty in (1.0, 16.0, 1e6):
        law = FlowCalibrator(penalty=penalty).fit(base, y).transform(base)
        spreads.append(float(np.std(law.median() - mu)))
    assert spreads[0] > 1.1 * spreads[1] > 100 * spreads[2]


def test_one_forecast_far_from_the_others_is_not_continued():
    rng = np.random.default_rng(0)
    mu = np.append(rng.normal(size=199), -12.0)
    y = mu + np.exp(0.8 * np.clip(mu, -2, 2)) * rng.standard_normal(200)
    for penalty in ("held-out", 1.0):
        far = FlowCalibrator(penalty=penalty).fit(Normal(mu, 1.0), y).transform(Normal([-20.0, -2.5], 1.0))
        assert far.std()[0] == pytest.approx(far.std()[1], rel=0.5)


def test_width_that_depends_on_the_forecast_is_found():
    rng = np.random.default_rng(2)
    mu = rng.uniform(-1, 1, 6000)
    y = mu + np.exp(mu) * rng.standard_normal(6000)
    cal = FlowCalibrator().fit(Normal(mu[:3000], 1.0), y[:3000])
    new = np.array([-0.8, 0.0, 0.8])
    assert np.allclose(cal.transform(Normal(new, 1.0)).std(), np.exp(new), rtol=0.12)
    right = Normal(mu[3000:], np.exp(mu[3000:]))
    assert metrics.nll(y[3000:], cal.transform(Normal(mu[3000:], 1.0))) - metrics.nll(y[3000:], right) < 0.02


def test_weight_two_is_the_row_twice(data):
    mu, sigma, y = data
    w = np.random.default_rng(0).integers(0, 4, 300)
    weighted = FlowCalibrator().fit(Normal(mu, sigma), y, sample_weight=w)
    repeated = FlowCalibrator().fit(Normal(np.repeat(mu, w), np.repeat(sigma, w)), np.repeat(y, w))
    law = Normal(mu, sigma)
    assert np.allclose(weighted.transform(law).quantiles(LEVELS), repeated.transform(law).quantiles(LEVELS), rtol=1e-7)


@pytest.mark.usefixtures("laws_only")
def test_same_answer_every_time_in_any_order_and_precision(data):
    mu, sigma, y = data
    law = Normal(mu, sigma)
    first = FlowCalibrator().fit(law, y)
    answer = first.transform(law).quantiles(LEVELS)
    assert np.array_equal(clone(first).fit(law, y).transform(law).quantiles(LEVELS), answer)
    assert np.array_equal(first.transform(law).quantiles(LEVELS), answer)
    assert np.allclose(FlowCalibrator().fit(law[::-1], y[::-1]).transform(law).quantiles(LEVELS), answer, rtol=1e-6)
    single = FlowCalibrator().fit((mu.astype("f4"), sigma.astype("f4")), y.astype("f4"))
    assert np.allclose(single.transform(law).quantiles(LEVELS), answer, rtol=1e-5, atol=1e-5)
    for unit in (1e-150, 1e150):
        scaled = FlowCalibrator().fit(Normal(mu * unit, sigma * unit), y * unit)
        wide = scaled.transform(Normal(mu * unit, sigma * unit)).quantiles(LEVELS)
        assert np.allclose(wide / unit, answer, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("n", [1, 2, 9])
def test_few_rows_leave_forecasts_alone_and_say_so(n):
    with pytest.warns(UserWarning, match=f"too few rows to learn from: {n}; forecasts stay as they are"):
        law = FlowCalibrator().fit(Normal(np.zeros(n), 1.0), np.linspace(0.5, 1.0, n)).transform(Normal([3.0], 2.0))
    assert np.allclose(law.quantiles(LEVELS), Normal([3.0], 2.0).quantiles(LEVELS), rtol=1e-12)


@pytest.mark.parametrize(
    ("mu", "sigma"),
    [(np.zeros(60), np.ones(60)), (np.arange(60) % 2, np.ones(60)), (np.zeros(60), np.exp(np.arange(60) % 3))],
    ids=["constant", "two forecasts", "three widths"],
)
def test_forecasts_with_little_to_tell(mu, sigma):
    y = mu + sigma * np.random.default_rng(0).standard_normal(60)
    law = FlowCalibrator().fit(Normal(mu, sigma), y).transform(Normal(mu, sigma))
    assert np.isfinite(law.logpdf(y)).all() and np.isfinite(law.interval(0.99)).all()


def test_far_outliers_stay_finite(data):
    mu, sigma, y = data
    y = np.where(np.arange(300) < 2, mu + 50 * sigma, y)
    law = FlowCalibrator().fit(Normal(mu, sigma), y).transform(Normal(mu, sigma))
    assert np.isfinite(law.logpdf(y)).all()
    assert np.isfinite(law.logpdf(mu - 500 * sigma)).all() and np.isfinite(law.std()).all()


def test_heavy_tails_keep_their_index(rng):
    mu = rng.normal(size=1000)
    law = (
        FlowCalibrator()
        .fit(StudentT(mu, 1.0, 3.0), mu + 3 * rng.standard_t(3, 1000))
        .transform(StudentT([0.0], 1.0, 3.0))
    )
    far = np.array([[1e8, 1e9, 1e10]])
    assert np.diff(law.logsf(far)).ravel() / np.log(10) == pytest.approx([-3, -3], abs=0.7)


@pytest.mark.usefixtures("laws_only")
def test_counts_and_bounded_laws(rng):
    rate = np.exp(rng.normal(2, 0.5, 2000))
    y = rng.poisson(rate * rng.gamma(4, 1 / 4, 2000))
    law = FlowCalibrator().fit(Poisson(rate[:1000]), y[:1000]).transform(Poisson(rate[1000:]))
    assert metrics.nll(y[1000:], law) < metrics.nll(y[1000:], Poisson(rate[1000:])) - 0.3
    positive = FlowCalibrator().fit(Gamma(rate, 1.0), y + 0.5).transform(Gamma(rate, 1.0))
    assert np.all(positive.ppf(1e-9) >= 0)


@pytest.mark.usefixtures("laws_only")
def test_many_rows_are_thinned(rng):
    mu = rng.normal(size=4000)
    y = mu + 2 * rng.standard_normal(4000)
    cal = FlowCalibrator(max_rows=1000).fit(Normal(mu, 1.0), y)
    assert cal.n_rows_ == 4000 and cal.rows_learned_ == 1000
    assert metrics.nll(y, cal.transform(Normal(mu, 1.0))) < metrics.nll(y, Normal(mu, 2.0)) + 0.03


def test_parameters_are_checked(data):
    mu, sigma, y = data
    with pytest.raises(ValueError, match="`n_bumps` must be a whole number of at least 0; got 2.5"):
        FlowCalibrator(2.5).fit(Normal(mu, sigma), y)
    for penalty in (0, "evidence"):
        with pytest.raises(ValueError, match=f"`penalty` must be 'held-out' or a positive number; got {penalty!r}"):
            FlowCalibrator(penalty=penalty).fit(Normal(mu, sigma), y)


class TestFeatures:
    def test_standardised_clipped_and_dropped(self):
        rng = np.random.default_rng(0)
        mu, sigma = rng.normal(5, 3, 2000), np.exp(rng.normal(0, 0.1, 2000))
        features = fit_features(Normal(mu, sigma), np.ones(2000))
        x = features(Normal(mu, sigma))
        assert x.shape == (2000, 2)
        assert x[:, 0].std() == pytest.approx(1, abs=0.02)
        assert x[:, 1].std() == pytest.approx(0.1 / 0.3, abs=0.02)  # divided by 0.3, not by its sd of 0.1
        assert np.allclose(features(Normal([1e9], 1.0))[0, 0], np.sort(x[:, 0])[-1])
        assert fit_features(Normal(mu, sigma**0.4), np.ones(2000)).kept == (0,)
        assert fit_features(Normal(0 * mu, sigma), np.ones(2000)).kept == (1,)
        assert fit_features(Normal(0 * mu, 1.0), np.ones(2000))(Normal(mu, 1.0)).shape == (2000, 0)

    def test_outermost_three_rows_are_alike(self):
        mu = np.arange(20.0)
        x = fit_features(Normal(mu, 1.0), np.ones(20))(Normal(mu, 1.0))[:, 0]
        assert np.allclose(x, (np.clip(mu, 2, 16) - 9.5) / np.std(mu))

    def test_basis_has_the_kernel_as_its_covariance(self):
        x = np.random.default_rng(0).normal(size=(500, 2))
        basis = fit_basis(x, np.ones(500), np.array([0.75, 1.0]), process=0.7)
        at = basis(basis.landmarks)[:, 3:]
        distance = (basis.landmarks[:, None] - basis.landmarks) / [0.75, 1.0]
        assert np.allclose(at @ at.T, 0.49 * np.exp(-0.5 * (distance**2).sum(-1)), atol=1e-4)
        assert len(basis.landmarks) == 16 and basis.size == 19

    def test_weighted_quantiles_and_merged_rows(self):
        assert weighted_quantiles(
            np.array([3.0, 1.0, 2.0]), np.array([1.0, 2.0, 1.0]), np.array([0.5, 0.6])
        ).tolist() == [1, 2]
        rows, w = merged(np.array([[1.0, 2.0], [0.0, 5.0], [1.0, 2.0]]), np.array([1.0, 2.0, 3.0]))
        assert rows.tolist() == [1, 0] and w.tolist() == [2, 4]


@pytest.mark.parametrize("modes", [1, 2])
def test_vast_weights_take_no_more_evaluations_than_weight_one(monkeypatch, modes):
    rng = np.random.default_rng(0)
    mu = rng.uniform(0.0, 10.0, 60)
    y = mu * rng.choice([0.0, 2.0], 60) + rng.normal(size=60) if modes == 2 else mu + 9 * rng.normal(size=60)
    asked: list[int] = []
    real = _Problem.likelihood
    monkeypatch.setattr(_Problem, "likelihood", lambda self, flat: asked.append(1) or real(self, flat))
    numbers = []
    for weights in (None, np.full(60, 1e12)):
        FlowCalibrator().fit(Normal(mu, 5.0), y, sample_weight=weights)
        numbers.append(sum(asked))
        asked.clear()
    assert numbers[1] < 1.5 * numbers[0]


def test_a_given_penalty_takes_hardly_more_steps_under_vast_weights():
    rng = np.random.default_rng(2)
    rate = np.exp(rng.normal(1.0, 0.5, 300)).round(1) + 0.1
    y = rng.poisson(rate * rng.gamma(4.0, 0.25, 300)).astype(float)
    steps = [
        FlowCalibrator(penalty=1.0).fit(Poisson(rate), y, sample_weight=w).n_iter_ for w in (None, np.full(300, 1e12))
    ]
    assert steps[1] <= max(50, 1.5 * steps[0])


def test_smaller_penalties_are_not_tried_once_one_has_clearly_lost(monkeypatch):
    tried: list[float] = []
    gains = {64.0: 0.1, 16.0: 0.2, 4.0: 0.05, 1.0: 9.0}  # nats a row of 100

    def gain(self, prior):
        penalty = round(float(prior[1] ** -2))
        tried.append(penalty)
        return np.full(len(self.base), gains[penalty])

    monkeypatch.setattr(flow._Fold, "gain", gain)
    rng = np.random.default_rng(0)
    mu = rng.normal(size=100)
    with unwatched():
        cal = FlowCalibrator().fit(Normal(mu, 1.0), mu + rng.normal(size=100))
    assert tried == [64] * 4 + [16] * 4 + [4] * 4 and cal.penalty_ == 16
    gains[4.0] = 0.16  # behind by 4 nats
    with unwatched():
        assert FlowCalibrator().fit(Normal(mu, 1.0), mu + rng.normal(size=100)).penalty_ == 1


class TestHats:
    def test_a_sharp_edge_is_followed_more_closely(self, tmp_path):
        rng = np.random.default_rng(0)
        mu = rng.uniform(-2.0, 2.0, 4000)
        y, law = mu + rng.exponential(1 + 0.4 * mu) - 1, Normal(mu, 1.0)
        losses = []
        for flow_of in ({}, {"n_bumps": 12, "bumps": "hats"}):
            with unwatched():
                cal = FlowCalibrator(penalty=1.0, **flow_of).fit(law[:2000], y[:2000])
            losses.append(metrics.nll(y[2000:], cal.transform(law[2000:])))
        assert losses[1] < losses[0] - 0.03  # 0.06 on 8 000 others
        assert cal.centres_.shape == (12,) and cal.width_ is None
        save(cal, tmp_path / "hats.calibrant")
        assert np.array_equal(
            load(tmp_path / "hats.calibrant").transform(law[:9]).median(), cal.transform(law[:9]).median()
        )

    def test_knots_are_halfway_between_quantiles_and_an_even_spread(self):
        z = np.random.default_rng(0).exponential(size=500)
        with unwatched():
            cal = FlowCalibrator(4, bumps="hats", penalty=1.0).fit(Normal(np.zeros(500), 1.0), z)
        u = np.sort((z - cal.location_) / cal.scale_)
        own = u[[62, 187, 312, 437]]  # reached by 1/8, 3/8, 5/8 and 7/8 of 500 rows
        assert np.allclose(cal.centres_, 0.5 * own + 0.5 * np.array([-2.5, -2.5 / 3, 2.5 / 3, 2.5]))

    def test_loss_is_the_log_density_of_the_map(self):
        rng = np.random.default_rng(1)
        u, w, knots = rng.normal(0, 1.5, 20), rng.uniform(0.5, 2, 20), np.array([-1.3, -0.2, 0.4, 1.0])
        theta, one = 0.3 * rng.standard_normal(7), np.ones(20)
        heights = np.tile(np.exp(theta[3:] - 3), (20, 1))
        map = HatFlowMap(
            np.exp(theta[0]) * one,
            np.exp(theta[1]) * one,
            theta[2] * one,
            heights,
            np.tile(knots, (20, 1)),
            0 * one,
            one,
        )
        problem = _Problem.of(u, np.ones((20, 1)), w, knots, None)
        expected = map.log_slope(u) - 0.5 * map(u) ** 2 - 0.5 * np.log(2 * np.pi)
        assert np.allclose(problem.likelihood(theta)[0], expected, rtol=1e-10)
        assert check_grad(lambda t: problem.loss(t)[0], lambda t: problem.loss(t)[1], theta) < 1e-6

    def test_parameters_are_checked(self, data):
        mu, sigma, y = data
        with pytest.raises(ValueError, match="`bumps` must be one of 'smooth', 'hats'; got 'hat'"):
            FlowCalibrator(bumps="hat").fit(Normal(mu, sigma), y)
        with pytest.raises(ValueError, match="`n_bumps` must be a whole number of at least 2; got 1"):
            FlowCalibrator(1, bumps="hats").fit(Normal(mu, sigma), y)


def test_quantiles_where_steps_go_to_and_fro(rng, monkeypatch):
    """Newton's method alone jumps between two points of some of these flows, which took 140 rounds."""
    mu, sigma = rng.uniform(0, 10, 1500), np.exp(0.3 * rng.normal(size=1500))
    y = mu + (1 + 0.2 * mu) * sigma * (rng.exponential(size=1500) - 0.9)
    law = FlowCalibrator(12, bumps="hats", penalty=1.0).fit(Normal(mu, sigma), y).transform(Normal(mu, sigma))
    rounds, once = [], roots._step
    monkeypatch.setattr(roots, "_step", lambda *given: rounds.append(1) or once(*given))
    levels = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
    q = law.quantiles(levels)
    assert len(rounds) < 40
    np.testing.assert_allclose(law.cdf(q), np.broadcast_to(levels, q.shape), atol=1e-9)
