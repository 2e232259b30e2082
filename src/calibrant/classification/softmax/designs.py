"""How class scores depend on log probabilities: a weight a class, or a whole matrix."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from ..._checks import Array

Groups = NDArray[np.intp]


class Design(ABC):
    """Scores z (n, K), linear in parameters θ (K, F), a row of them a class; x are log probabilities (n, K)."""

    @abstractmethod
    def scores(self, x: Array, theta: Array) -> Array:
        """Scores z (n, K)."""

    @abstractmethod
    def gradient(self, x: Array, slopes: Array) -> Array:
        """Derivatives (K, F) by the parameters from those by the scores (n, K)."""

    @abstractmethod
    def features(self, x: Array) -> Array:
        """What the parameters of each class are multiplied with, (n, K, F)."""

    @abstractmethod
    def curvature(self, x: Array, bends: Array) -> Array:
        """Second derivatives (K, F, F) by the parameters of each class from those by its scores (n, K)."""

    @abstractmethod
    def identity(self, classes: int) -> Array:
        """Parameters that leave probabilities as they are."""

    @abstractmethod
    def groups(self, classes: int) -> Groups:
        """Numbers (K, F) of the groups of parameters that have the same prior."""

    @abstractmethod
    def structured(self, classes: int) -> Array:
        """Precisions of the groups of structured scaling, twice the number of parameters of the group."""


class Diagonal(Design):
    r"""A weight and an intercept a class: :math:`z_j = w_j x_j + b_j`, θ = (w, b)."""

    def scores(self, x: Array, theta: Array) -> Array:
        return x * theta[:, 0] + theta[:, 1]

    def gradient(self, x: Array, slopes: Array) -> Array:
        return np.column_stack([_totals(x * slopes), _totals(slopes)])

    def features(self, x: Array) -> Array:
        return np.stack([x, np.ones_like(x)], axis=2)

    def curvature(self, x: Array, bends: Array) -> Array:
        once = x * bends
        first, second = _totals(once), _totals(x * once)
        return np.moveaxis(np.array([[second, first], [first, _totals(bends)]]), 2, 0)

    def identity(self, classes: int) -> Array:
        return np.column_stack([np.ones(classes), np.zeros(classes)])

    def groups(self, classes: int) -> Groups:
        return np.tile(np.arange(2), (classes, 1))

    def structured(self, classes: int) -> Array:
        return np.array([2.0 * classes, 2.0 * classes])


class Full(Design):
    r"""A weight for each pair of classes and an intercept a class: :math:`z = W x + b`, θ = (W, b)."""

    def scores(self, x: Array, theta: Array) -> Array:
        out = np.asarray(x @ theta[:, :-1].T)
        out += theta[:, -1]
        return out

    def gradient(self, x: Array, slopes: Array) -> Array:
        return np.column_stack([slopes.T @ x, _totals(slopes)])

    def features(self, x: Array) -> Array:
        n, classes = x.shape
        return np.repeat(np.column_stack([x, np.ones(n)])[:, None, :], classes, axis=1)

    def curvature(self, x: Array, bends: Array) -> Array:
        x = np.column_stack([x, np.ones(len(x))])
        return np.array([(x * column[:, None]).T @ x for column in bends.T])

    def identity(self, classes: int) -> Array:
        return np.column_stack([np.eye(classes), np.zeros(classes)])

    def groups(self, classes: int) -> Groups:
        groups = np.tile(np.r_[np.ones(classes), 2.0], (classes, 1)).astype(np.intp)
        np.fill_diagonal(groups, 0)
        return groups

    def structured(self, classes: int) -> Array:
        return np.array([2.0 * classes, 2.0 * classes * (classes - 1), 2.0 * classes])


def _totals(columns: Array) -> Array:
    """Sums of columns as a product of matrices, which is several times as quick."""
    return np.asarray(np.ones(len(columns), dtype=columns.dtype) @ columns)
