"""The Dirichlet map."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.naive_bayes import GaussianNB

from calibrant.classification.dirichlet import DirichletCalibrator
from calibrant.classification.softmax_designs import Full
from calibrant.classification.softmax_fit import SoftmaxProblem, fit_softmax
from calibrant.classification.temperature import TemperatureCalibrator
from calibrant.classification.vector import VectorCalibrator


def sample(n, W, b, seed=0):
    rng = np.random.default_rng(seed)
    x = log_softmax(rng.normal(0, 2, (n, len(b))), axis=1)
    return x, (x @ np.transpose(W) + b + rng.gumbel(size=x.shape)).argmax(axis=1)


def log_loss(p, y):
    return -np.log(p[np.arange(len(y)), y]).mean()


def test_optimum_of_the_penalised_loss():
    x, y = sample(80, [[1, 0.3, 0], [0, 0.7, 0], [0.5, 0, 1]], [0.0, 1.0, -0.5])
    w = np.random.default_rng(1).uniform(0.5, 2, 80)
    calibrator = DirichletCalibrator(penalty=3.0, scores_are="logits").fit(x, y, sample_weight=w)
    beta = 1 / TemperatureCalibrator(scores_are="logits").fit(x, y, sample_weight=w).temperature_

    def loss(theta):
        logs = log_softmax(beta * x @ theta[:9].reshape(3, 3).T + theta[9:], axis=1)
        return -(w * logs[np.arange(80), y]).sum() + 1.5 * ((theta - np.r_[np.eye(3).ravel(), 0, 0, 0]) ** 2).sum()

    best = minimize(loss, np.zeros(12), method="BFGS", options={"gtol": 1e-8})
    ours = np.r_[calibrator.coef_.ravel() / beta, calibrator.intercept_]
    np.testing.assert_allclose(ours, best.x, atol=1e-5)
    assert loss(ours) <= best.fun + 1e-10


def test_recovers_the_map():
    W, b = np.array([[1.0, 0.4, 0.0], [0.0, 0.6, 0.3], [0.2, 0.0, 1.2]]), np.array([0.0, 0.5, -0.5])
    x, y = sample(50_000, W, b)
    calibrator = DirichletCalibrator(scores_are="logits").fit(x, y)
    expected = softmax(x @ W.T + b, axis=1)  # the scores of a row may share any constant, so compare probabilities
    assert np.abs(calibrator.transform(x) - expected).mean() < 0.004


def test_precisions_are_those_of_most_evidence():
    """Against Laplace's evidence with the whole Hessian."""
    x, y = sample(400, [[1, 0.5, 0], [0, 0.6, 0.2], [0.4, 0, 1]], [0.0, 0.8, -0.6], seed=1)
    problem = SoftmaxProblem(Full(), x, y, np.ones(400))
    _, found = fit_softmax(problem, "evidence")
    groups = Full().groups(3)

    def evidence(precisions):
        precision = precisions[groups]
        theta = problem.solve(problem.centre, precision, problem.curvature(problem.centre))
        loss, _, product = problem.evaluate(theta, precision)
        hessian = np.array([product(unit.reshape(3, 4)).ravel() for unit in np.eye(12)])
        return -loss + 0.5 * np.log(precision).sum() - 0.5 * np.linalg.slogdet(hessian)[1]

    best = minimize(lambda logs: -evidence(np.exp(logs)), np.zeros(3), method="Nelder-Mead")
    assert evidence(found) > -best.fun - 0.2  # ours takes the Hessian within each class
    for g in range(3):
        for factor in (0.2, 5.0):
            other = found.copy()
            other[g] *= factor
            assert evidence(other) < evidence(found)


@pytest.mark.parametrize("n", [20, 60, 500])
def test_harmless_where_nothing_is_wrong(n):
    rises = []
    for seed in range(10):
        x, y = sample(n + 2000, np.eye(5), np.zeros(5), seed)
        p = DirichletCalibrator(scores_are="logits").fit(x[:n], y[:n]).transform(x[n:])
        rises.append(log_loss(p, y[n:]) - log_loss(np.exp(x[n:]), y[n:]))
    assert np.mean(rises) <= 1.5 / n + 0.006


def test_twenty_six_classes():
    rng = np.random.default_rng(0)
    W = np.eye(26) + 0.15 * (rng.random((26, 26)) < 0.1)
    x, y = sample(4000, W, rng.normal(0, 0.5, 26))
    start = time.process_time()
    calibrator = DirichletCalibrator(scores_are="logits").fit(x[:2000], y[:2000])
    assert time.process_time() - start < 20
    tempered = TemperatureCalibrator(scores_are="logits").fit(x[:2000], y[:2000])
    assert log_loss(calibrator.transform(x[2000:]), y[2000:]) < log_loss(tempered.transform(x[2000:]), y[2000:]) - 0.02


def test_digits_naive_bayes():
    X, y = load_digits(return_X_y=True)
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0)
    held_out = cross_val_predict(GaussianNB(), train, y_train, cv=5, method="predict_proba")
    scores = GaussianNB().fit(train, y_train).predict_proba(test)
    losses = [
        log_loss(method().fit(held_out, y_train).transform(scores), y_test)
        for method in (TemperatureCalibrator, VectorCalibrator, DirichletCalibrator)
    ]
    assert losses[2] < losses[1] < losses[0] < 0.7


def test_separated_missing_and_two_rows():
    x = np.log([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]] * 4)
    out = DirichletCalibrator(scores_are="logits").fit(x, [0, 1, 2] * 4).transform(x)
    assert np.isfinite(out).all() and (out[np.arange(12), [0, 1, 2] * 4] > 0.8).all()
    absent = DirichletCalibrator(scores_are="logits").fit(x, [0, 1, 1] * 4, classes=[0, 1, 2]).transform(x)
    assert np.isfinite(absent).all() and (absent > 0).all()
    extreme = DirichletCalibrator().fit([0.0, 1.0], ["a", "b"]).transform([0.0, 0.5, 1.0])
    assert np.isfinite(extreme).all() and extreme[0, 0] > 0.5 > extreme[2, 0]
