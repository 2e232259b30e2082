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
from calibrant.classification.softmax import many
from calibrant.classification.softmax.curvature import PooledCurvature
from calibrant.classification.softmax.designs import Diagonal, Full
from calibrant.classification.softmax.fit import _rounds, fit_softmax
from calibrant.classification.softmax.problem import SoftmaxProblem
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


def structured_loss(params, x, y):
    """Mean cross entropy of x + x Δᵀ + b and the ridge penalties of structured matrix scaling; and its slope."""
    n, k = x.shape
    delta, b = params[: k * k].reshape(k, k), params[k * k :]
    logs = log_softmax(x + x @ delta.T + b, axis=1)
    penalty = np.full((k, k), k * (k - 1) / n)
    np.fill_diagonal(penalty, k / n)
    loss = -logs[np.arange(n), y].mean() + (penalty * delta**2).sum() + k / n * (b**2).sum()
    off = (np.exp(logs) - np.eye(k)[y]) / n
    return loss, np.r_[(off.T @ x + 2 * penalty * delta).ravel(), off.sum(axis=0) + 2 * k / n * b]


@pytest.mark.parametrize("classes", [3, 17, 50])
def test_structured_matrix_scaling_as_published(classes):
    rng = np.random.default_rng(classes)
    W = np.eye(classes) + 0.3 * rng.normal(size=(classes, classes)) / np.sqrt(classes)
    x, y = sample(20 * classes, W, rng.normal(0, 0.7, classes))
    calibrator = DirichletCalibrator(penalty="structured", scores_are="logits").fit(x, y)
    x = x / calibrator.temperature_
    ours = np.r_[(calibrator.coef_ * calibrator.temperature_ - np.eye(classes)).ravel(), calibrator.intercept_]
    start, options = np.zeros(len(ours)), {"maxiter": 3000, "ftol": 1e-14, "gtol": 1e-9}
    best = minimize(structured_loss, start, (x, y), method="L-BFGS-B", jac=True, options=options)
    left = len(x) * (structured_loss(ours, x, y)[0] - best.fun)  # nats of all rows together
    assert left < (1e-6 if classes < 16 else 0.02)
    assert left < 1e-3 * len(x) * (structured_loss(start, x, y)[0] - best.fun)


def test_curvature_of_many_classes_against_its_formula(rng):
    x = np.column_stack([rng.normal(size=(60, 5)), np.ones(60)])
    bends = rng.random((60, 5))
    pooled = PooledCurvature.of(bends.sum(axis=0), bends.T @ x, np.einsum("ij,ik,il->kl", bends, x, x))
    inverse = pooled.inverse(np.array([2.0, 7.0, 0.5]))
    v = rng.normal(size=(5, 6))
    means = [np.average(x, axis=0, weights=bends[:, j]) for j in range(5)]
    spread = (
        sum(bends[i, j] * np.outer(x[i] - means[j], x[i] - means[j]) for i in range(60) for j in range(5)) / bends.sum()
    )
    for j in range(5):
        added = np.full(6, 7.0)
        added[j], added[-1] = 2.0, 0.5
        block = bends[:, j].sum() * (spread + np.outer(means[j], means[j])) + np.diag(added)
        np.testing.assert_allclose(inverse(v)[j], np.linalg.solve(block, v[j]), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(inverse.diagonal()[j], np.diag(np.linalg.inv(block)), rtol=1e-9)


def test_many_classes_lose_no_more_than_the_exact_rounds():
    """Steps and precisions in turns, in single precision, against solving to the end each time."""
    rng = np.random.default_rng(17)
    W = np.diag(rng.uniform(0.7, 1.3, 17)) + 0.1 * (rng.random((17, 17)) < 0.1)
    x, y = sample(4000, W, rng.normal(0, 0.5, 17), seed=17)
    calibrator = DirichletCalibrator(scores_are="logits").fit(x[:1500], y[:1500])
    problem = SoftmaxProblem(Full(), x[:1500] / calibrator.temperature_, y[:1500], np.ones(1500))
    theta, precisions = _rounds(problem, problem.centre, np.full(3, 10.0))
    exact = softmax(x[1500:] / calibrator.temperature_ @ theta[:, :-1].T + theta[:, -1], axis=1)
    assert abs(log_loss(calibrator.transform(x[1500:]), y[1500:]) - log_loss(exact, y[1500:])) < 1e-3
    np.testing.assert_allclose(calibrator.precisions_[:2], precisions[:2], rtol=0.1)


def test_a_shared_spread_loses_no_more_than_blocks(monkeypatch):
    rng = np.random.default_rng(50)
    W = np.diag(rng.uniform(0.7, 1.3, 50)) + 0.1 * (rng.random((50, 50)) < 0.1)
    x, y = sample(5000, W, rng.normal(0, 0.5, 50), seed=50)
    pooled = DirichletCalibrator(scores_are="logits").fit(x[:2000], y[:2000])
    monkeypatch.setattr(many, "_POOLED", 51)
    blocks = DirichletCalibrator(scores_are="logits").fit(x[:2000], y[:2000])
    assert (pooled.precisions_ != blocks.precisions_).all()
    losses = [log_loss(each.transform(x[2000:]), y[2000:]) for each in (pooled, blocks)]
    assert losses[0] < losses[1] + 0.003


def test_a_hundred_classes_in_seconds():
    rng = np.random.default_rng(0)
    W = np.diag(rng.uniform(0.7, 1.3, 100)) + 0.1 * (rng.random((100, 100)) < 0.05)
    x, y = sample(6000, W, rng.normal(0, 0.5, 100))
    start = time.process_time()
    calibrator = DirichletCalibrator(scores_are="logits").fit(x[:4000], y[:4000])
    assert time.process_time() - start < 4  # a third of a second where nothing else runs
    others = [
        TemperatureCalibrator(scores_are="logits"),
        DirichletCalibrator(penalty="structured", scores_are="logits"),
    ]
    losses = [log_loss(each.fit(x[:4000], y[:4000]).transform(x[4000:]), y[4000:]) for each in others]
    assert log_loss(calibrator.transform(x[4000:]), y[4000:]) < min(losses)


def test_weights_of_many_classes_are_rows(rng):
    x, y = sample(900, np.eye(20), rng.normal(0, 1, 20))
    w = rng.integers(0, 3, 900)
    weighted = DirichletCalibrator(scores_are="logits").fit(x, y, sample_weight=w).transform(x)
    repeated = DirichletCalibrator(scores_are="logits").fit(np.repeat(x, w, axis=0), np.repeat(y, w)).transform(x)
    np.testing.assert_allclose(weighted, repeated, atol=2e-3)


def test_many_classes_with_huge_scores_and_with_labels_that_never_come(rng):
    x = 1e5 * rng.normal(size=(300, 20))
    out = DirichletCalibrator(scores_are="logits").fit(x, rng.integers(0, 5, 300), classes=np.arange(20)).transform(x)
    assert np.isfinite(out).all() and (out > 0).all()


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
        inverse = problem.blocks(problem.at(problem.centre)).inverse(precisions)
        theta = problem.solve(problem.centre, precisions, inverse)
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


@pytest.mark.parametrize("design", [Diagonal(), Full()])
def test_the_matrix_of_second_derivatives_is_that_of_finite_differences(design, rng):
    x = np.log(rng.dirichlet(np.ones(3), 40))
    problem = SoftmaxProblem(design, x, rng.integers(0, 3, 40), rng.uniform(0.5, 2.0, 40))
    theta = problem.centre + 0.3 * rng.normal(size=problem.centre.shape)
    precision, v, step = np.full(theta.shape, 0.7), rng.normal(size=theta.shape), 1e-5
    up, down = (problem.evaluate(theta + side * step * v, precision)[1] for side in (1, -1))
    product = problem.evaluate(theta, precision)[2](v)
    np.testing.assert_allclose(product, (up - down) / (2 * step), rtol=1e-7, atol=1e-7)
    rows = problem._product(problem.at(theta).probabilities, precision, v)  # without the matrix, as of many classes
    np.testing.assert_allclose(product, rows, rtol=1e-12, atol=1e-12)
