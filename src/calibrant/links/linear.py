"""Log odds linear in parameters: penalised likelihood, many problems at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from .._checks import Array
from ..numerics.newton import newton
from .trials import Trials

Features = Callable[[Array], tuple[Array, ...]]
PENALTIES = np.geomspace(1e4, 0.1, 11)  # tried in this order, each fit starting from the one before


@dataclass(frozen=True, eq=False)
class Prior:
    r"""The penalty :math:`\frac\lambda2 (\theta - \theta_0)^\top P (\theta - \theta_0)` around "nothing is wrong".

    Parameters
    ----------
    centre : array (K, d)
    precision : array (K, d, d)
        P, positive definite.
    """

    centre: Array
    precision: Array

    def log_volume(self) -> Array:
        """Half the log determinant of P, (K,)."""
        return np.asarray(0.5 * np.linalg.slogdet(self.precision)[1])


class LinearProblem:
    r"""Penalised negative log likelihood :math:`\sum_j w_j [\log(1 + e^{h_j}) - y_j h_j]` with :math:`h = f(x)\theta`.

    Parameters
    ----------
    parts : iterable of Trials that can be run through again and again
    features : callable
        Logits (K, M) to d arrays (K, M).
    prior : Prior
    """

    def __init__(self, parts: Iterable[Trials], features: Features, prior: Prior) -> None:
        self.prior = prior
        self._features = features
        self._parts = parts
        self._ready = [(part, features(part.logits)) for part in parts] if isinstance(parts, list) else None

    def solve(self, penalty: float, start: Array, lowest: Array) -> Array:
        """Parameters (K, d) of least penalised loss."""
        return newton(lambda theta: self.evaluate(theta, penalty), start, lowest)

    def polish(self, penalty: float, start: Array, lowest: Array) -> Array:
        """The same from a start that is right to a few digits: two or three passes over the rows."""
        return newton(lambda theta: self.evaluate(theta, penalty), start, lowest, most=10, tolerance=1e-6)

    def evaluate(self, theta: Array, penalty: float) -> tuple[Array, Array, Array]:
        """Losses, gradients and Hessians."""
        away = theta - self.prior.centre
        pull = penalty * np.einsum("kij,kj->ki", self.prior.precision, away)
        loss, gradient, hessian = 0.5 * (pull * away).sum(axis=1), pull, penalty * self.prior.precision
        ready = self._ready or ((part, self._features(part.logits)) for part in self._parts)
        for part, features in ready:
            more = _sums(part, features, theta)
            loss, gradient, hessian = loss + more[0], gradient + more[1], hessian + more[2]
        return loss, gradient, hessian

    def log_evidence(self, theta: Array, penalty: float) -> float:
        r"""Laplace's approximation of :math:`\log\int e^{-\text{loss}}` under the normalised prior, all problems."""
        loss, _, hessian = self.evaluate(theta, penalty)
        d = theta.shape[1]
        each = -loss + 0.5 * d * np.log(penalty) + self.prior.log_volume() - 0.5 * np.linalg.slogdet(hessian)[1]
        return float(each.sum())


def fit_linear(problem: LinearProblem, lowest: Array, penalty: float | str) -> tuple[Array, float]:
    """Parameters and the penalty, given or (``"evidence"``) the one under which the outcomes are most probable."""
    start = problem.prior.centre
    if penalty != "evidence":
        return problem.solve(float(penalty), start, lowest), float(penalty)
    best, evidence, chosen = start, -np.inf, PENALTIES[0]
    for value in PENALTIES:
        start = problem.solve(value, start, lowest)
        reached = problem.log_evidence(start, value)
        if reached > evidence:
            best, evidence, chosen = start, reached, value
        elif reached < evidence - 20:
            break
    return best, float(chosen)


def _sums(part: Trials, features: tuple[Array, ...], theta: Array) -> tuple[Array, Array, Array]:
    """Loss, gradient and Hessian of one part of the rows."""
    h = np.zeros(part.logits.shape)
    for j, feature in enumerate(features):
        h += theta[:, j, None] * feature
    small = np.exp(-np.abs(h))  # faster than logaddexp and expit, which look at every entry's sign
    more = 1 / (1 + small)
    tail = small * more
    left = np.where(np.signbit(h), -part.events, part.rows - part.events)  # of the error, were the forecast sure
    loss = np.vecdot(part.rows, np.log1p(small)) + np.vecdot(left, h)  # nothing cancels, however large the weights
    error, weight = left - part.rows * np.copysign(tail, h), part.rows * (tail * more)
    d = len(features)
    gradient, hessian = np.empty((len(h), d)), np.empty((len(h), d, d))
    for i in range(d):
        gradient[:, i] = np.vecdot(error, features[i])
        weighted = weight * features[i]
        for j in range(i, d):
            hessian[:, i, j] = hessian[:, j, i] = np.vecdot(weighted, features[j])
    return loss, gradient, hessian
