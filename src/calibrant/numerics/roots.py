"""Inverting increasing functions, many numbers at a time: Newton's method and better, guarded by a bracket."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._checks import Array

Where = slice | NDArray[np.intp]  # all problems, or some of them by their number in reading order
HeightAndSlope = Callable[[Array, Where], tuple[Array, Array]]

WIDEST = 1e154  # squares stay finite
_CLOSER = 0.5  # of what was left at the point before: with more, a cubic through it may lead anywhere
_FREE = 4  # steps, after which one across more than half the bracket is no longer taken: Newton's may go to and fro


def solve_increasing(height_and_slope: HeightAndSlope, target: Array, start: Array, **how: Any) -> Array:
    """The z with height(z) = target, as `search_increasing` finds them; where it stops where it has not.

    Examples
    --------
    >>> solve_increasing(lambda z, where: (z**3 + z, 3 * z**2 + 1), np.array([-2.0, 0.0, 10.0]), np.ones(3))
    array([-1.,  0.,  2.])
    """
    return search_increasing(height_and_slope, target, start, **how)[0]


def search_increasing(
    height_and_slope: HeightAndSlope,
    target: Array,
    start: Array,
    *,
    bounds: tuple[float, float] | tuple[Array, Array] = (-WIDEST, WIDEST),
    close: float = 4e-15,
    met: float = 0.0,
    longest: float = np.inf,
    most: int = 200,
) -> tuple[Array, Array]:
    """The z with height(z) = target, and the slopes before the last step, NaN where no height was met.

    By steps, or by bisection (in asinh z) where these leave the bracket or cross it.

    The first step is Newton's; later ones follow the cubic that the inverse is like, by heights and slopes at the last
    two points, once these come closer. Problems that are done are set aside once they are half of those worked on.

    Parameters
    ----------
    height_and_slope : callable
        ``(z, where)`` to heights, which increase in z, and their slopes. ``where`` is ``slice(None)`` and z shaped like
        ``target``, or ``where`` holds the numbers of some problems in reading order and z is 1-D.
    target : array
        Infinite and missing targets are their own answers.
    start : array that broadcasts to the shape of target
    bounds : pair of float, or of arrays with one number per problem in reading order
        The answer is sought between these.
    close, met : float
        A step is the last if it is this small, relative to 1 + |z|, or if the height was this close to the target
        before it, relative to 1 + |target|. Convergence is quadratic at least: the error after it is about the square.
    longest : float
        Longer steps are cut.
    most : int
        Steps at most.
    """
    goal, known = target.ravel(), ~np.isfinite(target).ravel()
    z = np.clip(np.broadcast_to(start, target.shape).ravel(), -1e150, 1e150).astype(np.float64)
    z[known] = 0.0
    low, high = np.full(z.shape, bounds[0]), np.full(z.shape, bounds[1])
    live: Where = slice(None)
    open_, steep, before = ~known, np.where(known, np.inf, np.nan), None
    for number in range(most):
        x, aim = z[live].copy(), goal[live]
        shaped = x.reshape(target.shape) if isinstance(live, slice) else x
        height, slope = (np.ravel(part) for part in height_and_slope(shaped, live))
        below = height < aim
        low[live], high[live] = lo, hi = np.where(below, x, low[live]), np.where(below, high[live], x)
        here = _Point(x, height, slope)
        ahead = _step(here, _towards(aim, here, before), (lo, hi), longest, 0.5 if number >= _FREE else 1.0)
        z[live] = np.where(open_[live], ahead, x)  # what is done stays, so that no answer depends on its neighbours
        with np.errstate(invalid="ignore"):
            near = np.abs(height - aim) <= met * (1 + np.abs(aim))
            done = near | (np.abs(ahead - x) <= close * (1 + np.abs(x)))
        steep[live] = np.where(open_[live] & near, slope, steep[live])
        open_[live] &= ~done
        count, before = np.count_nonzero(open_), here
        if not count:
            break
        if 2 * count <= len(x):
            before = here.some(open_[live])
            live = np.flatnonzero(open_)
    return np.where(known, goal, z).reshape(target.shape), steep.reshape(target.shape)


class _Point(NamedTuple):
    """Where each problem was last looked at."""

    x: Array
    height: Array
    slope: Array

    def some(self, which: NDArray[np.bool_]) -> _Point:
        """Of some problems."""
        return _Point(*(part[which] for part in self))


def _towards(aim: Array, here: _Point, before: _Point | None) -> Array:
    """Steps to the aim: Newton's, or along the cubic with the heights and slopes of both points."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        rest, own = aim - here.height, 1 / here.slope
        newton = rest * own
        if before is None:
            return np.asarray(newton)
        drop = before.height - here.height
        share, chord, other = rest / drop, (before.x - here.x) / drop - own, 1 / before.slope - own
        bent = newton + rest * share * (3 * chord - other + (other - 2 * chord) * share)
        return np.where((np.abs(share) < _CLOSER) & np.isfinite(bent), bent, newton)


def _step(here: _Point, step: Array, ends: tuple[Array, Array], longest: float, share: float) -> Array:
    """The next point: a step on, or the middle where that lies outside the bracket or across this share of it."""
    (x, *_), (low, high) = here, ends
    with np.errstate(over="ignore", invalid="ignore"):
        ahead = x + np.clip(step, -longest, longest)
        outside = ~((ahead > low) & (ahead < high) | (ahead == x))  # an end again would go round in circles
        if share < 1:
            outside |= np.abs(ahead - x) > share * (high - low)
    if outside.any():
        ahead[outside] = np.sinh(0.5 * (np.arcsinh(low[outside]) + np.arcsinh(high[outside])))
    return np.asarray(ahead)
