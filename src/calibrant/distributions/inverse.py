r"""Quantiles of laws that only know their distribution function: the smallest y whose normal score is at least z.

Scores are nearly linear in y, so interpolation on them (Chandrupatla 1997: inverse quadratic steps, bisection where
they would not pay) converges in a few evaluations; bisection alone handles jumps and gaps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._checks import Array
from .base import Distribution

_EPS = np.finfo(float).eps
_ROUNDS, _MOST = 8, 400  # evaluations of all rows before the finished ones are set aside; evaluations at most


@dataclass
class _Bracket:
    """Two points with the root between them, the one before, their scores less the target; the least width of use."""

    x1: Array
    x2: Array
    x3: Array
    f1: Array
    f2: Array
    f3: Array
    floor: Array

    def width(self) -> Array:
        return np.abs(self.x2 - self.x1)

    def tolerance(self) -> Array:
        return np.maximum(_EPS * np.maximum(np.abs(self.x1), np.abs(self.x2)), self.floor)

    def reached(self) -> Array:
        """The end of the bracket where the score is at least the target."""
        return np.where(self.f1 >= 0, self.x1, self.x2)

    def add(self, x: Array, f: Array, live: NDArray[np.bool_]) -> None:
        """Take in a new point where the search is still on."""
        same = (f >= 0) == (self.f1 >= 0)
        third, f_third = np.where(same, self.x1, self.x2), np.where(same, self.f1, self.f2)
        second, f_second = np.where(same, self.x2, self.x1), np.where(same, self.f2, self.f1)
        for name, value in (("x1", x), ("f1", f), ("x2", second), ("f2", f_second), ("x3", third), ("f3", f_third)):
            setattr(self, name, np.where(live, value, getattr(self, name)))

    def next(self) -> Array:
        """Share of the way from x1 to x2 to look at next."""
        with np.errstate(all="ignore"):
            xi = (self.x1 - self.x2) / (self.x3 - self.x2)
            phi = (self.f1 - self.f2) / (self.f3 - self.f2)
            step = self.f1 / (self.f2 - self.f1) * self.f3 / (self.f2 - self.f3) + (self.x3 - self.x1) / (
                self.x2 - self.x1
            ) * self.f1 / (self.f3 - self.f1) * self.f2 / (self.f3 - self.f2)
            edge = np.minimum(self.tolerance() / self.width(), 0.5)
            good = (np.square(phi) < xi) & (np.square(1 - phi) < 1 - xi) & np.isfinite(step)
            return np.where(good, np.clip(step, edge, 1 - edge), 0.5)


def smallest_reaching(law: Distribution, z: Array, bracket: tuple[Array, Array, Array], *, flats: bool) -> Array:
    """The smallest y with score >= z, where ``bracket`` holds a lower bound, an upper bound and a guess, shaped like z.

    With ``flats`` the law may have jumps or gaps, and the search goes on until the bracket cannot shrink; without, it
    stops where the score is met to rounding.
    """
    low, high, guess = bracket
    target = np.where(np.isfinite(z), z, 0.0)
    f_low = law.to_normal(low) - target
    lowest = (f_low >= 0) & (z < np.inf) | (z == -np.inf)
    at_once = lowest | ~(high > low) | ~np.isfinite(z)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        share = (guess - low) / (high - low)
    f_high = np.maximum(law.to_normal(high) - target, 0.0)  # negative by rounding only
    with np.errstate(over="ignore", invalid="ignore"):
        state = _Bracket(low, high, high, f_low, f_high, f_high, 1e-3 * _EPS * (high - low))
        share = np.where((share > 0) & (share < 1), share, 0.5)
        out = _search(law, target, state, (share, ~at_once, _MOST), flats=flats)
    return np.where(lowest, low, np.where(at_once, high, out))


def _search(
    law: Distribution, z: Array, state: _Bracket, start: tuple[Array, NDArray[np.bool_], int], *, flats: bool
) -> Array:
    share, live, left = start
    close = 0.0 if flats else 4 * _EPS
    for _ in range(min(_ROUNDS, left)):
        if not live.any():
            return state.reached()
        x = np.where(live, state.x1 + share * (state.x2 - state.x1), state.x1)
        state.add(x, law.to_normal(x) - z, live)
        met = np.abs(state.f1) <= close * (1 + np.abs(z))
        state.f1 = np.where(met & live & (not flats), 0.0, state.f1)
        live = live & (state.width() > 2 * state.tolerance()) & ~(met & (not flats))
        share = state.next()
    rows = np.flatnonzero(live if live.ndim == 1 else live.any(axis=1))
    out = state.reached()
    if len(rows) and left > _ROUNDS:
        part = _Bracket(*(getattr(state, name)[rows] for name in ("x1", "x2", "x3", "f1", "f2", "f3", "floor")))
        out[rows] = _search(law[rows], z[rows], part, (share[rows], live[rows], left - _ROUNDS), flats=flats)
    return out


def smallest_atom_reaching(
    law: Distribution, z: Array, bounds: tuple[Array, Array], snap: Callable[[Array], Array]
) -> Array:
    """The first atom whose score is at least z, of a law of atoms only; ``snap(y)`` is the last atom up to y."""
    low, high = bounds
    high = np.where((law.to_normal(low) >= z) & (z < np.inf), low, high)
    low, z = np.where(np.isinf(z), high, low), np.where(np.isinf(z), 0.0, z)
    for _ in range(_MOST):
        open_ = (law.to_normal(high, "left") >= z) & (high > low)
        if not open_.any():
            break
        with np.errstate(invalid="ignore"):
            middle = np.where(open_, low + 0.5 * (high - low), high)
        enough = law.to_normal(middle) >= z
        low = np.where(open_ & ~enough, middle, low)
        high = np.where(open_ & enough, snap(middle), high)
    return high
