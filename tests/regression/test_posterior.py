"""The mode of a posterior density."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from calibrant.regression import posterior
from calibrant.regression.posterior import Posterior


@dataclass(frozen=True, eq=False)
class Regression(Posterior):
    """y ~ N(θ b, 1): the mode is known, (B W Bᵀ + I)⁻¹ B W y."""

    basis: NDArray[np.float64]
    weights: NDArray[np.float64]
    y: NDArray[np.float64]

    @property
    def shape(self):
        return 1, len(self.basis)

    def likelihood(self, flat):
        away = self.y - flat @ self.basis
        return -0.5 * away**2, away[None, :].copy()


@pytest.fixture
def problem(rng):
    basis = rng.normal(size=(6, 200)) * np.array([10.0, 3.0, 1.0, 0.3, 0.1, 0.03])[:, None]
    return Regression(basis, rng.uniform(0.5, 3, 200), rng.normal(size=6) @ basis + rng.normal(size=200))


@pytest.mark.parametrize(("tolerance", "above"), [(1e-4, 1e-2), (1e-15, 1e-13)])
def test_ridge_regression(problem, tolerance, above):
    B, w = problem.basis, problem.weights
    exact = np.linalg.solve((B * w) @ B.T + np.eye(6), B @ (w * problem.y))
    found, steps = problem.mode(np.zeros((1, 6)), tolerance)
    assert found.shape == (1, 6) and steps > 0
    assert problem.loss(found.ravel())[0] - problem.loss(exact)[0] < above
    if tolerance < 1e-10:
        assert np.allclose(found, exact, atol=1e-6)


class Overflowing(Regression):
    """Its first trial step in units of the curvature goes where densities overflow."""

    def _curvature(self, flat):
        found = super()._curvature(flat)
        object.__setattr__(self, "calls", 0)
        return found

    def likelihood(self, flat):
        value, slopes = super().likelihood(flat)
        object.__setattr__(self, "calls", getattr(self, "calls", -1000) + 1)
        return (value, slopes * np.exp(np.full(1, 1e3))) if self.calls == 2 else (value, slopes)


def test_a_trial_step_that_overflows_is_shortened(problem):
    exact, _ = problem.mode(np.zeros((1, 6)), 1e-15)
    hard = Overflowing(problem.basis, problem.weights, problem.y)
    found, _ = hard.mode(np.zeros((1, 6)), 1e-15)
    assert hard.calls > 2
    assert np.allclose(found, exact, atol=1e-6)


def test_curvature_is_fishers_and_the_priors(problem):
    flat = np.random.default_rng(0).normal(size=6)
    slopes = (problem.y - flat @ problem.basis) * problem.basis
    expected = (np.eye(6) + (slopes * problem.weights) @ slopes.T) / problem.weights.sum()
    assert np.allclose(problem._curvature(flat), expected)


def test_curvature_of_many_rows_comes_from_some(rng):
    many = Regression(rng.normal(size=(2, 40_000)), np.ones(40_000), rng.normal(size=40_000))
    some = (many.y * many.basis)[:, ::20]
    assert np.allclose(many._curvature(np.zeros(2)), some @ some.T / 2000 + np.eye(2) / 40_000)


def test_a_search_that_ends_worse_is_not_believed(problem, monkeypatch):
    rough = problem.mode(np.zeros((1, 6)), 1e-4)[0]
    real = posterior._minimise

    def lost(loss, start, tolerance, steps):
        found = real(loss, start, tolerance, steps)
        if tolerance < 1e-5:
            found.x, found.fun = found.x + 100.0, 1e9
        return found

    monkeypatch.setattr(posterior, "_minimise", lost)
    found = problem.mode(np.zeros((1, 6)), 1e-12)[0]
    assert problem.loss(found.ravel())[0] <= problem.loss(rough.ravel())[0]


def test_a_long_search_works_out_the_curvature_anew_on_its_way(problem, monkeypatch):
    exact = problem.mode(np.zeros((1, 6)), 1e-16)[0]
    asked = []
    real = type(problem)._curvature
    monkeypatch.setattr(posterior, "_STEPS", 2)
    monkeypatch.setattr(type(problem), "_curvature", lambda self, at: asked.append(1) or real(self, at))
    found, steps = problem.mode(np.zeros((1, 6)), 1e-16)
    assert len(asked) > 1 and steps > 2
    assert np.allclose(found, exact, atol=1e-7)


def test_rows_that_stand_for_several_are_not_fitted_to_the_last_digit(problem, monkeypatch):
    asked = []
    real = posterior._minimise
    monkeypatch.setattr(
        posterior, "_minimise", lambda loss, start, *how: asked.append(how[0]) or real(loss, start, *how)
    )
    problem.mode(np.zeros((1, 6)), 1e-15)
    Regression(problem.basis, 10 * problem.weights, problem.y).mode(np.zeros((1, 6)), 1e-15)
    assert asked[:2] == [1e-5, 1e-15] and asked[-2:] == [1e-15, 1e-5]
