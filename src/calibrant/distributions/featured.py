"""Laws of outcomes of which an increasing feature is normal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from .._checks import Array
from ..maps.base import Side
from ..numerics.roots import Where, solve_increasing
from .base import Distribution, across

_STEP = 1e-5  # of the feature's scale, over which slopes of others' functions are taken


class Feature(Protocol):
    """An increasing function of y given a prediction; arrays meet by broadcasting."""

    def __call__(self, y: Array, point: Array) -> Array:
        """Value of the feature."""

    def inverse(self, value: Array, point: Array) -> Array:
        """The y that has the value."""

    def log_slope(self, y: Array, point: Array, scale: Array) -> Array:
        """Log derivative by y; ``scale`` is that of the values."""


class Difference:
    """y less the prediction."""

    def __call__(self, y: Array, point: Array) -> Array:
        """y - p."""
        return y - point

    def inverse(self, value: Array, point: Array) -> Array:
        """p + value."""
        return point + value

    def log_slope(self, y: Array, point: Array, scale: Array) -> Array:
        """Return 0."""
        return np.zeros(np.broadcast_shapes(y.shape, point.shape))


class Ratio:
    """y over the prediction, less 1."""

    def __call__(self, y: Array, point: Array) -> Array:
        """y / p - 1."""
        return (y - point) / point

    def inverse(self, value: Array, point: Array) -> Array:
        """p (1 + value)."""
        return point * (1 + value)

    def log_slope(self, y: Array, point: Array, scale: Array) -> Array:
        """-log p."""
        return np.broadcast_to(-np.log(point), np.broadcast_shapes(y.shape, point.shape))


class LogRatio:
    """Log of y over the prediction."""

    def __call__(self, y: Array, point: Array) -> Array:
        """log(y / p); -inf where y is not positive."""
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(y, 0.0)) - np.log(point)

    def inverse(self, value: Array, point: Array) -> Array:
        """p exp(value)."""
        with np.errstate(over="ignore"):
            return point * np.exp(value)

    def log_slope(self, y: Array, point: Array, scale: Array) -> Array:
        """-log y; -inf where y is negative."""
        with np.errstate(divide="ignore"):
            out = -np.log(np.maximum(y, 0.0))
        return np.broadcast_to(np.where(y < 0, -np.inf, out), np.broadcast_shapes(y.shape, point.shape))


@dataclass(frozen=True)
class Given:
    """Somebody's functions (y, prediction) -> value and (value, prediction) -> y; slopes by differences of the second.

    Where the first gives no number y lies outside its domain: beyond the end that is nearer.
    """

    forward: Callable[[Array, Array], Any]
    backward: Callable[[Array, Array], Any]

    def __call__(self, y: Array, point: Array) -> Array:
        """The first function."""
        y, point = np.broadcast_arrays(y, point)
        with np.errstate(all="ignore"):
            value = np.asarray(self.forward(y, point), dtype=np.float64)
        return np.where(np.isnan(value) & ~np.isnan(y), np.where(y < point, -np.inf, np.inf), value)

    def inverse(self, value: Array, point: Array) -> Array:
        """The second function."""
        with np.errstate(all="ignore"):
            return np.asarray(self.backward(*np.broadcast_arrays(value, point)), dtype=np.float64)

    def log_slope(self, y: Array, point: Array, scale: Array) -> Array:
        """Log of a central difference; -inf outside the domain."""
        value = self(y, point)
        step = np.broadcast_to(_STEP * scale, value.shape)
        inside = np.where(np.isfinite(value), value, 0.0)
        with np.errstate(all="ignore"):
            rise = self.inverse(inside + step, point) - self.inverse(inside - step, point)
            return np.where(np.isfinite(value), np.log(2 * step / rise), -np.inf)


@dataclass(frozen=True, eq=False)
class Combined:
    """A sum of features with positive factors: increasing as they are."""

    parts: tuple[Any, ...]
    factors: tuple[float, ...]

    def __call__(self, y: Array, point: Array) -> Array:
        """Sum of the features."""
        with np.errstate(invalid="ignore"):
            return np.asarray(sum(f * part(y, point) for f, part in zip(self.factors, self.parts, strict=True)))

    def inverse(self, value: Array, point: Array) -> Array:
        """Solved between the answers that the features give each alone."""
        value, point = np.broadcast_arrays(value, point)
        total, p = len(self.parts), np.ascontiguousarray(point).ravel()
        alone = [part.inverse(value / (total * f), point) for f, part in zip(self.factors, self.parts, strict=True)]
        low, high = np.minimum.reduce(alone), np.maximum.reduce(alone)

        def height(y: Array, where: Where) -> tuple[Array, Array]:
            at = point if isinstance(where, slice) else p[where]
            return self(y, at), np.exp(self.log_slope(y, at, np.ones(())))

        bounds = (np.nextafter(low, -np.inf).ravel(), np.nextafter(high, np.inf).ravel())
        found = solve_increasing(height, np.ascontiguousarray(value), 0.5 * (low + high), bounds=bounds)
        return np.where(np.isfinite(value), found, np.where(value < 0, low, high))

    def log_slope(self, y: Array, point: Array, scale: Array) -> Array:
        """Log of the sum of the slopes."""
        slopes = [
            np.log(f) + part.log_slope(y, point, scale / f) for f, part in zip(self.factors, self.parts, strict=True)
        ]
        return np.asarray(np.logaddexp.reduce(slopes))


@dataclass(frozen=True, eq=False, repr=False)
class Featured(Distribution):
    r"""Laws with the normal score :math:`z = (\varphi(y, \hat y) - m)/s` of an increasing feature.

    Examples
    --------
    >>> law = Featured(np.array([1.0, 100.0]), np.array([0.1, 0.1]), LogRatio())
    >>> law.median()
    array([  1., 100.])
    """

    _by_row: ClassVar[tuple[str, ...]] = ("point", "scale")

    point: Array
    scale: Array
    feature: Any
    centre: float = 0.0

    def to_normal(self, y: Array, side: Side = "right") -> Array:
        """The feature in units of its scale."""
        return np.asarray((self.feature(y, across(self.point, y)) - self.centre) / across(self.scale, y))

    def from_normal(self, z: Array) -> Array:
        """The y that has the feature."""
        value = self.centre + across(self.scale, z) * z
        return np.asarray(self.feature.inverse(value, across(self.point, value)))

    def log_slope(self, y: Array) -> Array:
        """Log slope of the feature over its scale."""
        scale = across(self.scale, y)
        return np.asarray(self.feature.log_slope(y, across(self.point, y), scale) - np.log(scale))
