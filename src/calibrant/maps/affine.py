"""Shift and stretch of normal scores: the cure for bias and wrong spread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._checks import Array, finite, positive, to_array
from .base import Map, Side, across


@dataclass(frozen=True, eq=False, repr=False)
class AffineMap(Map):
    r""":math:`T(z) = a + bz`, b > 0; the identity by default.

    Examples
    --------
    >>> AffineMap(slope=0.5)(np.array([2.0]))  # sigma was half of what it should be
    array([1.])
    """

    _by_row: ClassVar[tuple[str, ...]] = ("intercept", "slope")

    intercept: Any = 0.0
    slope: Any = 1.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        finite(to_array(self.intercept, "intercept"), "intercept")
        positive(to_array(self.slope, "slope"), "slope")

    def __call__(self, z: Array, side: Side = "right") -> Array:
        """Return a + b z."""
        return np.asarray(across(self.intercept, z) + across(self.slope, z) * z)

    def inverse(self, t: Array) -> Array:
        """(t - a) / b."""
        return np.asarray((t - across(self.intercept, t)) / across(self.slope, t))

    def log_slope(self, z: Array) -> Array:
        """log b everywhere."""
        return np.asarray(np.zeros(np.shape(z)) + across(np.log(self.slope), z))


def identity() -> AffineMap:
    """Return the map that changes nothing."""
    return AffineMap()
