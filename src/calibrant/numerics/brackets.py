r"""Where increasing functions without known slopes reach a height: the smallest x with height(x) at least the target.

Quantiles of laws that only know their distribution function: normal scores are nearly linear in y, so interpolation
(Chandrupatla 1997: inverse quadratic steps, bisection where they would not pay) converges in a few evaluations;
bisection alone handles jumps and gaps. Where slopes are known, ``roots`` needs fewer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._checks import Array
from .roots import Where

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


Height = Callable[[Array, Where], Array]  # of points in all rows, or in some, given by their numbers


def smallest_reaching(height: Height, target: Array, bracket: tuple[Array, Array, Array], *, flats: bool) -> Array:
    """The smallest x with height(x) >= target in each row; infinite targets are at an end of the bracket.

    Parameters
    ----------
    height : callable
        ``(x, rows)`` to heights: x is shaped like ``target``, or like the part of it that ``rows`` picks.
    target : array (n,) or (n, k)
    bracket : three arrays
        A lower bound, an upper bound and a guess, shaped like target.
    flats : bool
        Whether the function may jump or stay level, so that the search goes on until the bracket cannot shrink;
        without, it stops where the target is met to rounding.

    Examples
    --------
    >>> ends = np.zeros(2), np.full(2, 9.0), np.ones(2)
    >>> smallest_reaching(lambda x, rows: x**2, np.array([4.0, 49.0]), ends, flats=False)
    array([2., 7.])
    """
    low, high, guess = bracket
    goal = np.where(np.isfinite(target), target, 0.0)
    f_low = height(low, slice(None)) - goal
    lowest = (f_low >= 0) & (target < np.inf) | (target == -np.inf)
    at_once = lowest | ~(high > low) | ~np.isfinite(target)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        share = (guess - low) / (high - low)
    f_high = np.maximum(height(high, slice(None)) - goal, 0.0)  # negative by rounding only
    with np.errstate(over="ignore", invalid="ignore"):
        state = _Bracket(low, high, high, f_low, f_high, f_high, 1e-3 * _EPS * (high - low))
        share = np.where((share > 0) & (share < 1), share, 0.5)
        out = _search(height, goal, state, (share, ~at_once, slice(None)), flats=flats)
    return np.where(lowest, low, np.where(at_once, high, out))


def _search(
    height: Height, goal: Array, state: _Bracket, start: tuple[Array, NDArray[np.bool_], Where], *, flats: bool,
    left: int = _MOST,
) -> Array:  # fmt: skip
    """Rounds of all rows at hand, then of those that are not done."""
    share, live, rows = start
    close = 0.0 if flats else 4 * _EPS
    for _ in range(min(_ROUNDS, left)):
        if not live.any():
            return state.reached()
        x = np.where(live, state.x1 + share * (state.x2 - state.x1), state.x1)
        state.add(x, height(x, rows) - goal, live)
        met = np.abs(state.f1) <= close * (1 + np.abs(goal))
        state.f1 = np.where(met & live & (not flats), 0.0, state.f1)
        live = live & (state.width() > 2 * state.tolerance()) & ~(met & (not flats))
        share = state.next()
    some = np.flatnonzero(live if live.ndim == 1 else live.any(axis=1))
    out = state.reached()
    if len(some) and left > _ROUNDS:
        part = _Bracket(*(getattr(state, name)[some] for name in ("x1", "x2", "x3", "f1", "f2", "f3", "floor")))
        numbers = some if isinstance(rows, slice) else rows[some]
        again = (share[some], live[some], numbers)
        out[some] = _search(height, goal[some], part, again, flats=flats, left=left - _ROUNDS)
    return out


def smallest_atom_reaching(
    heights: tuple[Callable[[Array], Array], Callable[[Array], Array]],
    target: Array,
    bounds: tuple[Array, Array],
    snap: Callable[[Array], Array],
) -> Array:
    """The first step of a step function that is at least the target, by bisection.

    ``heights`` gives the limits from the left and from the right at a point, ``snap(x)`` the last step up to x.
    """
    left, right = heights
    low, high = bounds
    high = np.where((right(low) >= target) & (target < np.inf), low, high)
    low, goal = np.where(np.isinf(target), high, low), np.where(np.isinf(target), 0.0, target)
    for _ in range(_MOST):
        open_ = (left(high) >= goal) & (high > low)
        if not open_.any():
            break
        with np.errstate(invalid="ignore"):
            middle = np.where(open_, low + 0.5 * (high - low), high)
        enough = right(middle) >= goal
        low = np.where(open_ & ~enough, middle, low)
        high = np.where(open_ & enough, snap(middle), high)
    return high
