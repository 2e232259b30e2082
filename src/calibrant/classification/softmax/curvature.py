"""Curvature of softmax regression within each class: exact, or with one spread of the features for all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..._checks import Array


class Inverse(Protocol):
    """Of a curvature to which the precisions were added."""

    def __call__(self, v: Array) -> Array:
        """Product with an array (K, F)."""

    def diagonal(self) -> Array:
        """Variances (K, F) of the parameters."""


class Curvature(Protocol):
    """Second derivatives by the parameters of each class."""

    def inverse(self, precisions: Array) -> Inverse:
        """With the precisions of the groups of parameters added to the diagonal."""


@dataclass(frozen=True, eq=False)
class BlockCurvature:
    """Exact blocks (K, F, F), and which group each parameter (K, F) is of."""

    blocks: Array
    groups: NDArray[np.intp]

    def inverse(self, precisions: Array) -> BlockInverse:
        """With the precisions added to the diagonals."""
        added = precisions[self.groups][:, :, None] * np.eye(self.groups.shape[1])
        return BlockInverse(np.asarray(np.linalg.inv(self.blocks + added), dtype=np.float64))


@dataclass(frozen=True, eq=False)
class BlockInverse:
    """Inverses (K, F, F) of blocks."""

    blocks: Array

    def __call__(self, v: Array) -> Array:
        """Product with an array (K, F)."""
        return np.asarray(np.einsum("kij,kj->ki", self.blocks, v))

    def diagonal(self) -> Array:
        """Variances (K, F) of the parameters."""
        return np.diagonal(self.blocks, axis1=1, axis2=2)


@dataclass(frozen=True, eq=False)
class PooledCurvature:
    r"""Second derivatives by the parameters of each class, :math:`H_j \approx h_j (C + \mu_j \mu_j^\top)`.

    .. math:: h_j = \sum_i b_{ij},\quad \mu_j = \frac{1}{h_j} \sum_i b_{ij} x_i,\quad
              C = \frac{\sum_{ij} b_{ij} (x_i - \mu_j)(x_i - \mu_j)^\top}{\sum_j h_j},\quad
              b_{ij} = w_i p_{ij} (1 - p_{ij})

    Features x are log probabilities and a 1. It takes three products of matrices where K would be exact, and has the
    right trace over classes; one decomposition :math:`C = V \Lambda V^\top` serves all precisions.

    Parameters
    ----------
    mass : array (K,)
    means : array (K, F)
    spread : array (F,)
        Eigenvalues of C.
    axes : array (F, F)
        Its eigenvectors, one a column.
    """

    mass: Array
    means: Array
    spread: Array
    axes: Array

    @classmethod
    def of(cls, mass: Array, sums: Array, squares: Array) -> PooledCurvature:
        """From h (K,), the sums of bₗⱼ x (K, F) and those of bₗⱼ x xᵀ over rows and classes (F, F)."""
        means = sums / np.maximum(mass, 1e-300)[:, None]
        spread, axes = np.linalg.eigh((squares - means.T @ sums) / max(float(mass.sum()), 1e-300))
        return cls(mass, means, np.maximum(spread, 0.0), axes)

    def inverse(self, precisions: Array) -> PooledInverse:
        """With the precisions of diagonal, others and intercepts added to the diagonal: three directions and a rest."""
        classes, size = self.means.shape
        inner = 1 / (self.mass[:, None] * self.spread + precisions[1])
        own = [np.sqrt(self.mass)[:, None] * self.means @ self.axes, self.axes[:classes]]
        last = np.broadcast_to(self.axes[-1], (classes, size))
        sides = np.stack([*own, last], axis=2)
        weights = np.array([1.0, precisions[0] - precisions[1], precisions[2] - precisions[1]])
        bent = inner[:, :, None] * sides
        core = weights[:, None] * np.linalg.inv(np.eye(3) + np.swapaxes(sides, 1, 2) @ bent * weights)
        return PooledInverse(self.axes, inner, bent, core)


@dataclass(frozen=True, eq=False)
class PooledInverse:
    """Its inverse by Woodbury's formula, in the axes of the spread.

    Parameters
    ----------
    axes : array (F, F)
    inner : array (K, F)
    bent : array (K, F, 3)
    core : array (K, 3, 3)
    """

    axes: Array
    inner: Array
    bent: Array
    core: Array

    def __call__(self, v: Array) -> Array:
        """Product with an array (K, F)."""
        turned = v @ self.axes
        along = self.core @ (np.swapaxes(self.bent, 1, 2) @ turned[:, :, None])
        return np.asarray((self.inner * turned - (self.bent @ along)[:, :, 0]) @ self.axes.T)

    def diagonal(self) -> Array:
        """Variances (K, F) of the parameters."""
        back = self.axes @ self.bent
        return np.asarray(self.inner @ np.square(self.axes).T - ((back @ self.core) * back).sum(axis=2))
