"""The convex problem behind the default map, and Newton's method for it; many problems are solved at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.special import ndtri

from .._checks import Array
from .cells import Cells

SPACING, MANY = 0.2, 500.0  # of knots in v, and rows above which they move closer together
CLIPPED = 3.0  # rows beyond the outermost knots
MOST_KNOTS = 400  # reached at a billion rows
PRIOR = 0.2  # rows' worth of trust in slope 1 at each knot
SKEW = 0.6  # nats by which Laplace's formula flatters each free slope, measured
_BINS = 16  # per piece, for the logarithms
_STEPS, _SHORTEST = 100, 1e-10
DIGITS = 1e-6  # nats that the last step of Newton's method may win
_ROUNDING = 1e-13  # of the objective: what is left of it after that cannot be told


class SplineSolution(NamedTuple):
    """Solutions, one a problem: T = offset at the middle knot, T' = slopes at the knots; evidence of the penalty."""

    offset: Array  # (g,)
    slopes: Array  # (g, K)
    evidence: Array  # (g,), in logs

    def of(self, rows: NDArray[Any]) -> SplineSolution:
        """Those of some problems."""
        return SplineSolution(self.offset[rows], self.slopes[rows], self.evidence[rows])

    def put(self, rows: NDArray[np.intp], others: SplineSolution) -> None:
        """Replace those of some problems."""
        self.offset[rows], self.slopes[rows], self.evidence[rows] = others


class SplineProblem(NamedTuple):
    """Data of g problems with K knots each, reduced to what objectives need: their size does not depend on rows."""

    knots: Array  # (g, K)
    spacing: Array  # (g,), of knots in v
    gram: Array  # (g, K + 1, K + 1): sum of w T² = θᵀ gram θ, θ = (offset, slopes)
    share: Array  # (g, K - 1, bins), of the way through the piece, of the points at which log T' is summed
    mass: Array  # (g, K - 1, bins)
    rigidity: Array  # (g, K, K): roughness of the slopes c = cᵀ rigidity c
    stiffness: Array  # (g, K): its eigenvalues

    def of(self, rows: NDArray[Any]) -> SplineProblem:
        """Some of the problems."""
        return SplineProblem(*(part[rows] for part in self))

    def start(self) -> SplineSolution:
        """The diagonal."""
        return SplineSolution(np.zeros(len(self.knots)), np.ones(self.knots.shape), np.full(len(self.knots), -np.inf))


class Reduced(NamedTuple):
    """Cells added up by pieces between knots, and by bins of these."""

    knots: Array  # (K,)
    spacing: float
    moments: Array  # (6, K - 1): of 1, left, right, left², left right, right²; T = ... + left c_k + right c_k+1
    share: Array  # (K - 1, bins)
    mass: Array


def reduced(cells: Cells) -> Reduced:
    """The cells, which should have median 0 and scale 1, by knots that suit them."""
    knots, spacing = place_knots(cells)
    last, gaps = knots.size - 1, np.diff(knots)
    piece = np.clip(np.searchsorted(knots, cells.z, side="right") - 1, 0, last - 1)
    gap = gaps[piece]
    share = np.clip((cells.z - knots[piece]) / gap, 0.0, 1.0)
    bins = piece * _BINS + np.minimum((share * _BINS).astype(np.intp), _BINS - 1)
    mass: Array = np.bincount(bins, cells.mass, last * _BINS).astype(np.float64)
    total = np.bincount(bins, cells.mass * share, last * _BINS)
    mean = np.minimum(np.divide(total, mass, out=np.full(mass.size, 0.5), where=mass > 0), 1.0)
    beyond = cells.z - np.clip(cells.z, knots[0], knots[-1])
    half = 0.5 * share**2
    left, right = gap * (share - half) + np.minimum(beyond, 0.0), gap * half + np.maximum(beyond, 0.0)
    low, high = cells.mass * left, cells.mass * right
    summed = (cells.mass, low, high, low * left, low * right, high * right)
    moments = np.array([np.bincount(piece, values, last) for values in summed])
    return Reduced(knots, spacing, moments, mean.reshape(last, _BINS), mass.reshape(last, _BINS))


def stacked(parts: Sequence[Reduced]) -> SplineProblem:
    """The problems of fitting lots of cells that have as many knots each."""
    knots, spacing, moments, share, mass = (np.array(values) for values in zip(*parts, strict=True))
    size = knots.shape[1]
    roots = np.repeat(spacing[:, None] ** [0.5, 1.5], [size - 1, size - 2], axis=1)
    differences = _differences(size) / roots[:, :, None]
    rigidity = np.swapaxes(differences, 1, 2) @ differences
    stiffness = np.maximum(np.linalg.eigvalsh(rigidity), 0.0)
    return SplineProblem(knots, spacing, _gram(np.diff(knots), moments), share, mass, rigidity, stiffness)


@lru_cache(maxsize=64)
def _differences(size: int) -> Array:
    """Of so many numbers the first differences, then the second."""
    return np.concatenate([np.diff(np.eye(size), axis=0), np.diff(np.eye(size), 2, axis=0)])


def place_knots(cells: Cells) -> tuple[Array, float]:
    """Equally spaced in v between the quantiles beyond which three rows lie; half follow gaps, not only mass."""
    v = 0.5 * ndtri(cells.ranks) + 0.5 * np.arcsinh(cells.z)
    edge = min(CLIPPED / cells.total, 0.25)
    low, high = np.interp([edge, 1 - edge], cells.ranks, v)
    spacing = SPACING * min(1.0, (MANY / cells.total) ** 0.2)
    count = min(max(np.ceil((high - low) / spacing) + 1, 3), MOST_KNOTS)
    grid = np.linspace(low, high, int(count))
    ramp = 1e-9 * np.arange(grid.size)  # least distance, where v jumps
    knots = np.maximum.accumulate(np.interp(grid, v, cells.z) - ramp) + ramp
    return knots, float(grid[1] - grid[0])


def _gram(gaps: Array, moments: Array) -> Array:
    """Second moments of T's basis by pieces: T(z) = offset + heights[k] c + left c_k + right c_k+1 after knot k."""
    groups, size = gaps.shape[0], gaps.shape[1] + 1
    base = np.concatenate([np.ones((groups, 1, size - 1)), _heights(gaps)], axis=1)
    one, left, right, left_left, left_right, right_right = np.moveaxis(moments, 1, 0)
    mixed = np.zeros((groups, size + 1, size + 1))
    mixed[:, :, 1:-1] = base * left[:, None]
    mixed[:, :, 2:] += base * right[:, None]
    k = np.arange(1, size)
    mixed[:, k, k + 1] += left_right
    gram = (base * one[:, None]) @ np.swapaxes(base, 1, 2) + mixed + np.swapaxes(mixed, 1, 2)
    gram[:, k, k] += left_left
    gram[:, k + 1, k + 1] += right_right
    return np.asarray(gram)


def _heights(gaps: Array) -> Array:
    """Matrices (K, K - 1) that take slopes to heights at all knots but the last, above the middle one."""
    groups, pieces = gaps.shape
    rise = np.zeros((groups, pieces + 1, pieces + 1))
    k = np.arange(pieces)
    rise[:, k, k + 1] = rise[:, k + 1, k + 1] = 0.5 * gaps
    heights = np.cumsum(rise, axis=2)
    return np.asarray((heights - heights[:, :, [(pieces + 1) // 2]])[:, :, :-1])


class _Task(NamedTuple):
    """Problems with a penalty each, and what of the objective does not change along the way."""

    problem: SplineProblem
    hessian: Array  # of all terms that are quadratic
    once: Array  # (g, 1): weights of first and second differences
    twice: Array

    @classmethod
    def of(cls, problem: SplineProblem, penalty: Array) -> _Task:
        """Problems at these penalties."""
        hessian = problem.gram.copy()
        hessian[:, 1:, 1:] += penalty[:, None, None] * problem.rigidity
        return cls(problem, hessian, (penalty / problem.spacing)[:, None], (penalty / problem.spacing**3)[:, None])

    def some(self, rows: NDArray[np.intp]) -> _Task:
        """Some of them."""
        return _Task(self.problem.of(rows), self.hessian[rows], self.once[rows], self.twice[rows])


class _Place(NamedTuple):
    """Where Newton's method is: parameters (g, K + 1), the objective (g,), T' of the points, and gram θ."""

    theta: Array
    value: Array
    along: Array
    pull: Array

    def some(self, rows: NDArray[np.intp]) -> _Place:
        """The places of some problems."""
        return _Place(*(part[rows] for part in self))

    def put(self, rows: NDArray[np.intp], others: _Place) -> None:
        """Replace the places of some problems."""
        for part, new in zip(self, others, strict=True):
            part[rows] = new


def newton(problem: SplineProblem, start: SplineSolution, penalty: Array, *, digits: float = DIGITS) -> SplineSolution:
    r"""Minimise f by damped Newton steps; the log evidence is Laplace's, :math:`-f - \tfrac12\log\det H + \log Z`.

    Not ``numerics.newton``: slopes must stay positive along the line search, and the last factor of the Hessian serves
    the evidence. Each problem has its own penalty and goes its own way, as if it were alone.

    .. math:: f = \sum w \big[\tfrac12T^2 - \log T'\big] + \tfrac\lambda2|Dc|^2 + 0.2\sum(c - \log c - 1)
    """
    found, going, task = problem.start(), np.arange(len(problem.knots)), _Task.of(problem, penalty)
    place = _placed(task, np.column_stack([start.offset, start.slopes]))
    normaliser = _normaliser(problem, penalty)
    for number in range(1, _STEPS + 1):
        gradient, hessian = _derivatives(task, place)
        step, factor = _solved(hessian, gradient)
        decrement = -np.vecdot(gradient, step)
        place = _searched(task, place, step, decrement)
        done = (decrement < np.maximum(digits, _ROUNDING * np.abs(place.value))) | (number == _STEPS)
        if not done.any():
            continue
        evidence = normaliser[going[done]] - place.value[done] - _half_log_det(hessian[done], factor)
        found.put(going[done], SplineSolution(place.theta[done, 0], place.theta[done, 1:], evidence))
        left = np.flatnonzero(~done)
        if not left.size:
            break
        going, task, place = going[left], task.some(left), place.some(left)
    return found


def _solved(hessian: Array, gradient: Array) -> tuple[Array, Array | None]:
    """Newton's steps, and the factor of the Hessian where there is one problem only."""
    if len(hessian) > 1:
        return np.asarray(-np.linalg.solve(hessian, gradient[..., None])[..., 0], dtype=np.float64), None
    factor, step, failed = lapack.dposv(hessian[0], gradient[0], lower=1)
    if failed:
        raise np.linalg.LinAlgError("the Hessian is not positive definite.")
    return -step[None], factor[None]


def _half_log_det(hessian: Array, factor: Array | None) -> Array:
    lower: Array = np.asarray(np.linalg.cholesky(hessian) if factor is None else factor, dtype=np.float64)
    return np.asarray(np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1))


def _searched(task: _Task, here: _Place, step: Array, decrement: Array) -> _Place:
    """Go along the steps, halving them until slopes are positive and the objective has fallen."""
    worst = (step[:, 1:] / here.theta[:, 1:]).min(axis=1)
    length = np.minimum(1.0, 0.95 / np.maximum(-worst, 0.5))
    limit, fall = here.value + 1e-12 * np.abs(here.value), 1e-4 * decrement
    there = _placed(task, here.theta + length[:, None] * step)
    rows = np.flatnonzero(~(there.value <= limit - length * fall))
    while rows.size:
        length[rows] *= 0.5
        stuck = length[rows] <= _SHORTEST
        there.put(rows[stuck], here.some(rows[stuck]))
        rows = rows[~stuck]
        trial = _placed(task.some(rows), here.theta[rows] + length[rows, None] * step[rows])
        fine = trial.value <= limit[rows] - length[rows] * fall[rows]
        there.put(rows[fine], trial.some(np.flatnonzero(fine)))
        rows = rows[~fine]
    return there


def _normaliser(problem: SplineProblem, penalty: Array) -> Array:
    """Log of the prior's normalising constant, corrected for the skewness of its free directions."""
    total = penalty[:, None] * problem.stiffness + PRIOR
    return np.asarray(0.5 * np.log(total).sum(axis=1) - SKEW * (PRIOR / total).sum(axis=1))


def _placed(task: _Task, theta: Array) -> _Place:
    problem, slopes = task.problem, theta[:, 1:]
    first, second = _differences_of(slopes)
    along = first[:, :, None] * problem.share
    along += theta[:, 1:-1, None]
    pull = (problem.gram @ theta[:, :, None])[:, :, 0]
    rough = np.vecdot(first, task.once * first) + np.vecdot(second, task.twice * second)
    value = 0.5 * (np.vecdot(theta, pull) + rough) - np.vecdot(problem.mass, np.log(along)).sum(axis=1)
    value += PRIOR * (slopes - np.log(slopes) - 1).sum(axis=1)
    return _Place(theta, value, along, pull)


def _derivatives(task: _Task, place: _Place) -> tuple[Array, Array]:
    problem, slopes = task.problem, place.theta[:, 1:]
    inverse = 1 / place.along
    right = inverse * problem.share
    left = np.subtract(inverse, right, out=inverse)
    low, high = problem.mass * left, problem.mass * right
    first, second = _differences_of(slopes)
    first *= task.once
    second *= task.twice
    first[:, :-1] -= second
    first[:, 1:] += second
    gradient = place.pull.copy()
    gradient[:, 1:] += PRIOR * (1 - 1 / slopes)
    gradient[:, 1:-1] -= first + low.sum(axis=2)
    gradient[:, 2:] += first - high.sum(axis=2)
    diagonal = PRIOR / slopes**2
    diagonal[:, :-1] += np.vecdot(low, left)
    diagonal[:, 1:] += np.vecdot(high, right)
    beside = np.vecdot(low, right)
    hessian, size = task.hessian.copy(), slopes.shape[1] + 1
    entries = hessian.reshape(len(hessian), -1)
    entries[:, size + 1 :: size + 1] += diagonal
    entries[:, size + 2 :: size + 1] += beside
    entries[:, 2 * size + 1 :: size + 1] += beside
    return gradient, hessian


def _differences_of(slopes: Array) -> tuple[Array, Array]:
    """First and second differences."""
    first = slopes[:, 1:] - slopes[:, :-1]
    return first, first[:, 1:] - first[:, :-1]
