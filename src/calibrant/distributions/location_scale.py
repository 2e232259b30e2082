"""Laws that are a standard shape, moved and stretched."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from .._checks import MANY, Array, finite, positive
from .._types import Numbers
from ..maps.base import Side
from ..numerics.blocks import BLOCK, column_blocks, row_blocks
from ..numerics.products import inner
from ..numerics.quiet import OVERFLOWS
from .base import Parametric, across

_FLOAT = np.dtype(np.float64)
_SIGN = np.int64(-(2**63))
_FEW = 4  # columns that are worked out one by one
Kernel = Callable[[Array, Array], Array]  # it overwrites its first argument, and returns it


@dataclass(frozen=True, eq=False, repr=False, init=False)
class LocationScale(Parametric):
    r"""Laws of :math:`Y = \text{loc} + \text{scale}\cdot U` with a standard U, whose primitives a subclass gives."""

    _by_row: ClassVar[tuple[str, ...]] = ("loc", "scale")

    _centred: ClassVar[bool] = False  # whether the medians of U are 0

    loc: Array
    scale: Array

    def __init__(self, loc: Numbers, scale: Numbers) -> None:
        if not copies_soundly(self, loc, scale):
            self._set_columns(loc=loc, scale=scale)
            self._check()

    @classmethod
    def _lent(cls, **columns: Array) -> Self:
        """Laws of columns that stay their owner's."""
        law = object.__new__(cls)
        vars(law).update(columns)
        law._check()
        return law

    def _check(self) -> None:
        if _are_sound(self.loc, self.scale):
            return
        finite(self.loc, "loc")
        positive(self.scale, "scale", "Constant predictions? Use ResidualCalibrator.")

    @abstractmethod
    def _standard_to_normal(self, u: Array) -> Array: ...

    @abstractmethod
    def _standard_from_normal(self, z: Array) -> Array: ...

    @abstractmethod
    def _standard_log_slope(self, u: Array, z: Array) -> Array:
        """log dz/du at u, whose score is z."""

    def _standard_median(self) -> Array:
        """Medians of U, (n,): 0 where its law is symmetric."""
        zeros = np.zeros(len(self))
        return zeros if self._centred else self._standard_from_normal(zeros)

    def standardised(self, y: Array) -> Array:
        """(y - loc) / scale."""
        with np.errstate(over="ignore"):
            u = y - across(self.loc, y)
            u /= across(self.scale, y)
            return u

    def unstandardised(self, u: Array) -> Array:
        """Loc + scale * u."""
        with np.errstate(over="ignore"):
            if u.ndim == 2 and len(u) == 1 and u.size <= _FEW:
                return self._columns(u[0])
            return across(self.loc, u) + across(self.scale, u) * u

    def _columns(self, u: Array) -> Array:
        """Of the same few u in every row, a column each: lines of two numbers would take ten times as long."""
        out = np.empty((len(self), len(u)))
        for rows in row_blocks(*out.shape, BLOCK):
            loc, scale = self.loc[rows], self.scale[rows]
            for column, value in zip(out[rows].T, u, strict=True):
                np.add(scale * value, loc, out=column)
        return out

    def _closed_form(self, kernel: Kernel, y: Array) -> Array:
        """What a kernel makes of standardised outcomes and scales, in place, on cache-sized blocks."""
        return OVERFLOWS.copy().run(self._worked_out, kernel, y)

    def _worked_out(self, kernel: Kernel, y: Array) -> Array:
        if y.ndim != 1:
            return self._by_blocks(lambda law, v: kernel(law.standardised(v), across(law.scale, v)), y)
        if len(y) <= 2 * BLOCK:
            u = y - self.loc
            u /= self.scale
            return kernel(u, self.scale)
        out = np.empty(len(y))
        for u, points, loc, scale in column_blocks(2 * BLOCK, out, y, self.loc, self.scale):
            np.subtract(points, loc, out=u)
            u /= scale
            kernel(u, scale)
        return out

    def rescaled(self, factor: Any, shift: Any = 0.0) -> Self:
        """The same shapes, stretched about their medians by a factor, moved by shift * scale."""
        law = self[:]
        if not self._centred:
            shift = shift + self._standard_median() * (1 - factor)
        if np.any(shift):
            object.__setattr__(law, "loc", self.loc + shift * self.scale)
        object.__setattr__(law, "scale", positive(self.scale * factor, "scale"))
        return law

    def shared_standard(self) -> Self | None:
        """One standard law (loc 0, scale 1) that serves all rows, or None if the rows differ in shape."""
        shapes = [getattr(self, name) for name in self._by_row if name not in ("loc", "scale")]
        if len(self) == 0 or any(np.ptp(shape) > 0 for shape in shapes):
            return None
        law = self[:1]
        object.__setattr__(law, "loc", np.zeros(1))
        object.__setattr__(law, "scale", np.ones(1))
        object.__setattr__(law, "_index", None)
        return law

    def to_normal(self, y: Array, side: Side = "right") -> Array:
        """Normal scores."""
        return self._standard_to_normal(self.standardised(y))

    def from_normal(self, z: Array) -> Array:
        """Quantiles at normal scores."""
        return self.unstandardised(self._standard_from_normal(z))

    def quantiles(self, levels: Numbers) -> Array:
        """The same quantile levels in every row, (n, L); of rows of one shape, worked out once."""
        one = self.shared_standard() if len(self._by_row) > 2 else None
        if one is None:
            return super().quantiles(levels)
        return self._by_blocks(lambda law, u: law.unstandardised(u), Parametric.quantiles(one, levels))

    def median(self) -> Array:
        """The medians, (n,)."""
        return self.unstandardised(self._standard_median())

    def log_slope(self, y: Array) -> Array:
        """log dz/dy."""
        return self.score_and_log_slope(y)[1]

    def score_and_log_slope(self, y: Array) -> tuple[Array, Array]:
        """Both from one standardised outcome and its score."""
        u = self.standardised(y)
        z = self._standard_to_normal(u)
        return z, self._standard_log_slope(u, z) - across(np.log(self.scale), y)


def minus_size(u: Array) -> Array:
    """-|u| in place, in one step: the bit of the sign is set.

    >>> minus_size(np.array([2.0, -3.0]))
    array([-2., -3.])
    """
    bits = u.view(np.int64)
    bits |= _SIGN
    return u


def copies_soundly(law: Parametric, loc: Any, scale: Any) -> bool:
    """Give a law copies of two plain columns, of finite locations and positive scales; False where it got none."""
    if type(loc) is not np.ndarray or not loc.flags.writeable or loc.ndim != 1:  # nothing to copy, or much to read
        return False
    if type(scale) is not np.ndarray or scale.shape != loc.shape or not loc.dtype is scale.dtype is _FLOAT:
        return False
    if len(loc) > MANY:
        made = _sound_copies(loc, scale)
        if made is None:
            return False
        loc, scale = made
    else:
        loc, scale = loc.copy(), scale.copy()
        if not (len(loc) == 0 or _few_are_sound(loc, scale)):
            return False
    loc.setflags(False)  # by position, and without `vars`: each takes a microsecond or two where the cache is cold
    scale.setflags(False)
    mine = law.__dict__
    mine["loc"] = loc
    mine["scale"] = scale
    return True


def _are_sound(loc: Array, scale: Array) -> bool:
    """Whether locations are finite and scales finite and positive; of many rows, no may be said of vast ones too."""
    if not scale.size:
        return True
    each = scale[:1] if scale.strides == (0,) else scale  # one number for all rows is looked at once
    if len(loc) <= MANY:
        return _few_are_sound(loc, each)
    if not each.item(each.argmin()) > 0:
        return False
    with np.errstate(over="ignore", invalid="ignore"):  # an infinite or missing one makes a sum so
        return math.isfinite(inner(loc, scale) if each is scale else np.add.reduce(loc) + each[0])


def _few_are_sound(loc: Array, scale: Array) -> bool:
    """The same of at least one row, in steps of which none can overflow."""
    return (
        scale.item(scale.argmin()) > 0
        and scale.item(scale.argmax()) < math.inf
        and -math.inf < loc.item(loc.argmin())
        and loc.item(loc.argmax()) < math.inf
    )


def _sound_copies(loc: Array, scale: Array) -> tuple[Array, Array] | None:
    """Copies of many rows, looked at while they are in the cache; None if some are not sound, or vast."""
    made = np.empty(len(loc)), np.empty(len(scale))
    with np.errstate(over="ignore", invalid="ignore"):  # an infinite or missing one makes a sum so
        for mine, own, given, stretch in column_blocks(2 * BLOCK, *made, loc, scale):
            np.copyto(mine, given)
            np.copyto(own, stretch)
            if not (own.item(own.argmin()) > 0 and math.isfinite(inner(mine, own))):
                return None
    return made
