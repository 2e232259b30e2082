r"""Moments and CRPS of laws cut at both ends, in closed form where the law behind them is known.

The law behind has the distribution function F, with S = 1 - F, and is symmetric about 0 in standard units. Between the
cuts a < b the truncated law is :math:`G = (F - F_a)/D`, :math:`D = F_b - F_a`. Rows whose cuts lie in the lower half
are mirrored, and those with a > 0 are worked out from S relative to its value at a, so that a tail keeps its digits.
Where D is small against the tail the terms cancel: such rows, and those far out, are left to quadrature.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..._checks import Array
from ...numerics.tails import Mask
from ..base import Distribution
from ..location_scale import LocationScale
from .upper_tails import RULES, UpperTails, has_tails, upper_tails

NARROW, FARTHEST = 0.3, 12.0  # the least share of the tail, and the furthest cut, that closed forms are used for


@dataclass(frozen=True, eq=False)
class Cuts:
    """Standard units of some rows: the law behind, both cuts and which rows are mirrored, so that -a <= b."""

    base: Any
    a: Array
    b: Array
    mirrored: Mask

    @classmethod
    def of(cls, base: LocationScale, lower: Array, upper: Array) -> Cuts:
        """Standardise, and mirror what lies in the lower half."""
        a, b = base.standardised(lower), base.standardised(upper)
        with np.errstate(invalid="ignore"):
            flip = a + b < 0
        return cls(base, np.where(flip, -b, a), np.where(flip, -a, b), flip)

    def mirror(self, u: Array) -> Array:
        """Standardised values as the mirrored rows see them, or back."""
        return np.where(self.mirrored, -u, u)

    def tails(self, u: Array) -> UpperTails:
        """Upper tails at u, relative to that at a."""
        return upper_tails(self.base, u, np.maximum(self.a, 0.0))

    @cached_property
    def at_a(self) -> UpperTails:
        """Tails at a, relative to that at a where a > 0; of the mirrored law, at -a, elsewhere."""
        return self.tails(np.abs(self.a))

    @cached_property
    def at_b(self) -> UpperTails:
        """Tails at b."""
        return self.tails(self.b)

    @cached_property
    def share(self) -> Array:
        """D, relative to the tail at a."""
        return np.where(self.a > 0, self.at_a.s, 1 - self.at_a.s) - self.at_b.s

    def __getitem__(self, rows: Mask) -> Cuts:
        """The cuts of these rows."""
        return self if rows.all() else Cuts(self.base[rows], self.a[rows], self.b[rows], self.mirrored[rows])

    def clear(self, *, second: bool = False) -> Mask:
        """Rows in which the closed forms keep their digits."""
        with np.errstate(invalid="ignore"):
            tail = np.where(self.a > 0, self.at_a.s, 1.0)
            near = np.isfinite(self.a) & (self.a <= FARTHEST)
            return has_tails(self.base, second=second) & near & (self.share >= NARROW * tail)


def truncated_mean(cuts: Cuts) -> Array:
    r"""Standard means :math:`(M(a) - M(b))/D`, :math:`M(u) = uS + \int_u^\infty S = \int_u^\infty v\,dF`, even in u."""
    return cuts.mirror((_pull(cuts.at_a, np.abs(cuts.a)) - _pull(cuts.at_b, cuts.b)) / cuts.share)


def _pull(tails: UpperTails, u: Array) -> Array:
    return tails.first + np.where(np.isinf(u), 0.0, u) * tails.s


def truncated_var(cuts: Cuts) -> Array:
    """Standard variances, from moments about a where that is positive, about 0 otherwise."""
    total, one = cuts.share, 1.0
    first, second = _moments(cuts.tails, np.maximum(cuts.a, 0.0), cuts.b, one)
    return second / total - np.square(first / total) + _lower_part(cuts, first, total, one)


def censored_var(cuts: Cuts) -> Array:
    """The same where what lies beyond a cut sits on it."""
    first, second = _moments(lambda u: upper_tails(cuts.base, u), np.maximum(cuts.a, 0.0), cuts.b, 0.0)
    return second - np.square(first) + _lower_part(cuts, first, np.ones(len(first)), 0.0)


def _moments(tails: Callable[[Array], UpperTails], centre: Array, end: Array, cut: float) -> tuple[Array, Array]:
    """First and second moment about the centre of what lies up to the end; ``cut`` is 1 where the rest goes."""
    width = np.where(np.isinf(end), 0.0, end - centre)
    start, stop = tails(centre), tails(end)
    first = start.first - stop.first - cut * width * stop.s
    return first, 2 * (start.second - stop.second - width * stop.first) - cut * np.square(width) * stop.s


def _lower_part(cuts: Cuts, first: Array, total: Array, cut: float) -> Array:
    """What the part below 0 adds to the variance, where there is one: the mean becomes (first - below) / total."""
    zero = np.zeros(len(first))
    below, square = _moments(lambda u: upper_tails(cuts.base, u), zero, np.maximum(-cuts.a, 0.0), cut)
    added = square / total + (2 * first - below) * below / np.square(total)
    return np.where(cuts.a < 0, added, 0.0)


def truncated_crps(cuts: Cuts, y: Array) -> Array:
    r"""Standard scores :math:`\int_a^y G^2 + \int_y^b (1-G)^2`, and the distance of y from the interval."""
    seen = cuts.mirror(y)
    u = np.clip(seen, cuts.a, cuts.b)
    at_u, at_b = cuts.tails(u), cuts.at_b
    rest = np.where(np.isinf(cuts.b), 0.0, cuts.b - u)
    above = at_u.square - at_b.square - 2 * at_b.s * (at_u.first - at_b.first) + np.square(at_b.s) * rest
    below = _below(cuts, u, at_u, cuts.a > 0)
    return np.asarray((above + below) / np.square(cuts.share) + np.abs(seen - u))


def _below(cuts: Cuts, u: Array, at_u: UpperTails, far: Mask) -> Array:
    """The integral of (S_a - S)² from a to u, for a <= 0 as that of (F - F_a)² with F(u) = S(-u)."""
    at_a = cuts.at_a
    if far.all():
        first, square = at_a.first - at_u.first, at_a.square - at_u.square
    else:
        mirrored = upper_tails(cuts.base, -u)
        first = np.where(far, at_a.first - at_u.first, mirrored.first - at_a.first)
        square = np.where(far, at_a.square - at_u.square, mirrored.square - at_a.square)
    return np.asarray(square - 2 * at_a.s * first + np.square(at_a.s) * (u - cuts.a))


# ---- censored laws: all of the probability beyond a cut sits on it ----
def censored_mean(base: Distribution, a: Array, b: Array) -> Array:
    r"""Standard means :math:`\int_{-a}^\infty S - \int_b^\infty S`."""
    return upper_tails(base, -a).first - upper_tails(base, b).first


def censored_crps(base: Distribution, a: Array, b: Array, y: Array) -> Array:
    r"""Standard scores :math:`\int_a^y F^2 + \int_y^b S^2`, and the distance of y from the interval."""
    u = np.clip(y, a, b)
    below = upper_tails(base, -u).square - upper_tails(base, -a).square
    return below + upper_tails(base, u).square - upper_tails(base, b).square + np.abs(y - u)


def where_clear(
    law: Any, clear: Mask, closed: Callable[[Any, Mask], Array], by_quadrature: Callable[[Any, Mask], Array]
) -> Array:
    """Closed forms for the rows that are clear, quadrature for the others; both get a law of theirs and the mask."""
    if clear.all():
        return closed(law, clear)
    out = np.empty(len(law))
    for rows, compute in ((clear, closed), (~clear, by_quadrature)):
        if rows.any():
            out[rows] = compute(law[rows], rows)
    return out


def has_closed_form(base: Distribution) -> bool:
    """Whether laws cut from this one have closed forms."""
    return type(base) in RULES
