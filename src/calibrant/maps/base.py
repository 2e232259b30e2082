"""What every map is: an increasing change of normal scores."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.special import ndtr

from .._brief import Brief
from .._checks import Array
from ..numerics.roots import Where, solve_increasing
from ..numerics.soundness import check_columns, check_numbers, check_rising

Side = Literal["left", "right"]
Heights = Callable[[Any, Array], tuple[Array, Array]]  # of maps at scores, with their slopes


class Map(Brief, ABC):
    r"""An increasing map T of normal scores: a law with scores z(y) becomes one with scores T(z(y)).

    Seen on probabilities it is :math:`R(p) = \Phi(T(\Phi^{-1}(p)))`, always a proper distribution function on [0, 1].
    A map is shared by all rows (``rows`` is None; any shape of z is welcome) or a batch with one map per row
    (``rows`` = n; z is (n,), (n, k) or (1, k)).
    """

    _by_row: ClassVar[tuple[str, ...]] = ()  # fields that are scalars in a shared map and (n, ...) arrays in a batch
    _ascending: ClassVar[tuple[str, ...]] = ()  # fields whose numbers must not decrease

    @property
    def rows(self) -> int | None:
        """Number of maps in the batch, or None if one map serves every row."""
        lengths = [len(getattr(self, name)) for name in self._by_row if np.ndim(getattr(self, name))]
        return lengths[0] if lengths else None

    @property
    def has_steps(self) -> bool:
        """Whether T jumps, so that laws mapped by it have atoms."""
        return False

    @property
    def bends(self) -> Array:
        """Normal scores where T is not smooth, sorted (empty for a smooth or a per-row map)."""
        return np.empty(0)

    @property
    def row_bends(self) -> Array:
        """The same for a batch, (rows, k); no columns where its maps are smooth."""
        return np.empty((self.rows or 0, 0))

    @abstractmethod
    def __call__(self, z: Array, side: Side = "right") -> Array:
        """T(z); at a jump the limit from the given side."""

    @abstractmethod
    def inverse(self, t: Array) -> Array:
        """The generalised inverse inf{z : T(z) >= t}."""

    @abstractmethod
    def log_slope(self, z: Array) -> Array:
        """log T'(z); raises where the map has steps."""

    def value_and_log_slope(self, z: Array) -> tuple[Array, Array]:
        """T(z) and log T'(z) together; maps that need the one for the other evaluate it once."""
        return self(z), self.log_slope(z)

    def probabilities(self, z: Array) -> tuple[Array, Array]:
        """Φ(T(z)) and Φ(-T(z)), for sums: maps that know these need no scores."""
        t = self(z)
        return ndtr(t), ndtr(-t)

    def log_density(self, z: Array) -> Array:
        r"""Log density of T at a score but for a constant, :math:`\log T'(z) - T(z)^2/2`; -inf where T is infinite."""
        return log_density_of(*self.value_and_log_slope(z))

    def __getitem__(self, rows: Any) -> Self:
        """The maps of these rows; a shared map serves any rows."""
        return self if self.rows is None else self._pick(rows)

    def _check_sound(self) -> None:
        """Raise ValueError if this is no increasing map: its numbers may come from anywhere."""
        check_numbers(self)
        if self.rows is None:
            check_columns(self)
            check_rising(self, self, self.bends)
            check_rising(self, self.inverse, np.empty(0))

    def _solve(self, height_and_slope: Heights, target: Array, start: Array, **how: Any) -> Array:
        """Where increasing heights meet their targets; ``height_and_slope(part, z)`` serves the maps of any rows."""
        width = target.shape[1] if target.ndim == 2 else 1

        def some(z: Array, where: Where) -> tuple[Array, Array]:
            return height_and_slope(self if isinstance(where, slice) else self[where // width], z)

        return solve_increasing(some, target, start, **how)

    def _pick(self, rows: Any) -> Self:
        part = object.__new__(type(self))
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            by_row = field.name in self._by_row and np.ndim(value)
            object.__setattr__(part, field.name, value[rows] if by_row else value)
        return part


def log_density_of(t: Array, log_slope: Array) -> Array:
    """Log slope less half the squared score; -inf where that is infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(np.isinf(t), -np.inf, log_slope - (0.5 * t) * t)


def across(parameter: Any, z: Array) -> Any:
    """A parameter of a map, scalar or (n,), shaped to meet z, (n,) or (n, k)."""
    return parameter[:, None] if np.ndim(parameter) == 1 and z.ndim == 2 else parameter


def concatenate_maps(maps: list[Map], lengths: list[int]) -> Map | None:
    """One map for the rows of several laws laid end to end, or None if they have no common form."""
    first = maps[0]
    if all(m is first and m.rows is None for m in maps):
        return first
    if not first._by_row or any(type(m) is not type(first) for m in maps):
        return None
    whole = first._pick(...)
    for name in first._by_row:
        values = [np.asarray(getattr(m, name)) for m in maps]
        columns = [v if v.ndim else np.full(n, v) for v, n in zip(values, lengths, strict=True)]
        object.__setattr__(whole, name, np.concatenate(columns))
    return whole
