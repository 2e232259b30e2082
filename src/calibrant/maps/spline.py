"""A smooth map with a closed-form inverse: piecewise quadratic, straight in the tails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._checks import Array, complain, finite, positive
from ..numerics.blocks import in_blocks
from ..numerics.lookup import KnotIndex
from .base import Map, Side

_SMALL = 1024  # points that are not worth a table of places, nor blocks


class _Pieces(NamedTuple):
    """Per piece, left tail first: where it is anchored, height and slope there, half the change of slope."""

    knot: Array
    value: Array
    slope: Array
    bend: Array


@dataclass(frozen=True, eq=False, repr=False)
class SplineMap(Map):
    r"""A map whose slope is linear between knots and constant beyond them.

    .. math:: T(z) = t_k + c_k d + \frac{c_{k+1} - c_k}{2 (x_{k+1} - x_k)} d^2, \quad d = z - x_k,

    increasing because all slopes :math:`c_k` are positive, continuously differentiable where the values are those of
    `SplineMap.through`, and with the inverse :math:`d = 2 (t - t_k) / (c_k + \sqrt{c_k^2 + 4 b_k (t - t_k)})`, in which
    nothing cancels.

    Parameters
    ----------
    knots : array (K,), strictly increasing
    slopes : array (K,), positive
    values : array (K,)
        Heights T(knots).
    tails : pair of float, optional
        Slopes left and right of all knots; the outermost slopes by default.

    Examples
    --------
    >>> bowl = SplineMap.through(np.array([0.0, 2.0]), np.array([1.0, 3.0]))
    >>> bowl(np.array([-1.0, 1.0, 2.0, 3.0]))
    array([-1. ,  1.5,  4. ,  7. ])
    >>> bowl.inverse(np.array([1.5]))
    array([1.])
    """

    _ascending: ClassVar[tuple[str, ...]] = ("knots",)

    knots: Array
    slopes: Array
    values: Array
    tails: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        """Check that the map increases."""
        with np.errstate(over="ignore", invalid="ignore"):
            rising = (np.diff(self.knots) > 0).all() and self.slopes.min(initial=1.0) > 0
            if rising and np.isfinite(self.knots.sum() + self.slopes.sum() + self.values.sum()):
                return  # as nearly always
        finite(self.values, "values")
        positive(self.slopes, "slopes")
        steps = np.diff(finite(self.knots, "knots"))
        complain("knots", "strictly increasing", self.knots[1:], ~(steps > 0))

    @classmethod
    def through(cls, knots: Array, slopes: Array, value: float = 0.0, at: int = 0) -> SplineMap:
        """The smooth map with these slopes and T(knots[at]) = value."""
        return cls(knots, slopes, heights_through(knots, slopes, value, at))

    @property
    def bends(self) -> Array:
        """The knots."""
        return self.knots

    @cached_property
    def _by_knot(self) -> KnotIndex:
        return KnotIndex(self.knots)

    @cached_property
    def _by_value(self) -> KnotIndex:
        return KnotIndex(self.values)

    @cached_property
    def _pieces(self) -> _Pieces:
        low, high = self.tails or (float(self.slopes[0]), float(self.slopes[-1]))
        last = len(self.knots) - 1
        inner = np.arange(last) + (self.values[1:] <= 0)  # the end nearer to score 0, where values are most precise
        anchor = np.concatenate([[0], inner, [last]])
        slope = np.concatenate([[low], self.slopes[inner], [high]])
        bend = np.concatenate([[0.0], 0.5 * np.diff(self.slopes) / np.diff(self.knots), [0.0]])
        return _Pieces(self.knots[anchor], self.values[anchor], slope, bend)

    def __call__(self, z: Array, side: Side = "right") -> Array:
        """T(z)."""
        return _finite_only(self._height, z)

    def inverse(self, t: Array) -> Array:
        """The z with T(z) = t."""
        return _finite_only(self._reach, t)

    def log_slope(self, z: Array) -> Array:
        """log T'(z)."""
        return self._log_slope(z) if np.ndim(z) > 0 and z.size <= _SMALL else in_blocks(self._log_slope, z)

    def value_and_log_slope(self, z: Array) -> tuple[Array, Array]:
        """T(z) and log T'(z); of a few finite scores the pieces are looked for once."""
        if np.ndim(z) == 0 or z.size > _SMALL or not np.isfinite(z).all():
            return super().value_and_log_slope(z)
        with np.errstate(over="ignore", invalid="ignore"):
            piece = self._piece(z)
            return self._height(z, piece), self._log_slope(z, piece)

    def _piece(self, z: Array) -> NDArray[np.intp]:
        """The piece that each z is on."""
        return np.searchsorted(self.knots, z, side="right") if z.size <= _SMALL else self._by_knot.segment(z)

    def _height(self, z: Array, piece: NDArray[np.intp] | None = None) -> Array:
        piece = self._piece(z) if piece is None else piece
        knot, value, slope, bend = self._pieces
        d = z - knot.take(piece)
        out = bend.take(piece)
        out *= d
        out += slope.take(piece)
        out *= d
        out += value.take(piece)
        return out

    def _reach(self, t: Array) -> Array:
        piece = self._by_value.segment(t)
        knot, value, slope, bend = self._pieces
        rise = t - value.take(piece)
        c = slope.take(piece)
        root = bend.take(piece)
        root *= rise
        root *= 4.0
        root += c * c
        np.sqrt(np.maximum(root, 0.0, out=root), out=root)
        root += c
        rise *= 2.0
        rise /= root
        rise += knot.take(piece)
        return rise

    def _log_slope(self, z: Array, piece: NDArray[np.intp] | None = None) -> Array:
        piece = self._piece(z) if piece is None else piece
        knot, _, slope, bend = self._pieces
        out = np.minimum(np.maximum(z, self.knots[0]), self.knots[-1])
        out -= knot.take(piece)
        out *= 2.0 * bend.take(piece)
        out += slope.take(piece)
        return np.asarray(np.log(out, out=out))


def _finite_only(function: Callable[[Array], Array], z: Array) -> Array:
    """Work out a function in blocks; infinite arguments are their own images."""

    def guarded(block: Array) -> Array:
        known = np.isfinite(block)
        return function(block) if known.all() else np.where(known, function(block), block)

    with np.errstate(over="ignore", invalid="ignore"):
        return guarded(z) if np.ndim(z) > 0 and z.size <= _SMALL else in_blocks(guarded, z)


def heights_through(knots: Array, slopes: Array, value: ArrayLike, at: ArrayLike) -> Array:
    """Heights (..., K) of smooth maps with these slopes and T(knots[at]) = value, summed from there outwards."""
    rises = 0.5 * (slopes[..., 1:] + slopes[..., :-1]) * np.diff(knots)
    below = np.arange(rises.shape[-1]) < np.expand_dims(at, -1)
    heights = np.repeat(np.expand_dims(np.asarray(value, dtype=np.float64), -1), knots.shape[-1], axis=-1)
    heights[..., :-1] -= np.cumsum(np.where(below, rises, 0.0)[..., ::-1], axis=-1)[..., ::-1]
    heights[..., 1:] += np.cumsum(np.where(below, 0.0, rises), axis=-1)
    return heights


def rising(knots: Array) -> NDArray[np.bool_]:
    """Which knots are kept where rounding has put some at or below an earlier one."""
    return np.append(True, knots[1:] > np.maximum.accumulate(knots)[:-1])
