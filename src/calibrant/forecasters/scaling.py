"""Columns with mean 0 and deviation 1, and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._checks import Array
from ..numerics.soundness import check_finite

_FAR = 1e6  # deviations from the mean, beyond which single precision has no room for a net


@dataclass(frozen=True, eq=False)
class Scaling:
    r"""Weighted means and deviations of columns: :math:`(x - m)/s`; a constant column has s = 1.

    Examples
    --------
    >>> scaling = Scaling.of(np.array([[1.0, 5.0], [3.0, 5.0]]), np.ones(2))
    >>> scaling.mean, scaling.scale
    (array([2., 5.]), array([1., 1.]))
    """

    mean: Array
    scale: Array

    @classmethod
    def of(cls, values: Array, weights: Array) -> Scaling:
        """Of the last axis, over all others; weights (n,) belong to the first."""
        flat = values.reshape(len(values), -1, values.shape[-1])
        size = np.abs(flat).max(axis=(0, 1))
        size[size == 0] = 1.0
        flat = flat / size  # 1e300 squared is no number
        mean = np.average(flat.mean(axis=1), axis=0, weights=weights)
        scale = np.sqrt(np.average(np.square(flat - mean).mean(axis=1), axis=0, weights=weights))
        return cls(mean * size, np.where(scale > 1e-12, scale * size, 1.0))

    def __call__(self, values: Array) -> Array:
        """Standardised, in single precision; what lies a million deviations off is moved there."""
        with np.errstate(over="ignore"):
            scaled = values - self.mean
            scaled /= self.scale
        return np.maximum(np.minimum(scaled, _FAR, out=scaled), -_FAR, out=scaled).astype(np.float32)

    def _check_sound(self) -> None:
        check_finite(self, "mean", "scale")
        if self.mean.ndim != 1 or self.mean.shape != self.scale.shape or not np.all(self.scale > 0):
            raise ValueError("Scaling must have a mean and a positive scale of each column.")


def scaling_of_known(values: Array, weights: Array) -> Scaling:
    """Means and deviations of the last axis, of what is not missing; weights (n,) belong to the first."""
    mass = np.repeat(weights, values[0, ..., 0].size)
    columns = values.reshape(-1, values.shape[-1]).T
    seen = [(part[on, None], mass[on]) for part, on in zip(columns, np.isfinite(columns), strict=True)]
    each = [Scaling.of(*part) if len(part[0]) else Scaling(np.zeros(1), np.ones(1)) for part in seen]
    return Scaling(np.concatenate([one.mean for one in each]), np.concatenate([one.scale for one in each]))
