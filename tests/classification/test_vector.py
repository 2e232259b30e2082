"""A weight and an intercept a class."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime, brentq, minimize
from scipy.special import log_softmax

from calibrant.classification.softmax.designs import Diagonal
from calibrant.classification.softmax.fit import _rounds
from calibrant.classification.softmax.problem import SoftmaxProblem
from calibrant.classification.temperature import TemperatureCalibrator
from calibrant.classification.vector import VectorCalibrator


def sample(n, classes, weights, shift, seed=0):
    """Log probabilities, and labels of what vector scaling makes of them."""
    rng = np.random.default_rng(seed)
    x = log_softmax(rng.normal(0, 2, (n, classes)), axis=1)
    return x, (x * weights + shift + rng.gumbel(size=x.shape)).argmax(axis=1)


def log_loss(p, y):
    return -np.log(p[np.arange(len(y)), y]).mean()


def test_optimum_of_the_penalised_loss():
    x, y = sample(80, 3, [1.0, 0.5, 2.0], [0.0, 1.0, -1.0])
    w = np.random.default_rng(1).uniform(0.5, 2, 80)
    calibrator = VectorCalibrator(penalty=2.0, scores_are="logits").fit(x, y, sample_weight=w)
    beta = 1 / TemperatureCalibrator(scores_are="logits").fit(x, y, sample_weight=w).temperature_

    def loss(theta):
        logs = log_softmax(log_softmax(beta * x, axis=1) * theta[:3] + theta[3:], axis=1)
        return -(w * logs[np.arange(80), y]).sum() + ((theta - [1, 1, 1, 0, 0, 0]) ** 2).sum()

    ours = np.concatenate([calibrator.coef_, calibrator.intercept_])
    assert np.abs(approx_fprime(ours, loss, 1e-7)).max() < 1e-4
    best = minimize(loss, np.ones(6), method="BFGS", options={"gtol": 1e-8})
    np.testing.assert_allclose(ours, best.x, atol=1e-5)
    assert loss(ours) <= best.fun + 1e-10


def test_recovers_weights_and_intercepts():
    """Of labels for which the temperature is 1: what comes of another is probabilities again, and not the same."""
    shape, shift = np.array([0.5, 1.0, 1.5, 0.8]), np.array([0.0, 1.0, -1.0, 0.5])

    def temperature(size):
        return TemperatureCalibrator(scores_are="logits").fit(*sample(60_000, 4, size * shape, shift)).temperature_

    weights = brentq(lambda size: temperature(size) - 1, 0.5, 4, xtol=1e-3) * shape
    x, y = sample(60_000, 4, weights, shift)
    calibrator = VectorCalibrator(scores_are="logits").fit(x, y)
    np.testing.assert_allclose(calibrator.coef_, weights, atol=0.05)
    np.testing.assert_allclose(calibrator.intercept_ - calibrator.intercept_[0], shift, atol=0.06)


@pytest.mark.parametrize("factor", [0.3, 5.0])
def test_sharper_or_flatter_scores_come_to_the_same(factor):
    x, y = sample(3000, 4, [0.5, 1.0, 1.5, 0.8], [0.0, 1.0, -1.0, 0.5])
    plain, other = (
        VectorCalibrator(scores_are="logits").fit(each, y).transform(each)
        for each in (x, log_softmax(factor * x, axis=1))
    )
    np.testing.assert_allclose(other, plain, atol=2e-3)  # the temperature has a prior of its own


@pytest.mark.parametrize("n", [20, 60, 500])
def test_harmless_where_nothing_is_wrong(n):
    rises = []
    for seed in range(10):
        x, y = sample(n + 2000, 4, 1.0, 0.0, seed)
        p = VectorCalibrator(scores_are="logits").fit(x[:n], y[:n]).transform(x[n:])
        rises.append(log_loss(p, y[n:]) - log_loss(np.exp(x[n:]), y[n:]))
    assert np.mean(rises) <= 1.0 / n + 0.004


def test_separated_and_constant_scores():
    x = np.log([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]] * 4)
    out = VectorCalibrator(scores_are="logits").fit(x, [0, 1, 2] * 4).transform(x)
    assert np.isfinite(out).all() and (out[np.arange(12), [0, 1, 2] * 4] > 0.8).all()
    constant = (
        VectorCalibrator().fit(np.full((12, 3), 1 / 3), [0] * 8 + [1] * 3 + [2]).transform(np.full((1, 3), 1 / 3))
    )
    assert np.isfinite(constant).all() and constant[0, 0] > constant[0, 1] > constant[0, 2]
    two = VectorCalibrator().fit([0.2, 0.7], ["a", "b"])
    assert np.isfinite(two.transform([0.0, 1.0])).all()


def test_penalties():
    x, y = sample(200, 3, 1.0, [0.0, 2.0, 0.0])
    with pytest.raises(ValueError, match="`penalty` must be positive; 1 of 1 values is not"):
        VectorCalibrator(penalty=0.0, scores_are="logits").fit(x, y)
    with pytest.raises(ValueError, match="a number above 0, 'evidence' or 'structured'; got 'cv'"):
        VectorCalibrator(penalty="cv", scores_are="logits").fit(x, y)
    with pytest.raises(ValueError, match="margins are no probabilities"):
        VectorCalibrator(scores_are="margins").fit(x, y)
    structured = VectorCalibrator(penalty="structured", scores_are="logits").fit(x, y)
    same = VectorCalibrator(penalty=6.0, scores_are="logits").fit(x, y)
    np.testing.assert_allclose(structured.transform(x), same.transform(x), rtol=1e-12)
    strong = VectorCalibrator(penalty=1e9, scores_are="logits").fit(x, y)
    tempered = TemperatureCalibrator(scores_are="logits").fit(x, y)
    np.testing.assert_allclose(strong.transform(x), tempered.transform(x), atol=1e-6)


def test_many_classes_against_the_exact_rounds_and_the_published_loss():
    """Steps and precisions in turns, in single precision, lose no more than solving to the end."""
    rng = np.random.default_rng(20)
    x, y = sample(6000, 20, rng.uniform(0.6, 1.4, 20), rng.normal(0, 0.7, 20))
    (x, new), (y, y_new) = (np.split(each, [2000]) for each in (x, y))
    ours = VectorCalibrator(scores_are="logits").fit(x, y)
    tempered, tempered_new = (log_softmax(each / ours.temperature_, axis=1) for each in (x, new))
    problem = SoftmaxProblem(Diagonal(), tempered, y, np.ones(2000))
    theta, precisions = _rounds(problem, problem.centre, np.full(2, 10.0))
    np.testing.assert_allclose(ours.precisions_, precisions, rtol=0.1)
    exact = log_softmax(tempered_new * theta[:, 0] + theta[:, 1], axis=1)
    assert abs(log_loss(ours.transform(new), y_new) - log_loss(np.exp(exact), y_new)) < 2e-4

    def published(params):
        logs = log_softmax(tempered * params[:20] + params[20:], axis=1)
        away = params - np.r_[np.ones(20), np.zeros(20)]
        off = np.exp(logs) - np.eye(20)[y]
        slope = np.r_[(off * tempered).sum(axis=0), off.sum(axis=0)] + 40 * away
        return -logs[np.arange(2000), y].sum() + 20 * (away**2).sum(), slope

    structured = VectorCalibrator(penalty="structured", scores_are="logits").fit(x, y)
    found = np.r_[structured.coef_, structured.intercept_]
    start = np.r_[np.ones(20), np.zeros(20)]
    best = minimize(published, start, method="L-BFGS-B", jac=True, options={"ftol": 1e-13})
    assert published(found)[0] < best.fun + 0.02 < published(start)[0] - 10
