"""GP-Beta distribution calibration."""

from __future__ import annotations

import warnings
from contextvars import Context
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_ndtr
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data

from calibrant import (
    CalibratedRegressor,
    Ensemble,
    Gamma,
    Mixture,
    Normal,
    Poisson,
    QuantileCalibrator,
    Recalibrated,
    StudentT,
    metrics,
)
from calibrant.maps import BetaMap
from calibrant.regression.gp_beta import calibrator as gp_beta
from calibrant.regression.gp_beta import inference
from calibrant.regression.gp_beta import learning as gp_beta_learning
from calibrant.regression.gp_beta.calibrator import GPBetaCalibrator
from calibrant.regression.gp_beta.inducing import choose_inducing
from calibrant.regression.gp_beta.inference import Data, Posterior, climb, evaluate, latents, step
from calibrant.regression.gp_beta.kernels import KERNELS, Scaling, whitened
from calibrant.regression.gp_beta.learning import Hyperparameters, Problem, gradient, location_gradient
from calibrant.regression.gp_beta.likelihood import PAIRS, clipped, congruence, expected, log_ratio, roots

ROOT = np.array([[0.3, 0, 0], [0.1, 0.2, 0], [-0.1, 0.1, 0.4]])
UNITS = Scaling(0.0, 1.0, 0.3, True)
pytestmark = pytest.mark.usefixtures("laws_only")


def toy(seed, n=360):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-10, 40, n)
    return x[:, None], np.where(rng.random(n) < 0.5, 0.5 * x, 0.0) + rng.normal(0, 2**0.5, n)


def toy_forecasts(seed, test=5000):
    x, y = toy(seed)
    model = LinearRegression().fit(x, y)
    sigma = np.sqrt(np.mean((y - model.predict(x)) ** 2))
    new, y_new = toy(seed + 1000, test)
    return Normal(model.predict(x), sigma), y, Normal(model.predict(new), sigma), y_new


def varying(seed, n):
    """Forecasts whose width is wrong in a way that depends on the mean, and skewed outcomes on one side."""
    rng = np.random.default_rng(seed)
    mu, sigma = rng.uniform(-2, 2, n), np.exp(rng.normal(0, 0.4, n))
    noise = np.where(mu > 0, 2 * (rng.gamma(2, 1, n) - 2) / 2**0.5, 0.5 * rng.standard_normal(n))
    return Normal(mu, sigma), mu + sigma * noise


def problem(name="ard", n=200):
    law, y = varying(0, n)
    weights = np.random.default_rng(0).uniform(0.5, 2, n)
    scaling = Scaling.of(law, weights)
    x, z = scaling.features(law), law.to_normal(y)
    data = Data(log_ndtr(z), log_ndtr(-z), weights)
    chosen = choose_inducing(x, scaling, 12)
    x = KERNELS[name].view(scaling, law)
    return Problem(data, x, x[chosen], KERNELS[name], scaling)


class TestLikelihood:
    def test_is_the_log_slope_of_the_beta_map(self):
        z, p = np.array([-30.0, -1.0, 0.5, 8.0]), np.array([0.3, -0.4, 0.7])
        map = BetaMap(np.exp(0.3), np.exp(-0.4), 0.7)
        t = map(z)
        ours = log_ratio(np.tile(p[:, None], 4), log_ndtr(z), log_ndtr(-z))[0]
        assert np.allclose(ours, map.log_slope(z) - 0.5 * (t - z) * (t + z), rtol=1e-9)

    def test_derivatives(self):
        rng = np.random.default_rng(0)
        p, z, h = rng.normal(0, 0.5, (3, 40)), rng.normal(0, 2, 40), 1e-5
        out = log_ratio(p, log_ndtr(z), log_ndtr(-z))
        for i in range(3):
            shift = np.zeros((3, 1))
            shift[i] = h
            ahead, back = (log_ratio(p + s * shift, log_ndtr(z), log_ndtr(-z)) for s in (1, -1))
            assert np.allclose((ahead[0] - back[0]) / (2 * h), out[1 + i], rtol=1e-6, atol=1e-7)
            for k, pair in enumerate(PAIRS):
                if i in pair:
                    other = pair[0] + pair[1] - i
                    assert np.allclose((ahead[1 + other] - back[1 + other]) / (2 * h), out[4 + k], rtol=1e-6, atol=1e-7)

    def test_expectations_agree_with_draws(self):
        rng = np.random.default_rng(0)
        mean, root = np.array([0.2, -0.1, 0.3]), np.array([[0.2, 0, 0], [0.1, 0.2, 0], [0.0, -0.1, 0.2]])
        cover = root @ root.T
        low, high = np.log([0.2]), np.log([0.8])
        draws = mean[:, None] + root @ rng.standard_normal((3, 400_000))
        values = log_ratio(draws, low, high).mean(axis=1)
        ours = expected(mean[:, None], np.array([[cover[p]] for p in PAIRS]), low, high)
        assert np.allclose(np.concatenate([ours.value, *ours.gradient, *ours.hessian]), values, atol=3e-3)

    def test_small_matrices(self):
        rng = np.random.default_rng(0)
        a, left = rng.normal(size=(5, 3, 3)), rng.normal(size=(3, 3))
        spd = a @ a.transpose(0, 2, 1)
        six = np.stack([spd[:, i, j] for i, j in PAIRS])
        chol = np.linalg.cholesky(spd)
        assert np.allclose(roots(six), np.stack([chol[:, j, i] for i, j in PAIRS]))
        moved = left @ spd @ left.T
        assert np.allclose(congruence(left) @ six, np.stack([moved[:, i, j] for i, j in PAIRS]))
        assert np.allclose(clipped(-six), -six) and np.allclose(clipped(six, -0.5)[[0, 3, 5]].min(), -0.5)


class TestKernels:
    @pytest.mark.parametrize("name", ["embedding", "ard"])
    def test_positive_definite_and_its_own_diagonal(self, name):
        p = problem(name)
        gram = p.kernel.matrix(p.features, p.features, p.kernel.start(p.scaling))
        assert np.allclose(gram, gram.T) and np.linalg.eigvalsh(gram).min() > -1e-10
        assert np.allclose(np.diag(gram), p.kernel.diagonal(p.features, p.kernel.start(p.scaling)))

    def test_embedding_is_the_mean_of_a_gaussian_kernel(self):
        """The paper's construction: E exp(-(Y1 - Y2)² / 2θ²) over two independent normal laws."""
        rng = np.random.default_rng(0)
        (m1, s1), (m2, s2), theta = (0.3, 0.5), (-0.4, 1.2), 0.8
        draws = np.exp(-0.5 * ((rng.normal(m1, s1, 10**6) - rng.normal(m2, s2, 10**6)) / theta) ** 2)
        x, other = np.array([[m1, np.log(s1), 1.0]]), np.array([[m2, np.log(s2), 1.0]])
        ours = KERNELS["embedding"].matrix(x, other, np.log([theta]))
        assert ours[0, 0] == pytest.approx(draws.mean(), abs=4e-3)

    def test_embedding_of_mixtures_is_the_double_sum(self):
        """E exp(-(Y1 - Y2)² / 2θ²) again, drawn from two mixtures; a mixture of equals is one of them."""
        rng = np.random.default_rng(0)
        one = Mixture([Normal([0.3], 0.5), Normal([-1.0], 0.2)], weights=[0.25, 0.75])
        two = Mixture([Normal([0.0], 1.2), Normal([1.0], 0.1), Normal([5.0], 1.0)])
        (x, other), theta = (KERNELS["embedding"].view(UNITS, law) for law in (one, two)), np.log([0.8])
        assert x.shape == (1, 6) and other.shape == (1, 9)
        away = one.sample(10**6, random_state=1) - two.sample(10**6, random_state=2)
        drawn = np.exp(-0.5 * (away / 0.8) ** 2).mean()
        assert KERNELS["embedding"].matrix(x, other, theta)[0, 0] == pytest.approx(drawn, abs=2e-3)
        away = one.sample(10**6, random_state=1) - one.sample(10**6, random_state=2)
        drawn = np.exp(-0.5 * (away / 0.8) ** 2).mean()
        assert KERNELS["embedding"].diagonal(x, theta)[0] == pytest.approx(drawn, abs=2e-3)
        law = Normal(rng.normal(size=5), rng.uniform(0.5, 2, 5))
        plain, doubled = (KERNELS["embedding"].view(UNITS, v) for v in (law, Mixture([law, law], [0.3, 0.7])))
        for a, b in ((plain, doubled), (doubled, plain), (doubled, doubled)):
            expected = KERNELS["embedding"].matrix(plain, plain, theta)
            assert np.allclose(KERNELS["embedding"].matrix(a, b, theta), expected)
        assert np.allclose(KERNELS["embedding"].diagonal(doubled, theta), np.diag(expected))

    def test_whitened_features_give_the_kernel_back(self):
        p = problem()
        phi, left = whitened(p.kernel, p.kernel.start(p.scaling), p.inducing, p.inducing)
        assert np.allclose(phi @ phi.T, p.kernel.matrix(p.inducing, p.inducing, p.kernel.start(p.scaling)), atol=1e-5)
        assert np.all(left < 1e-4)

    def test_inducing_points_are_distinct_forecasts(self):
        p = problem()
        assert len(np.unique(p.inducing, axis=0)) == len(p.inducing) == 12
        one = np.zeros((50, 2))
        assert len(choose_inducing(one, p.scaling, 12)) == 1


class TestInference:
    @pytest.mark.parametrize("name", ["embedding", "ard"])
    def test_bound_rises_to_a_maximum(self, name):
        p = problem(name)
        prior = p.prior(Hyperparameters.default(p.kernel, p.scaling))
        end = climb(Posterior.start(12), prior, p.data, gain=1e-10, most=60)
        assert end.converged and np.all(np.diff(end.bounds) > 0) and end.bounds[-1] > end.bounds[0] + 5
        rng = np.random.default_rng(0)
        for _ in range(5):  # no neighbour is better, in mean or in covariance
            q = end.fit.posterior
            moved = Posterior(q.mean + 0.01 * rng.standard_normal(q.mean.shape), q.precision, q.cover, q.log_det)
            wider = Posterior(q.mean, q.precision / 1.05, q.cover * 1.05, q.log_det + 36 * np.log(1.05))
            for other in (moved, wider):
                assert climb(other, prior, p.data, gain=np.inf, most=0).fit.bound < end.bounds[-1]

    def test_mean_solves_the_first_order_condition(self):
        p = problem()
        end = climb(Posterior.start(12), p.prior(Hyperparameters.default(p.kernel, p.scaling)), p.data, gain=0, most=60)
        assert np.allclose(end.fit.gradient, end.fit.posterior.mean, atol=1e-5)

    def test_latents_against_dense_algebra(self):
        p = problem(n=30)
        h = Hyperparameters(p.kernel.start(p.scaling), ROOT, np.ones(3))
        prior = p.prior(h)
        q = climb(Posterior.start(12), prior, p.data, gain=1e-6, most=20).fit.posterior
        mean, cover, _ = latents(q, prior)
        for i in (0, 7, 29):
            lift = h.root @ np.kron(np.eye(3), prior.phi[i])
            whole = lift @ q.cover @ lift.T + prior.left[i] * h.root @ h.root.T
            assert np.allclose(mean[:, i], lift @ q.mean.ravel() + 1)
            assert np.allclose(cover[:, i], [whole[pair] for pair in PAIRS])

    @pytest.mark.parametrize("name", ["embedding", "ard"])
    def test_gradient_in_the_hyperparameters(self, name):
        p = problem(name)
        vector = Hyperparameters.default(p.kernel, p.scaling).packed()
        vector = vector + np.random.default_rng(0).normal(0, 0.2, len(vector))

        def fitted(v):
            prior = p.prior(Hyperparameters.unpacked(v))
            return climb(Posterior.start(12), prior, p.data, gain=1e-11, most=60).fit, prior

        fit, prior = fitted(vector)
        ours = gradient(p, Hyperparameters.unpacked(vector), prior, fit)
        moves = 1e-4 * np.eye(len(vector))
        numbers = [(fitted(vector + m)[0].bound - fitted(vector - m)[0].bound) / 2e-4 for m in moves]
        assert np.allclose(ours, numbers, rtol=5e-3, atol=5e-3)

    @pytest.mark.parametrize("name", ["embedding", "ard", "mixtures", "parts"])
    def test_gradient_in_the_inducing_points(self, name):
        p = problem("ard" if name == "ard" else "embedding", 80)
        if name == "mixtures":
            x = np.column_stack([p.features[:, :1], p.features, p.features[:, 1], np.ones((80, 2)) / 2])
            p = replace(p, features=x[:, [0, 1, 4, 2, 5, 6]], inducing=x[::9, [0, 1, 4, 2, 5, 6]])
        elif name == "parts":
            law, _ = varying(0, 80)
            view = KERNELS["quantiles"].view(p.scaling, StudentT(law.loc, law.scale, 5.0))
            p = replace(p, features=view, kernel=KERNELS["quantiles"])
        h = Hyperparameters(p.kernel.start(p.scaling) + 0.1, ROOT, np.full(3, 0.1))
        m, rng = len(p.inducing), np.random.default_rng(0)
        root = np.eye(3 * m) + 0.1 * rng.normal(size=(3 * m, 3 * m))
        cover = 0.1 * root @ root.T
        q = Posterior(rng.normal(0, 0.3, (3, m)), np.linalg.inv(cover), cover, np.linalg.slogdet(cover)[1])
        prior = p.prior(h)
        ours = location_gradient(p, h, prior, evaluate(q, prior, p.data))
        for i, j in [(0, 0), (3, 1), (m - 1, 0), (5, p.inducing.shape[1] - 1), (4, p.inducing.shape[1] // 2)]:
            if name != "ard" and j >= 2 * p.inducing.shape[1] // 3:
                assert ours[i, j] == 0  # weights of components stay
                continue
            move = np.zeros(p.inducing.shape)
            move[i, j] = 1e-5
            ends = [replace(p, inducing=p.inducing + s * move) for s in (1, -1)]
            ahead, back = (evaluate(q, end.prior(h), p.data).bound for end in ends)
            assert ours[i, j] == pytest.approx((ahead - back) / 2e-5, rel=1e-4, abs=1e-5)

    def test_packing(self):
        h = Hyperparameters(np.array([0.1, 0.2]), ROOT, np.arange(3.0))
        again = Hyperparameters.unpacked(h.packed())
        assert np.allclose(again.root, h.root) and np.array_equal(again.shift, h.shift)

    def test_step_from_the_top_finds_nothing(self):
        p = problem()
        prior = p.prior(Hyperparameters.default(p.kernel, p.scaling))
        end = climb(Posterior.start(12), prior, p.data, gain=0.0, most=200)
        better = step(end.fit, prior, p.data)
        assert better is None or better.bound - end.fit.bound < 1e-9


def test_toy_of_the_paper():
    """Song et al. (2019), §5: the family's limit is about 2.75, the base has 3.11."""
    ours, base = [], []
    for seed in range(5):
        law, y, new, y_new = toy_forecasts(seed)
        cal = GPBetaCalibrator().fit(law, y)
        ours.append(metrics.nll(y_new, cal.transform(new)))
        base.append(metrics.nll(y_new, new))
        assert cal.converged_ and np.all(np.diff(cal.elbo_) >= -1e-9)
    assert np.mean(base) == pytest.approx(3.11, abs=0.02)
    assert np.mean(ours) <= 2.775


@pytest.mark.parametrize(("kernel", "few"), [("ard", 0.5), ("embedding", 0.1)])
def test_learned_inducing_points(kernel, few):
    """The bound is not below that of chosen ones, clearly above where there are too few, and all asked for are used."""
    law, y, new, y_new = toy_forecasts(0, 2000)
    for m in (3, 32):
        chosen, learned = (
            GPBetaCalibrator(m, kernel=kernel, inducing=way).fit(law, y) for way in ("chosen", "learned")
        )
        assert learned.elbo_[-1] >= chosen.elbo_[-1] + (few if m == 3 else -1e-3)
        assert np.all(np.diff(learned.elbo_) >= 0) and learned.converged_
        assert not np.isin(learned.inducing_[:, 0], law.loc).all() and np.all(learned.inducing_[:, 1] > 0)
        assert np.abs(learned.inducing_[:, 0] - law.loc.mean()).max() < 2 * np.ptp(law.loc)
    assert len(learned.inducing_) in (32, len(chosen.inducing_)) and len(chosen.inducing_) < 20
    nll = [metrics.nll(y_new, cal.transform(new)) for cal in (chosen, learned)]
    assert nll[0] == pytest.approx(nll[1], abs=0.01)


def test_inducing_points_are_learned_with_fixed_hyperparameters_and_from_frames_with_weights():
    law, y = varying(0, 300)
    given = [GPBetaCalibrator(4, hyperparameters="fixed", inducing=way) for way in ("chosen", "learned")]
    frame = pd.DataFrame({"mean": law.loc.astype(np.float32), "std": law.scale.astype(np.float32)})
    weights = np.random.default_rng(0).integers(1, 3, 300)
    chosen, learned = (cal.fit(frame, y.tolist(), sample_weight=list(weights)) for cal in given)
    assert learned.elbo_[-1] > chosen.elbo_[-1] + 0.5
    for name in ("kernel", "root", "shift"):
        assert np.allclose(getattr(learned._hyperparameters, name), getattr(chosen._hyperparameters, name))
    assert len(learned.inducing_) == 4 and not np.allclose(learned.inducing_, chosen.inducing_)


def test_toy_densities_are_proper_narrow_on_the_left_and_flat_on_the_right():
    law, y, _, _ = toy_forecasts(0)
    cal = GPBetaCalibrator(base_map=None).fit(law, y)
    places = Normal([0.0, 9.5], law.scale[0])
    grid = np.linspace(-80, 90, 8192)[None, :]
    density = cal.transform(places).pdf(grid)
    assert np.all(density >= 0) and np.allclose(np.trapezoid(density, grid[0], axis=1), 1, atol=1e-4)
    left, right = cal.transform(places).pdf([0.0, 9.5]) / places.pdf([0.0, 9.5])
    truth = Normal([0.0], 2**0.5).pdf([0.0])[0] / places.pdf([0.0, 9.5])[0]  # where the two lines cross
    assert left == pytest.approx(truth, rel=0.25) and 0.3 < right < 0.7
    a, b, c = cal.parameters(places).mean.T
    assert np.all(a * [1, -1] > [2.5, -0.7]) and np.all(b * [1, -1] > [2.5, -0.7]) and np.all(np.abs(c) < 0.3)


def test_toy_warns_about_the_margin_and_keeps_both_numbers():
    law, y, _, _ = toy_forecasts(0)
    with pytest.warns(UserWarning, match=r"probabilistic calibration worse.*from 0\.0\d\d to 0\.1\d\d"):
        cal = Context().run(GPBetaCalibrator().fit, law, y)  # it looks back here
    assert cal.pit_distances_[0] < 0.06 < cal.pit_distances_[1]


@pytest.mark.parametrize("kernel", ["auto", "embedding", "ard"])
def test_mends_what_is_wrong_in_places(kernel):
    law, y = varying(0, 1500)
    new, y_new = varying(1, 8000)
    cal = GPBetaCalibrator(kernel=kernel).fit(law, y)
    assert metrics.nll(y_new, cal.transform(new)) < metrics.nll(y_new, new) - 0.3
    assert cal.kernel_ == kernel or kernel == "auto"
    a, b, _ = cal.parameters(Normal([-1.0, 1.0], 1.0)).mean.T
    assert a[0] > 1.5 and b[0] > 1.5 and a[1] < 1.2 and b[1] < 0.8


def test_large_fits_are_as_good_as_converged_ones():
    law, y = varying(0, 4000)
    new, y_new = varying(1, 8000)
    quick = GPBetaCalibrator().fit(law, y)
    assert quick.converged_ and np.all(np.diff(quick.elbo_) >= 0)
    old = gp_beta.MOST_ROWS, gp_beta_learning.FTOL
    try:
        gp_beta.MOST_ROWS, gp_beta_learning.FTOL = 4000, 1e-9
        slow = GPBetaCalibrator(32).fit(law, y)
    finally:
        gp_beta.MOST_ROWS, gp_beta_learning.FTOL = old
    assert metrics.nll(y_new, quick.transform(new)) < metrics.nll(y_new, slow.transform(new)) + 0.005


@pytest.mark.parametrize("n", [50, 300, 1000])
def test_leaves_calibrated_forecasts_alone(n):
    cost = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        mu, sigma = rng.normal(0, 2, n + 3000), np.exp(rng.normal(0, 0.4, n + 3000))
        y = mu + sigma * rng.standard_normal(n + 3000)
        new = Normal(mu[n:], sigma[n:])
        cal = GPBetaCalibrator().fit(Normal(mu[:n], sigma[:n]), y[:n])
        cost.append(metrics.nll(y[n:], cal.transform(new)) - metrics.nll(y[n:], new))
    assert np.mean(cost) < {50: 0.03, 300: 0.01, 1000: 0.004}[n]
    assert np.allclose(cal.parameters(new[:50]).mean, [1, 1, 0], atol=0.5 if n < 300 else 0.25)


def test_recovers_one_known_map():
    rng = np.random.default_rng(0)
    mu = rng.normal(0, 1, 4000)
    y = mu + BetaMap(1.5, 0.7, 0.4).inverse(rng.standard_normal(4000))
    found = GPBetaCalibrator(base_map=None).fit(Normal(mu, 1.0), y).parameters(Normal([-1.0, 0.0, 1.0], 1.0))
    assert np.allclose(found.mean, [1.5, 0.7, 0.4], atol=0.15)
    assert np.all(np.abs(found.mean - [1.5, 0.7, 0.4]) < 5 * found.std)


@cache
def fitted_to_400_rows():
    return GPBetaCalibrator().fit(*varying(0, 400))


def test_parameters_are_those_of_lognormals():
    law, _ = varying(0, 400)
    cal = fitted_to_400_rows()
    found = cal.parameters(law[:3])
    map = cal.transform(law[:3]).map
    draws = map.mean[:, :, None] + map.root @ np.random.default_rng(0).standard_normal((3, 100_000))
    draws[:, :2] = np.exp(draws[:, :2])
    assert np.allclose(found.mean, draws.mean(axis=2), atol=0.01)
    assert np.allclose(found.std, draws.std(axis=2), rtol=0.02)
    assert found.inducing.shape[1] == 2 and found.inducing_mean.shape == (len(found.inducing), 3)
    assert np.all(found.inducing[:, 1] > 0) and found.inducing[:, 0].min() >= law.loc.min() - 1e-9


@pytest.mark.parametrize("n", [300, 2500])
def test_repeats_are_bit_identical(n):
    law, y = varying(0, n)
    first, second = (GPBetaCalibrator(random_state=3).fit(law, y) for _ in range(2))
    assert np.array_equal(first.elbo_, second.elbo_)
    dist = first.transform(law)
    assert np.array_equal(dist.logpdf(y), second.transform(law).logpdf(y))
    assert np.array_equal(dist.quantiles([0.1, 0.9]), dist.quantiles([0.1, 0.9]))
    if n > 2000:
        assert not np.array_equal(first.elbo_, GPBetaCalibrator(random_state=4).fit(law, y).elbo_)


def test_float32_and_units():
    law, y = varying(0, 300)
    levels = [0.05, 0.5, 0.95]
    plain = GPBetaCalibrator().fit(law, y).transform(law).quantiles(levels)
    single = GPBetaCalibrator().fit((law.loc.astype(np.float32), law.scale.astype(np.float32)), y.astype(np.float32))
    assert np.allclose(single.transform(law).quantiles(levels), plain, rtol=1e-5, atol=1e-5)
    for unit in (1e-150, 1e150):
        scaled = Normal(law.loc * unit, law.scale * unit)
        other = GPBetaCalibrator().fit(scaled, y * unit).transform(scaled).quantiles(levels)
        assert np.allclose(other / unit, plain, rtol=1e-6, atol=1e-6)


def test_weight_two_is_the_row_twice():
    law, y = varying(0, 200)
    w = np.random.default_rng(0).integers(0, 4, 200)
    weighted = GPBetaCalibrator().fit(law, y, sample_weight=w)
    repeated = GPBetaCalibrator().fit(law[np.repeat(np.arange(200), w)], np.repeat(y, w))
    levels = [0.05, 0.5, 0.95]
    assert np.allclose(weighted.transform(law).quantiles(levels), repeated.transform(law).quantiles(levels), rtol=1e-6)


@pytest.mark.parametrize("n", [1, 2, 10])
def test_few_rows_stay_near_the_identity_and_say_so(n):
    with pytest.warns(UserWarning, match=rf"only {n} rows to learn from \(at most 10\)"):
        cal = GPBetaCalibrator(base_map=None).fit(Normal(np.zeros(n), 1.0), np.linspace(0.5, 2.0, n))
    levels = [0.1, 0.5, 0.9]
    assert np.allclose(
        cal.transform(Normal([0.0], 1.0)).quantiles(levels), Normal([0.0], 1.0).quantiles(levels), atol=0.4
    )


@pytest.mark.filterwarnings("ignore:GPBetaCalibrator made the probabilistic:UserWarning")
@pytest.mark.parametrize("case", ["constant", "one sigma", "duplicates", "outliers", "all equal"])
def test_odd_data_stay_finite(case):
    rng = np.random.default_rng(0)
    mu, sigma, noise = rng.normal(size=100), np.exp(rng.normal(0, 0.3, 100)), rng.standard_normal(100)
    if case == "constant":
        mu, sigma = np.full(100, 3.0), np.ones(100)
    elif case == "one sigma":
        sigma = np.full(100, 0.5)
    elif case == "duplicates":
        mu, sigma = np.repeat(mu[:5], 20), np.repeat(sigma[:5], 20)
    elif case == "outliers":
        noise[:3] = [50.0, -50.0, 1e6]
    y = mu + sigma * (0 * noise if case == "all equal" else noise)
    cal = Context().run(GPBetaCalibrator().fit, Normal(mu, sigma), y)  # it looks back here
    law = cal.transform(Normal(mu, sigma))
    assert np.isfinite(law.logpdf(y)).all() and np.isfinite(law.quantiles([0.01, 0.99])).all()
    assert np.isfinite(law.crps(y)).all()


def test_other_bases():
    rng = np.random.default_rng(0)
    shape = rng.uniform(2, 6, 800)
    y = rng.gamma(shape, np.where(shape > 4, 1.5, 0.8))
    base = Gamma(shape, 1.0)
    law = GPBetaCalibrator().fit(base, y).transform(base)
    assert metrics.nll(y, law) < metrics.nll(y, base) - 0.05 and law.ppf(np.full(800, 1e-9)).min() >= 0
    counts = rng.poisson(shape * rng.gamma(2, 0.5, 800))
    law = GPBetaCalibrator().fit(Poisson(shape), counts).transform(Poisson(shape))
    assert law.is_discrete and metrics.nll(counts, law) < metrics.nll(counts, Poisson(shape)) - 0.1
    members = shape[:, None] + 0.4 * rng.standard_normal((800, 15))
    law = GPBetaCalibrator().fit(Ensemble(members), shape + rng.standard_normal(800)).transform(Ensemble(members))
    assert np.isfinite(law.interval(0.9)).all()


def two_places(seed, n):
    """Mixtures of two normal laws with half the mass at ±d: outcomes are on the left where d is large."""
    rng = np.random.default_rng(seed)
    d, sd = rng.choice([0.2, 1.0], n), 0.3
    side = np.where(d > 0.5, -1.0, rng.choice([-1.0, 1.0], n))
    return Mixture([Normal(-d, sd), Normal(d, sd)]), side * d + sd * rng.standard_normal(n)


@pytest.mark.parametrize("kernel", ["auto", "embedding"])
def test_mixtures_of_normal_laws(kernel):
    law, y = two_places(0, 600)
    new, y_new = two_places(1, 4000)
    cal = GPBetaCalibrator(kernel=kernel).fit(law, y)
    assert metrics.nll(y_new, cal.transform(new)) < metrics.nll(y_new, new) - 0.15
    assert cal.kernel_ == kernel or kernel == "auto"
    assert np.allclose(cal.inducing_[:, 0], 0) and cal.inducing_.shape[1] == 2


def test_further_features():
    """The forecast is wrong along what only the further feature tells."""

    def waves(law):
        return np.sin(20 * law.loc)

    def draw(seed, n):
        rng = np.random.default_rng(seed)
        mu = rng.uniform(0, 10, n)
        return Normal(mu, 1.0), mu + np.sin(20 * mu) + 0.5 * rng.standard_normal(n)

    (law, y), (new, y_new) = draw(0, 800), draw(1, 4000)
    plain, told = (GPBetaCalibrator(features=f).fit(law, y).transform(new) for f in (None, waves))
    assert metrics.nll(y_new, told) < metrics.nll(y_new, plain) - 0.3
    assert metrics.nll(y_new, told) < 0.5 * np.log(2 * np.pi * np.e * 0.25) + 0.05  # the true law's
    columns = GPBetaCalibrator(features=lambda law: np.column_stack([waves(law), 0 * law.loc])).fit(law, y)
    assert metrics.nll(y_new, columns.transform(new)) == pytest.approx(metrics.nll(y_new, told), abs=0.02)
    assert columns.kernel_ == "ard"


def test_refits_keep_the_hyperparameters():
    law, y = varying(0, 400)
    cal = fitted_to_400_rows()
    before = cal.transform(law).logpdf(y)
    same, half = cal._refitted(law, y, np.ones(400)), cal._refitted(law[:200], y[:200], np.ones(200))
    assert np.allclose(same.transform(law).logpdf(y), before, atol=2e-3)
    assert half._hyperparameters is cal._hyperparameters
    assert np.abs(half.transform(law).logpdf(y) - before).max() > 0.02
    alone = GPBetaCalibrator(kernel=cal.kernel_).fit(law[:200], y[:200])
    new, y_new = varying(1, 4000)
    assert metrics.nll(y_new, half.transform(new)) == pytest.approx(metrics.nll(y_new, alone.transform(new)), abs=0.05)
    assert np.array_equal(cal.transform(law).logpdf(y), before)


@pytest.mark.parametrize("kernel", ["embedding", "ard"])
def test_rounding_of_the_forecasts_is_not_magnified(kernel):
    law, y = varying(0, 200)
    rounded = Normal(law.loc * (1 + 4e-16), law.scale * (1 - 4e-16))
    first, second = (GPBetaCalibrator(kernel=kernel).fit(base, y).transform(law) for base in (law, rounded))
    assert np.allclose(first.quantiles([0.05, 0.5, 0.95]), second.quantiles([0.05, 0.5, 0.95]), rtol=1e-9)
    check_sample_weight_equivalence_on_dense_data(
        "CalibratedRegressor", CalibratedRegressor(calibrator=GPBetaCalibrator(kernel=kernel))
    )


def test_heavy_tails_keep_their_index():
    rng = np.random.default_rng(0)
    mu = rng.normal(size=500)
    for nu in (3.0, 0.9):  # with and without a mean
        base = StudentT(mu, 1.0, nu)
        law = GPBetaCalibrator().fit(base, mu + 3 * rng.standard_t(nu, 500)).transform(StudentT([0.0], 1.0, nu))
        far = np.array([[1e8, 1e9, 1e10]])
        assert np.diff(law.logsf(far)).ravel() / np.log(10) == pytest.approx([-nu, -nu], abs=0.7)


def test_fixed_hyperparameters():
    law, y = varying(0, 300)
    cal = GPBetaCalibrator(kernel="ard", hyperparameters="fixed").fit(law, y)
    new, y_new = varying(1, 5000)
    assert metrics.nll(y_new, cal.transform(new)) < metrics.nll(y_new, new) - 0.15
    learned = GPBetaCalibrator(kernel="ard").fit(law, y)
    assert learned.elbo_[-1] > cal.elbo_[-1] and np.all(np.diff(cal.elbo_) >= 0)


def test_says_when_it_did_not_converge(monkeypatch):
    law, y = varying(0, 300)
    monkeypatch.setattr(gp_beta, "MOST_STEPS", 1)
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        cal = GPBetaCalibrator(hyperparameters="fixed").fit(law, y)
    assert not cal.converged_


def test_wrong_arguments_are_named():
    law, y = varying(0, 20)
    with pytest.raises(ValueError, match="`kernel` must be one of 'auto', 'embedding', 'ard', 'quantiles'; got 'rbf'"):
        GPBetaCalibrator(kernel="rbf").fit(law, y)
    with pytest.raises(ValueError, match="`hyperparameters` must be one of 'learn', 'fixed'"):
        GPBetaCalibrator(hyperparameters="none").fit(law, y)
    with pytest.raises(ValueError, match="`inducing` must be one of 'chosen', 'learned'; got 'grid'"):
        GPBetaCalibrator(inducing="grid").fit(law, y)
    with pytest.raises(ValueError, match="`n_inducing` must be a whole number of at least 1; got 0"):
        GPBetaCalibrator(0).fit(law, y)
    with pytest.raises(ValueError, match="`features` must be a function of forecasts, .*; got 3 and kernel"):
        GPBetaCalibrator(features=3).fit(law, y)
    with pytest.raises(ValueError, match="`features` must be a function .* and kernel 'embedding'"):
        GPBetaCalibrator(kernel="embedding", features=len).fit(law, y)
    with pytest.raises(ValueError, match=r"`features` must return one line per forecast; got shape \(3,\) for 20"):
        GPBetaCalibrator(features=lambda law: np.ones(3)).fit(law, y)
    with pytest.raises(ValueError, match="`features` must be finite; 20 of 20 values are not"):
        GPBetaCalibrator(features=lambda law: law.loc * np.nan).fit(law, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GPBetaCalibrator(1).fit(law, y)


@pytest.mark.filterwarnings("ignore")
def test_widths_that_are_wrong_by_any_factor_are_mended_first():
    rng = np.random.default_rng(0)
    mu = rng.uniform(-2, 2, 1200)
    y = mu + np.where(mu > 0, 2.0, 0.5) * rng.standard_normal(1200)
    truth = metrics.nll(y[600:], Normal(mu[600:], np.where(mu[600:] > 0, 2.0, 0.5)))
    lost = {}
    for base_map in ("quantile", None):
        cal = GPBetaCalibrator(base_map=base_map).fit(Normal(mu[:600], 1e-3), y[:600])
        lost[base_map] = metrics.nll(y[600:], cal.transform(Normal(mu[600:], 1e-3))) - truth
    assert lost["quantile"] < 0.1 < 10 < lost[None]


def test_the_common_map_is_the_quantile_calibrators():
    rng = np.random.default_rng(0)
    mu = rng.normal(size=300)
    y = mu + 2 * rng.normal(size=300)
    law = Normal(mu, 1.0)
    cal = GPBetaCalibrator().fit(law, y)
    first = QuantileCalibrator().fit(law, y).transform(law)
    assert np.allclose(cal.quantile_.transform(law).cdf(y), first.cdf(y), atol=1e-9)
    assert np.allclose(cal.transform(law).cdf(y), Recalibrated(first, cal._map(law)).cdf(y), atol=1e-9)
    with pytest.raises(ValueError, match="`base_map` must be"):
        GPBetaCalibrator(base_map="spline").fit(law, y)


def test_vast_weights_take_no_more_steps_than_weight_one_and_learn_no_point_by_heart(monkeypatch):
    rng = np.random.default_rng(0)
    mu, asked = rng.normal(0.0, 2.0, 40), []
    y, real = mu + 2 * rng.standard_normal(40), inference.evaluate
    monkeypatch.setattr(inference, "evaluate", lambda *given: asked.append(1) or real(*given))
    numbers, laws = [], []
    for weights in (None, np.full(40, 1e12)):
        laws.append(GPBetaCalibrator().fit(Normal(mu, 1.0), y, sample_weight=weights).transform(Normal(mu, 1.0)))
        numbers.append(len(asked))
        asked.clear()
    assert numbers[1] < 1.5 * numbers[0]
    fresh = mu + 2 * rng.standard_normal((200, 40))
    assert laws[1].logpdf(fresh.T).mean() > laws[0].logpdf(fresh.T).mean() - 0.01
