"""Beta calibration against betacal and a general optimiser."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from calibrant.classification.beta import BetaCalibrator

EVERY = ("abm", "am", "ab", "a")


def rows(rng, n, a=0.6, b=1.8, m=0.3):
    p = rng.beta(1.2, 1.5, n)
    return p, rng.random(n) < expit(a * np.log(p) - b * np.log1p(-p) + m)


def curve_of(theta, parameters):
    """a, b, m of the parameters that are free."""
    a = theta[0]
    b = theta[1] if "b" in parameters else a
    return a, b, theta[-1] if "m" in parameters else (a - b) * np.log(2)


def minimum(p, y, parameters, w=1.0):
    def loss(theta):
        a, b, m = curve_of(theta, parameters)
        h = a * np.log(p) - b * np.log1p(-p) + m
        return (w * (np.logaddexp(0, h) - y * h)).sum()

    bounds = [(None, None) if letter == "m" else (0, None) for letter in parameters]
    start = np.full(len(parameters), 0.5)
    found = minimize(loss, start, bounds=bounds, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-8, "maxls": 50})
    return curve_of(found.x, parameters), found.fun


def parameters_of(calibrator):
    curve = calibrator.curves_[0]
    return curve.a, curve.b, curve.m


@pytest.mark.parametrize("parameters", EVERY)
@pytest.mark.parametrize("n", [60, 30_000])
def test_equals_a_general_optimiser(parameters, n, rng):
    p, y = rows(rng, n)
    w = rng.integers(1, 4, n).astype(float)
    ours = parameters_of(BetaCalibrator(parameters, smoothing=0).fit(p, y, sample_weight=w))
    np.testing.assert_allclose(ours, minimum(p, y, parameters, w)[0], rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("parameters", EVERY)
def test_is_the_minimum(parameters, rng):
    """The gradient of the likelihood vanishes, to rounding."""
    for n in (200, 50_000):
        p, y = rows(rng, n, m=-1.2 * np.log(2))  # so that a and b are positive without m too
        calibrator = BetaCalibrator(parameters, smoothing=0).fit(p, y)
        error = calibrator.transform(p)[:, 1] - y
        low, high = np.log(p), -np.log1p(-p)
        features = {"abm": [low, high, np.ones(n)], "am": [low + high, np.ones(n)]}
        features |= {"ab": [low + np.log(2), high - np.log(2)], "a": [low + high]}
        assert max(abs(error @ feature) for feature in features[parameters]) < 1e-7 * n


AGAINST_BETACAL = [
    ("abm", (0.6, 1.8, 0.3)),
    ("abm", (-0.7, 1.5, 0.2)),  # fitted again without a
    ("abm", (1.5, -0.7, -0.2)),  # fitted again without b
    ("am", (0.6, 1.8, 0.3)),
    ("ab", (0.6, 1.8, -1.2 * np.log(2))),  # betacal has constraints with all three parameters only
]


@pytest.mark.parametrize(("parameters", "truth"), AGAINST_BETACAL)
def test_equals_betacal(parameters, truth, rng):
    betacal = pytest.importorskip("betacal")
    p, y = rows(rng, 4000, *truth)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # betacal changes the filters of its caller
        theirs = betacal.BetaCalibration(parameters).fit(p[:, None], y)
        there = theirs.predict(p[:, None])
    ours = BetaCalibrator(parameters, smoothing=0).fit(p, y)
    np.testing.assert_allclose(ours.transform(p)[:, 1], there, rtol=0, atol=2e-4)  # scikit-learn's lbfgs stops there
    x = betacal_columns(p, parameters, theirs.calibrator_.map_)
    model = theirs.calibrator_.lr_.set_params(tol=1e-12, max_iter=10_000)
    np.testing.assert_allclose(ours.transform(p), model.fit(x, y).predict_proba(x), rtol=0, atol=1e-8)


def betacal_columns(p, parameters, found):
    """What betacal's logistic regression is of."""
    if parameters == "am":
        return np.log(p / (1 - p))[:, None]
    if parameters == "ab":
        return np.log(np.column_stack([2 * p, 2 - 2 * p]))
    return np.column_stack([np.log(p), -np.log1p(-p)])[:, np.array(found[:2]) != 0]


@pytest.mark.parametrize("truth", [(-0.7, 1.5, 0.2), (1.5, -0.7, -0.2), (-0.8, -0.8, 0.1)])
def test_curves_never_fall(truth, rng):
    p, y = rows(rng, 3000, *truth)
    for parameters in EVERY:
        calibrator = BetaCalibrator(parameters, smoothing=0).fit(p, y)
        a, b, m = parameters_of(calibrator)
        assert a >= 0 and b >= 0
        expected, best = minimum(p, y, parameters)
        out = calibrator.transform(p)
        assert -np.log(out[np.arange(3000), y.astype(int)]).sum() <= best + 1e-6
        np.testing.assert_allclose((a, b, m), expected, atol=2e-3)
    if max(truth) == truth[2]:
        np.testing.assert_allclose(BetaCalibrator(smoothing=0).fit(p, y).transform(p)[:, 1], y.mean(), atol=1e-9)


def test_recovers_what_the_rows_follow(rng):
    p, y = rows(rng, 400_000)
    np.testing.assert_allclose(parameters_of(BetaCalibrator().fit(p, y)), (0.6, 1.8, 0.3), atol=0.03)


def test_half_stays_half_without_m(rng):
    p, y = rows(rng, 500)
    for parameters in ("ab", "a"):
        assert BetaCalibrator(parameters).fit(p, y).transform([0.5])[0, 1] == pytest.approx(0.5, abs=1e-15)


def test_am_on_log_odds_is_platt(rng):
    from calibrant.classification.platt import PlattCalibrator

    p, y = rows(rng, 700)
    np.testing.assert_allclose(
        BetaCalibrator("am").fit(p, y).transform(p), PlattCalibrator().fit(p, y).transform(p), rtol=0, atol=1e-9
    )


def test_margins_are_refused_with_a_remedy():
    with pytest.raises(
        ValueError, match="must be probabilities or logits for beta calibration; got margins. Use Platt"
    ):
        BetaCalibrator(scores_are="margins").fit([-3.0, 4.0], [0, 1])
    with pytest.raises(ValueError, match="`parameters` must be one of 'abm', 'am', 'ab', 'a'; got 'bm'"):
        BetaCalibrator("bm").fit([0.3, 0.4], [0, 1])


@pytest.mark.parametrize("parameters", EVERY)
def test_a_class_without_rows_by_hand(parameters, rng):
    p = rng.dirichlet(np.ones(3), 40)
    curve = BetaCalibrator(parameters).fit(p, np.arange(40) % 2).curves_[2]
    np.testing.assert_allclose(curve(np.array([-3.0, 3.0])), 1 / 42)


def test_far_logits(rng):
    x = rng.normal(0, 400, 300)
    y = rng.random(300) < expit(x / 300)
    out = BetaCalibrator(scores_are="logits").fit(x, y).transform(x)
    assert -np.log(out[np.arange(300), y.astype(int)]).mean() < 0.6
