"""Softmax regression on log probabilities, with priors around "nothing is wrong"."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple, cast

import numpy as np

from ..._checks import Array
from ...adapters.class_labels import Codes
from ...adapters.class_scores import less_largest
from ...numerics.newton_cg import Product, newton_cg
from .curvature import BlockCurvature, Inverse, PooledCurvature
from .designs import Design

_BLOCK = 1 << 16  # numbers worked on at a time
_DENSE = 64  # parameters up to which second derivatives are a matrix
_LARGEST = 1e3  # log probability, of which single precision keeps four digits after the point


class Place(NamedTuple):
    """Parameters, what they lose, the gradient of that, and the probabilities of the rows, block by block."""

    theta: Array
    loss: float
    gradient: Array
    probabilities: list[Array]


@lru_cache(maxsize=16)
def _of_one_class(classes: int, size: int) -> Array:
    """Pairs of parameters of one class, of so many each: 1, others 0."""
    return np.asarray(np.kron(np.eye(classes), np.ones((size, size))))


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
        self.weight = float(weights.sum())
        self._alike = bool((weights == 1).all())

    def __getitem__(self, rows: slice) -> SoftmaxProblem:
        return SoftmaxProblem(self.design, self._x[rows], self._codes[rows], self._weights[rows])

    def in_single_precision(self) -> SoftmaxProblem:
        """The same with rows of half the size, unless some are too large; sums over blocks stay as precise."""
        if np.abs(self._x).max() > _LARGEST:
            return self
        x, weights = (np.asarray(each, dtype=np.float32) for each in (self._x, self._weights))
        return SoftmaxProblem(self.design, cast(Array, x), self._codes, cast(Array, weights))

    def __len__(self) -> int:
        return len(self._x)

    def at(self, theta: Array) -> Place:
        """What the rows say of parameters, without the penalty."""
        loss, gradient = 0.0, np.zeros_like(theta)
        probabilities = []
        for x, codes, weights in self._blocks():
            logs = less_largest(self.design.scores(x, theta.astype(x.dtype)))
            own = np.arange(len(logs)), codes
            loss -= float(weights @ logs[own])
            p = np.exp(logs, out=logs)
            sums = p @ np.ones(self.classes, dtype=p.dtype)
            p /= sums[:, None]
            loss += float(weights @ np.log(sums))
            slopes = p * weights[:, None]
            slopes[own] -= weights
            gradient += self.design.gradient(x, slopes)
            probabilities.append(p)
        return Place(theta, loss, gradient, probabilities)

    def evaluate(self, theta: Array, precision: Array) -> tuple[float, Array, Product]:
        """Loss, gradient (K, F) and the product of the Hessian with an array (K, F)."""
        return self.penalised(self.at(theta), precision)

    def penalised(self, place: Place, precision: Array) -> tuple[float, Array, Product]:
        """The same with what the rows say already known."""
        away = place.theta - self.centre
        loss = place.loss + 0.5 * float((precision * away * away).sum())
        if away.size > _DENSE:
            return loss, place.gradient + precision * away, lambda v: self._product(place.probabilities, precision, v)
        hessian: list[Array] = []  # made when it is first asked for

        def product(v: Array) -> Array:
            if not hessian:
                hessian.append(self._hessian(place))
            return np.asarray(precision * v + (hessian[0] @ v.ravel()).reshape(v.shape))

        return loss, place.gradient + precision * away, product

    def _hessian(self, place: Place) -> Array:
        r"""Second derivatives :math:`\sum_i w_i J_i^\top(\operatorname{diag} p_i - p_i p_i^\top) J_i`, as a matrix."""
        size = place.theta.shape[1]
        total = np.zeros((place.theta.size, place.theta.size))
        own = _of_one_class(self.classes, size)
        for p, (x, _, weights) in zip(place.probabilities, self._blocks(), strict=True):
            rows = self.design.features(x)
            shares = (rows * p[:, :, None]).reshape(len(x), -1)
            weighted = shares * weights[:, None]
            total += own * (weighted.T @ rows.reshape(len(x), -1)) - weighted.T @ shares
        return total

    def _product(self, probabilities: list[Array], precision: Array, v: Array) -> Array:
        """Product of the Hessian: for each row (diag p - p pᵀ) times what the scores change by."""
        total = precision * v
        for p, (x, _, weights) in zip(probabilities, self._blocks(), strict=True):
            change = self.design.scores(x, v.astype(x.dtype))
            change -= np.einsum("ij,ij->i", p, change)[:, None]
            change *= p
            if not self._alike:
                change *= weights[:, None]
            total += self.design.gradient(x, change)
        return total

    def pooled(self, place: Place) -> PooledCurvature:
        """Curvature within each class, with one spread for all."""
        size = self.classes + 1
        mass, sums, squares = np.zeros(self.classes), np.zeros((self.classes, size)), np.zeros((size, size))
        for p, (x, _, weights) in zip(place.probabilities, self._blocks(), strict=True):
            bends = p * (1 - p)
            bends *= weights[:, None]
            mass += bends.sum(axis=0)
            sums[:, :-1] += bends.T @ x
            root = np.sqrt(bends @ np.ones(self.classes, dtype=p.dtype))
            scaled = np.column_stack([x * root[:, None], root])
            squares += scaled.T @ scaled
        sums[:, -1] = mass
        return PooledCurvature.of(mass, sums, squares)

    def blocks(self, place: Place) -> BlockCurvature:
        """Curvature within each class, exact."""
        size = place.theta.shape[1]
        total = np.zeros((self.classes, size, size))
        for p, (x, _, weights) in zip(place.probabilities, self._blocks(), strict=True):
            total += self.design.curvature(x, weights[:, None] * p * (1 - p))
        return BlockCurvature(total, self.design.groups(self.classes))

    def solve(self, start: Array, precisions: Array, inverse: Inverse, **near: float) -> Array:
        """Parameters of least penalised loss, or near them; the inverse of a curvature serves as preconditioner."""
        precision = precisions[self.design.groups(self.classes)]
        return newton_cg(lambda theta: self.evaluate(theta, precision), inverse, start, **near)

    def _blocks(self) -> Iterator[tuple[Array, Codes, Array]]:
        step = max(1, _BLOCK // self.classes)
        for start in range(0, len(self._x), step):
            rows = slice(start, start + step)
            yield self._x[rows], self._codes[rows], self._weights[rows]
