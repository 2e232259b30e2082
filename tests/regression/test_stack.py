"""The stack of calibrators and its candidates."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import check_grad, minimize
from scipy.stats import norm
from sklearn.base import clone
from sklearn.linear_model import BayesianRidge

from calibrant import (
    BoostedCalibrator,
    CalibratedRegressor,
    Ensemble,
    Gamma,
    GroupedCalibrator,
    Mixture,
    Normal,
    Poisson,
    QuantileCalibrator,
    ScaleCalibrator,
    StudentT,
    load,
    metrics,
    save,
)
from calibrant.maps import fit_spline
from calibrant.regression import map_choice
from calibrant.regression.flow import FlowCalibrator
from calibrant.regression.stack import calibrator as stack_calibrator
from calibrant.regression.stack.calibrator import BOLD, StackCalibrator, default_candidates
from calibrant.regression.stack.candidates import ScoreMixtureCalibrator, _parameters, _Problem
from calibrant.regression.stack.shares import best_shares, gain, kept, ways_to_share
from calibrant.store.codec import Decoder, Encoder
from experiments.song2019.toy.toy import toy

LEVELS = [0.1, 0.5, 0.9]
QUICK = {"quantile": QuantileCalibrator(), "normal": ScoreMixtureCalibrator()}


def rows():
    rng = np.random.default_rng(20180710)
    mu, sigma = rng.normal(0, 2, 300), np.exp(rng.normal(0, 0.5, 300))
    return mu, sigma, mu + 0.3 + 2 * sigma * rng.standard_normal(300)


@pytest.fixture
def data():
    return rows()


@cache
def usual():
    """The stack as it is by default, fitted to all rows once for tests that only look at it."""
    mu, sigma, y = rows()
    return StackCalibrator().fit(Normal(mu, sigma), y)


@cache
def on_the_toy(seed):
    """The same, fitted to the toy of that seed."""
    old, _ = toy(seed)
    return StackCalibrator().fit(old.base, old.y)


class TestToy:
    def test_nearly_finds_the_true_law(self):
        nll = []
        for seed in range(3):
            _, new = toy(seed)
            nll.append(metrics.nll(new.y, on_the_toy(seed).transform(new.base)))
        assert np.mean(nll) < 2.33  # the base has 3.11, the true law 2.28

    def test_densities_are_proper(self):
        _, new = toy(0)
        law = on_the_toy(0).transform(new.base[:20])
        grid = np.linspace(-300.0, 300.0, 30_001)[None, :]
        density = law.pdf(grid)
        assert density.min() >= 0
        assert np.allclose(np.trapezoid(density, grid[0]), 1, atol=1e-6)
        assert np.allclose(law.cdf(law.quantiles(LEVELS)), LEVELS, atol=1e-9)
        assert np.allclose(np.trapezoid(density * grid, grid[0]), law.mean(), atol=1e-4)


@pytest.mark.parametrize(("n", "limit"), [(100, 0.01), (300, 0.007)])
def test_harmless_where_nothing_is_wrong(n, limit):
    cost = []
    for draw in range(4):
        rng = np.random.default_rng([n, draw])
        mu = rng.normal(size=n + 10_000)
        y = mu + rng.standard_normal(len(mu))
        old, new = Normal(mu[:n], 1.0), Normal(mu[n:], 1.0)
        law = StackCalibrator().fit(old, y[:n]).transform(new)
        cost.append(metrics.nll(y[n:], law) - metrics.nll(y[n:], new))
    assert np.mean(cost) < limit


def test_weights_are_visible_and_explained(data):
    mu, sigma, y = data
    stack = StackCalibrator(QUICK).fit(Normal(mu, sigma), y)
    assert list(stack.weights_) == ["base", "quantile", "normal"]
    assert sum(stack.weights_.values()) == pytest.approx(1)
    assert stack.held_out_.argmin() == 0 and stack.held_out_.shape == (3,)
    assert {name for name, share in stack.weights_.items() if share > 0} == {"base", *stack.calibrators_}
    stack.weights_ = {"base": 0.08, "mixture": 0.301, "flow": 0.619, "quantile": 0.0}
    assert stack.explain() == "62 % flow, 30 % mixture, 8 % base"


def test_small_weights_go_and_the_base_keeps_its_premium():
    assert kept(np.array([0.01, 0.79, 0.19, 0.01]), 99.0) == pytest.approx(np.array([0.00196, 0.79, 0.19, 0]) / 0.98196)
    assert kept(np.array([0.5, 0.5]), 99.0) == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize(("rows", "least"), [(100, 0.05), (1999, 0.05), (2000, 0.02)])
def test_more_weight_is_needed_where_few_rows_show_that_the_base_is_wrong(rows, least):
    for share in (0.99 * least, 1.01 * least):
        y = np.arange(10_000) < 10_000 * share
        logs = np.log(np.column_stack([np.full(10_000, 1e-3), np.where(y, 1e-9, 1.0), np.where(y, 1.0, 1e-9)]))
        (shares,) = ways_to_share(logs, np.ones(10_000), np.full(3, True), rows)
        assert (shares[2] > 0) == (share > least)


@pytest.mark.parametrize(("behind", "worth"), [(0.0, 1.0), (3.0, np.exp(-1.0)), (900.0, 0.0)])
def test_favour_fades_with_the_distance_from_the_best(behind, worth):
    logs = np.array([0.0, 9.0, 9.0 - behind]) / 1000 + np.zeros((1000, 3))
    (shares,) = ways_to_share(logs, np.ones(1000), np.full(3, True), 1000.0, np.array([0.0, 0.0, 1.0]))
    trust = np.array([0.1, 0.1, 0.1 + worth])
    assert np.allclose(shares, kept(best_shares(logs, np.ones(1000), trust), 1000.0, 0.05))


@pytest.mark.parametrize("nats", [1.5, 4.0, 5.9, 6.3])
def test_bold_candidates_need_a_base_that_is_clearly_wrong(nats):
    logs = np.array([0.0, -0.001, nats / 1000]) + np.zeros((1000, 3))  # nearly all goes to the third
    w, equal = np.ones(1000), np.full(3, 0.1)
    ways = list(ways_to_share(logs, w, np.array([True, True, False]), 1000.0))
    gained = 1000 * np.log(best_shares(logs, w, equal) @ np.exp(logs[0]))
    in_base = {1.5: 2.0, 6.3: 0.1}.get(nats, 2.0 - 1.9 * (gained - 2) / 4)  # fades from 2 to 6 nats
    trusted = np.append(best_shares(logs[:, :2], w, np.array([in_base, 0.1])), 0.0)
    assert np.allclose(ways[-1], kept(trusted, 1000.0))
    assert len(ways) == 1 + (nats > 6)
    if nats > 6:
        assert np.array_equal(ways[0], kept(best_shares(logs, w, equal), 1000.0, 0.05))
        assert ways[0][2] > 0.9


def test_few_rows_show_where_outcomes_heap():
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=2150), rng.normal(size=2150)
    y, law = np.minimum(np.exp(0.5 * x + 0.5 * noise), 2.0), Normal(1.0 + 0.4 * x, 0.7)
    stack = StackCalibrator().fit(law[:150], y[:150])
    careful = StackCalibrator({k: c for k, c in default_candidates().items() if k != BOLD}).fit(law[:150], y[:150])
    assert stack.weights_[BOLD] > 0.1
    gained = metrics.nll(y[150:], careful.transform(law[150:])) - metrics.nll(y[150:], stack.transform(law[150:]))
    assert gained > 0.03


def test_where_nothing_is_wrong_nothing_bold_is_weighed(rng):
    mu = rng.normal(size=100)
    assert StackCalibrator().fit(Normal(mu, 1.0), mu + rng.normal(size=100)).weights_[BOLD] == 0


def test_law_is_the_mixture_of_the_candidates(data):
    mu, sigma, y = data
    stack = StackCalibrator(QUICK).fit(Normal(mu, sigma), y)
    law = stack.transform(Normal(mu, sigma))
    assert isinstance(law, Mixture)
    parts = stack.weights_["base"] * Normal(mu, sigma).cdf(y)
    for name, calibrator in stack.calibrators_.items():
        parts = parts + stack.weights_[name] * calibrator.transform(Normal(mu, sigma)).cdf(y)
    assert np.allclose(law.cdf(y), parts)


def test_own_candidates_get_names(data):
    mu, sigma, y = data
    own = [ScaleCalibrator(), QuantileCalibrator(), QuantileCalibrator(map="beta")]
    stack = StackCalibrator(own).fit(Normal(mu, sigma), y)
    assert list(stack.weights_) == ["base", "scale", "quantile", "quantile 2"]
    with pytest.raises(TypeError, match="`candidates` must be calibrators with fit and transform.*got int: 3"):
        StackCalibrator([3]).fit(Normal(mu, sigma), y)
    with pytest.raises(TypeError, match='none called "base"'):
        StackCalibrator({"base": ScaleCalibrator()}).fit(Normal(mu, sigma), y)


def test_em_finds_the_best_weights():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(400) < 0.7, rng.normal(0, 1, 400), rng.normal(3, 0.5, 400))
    logs = np.column_stack([norm(0, 1).logpdf(y), norm(3, 0.5).logpdf(y), norm(1, 3).logpdf(y)])
    w, trust = rng.integers(1, 4, 400).astype(float), np.array([1.0, 0.1, 0.1])

    def loss(free):
        shares = np.exp(np.append(free, 0.0))
        shares /= shares.sum()
        return -(w @ np.log(np.exp(logs) @ shares) + trust @ np.log(shares))

    best = minimize(loss, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 5000})
    expected = np.exp(np.append(best.x, 0.0))
    assert np.allclose(best_shares(logs, w, trust), expected / expected.sum(), atol=1e-5)
    never = np.column_stack([logs[:, 0], np.full(400, -np.inf)])
    assert best_shares(never, w, np.array([0.0, 0.0]))[1] == pytest.approx(0)


def test_weight_two_is_the_row_twice(data):
    mu, sigma, y = data
    w = np.random.default_rng(0).integers(0, 4, 300)
    weighted = StackCalibrator().fit(Normal(mu, sigma), y, sample_weight=w)
    repeated = StackCalibrator().fit(Normal(np.repeat(mu, w), np.repeat(sigma, w)), np.repeat(y, w))
    assert weighted.weights_ == pytest.approx(repeated.weights_)
    law = Normal(mu, sigma)
    assert np.allclose(weighted.transform(law).quantiles(LEVELS), repeated.transform(law).quantiles(LEVELS), rtol=1e-7)


def test_same_answer_every_time_and_in_any_precision(data):
    mu, sigma, y = data
    law = Normal(mu, sigma)
    answer = usual().transform(law).quantiles(LEVELS)
    assert np.array_equal(clone(usual()).fit(law, y).transform(law).quantiles(LEVELS), answer)
    single = StackCalibrator().fit((mu.astype("f4"), sigma.astype("f4")), y.astype("f4"))
    assert np.allclose(single.transform(law).quantiles(LEVELS), answer, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("n", [1, 2, 14])
def test_few_rows_are_a_quantile_map_and_say_so(n):
    law, y = Normal(np.zeros(n), 1.0), np.linspace(0.5, 1.0, n)
    with pytest.warns(UserWarning, match=f"too few rows to learn from: {n}; only a quantile map is used"):
        stack = StackCalibrator().fit(law, y)
    found, alone = (
        calibrator.transform(Normal([3.0], 2.0)) for calibrator in (stack, QuantileCalibrator().fit(law, y))
    )
    assert np.allclose(found.quantiles(LEVELS), alone.quantiles(LEVELS))
    assert stack.explain() == "100 % base, then a quantile map of all"


@pytest.mark.filterwarnings("ignore:too few rows")
def test_five_rows_mend_most_of_a_wrong_width():
    rng, covered = np.random.default_rng(0), []
    for _ in range(200):
        y = rng.normal(0.0, 2.0, 5)
        low, high = StackCalibrator().fit(Normal(np.zeros(5), 1.0), y).transform(Normal([0.0], 1.0)).interval(0.9)[0]
        covered.append(norm(0, 2).cdf(high) - norm(0, 2).cdf(low))
    assert np.mean(covered) > 0.75 > 0.6 > 2 * norm.cdf(1.645 / 2) - 1


def test_what_no_candidate_mends_a_map_of_all_does():
    rng = np.random.default_rng(0)
    mu = rng.normal(size=2000)
    y = mu + rng.exponential(2.0, 2000)
    law, y, new, y_new = Normal(mu[:1000], 1.0), y[:1000], Normal(mu[1000:], 1.0), y[1000:]
    stack = StackCalibrator([ScaleCalibrator()]).fit(law, y)
    assert stack.rest_ is not None and stack.explain().endswith(", then a quantile map of all")
    made = stack.transform(new)
    assert metrics.calibration_error(y_new, made) < 0.002 < 0.05 < metrics.calibration_error(y_new, made.base)
    assert metrics.nll(y_new, made) < metrics.nll(y_new, made.base) - 0.2
    assert stack.pit_distances_[1] < 0.1


def test_outcomes_that_nobody_thought_possible_say_nothing_of_the_map():
    assert np.array_equal(gain(np.array([-np.inf, -1.0, -np.inf]), np.array([-np.inf, -0.5, -2.0])), [0.0, 0.5, np.inf])


def test_nothing_is_mapped_without_again():
    assert usual().rest_ is None


def test_tied_outcomes_are_seen():
    rng = np.random.default_rng(0)
    mu = rng.uniform(0.0, 10.0, 1600)
    y = np.round(mu + 2 * rng.normal(size=1600))
    stack = StackCalibrator().fit(Normal(mu[:800], 2.0), y[:800])
    gain = metrics.nll(y[800:], Normal(mu[800:], 2.0)) - metrics.nll(y[800:], stack.transform(Normal(mu[800:], 2.0)))
    assert stack.weights_["density"] > 0.2 and gain > 0.02


@pytest.fixture(scope="module")
def shops():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"region": rng.choice(["north", "south"], 1600), "price": rng.normal(size=1600)})
    mu = rng.normal(size=1600)
    return frame, mu, mu + rng.normal(size=1600) * np.where(frame["region"] == "north", 1.0, 3.0)


@pytest.fixture(scope="module")
def with_features(shops):
    pytest.importorskip("lightgbm")
    frame, mu, y = shops
    return StackCalibrator().fit(Normal(mu[:800], 1.0), y[:800], X=frame[:800])


class TestFeatures:
    def test_they_are_used_where_they_tell(self, shops, with_features):
        frame, mu, y = shops
        assert with_features.weights_["boosted"] > 0.5
        law, new = Normal(mu[800:], 1.0), frame[800:]
        plain = StackCalibrator().fit(Normal(mu[:800], 1.0), y[:800]).transform(law)
        made = with_features.transform(law, X=new[["price", "region"]])
        assert metrics.nll(y[800:], made) < metrics.nll(y[800:], plain) - 0.1
        wide = made.std()[(new["region"] == "south").to_numpy()].mean()
        assert 2.4 < wide < 3.4

    def test_the_law_needs_them_then(self, shops, with_features):
        with pytest.raises(ValueError, match="`X` must be given"):
            with_features.transform(Normal([0.0], 1.0))

    def test_saved_and_loaded(self, shops, with_features, tmp_path):
        frame, mu, _ = shops
        save(with_features, tmp_path / "a.calibrant")
        law = Normal(mu[:5], 1.0)
        again = load(tmp_path / "a.calibrant").transform(law, X=frame[:5])
        assert np.array_equal(again.quantiles(LEVELS), with_features.transform(law, X=frame[:5]).quantiles(LEVELS))

    def test_rows_that_differ_in_features_only_are_not_one(self, shops):
        pytest.importorskip("lightgbm")
        X = np.repeat([[0.0], [1.0]], 60, axis=0)
        y = np.concatenate([np.linspace(-1, 1, 60), np.linspace(-1, 1, 60)])
        fitted = StackCalibrator([QuantileCalibrator(), BoostedCalibrator()]).fit(Normal(np.zeros(120), 1.0), y, X=X)
        assert fitted.n_rows_ == 120 and fitted.calibrators_.keys() <= {"quantile", "boosted"}

    def test_candidates_that_take_none_refuse_them(self, shops):
        frame, mu, y = shops
        with pytest.raises(ValueError, match="`X` was given, but the stack of these candidates takes no features"):
            StackCalibrator(QUICK).fit(Normal(mu, 1.0), y, X=frame)
        assert not StackCalibrator(QUICK).takes.beside
        assert StackCalibrator([BoostedCalibrator()]).takes.needs == {"X"}


def test_files_of_earlier_versions_have_no_last_map(data):
    mu, sigma, y = data
    stack = StackCalibrator(QUICK).fit(Normal(mu, sigma), y)
    earlier = Encoder()
    tree = earlier(stack)
    del tree["state"]["rest_"]
    assert Decoder(earlier.arrays)(tree).rest_ is None


@pytest.mark.parametrize(
    ("mu", "sigma"),
    [(np.zeros(60), np.ones(60)), (np.arange(60) % 2, np.ones(60)), (np.zeros(60), np.exp(np.arange(60) % 3))],
    ids=["constant", "two forecasts", "three widths"],
)
def test_forecasts_with_little_to_tell(mu, sigma):
    y = mu + sigma * np.random.default_rng(0).standard_normal(60)
    law = StackCalibrator().fit(Normal(mu, sigma), y).transform(Normal(mu, sigma))
    assert np.isfinite(law.logpdf(y)).all() and np.isfinite(law.interval(0.99)).all()


def test_far_outliers_stay_finite(data):
    mu, sigma, y = data
    y = np.where(np.arange(300) < 2, mu + 50 * sigma, y)
    law = StackCalibrator().fit(Normal(mu, sigma), y).transform(Normal(mu, sigma))
    assert np.isfinite(law.logpdf(y)).all() and np.isfinite(law.logpdf(mu - 500 * sigma)).all()


def test_other_bases(rng):
    rate = np.exp(rng.normal(2, 0.5, 800))
    y = rng.poisson(rate * rng.gamma(4, 1 / 4, 800))
    counts = StackCalibrator().fit(Poisson(rate[:400]), y[:400]).transform(Poisson(rate[400:]))
    assert counts.is_discrete
    assert metrics.nll(y[400:], counts) < metrics.nll(y[400:], Poisson(rate[400:])) - 0.3
    positive = StackCalibrator(QUICK).fit(Gamma(rate, 1.0), y + 0.5).transform(Gamma(rate, 1.0))
    assert np.all(positive.ppf(1e-9) >= 0)
    centre = rng.normal(size=(400, 1))
    members = np.round(centre + rng.standard_normal((400, 12)), 0)  # ties: atoms and density
    ties = StackCalibrator(QUICK).fit(Ensemble(members), np.round(centre[:, 0] + rng.standard_normal(400)))
    assert np.isfinite(ties.transform(Ensemble(members)).interval(0.9)).all()
    heavy = StackCalibrator(QUICK).fit(StudentT(centre[:, 0], 1.0, 3.0), centre[:, 0] + 3 * rng.standard_t(3, 400))
    far = heavy.transform(StudentT([0.0], 1.0, 3.0)).logsf(np.array([[1e8, 1e9, 1e10]]))
    assert np.diff(far).ravel() / np.log(10) == pytest.approx([-3, -3], abs=0.7)


@pytest.mark.usefixtures("laws_only")
@pytest.mark.parametrize("calibrator", [FlowCalibrator(4), StackCalibrator(QUICK)], ids=["flow", "stack"])
@pytest.mark.parametrize("ensemble", [True, False])
def test_inside_the_estimator(calibrator, ensemble, rng):
    X = rng.normal(size=(240, 3))
    y = X[:, 0] + np.exp(0.5 * X[:, 0]) * rng.standard_normal(240)
    model = CalibratedRegressor(BayesianRidge(), calibrator=calibrator, cv=3, ensemble=ensemble).fit(X[:200], y[:200])
    law = model.predict_dist(X[200:])
    assert len(law) == 40 and np.isfinite(law.logpdf(y[200:])).all()
    assert np.all(np.diff(model.predict_quantiles(X[200:], LEVELS)) > 0)


@pytest.mark.usefixtures("laws_only")
def test_one_flow_a_group(data):
    mu, sigma, y = data
    groups = np.arange(300) % 2
    y = y + 4.0 * groups
    cal = GroupedCalibrator(FlowCalibrator(4)).fit(Normal(mu, sigma), y, groups=groups)
    moved = cal.transform(Normal(mu, sigma), groups=groups).median() - mu
    for group in (0, 1):
        assert moved[groups == group].mean() == pytest.approx((y - mu)[groups == group].mean(), abs=0.4)


class TestScoreMixture:
    @pytest.mark.parametrize("count", [1, 2])
    def test_gradient(self, count):
        rng = np.random.default_rng(0)
        problem = _Problem(rng.normal(0, 1.5, 20), rng.normal(size=(3, 20)), rng.uniform(0.5, 2, 20), count)
        theta = 0.4 * rng.standard_normal(3 * (3 * count - 1))
        assert check_grad(lambda t: problem.loss(t)[0], lambda t: problem.loss(t)[1], theta) < 1e-6

    @pytest.mark.parametrize("count", [1, 2])
    @pytest.mark.parametrize("far", [1e3, -1e3, 1e160, -1e160])
    def test_a_search_may_go_anywhere(self, count, far):
        rng = np.random.default_rng(0)
        problem = _Problem(rng.normal(0, 9, 20), rng.normal(size=(3, 20)), np.ones(20), count)
        value, slopes = problem.likelihood(np.full(3 * (3 * count - 1), far))
        assert np.isfinite(value).all() and np.isfinite(slopes).all()

    def test_loss_is_the_log_density(self):
        rng = np.random.default_rng(1)
        u, theta = rng.normal(size=15), 0.4 * rng.standard_normal(5)
        means, widths, logs = (part[:, 0] for part in _parameters(theta[:, None], 2))
        density = sum(np.exp(logs[k]) * norm(means[k], widths[k]).pdf(u) for k in range(2))
        loss = _Problem(u, np.ones((1, 15)), np.ones(15), 2).loss(theta)[0] * 15 - 0.5 * theta @ theta
        assert -loss - 7.5 * np.log(2 * np.pi) == pytest.approx(np.log(density).sum())
        assert np.exp(logs).sum() == pytest.approx(1) and widths.min() > 0.05

    def test_recovers_two_modes_that_move_with_the_forecast(self):
        rng = np.random.default_rng(0)
        mu = rng.uniform(-1, 1, 4000)
        y = mu + np.where(rng.random(4000) < 0.3, 2 + mu, -1) + 0.4 * rng.standard_normal(4000)
        cal = ScoreMixtureCalibrator(2).fit(Normal(mu, 1.0), y)
        new = np.array([-0.5, 0.5])
        truth = Mixture([Normal(new + 2 + new, 0.4), Normal(new - 1, 0.4)], [0.3, 0.7])
        grid = np.linspace(-3, 5, 33)[None, :]
        assert np.allclose(cal.transform(Normal(new, 1.0)).cdf(grid), truth.cdf(grid), atol=0.03)

    def test_a_law_that_is_not_normal_is_moved_in_its_scores(self):
        rng = np.random.default_rng(0)
        base = Gamma(rng.uniform(2, 6, 1000), 1.0)
        y = base.from_normal(0.5 + 1.5 * rng.standard_normal(1000))
        law = ScoreMixtureCalibrator(1).fit(base, y).transform(base)
        scores = law.to_normal(y)
        assert scores.mean() == pytest.approx(0, abs=0.03) and scores.std() == pytest.approx(1, abs=0.03)

    def test_unknown_functions_are_named(self):
        with pytest.raises(ValueError, match="`functions` must be one of 'linear', 'smooth'; got 'cubic'"):
            ScoreMixtureCalibrator(1, "cubic").fit(Normal([0.0], 1.0), [0.0])


def test_flow_is_among_the_candidates():
    assert isinstance(StackCalibrator().fit(*_wavy()).calibrators_.get("flow"), FlowCalibrator)


def _wavy():
    """Skewed about a mean that is right, with a width that depends on it: no normal mixture, nor any one map."""
    rng = np.random.default_rng(3)
    mu = rng.normal(size=1200)
    noise = rng.gamma(2.0, 1.0, 1200) / np.sqrt(2) - np.sqrt(2)
    return Normal(mu, 1.0), mu + (1 + 0.5 * np.tanh(2 * mu)) * noise


@pytest.mark.parametrize("rows", [119, 120])
def test_many_rows_bring_a_candidate_with_closer_knots(rng, rows, monkeypatch):
    assert stack_calibrator.MANY_ROWS == 2000
    monkeypatch.setattr(stack_calibrator, "MANY_ROWS", 120)
    monkeypatch.setattr(stack_calibrator, "FEW_ROWS", 100)
    mu = rng.uniform(0, 10, rows)
    stack = StackCalibrator().fit(Normal(mu, 1.0), mu + rng.normal(size=rows))
    assert ("flow of hats" in stack.weights_) == (rows == 120)
    assert (BOLD in stack.weights_) == (rows < 120)


def test_few_rows_bring_a_classifier_unless_they_are_counts():
    assert stack_calibrator.FEW_ROWS == 500
    few, more = default_candidates(499), default_candidates(500)
    assert set(few) - set(more) == {"gpc", "flow of hats"} and not set(more) - set(few)
    assert (few["flow"].penalty, more["flow"].penalty) == (0.1, 1.0)
    assert "gpc" not in default_candidates(100, densities=False) and "gpc" in usual().weights_
    mean = np.linspace(1, 9, 60)
    law = Poisson(mean)
    stack = StackCalibrator().fit(law, law.sample(1, random_state=0)[:, 0])
    assert "gpc" not in stack.weights_
    assert default_candidates().keys() == more.keys()


def test_what_a_classifier_adds_is_saved_and_loaded(tmp_path):
    stack, new = StackCalibrator({"gpc": default_candidates(100)["gpc"]}), Normal([1.0, 5.0, 9.0], 3.0)
    rng = np.random.default_rng(5)
    stack.fit(Normal(rng.uniform(0, 10, 100), 3.0), rng.choice([3.0, 7.0], 100) + 0.2 * rng.standard_normal(100))
    assert stack.weights_["gpc"] > 0.5
    save(stack, tmp_path / "stack.calibrant")
    again = load(tmp_path / "stack.calibrant").transform(new)
    assert np.array_equal(again.quantiles(LEVELS), stack.transform(new).quantiles(LEVELS))


def test_the_default_map_of_the_same_rows_is_fitted_once(monkeypatch, data):
    fits = []
    monkeypatch.setattr(map_choice, "fit_spline", lambda *given, **how: fits.append(0) or fit_spline(*given, **how))
    mu, sigma, y = data
    stack = StackCalibrator({"one": QuantileCalibrator(), "two": QuantileCalibrator()}).fit(Normal(mu, sigma), y)
    assert len(fits) == 6 and stack.calibrators_["one"].map_ is stack.calibrators_["two"].map_
