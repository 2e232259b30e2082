"""One map after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .._checks import Array
from .affine import AffineMap
from .base import Map, Side


@dataclass(frozen=True, eq=False, repr=False)
class ComposedMap(Map):
    """:math:`T(z) = T_2(T_1(z))`.

    Examples
    --------
    >>> ComposedMap(AffineMap(1.0), AffineMap(slope=2.0))(np.array([0.5]))
    array([3.])
    """

    first: Map
    second: Map

    @classmethod
    def _example(cls, rng: np.random.Generator, rows: int) -> ComposedMap:
        return cls(AffineMap(rng.normal(0.0, 0.5, rows), 0.8), AffineMap(0.2, float(np.exp(rng.normal(0.0, 0.3)))))

    @property
    def rows(self) -> int | None:
        """As the maps."""
        return self.second.rows if self.first.rows is None else self.first.rows

    @property
    def has_steps(self) -> bool:
        """Whether one of them has."""
        return self.first.has_steps or self.second.has_steps

    @property
    def bends(self) -> Array:
        """Where one of them bends."""
        if self.rows is not None:
            return np.empty(0)
        return np.unique(np.concatenate([self.first.bends, self.first.inverse(self.second.bends)]))

    def _pick(self, rows: Any) -> Self:
        return type(self)(self.first[rows], self.second[rows])

    def __call__(self, z: Array, side: Side = "right") -> Array:
        """Return T₂(T₁(z))."""
        return self.second(self.first(z, side), side)

    def inverse(self, t: Array) -> Array:
        """One inverse after the other."""
        return self.first.inverse(self.second.inverse(t))

    def log_slope(self, z: Array) -> Array:
        """Log slopes add."""
        return self.value_and_log_slope(z)[1]

    def value_and_log_slope(self, z: Array) -> tuple[Array, Array]:
        """Both from one look at each."""
        middle, one = self.first.value_and_log_slope(z)
        t, two = self.second.value_and_log_slope(middle)
        return t, one + two
