"""Softmax regression on log probabilities, with priors around "nothing is wrong" whose widths the data choose."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .._checks import Array
from ..adapters.class_labels import Codes
from ..adapters.class_scores import less_largest, softmax_rows
from ..numerics.newton_cg import Product, newton_cg
from .softmax_designs import Design

_BLOCK = 1 << 16  # numbers worked on at a time
_FIRST, _LEAST, _MOST = 10.0, 1e-3, 1e6  # precisions: to begin with, smallest, largest
_ROUNDS = 20
_SETTLED = 0.01  # relative change of the precisions
_FEW = 4096  # rows that find the neighbourhood of the solution


class SoftmaxProblem:
    r"""Penalised log loss.

    .. math:: \sum_i w_i \Big[\log\sum_j e^{z_{ij}} - z_{i y_i}\Big] +
              \frac12 \sum_k \alpha_k (\theta_k - \theta_{0k})^2

    Parameters
    ----------
    design : Design
        From log probabilities and parameters to z; :math:`\theta_0` is its identity.
    x : array (n, K)
        Log probabilities.
    codes : array of int (n,)
        Classes.
    weights : array (n,)
        Frequencies.
    """

    def __init__(self, design: Design, x: Array, codes: Codes, weights: Array) -> None:
        self.design, self._x, self._codes, self._weights = design, x, codes, weights
        self.classes = x.shape[1]
        self.centre = design.identity(self.classes)

    def __getitem__(self, rows: slice) -> SoftmaxProblem:
        return SoftmaxProblem(self.design, self._x[rows], self._codes[rows], self._weights[rows])

    def __len__(self) -> int:
        return len(self._x)

    def evaluate(self, theta: Array, precision: Array) -> tuple[float, Array, Product]:
        """Loss, gradient (K, F) and the product of the Hessian with an array (K, F)."""
        away = theta - self.centre
        loss, gradient = 0.5 * float((precision * away * away).sum()), precision * away
        probabilities = []
        for x, codes, weights in self._blocks():
            logs = less_largest(self.design.scores(x, theta))
            p = np.exp(logs)
            sums = p @ np.ones(self.classes)
            p /= sums[:, None]
            own = np.arange(len(p)), codes
            loss += float(weights @ (np.log(sums) - logs[own]))
            slopes = p * weights[:, None]
            slopes[own] -= weights
            gradient += self.design.gradient(x, slopes)
            probabilities.append(p)
        return loss, gradient, lambda v: self._product(probabilities, precision, v)

    def _product(self, probabilities: list[Array], precision: Array, v: Array) -> Array:
        """Product of the Hessian: for each row (diag p - p pᵀ) times what the scores change by."""
        total = precision * v
        for p, (x, _, weights) in zip(probabilities, self._blocks(), strict=True):
            change = self.design.scores(x, v)
            mean = (p * change) @ np.ones(self.classes)
            total += self.design.gradient(x, weights[:, None] * p * (change - mean[:, None]))
        return total

    def curvature(self, theta: Array) -> Array:
        """Second derivatives within each class, (K, F, F), without the penalty."""
        size = theta.shape[1]
        total = np.zeros((self.classes, size, size))
        for x, _, weights in self._blocks():
            p = softmax_rows(self.design.scores(x, theta))
            total += self.design.curvature(x, weights[:, None] * p * (1 - p))
        return total

    def solve(self, start: Array, precision: Array, curvature: Array) -> Array:
        """Parameters of least penalised loss; the curvature within each class serves as preconditioner."""
        inverse = np.linalg.inv(_penalised(curvature, precision))
        return newton_cg(
            lambda theta: self.evaluate(theta, precision), lambda v: np.einsum("kij,kj->ki", inverse, v), start
        )

    def _blocks(self) -> Iterator[tuple[Array, Codes, Array]]:
        step = max(1, _BLOCK // self.classes)
        for start in range(0, len(self._x), step):
            rows = slice(start, start + step)
            yield self._x[rows], self._codes[rows], self._weights[rows]


def fit_softmax(problem: SoftmaxProblem, penalty: float | str) -> tuple[Array, Array]:
    """Parameters (K, F) and the precisions of the groups, given (one for all) or by ``"evidence"``."""
    groups = problem.design.groups(problem.classes)
    count = int(groups.max()) + 1
    if penalty != "evidence":
        precisions = np.full(count, float(penalty))
        start = problem.centre
        return problem.solve(start, precisions[groups], problem.curvature(start)), precisions
    theta, precisions = problem.centre, np.full(count, _FIRST)
    every = len(problem) // _FEW
    if every > 3:
        theta, precisions = _by_evidence(problem[::every], theta, precisions)
    return _by_evidence(problem, theta, precisions)


def _by_evidence(problem: SoftmaxProblem, theta: Array, precisions: Array) -> tuple[Array, Array]:
    r"""MacKay's (1992) fixed point :math:`\alpha_g = \gamma_g / \sum_{i \in g} (\theta_i - \theta_{0i})^2`.

    :math:`\gamma_g` is the number of parameters of the group that the data determine,
    :math:`\sum_{i \in g} 1 - \alpha_g (H^{-1})_{ii}`. H is taken within each class; of K classes' scores one is free to
    choose, hence the factor (K - 1)/K.
    """
    groups = problem.design.groups(problem.classes)
    curvature = problem.curvature(theta)
    for _ in range(_ROUNDS):
        used = precisions
        theta = problem.solve(theta, used[groups], curvature)
        curvature = problem.curvature(theta)
        variance = np.diagonal(np.linalg.inv(_penalised(curvature, used[groups])), axis1=1, axis2=2)
        known = (1 - used[groups] * variance) * (1 - 1 / problem.classes)
        moved = np.bincount(groups.ravel(), ((theta - problem.centre) ** 2).ravel())
        determined = np.bincount(groups.ravel(), known.ravel())
        precisions = np.clip(determined / np.maximum(moved, 1e-300), _LEAST, _MOST)
        if (np.abs(precisions - used) <= _SETTLED * used).all():
            break
    return theta, used


def _penalised(curvature: Array, precision: Array) -> Array:
    return curvature + precision[:, :, None] * np.eye(precision.shape[1])
