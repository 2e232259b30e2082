"""Rows by their vector of probabilities: what came less what was promised, and kernels between vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from ..._checks import Array
from .forecasts import ClassForecasts

Kernel = Literal["laplacian", "gaussian"]
KERNELS = ("laplacian", "gaussian")
_LEAST = 1e-10  # of the largest eigenvalue of the landmarks' kernel, that counts


@dataclass(frozen=True, slots=True, eq=False)
class VectorGroups:
    """Different vectors p (m, K), the weight at each (m,), and sums over its rows of e - p (m, K) and of its square."""

    p: Array
    mass: Array
    residual: Array
    square: Array

    @property
    def total(self) -> float:
        """Number of rows, counted with their weights."""
        return float(self.mass.sum())

    @property
    def spread(self) -> float:
        """Root mean square distance of two rows' vectors."""
        centre = self.mass @ self.p / self.total
        return float(np.sqrt(2 * (self.mass @ np.square(self.p - centre)).sum() / self.total))

    def __getitem__(self, groups: Any) -> VectorGroups:
        """Some of them."""
        return VectorGroups(self.p[groups], self.mass[groups], self.residual[groups], self.square[groups])

    def __len__(self) -> int:
        return len(self.mass)


def vector_groups(forecasts: ClassForecasts) -> VectorGroups:
    """Rows with the same vector together, in sorted order."""
    table = forecasts.table()
    p, place = np.unique(table, axis=0, return_inverse=True)
    place = place.ravel()
    w = np.ones(len(table)) if forecasts.weights is None else forecasts.weights
    mass = np.asarray(np.bincount(place, w), dtype=np.float64)
    cell = place * p.shape[1] + forecasts.codes
    came = np.bincount(cell, w, minlength=p.size).reshape(p.shape)
    norm = np.square(p).sum(axis=1)
    square = (came * (1 - 2 * p)).sum(axis=1) + mass * norm
    return VectorGroups(p, mass, came - mass[:, None] * p, square)


def kernel_values(p: Array, q: Array, kernel: Kernel, bandwidth: float) -> Array:
    """Kernel between vectors (m, K) and (l, K): exp(-d/ν), or exp(-d²/2ν²), of their distance d."""
    if kernel == "laplacian":
        return np.asarray(np.exp(-cdist(p, q) / bandwidth))
    return np.asarray(np.exp(-0.5 * cdist(p, q, "sqeuclidean") / bandwidth**2))


def landmarks(groups: VectorGroups, number: int) -> NDArray[np.intp]:
    """Some of the vectors, evenly along their length; all where there are no more."""
    if len(groups) <= number:
        return np.arange(len(groups))
    order = np.argsort(np.square(groups.p).sum(axis=1), kind="stable")
    return np.asarray(order[np.linspace(0, len(order) - 1, number).round().astype(np.intp)])


@dataclass(frozen=True, slots=True, eq=False)
class LandmarkFeatures:
    """Features whose products are the kernel seen through landmarks (Nyström): exact between these."""

    at: Array
    factor: Array
    kernel: Kernel
    bandwidth: float

    @staticmethod
    def of(at: Array, kernel: Kernel, bandwidth: float) -> LandmarkFeatures:
        """Features of these landmarks."""
        values, vectors = np.linalg.eigh(kernel_values(at, at, kernel, bandwidth))
        kept = values > _LEAST * values[-1]
        return LandmarkFeatures(at, vectors[:, kept] / np.sqrt(values[kept]), kernel, bandwidth)

    def __call__(self, p: Array) -> Array:
        """Features (m, r) of vectors."""
        return np.asarray(kernel_values(p, self.at, self.kernel, self.bandwidth) @ self.factor)
