"""Keeping the tail index of heavy-tailed bases."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from .._checks import Array
from .base import Map, Side, across


@dataclass(frozen=True, eq=False, repr=False)
class UnitTails(Map):
    """A map between two scores, and slope 1 beyond them, so that a base keeps its tail index.

    Examples
    --------
    >>> from calibrant.maps import AffineMap
    >>> UnitTails(AffineMap(slope=0.5), -4.0, 4.0)(np.array([2.0, 6.0]))
    array([1., 4.])
    """

    inner: Map
    low: float
    high: float

    @property
    def rows(self) -> int | None:
        """As the inner map."""
        return self.inner.rows

    @property
    def bends(self) -> Array:
        """The inner map's, and the two ends."""
        return np.unique(np.concatenate([self.inner.bends, [self.low, self.high]]))

    @property
    def row_bends(self) -> Array:
        """The inner map's."""
        return self.inner.row_bends

    def __getitem__(self, rows: Any) -> Self:
        """The maps of these rows."""
        return self if self.rows is None else type(self)(self.inner[rows], self.low, self.high)

    @cached_property
    def _ends(self) -> tuple[Array, Array]:
        low, high = np.moveaxis(self.inner(np.array([[self.low, self.high]])), -1, 0)
        return (low[0], high[0]) if self.rows is None else (low, high)

    def __call__(self, z: Array, side: Side = "right") -> Array:
        """T within, parallels to the diagonal beyond."""
        inside = np.clip(z, self.low, self.high)
        return self.inner(inside, side) + _beyond(z, inside)

    def inverse(self, t: Array) -> Array:
        """Inverse within, parallels to the diagonal beyond."""
        inside = np.clip(t, *(across(end, t) for end in self._ends))
        return self.inner.inverse(inside) + _beyond(t, inside)

    def log_slope(self, z: Array) -> Array:
        """Zero beyond the ends."""
        inside = np.clip(z, self.low, self.high)
        return np.where(z == inside, self.inner.log_slope(inside), 0.0)

    def value_and_log_slope(self, z: Array) -> tuple[Array, Array]:
        """The inner map's, and parallels to the diagonal beyond."""
        inside = np.clip(z, self.low, self.high)
        t, log_slope = self.inner.value_and_log_slope(inside)
        return t + _beyond(z, inside), np.where(z == inside, log_slope, 0.0)


def _beyond(z: Array, inside: Array) -> Array:
    return np.where(z == inside, 0.0, z - inside)
