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
_FARTHEST = 1.0  # change of a log slope that its drift is trusted with
_FLATTEST = 1e-6  # variance, in units of the scores' scale


class SplineSolution(NamedTuple):
    """Solutions, one a problem: T = offset at the middle knot, T' = slopes at the knots; evidence of the penalty."""

    offset: Array  # (g,)
    slopes: Array  # (g, K)
    evidence: Array  # (g,), in logs
    penalty: Array  # (g,), in logs
    drift: Array  # (g,), and (g, K): how offset and slopes change with that
    bending: Array
    won: Array  # (g,), nats, by the last step

    def of(self, rows: NDArray[Any]) -> SplineSolution:
        """Those of some problems."""
        return SplineSolution(*(part[rows] for part in self))

    def put(self, rows: NDArray[np.intp], others: SplineSolution) -> None:
        """Replace those of some problems."""
        for part, new in zip(self, others, strict=True):
            part[rows] = new

    def at(self, penalty: Array) -> tuple[Array, Array]:
        """Offset and slopes about where they will be at another penalty, in logs."""
        change = penalty - self.penalty
        growth = self.bending / self.slopes * change[:, None]
        return self.offset + self.drift * change, self.slopes * np.exp(np.clip(growth, -_FARTHEST, _FARTHEST))


class SplineProblem(NamedTuple):
    """Data of g problems with K knots each, reduced to what objectives need: their size does not depend on rows."""

    knots: Array  # (g, K)
    spacing: Array  # (g,), of knots in v
    gram: Array  # (g, K + 1, K + 1): sum of w T² = θᵀ gram θ, θ = (height, slopes)
    lean: Array  # (g,): T at the middle knot is the height and so much of the slope there
    share: Array  # (g, K - 1, bins), of the way through the piece, of the points at which log T' is summed
    mass: Array  # (g, K - 1, bins)
    stiffness: Array  # (g, K): eigenvalues of the roughness of slopes
    ranks: Array  # (g, K): normal scores of the ranks of the knots

    def of(self, rows: NDArray[np.intp]) -> SplineProblem:
        """Some of the problems, in order."""
        return self if len(rows) == len(self.knots) else SplineProblem(*(part[rows] for part in self))

    def start(self) -> SplineSolution:
        """The diagonal."""
        return self._from(np.zeros(len(self.knots)), np.ones(self.knots.shape))

    def straight(self) -> SplineSolution:
        """The best straight lines, but for the prior."""
        mean = self.gram[:, 0, 1:].sum(axis=1) / self.gram[:, 0, 0]
        variance = self.gram[:, 1:, 1:].sum(axis=(1, 2)) / self.gram[:, 0, 0] - mean**2
        slope = 1 / np.sqrt(np.maximum(variance, _FLATTEST))
        return self._from((self.lean - mean) * slope, np.repeat(slope[:, None], self.knots.shape[1], axis=1))

    def through_ranks(self) -> SplineSolution:
        """Lines through the ranks of the knots, smoothed where they are steep or flat."""
        rises = np.diff(self.ranks) / np.diff(self.knots)
        slopes = np.concatenate([rises[:, :1], 0.5 * (rises[:, 1:] + rises[:, :-1]), rises[:, -1:]], axis=1)
        usual = np.median(slopes, axis=1, keepdims=True)
        return self._from(self.ranks[:, self.knots.shape[1] // 2], np.clip(slopes, 0.01 * usual, 100 * usual))

    def _from(self, offset: Array, slopes: Array) -> SplineSolution:
        nothing = np.zeros(len(offset))
        still = (nothing.copy(), np.zeros(slopes.shape))
        return SplineSolution(offset, slopes, nothing - np.inf, nothing, *still, nothing + np.inf)


class Reduced(NamedTuple):
    """Cells added up by pieces between knots, and by bins of these."""

    knots: Array  # (K,)
    spacing: float
    moments: Array  # (6, K - 1): of 1, left, right, left², left right, right²; T = ... + left c_k + right c_k+1
    share: Array  # (K - 1, bins)
    mass: Array
    ranks: Array  # (K,): normal scores of the ranks of the knots


def reduced(cells: Cells) -> Reduced:
    """The cells, which should have median 0 and scale 1, by knots that suit them."""
    knots, grid = place_knots(cells)
    last, gaps = knots.size - 1, np.diff(knots)
    piece = np.minimum(np.maximum(np.searchsorted(knots, cells.z, side="right") - 1, 0), last - 1)
    gap, beyond = gaps[piece], cells.z - knots[piece]
    share = np.minimum(np.maximum(beyond / gap, 0.0), 1.0)
    bins = piece * _BINS + np.minimum((share * _BINS).astype(np.intp), _BINS - 1)
    mass: Array = np.bincount(bins, cells.mass, last * _BINS).astype(np.float64)
    total = np.bincount(bins, cells.mass * share, last * _BINS)
    mean = np.minimum(np.divide(total, mass, out=np.full(mass.size, 0.5), where=mass > 0), 1.0)
    left = np.minimum(cells.z - knots[0], 0.0) - 0.5 * gap * (1 - share) ** 2
    right = np.maximum(cells.z - knots[-1], 0.0) + 0.5 * gap * share**2
    low, high = cells.mass * left, cells.mass * right
    summed = (cells.mass, low, high, low * left, low * right, high * right)
    moments = np.array([np.bincount(piece, values, last) for values in summed])
    share, mass = mean.reshape(last, _BINS), mass.reshape(last, _BINS)
    return Reduced(knots, float(grid[1] - grid[0]), moments, share, mass, 2 * grid - np.arcsinh(knots))


def stacked(parts: Sequence[Reduced]) -> SplineProblem:
    """The problems of fitting lots of cells that have as many knots each."""
    knots, spacing, moments, share, mass, ranks = (np.array(values) for values in zip(*parts, strict=True))
    gaps, size = np.diff(knots), knots.shape[1]
    gram, lean = _gram(gaps, moments), 0.5 * gaps[:, size // 2 - 1]
    return SplineProblem(knots, spacing, gram, lean, share, mass, _stiffness(size, spacing), ranks)


@lru_cache(maxsize=64)
def _roughness(size: int) -> list[tuple[Array, Array]]:
    """Sums of squared first and second differences of so many numbers: the diagonals of their matrices, from 0 to 2."""
    first, second = (np.diff(np.eye(size), order, axis=0) for order in (1, 2))
    return [(np.diagonal(first.T @ first, place), np.diagonal(second.T @ second, place)) for place in range(3)]


def _stiffness(size: int, spacing: Array) -> Array:
    """Eigenvalues of the roughness of slopes, the least first: that of equal ones is 0, but for rounding."""
    bands = np.zeros((len(spacing), size, 3))
    for place, (first, second) in enumerate(_roughness(size)):
        bands[:, : size - place, place] = first / spacing[:, None] + second / spacing[:, None] ** 3
    values = np.array([lapack.dsbevd(band.T, compute_v=0, lower=1)[0] for band in bands])
    values[:, 0] = 0.0
    return np.asarray(np.maximum(values, 0.0))


def place_knots(cells: Cells) -> tuple[Array, Array]:
    """Knots equally spaced in v, of which half follows gaps and not only mass, and where they are in v.

    They lie between the quantiles beyond which three rows lie.
    """
    v = 0.5 * ndtri(cells.ranks) + 0.5 * np.arcsinh(cells.z)
    edge = min(CLIPPED / cells.total, 0.25)
    low, high = np.interp([edge, 1 - edge], cells.ranks, v)
    spacing = SPACING * min(1.0, (MANY / cells.total) ** 0.2)
    count = min(max(np.ceil((high - low) / spacing) + 1, 3), MOST_KNOTS)
    grid = np.linspace(low, high, int(count))
    ramp = 1e-9 * np.arange(grid.size)  # least distance, where v jumps
    knots = np.maximum.accumulate(np.interp(grid, v, cells.z) - ramp) + ramp
    return knots, grid


def _gram(gaps: Array, moments: Array) -> Array:
    r"""Second moments of T's basis by pieces: :math:`T(z) = b_k + l c_k + r c_{k+1}` after knot k.

    :math:`b_k` is where the tangents at both ends of the piece meet, half way between them; the parameters are that
    left of the middle knot, and the slopes. Each slope moves all later b, or all earlier ones, by as much, so that the
    products of two on the same side of the middle are those of two vectors.
    """
    groups, size = gaps.shape[0], gaps.shape[1] + 1
    middle, none = size // 2, np.zeros((groups, 1))
    width = 0.5 * (np.concatenate([gaps, none], axis=1) + np.concatenate([none, gaps], axis=1))
    one, left, right, left_left, left_right, right_right = np.moveaxis(moments, 1, 0)
    left, right = np.concatenate([left, none], axis=1), np.concatenate([none, right], axis=1)
    moved = np.concatenate([none, np.cumsum(one, axis=1)], axis=1)
    total = moved[:, -1].copy()
    moved[:, middle:] -= total[:, None]
    with_one = left + right - width * moved
    gram = np.zeros((groups, size + 1, size + 1))
    gram[:, 0, 1:] = with_one
    low, high = slice(0, middle), slice(middle, size)
    gram[:, 1 : middle + 1, 1 : middle + 1] = np.triu(-with_one[:, low, None] * width[:, None, low], 1)
    gram[:, middle + 1 :, middle + 1 :] = np.triu(width[:, high, None] * with_one[:, None, high], 1)
    _band(gram, 1)[:] += left_right
    gram += np.swapaxes(gram, 1, 2).copy()
    sided = np.concatenate([-right[:, low], left[:, high]], axis=1)
    diagonal = _band(gram, 0)
    diagonal += width * (width * np.abs(moved) + 2 * sided)
    diagonal[:, :-1] += left_left
    diagonal[:, 1:] += right_right
    gram[:, 0, 0] = total
    return gram


def _band(matrices: Array, offset: int) -> Array:
    """A diagonal of the slopes' part of matrices (g, K + 1, K + 1), or one above it, to be written to."""
    step = matrices.shape[1] + 1
    first, count = step + offset, step - 2 - offset
    return matrices.reshape(len(matrices), -1)[:, first : first + step * count : step]


class _Task(NamedTuple):
    """Problems with a penalty each, and what of the objective does not change along the way."""

    problem: SplineProblem
    once: Array  # (g, 1): weights of first and second differences
    twice: Array
    diagonal: Array  # (g, K), and (g, K - 1): of the Hessian of these
    beside: Array

    @classmethod
    def of(cls, problem: SplineProblem, penalty: Array) -> _Task:
        """Problems at these penalties."""
        once, twice = (penalty / problem.spacing)[:, None], (penalty / problem.spacing**3)[:, None]
        bands = _roughness(problem.knots.shape[1])[:2]
        return cls(problem, once, twice, *(once * first + twice * second for first, second in bands))

    def theta(self, offset: Array, slopes: Array) -> Array:
        """Parameters of maps with this offset at the middle knot."""
        return np.column_stack([offset - self.problem.lean * slopes[:, slopes.shape[1] // 2], slopes])

    def unfolded(self, theta: Array, rows: NDArray[np.bool_]) -> tuple[Array, Array]:
        """Offset at the middle knot and slopes of some of the problems."""
        slopes = theta[rows, 1:]
        return theta[rows, 0] + self.problem.lean[rows] * slopes[:, slopes.shape[1] // 2], slopes

    def some(self, rows: NDArray[np.intp]) -> _Task:
        """Some of them."""
        return _Task(self.problem.of(rows), *(part[rows] for part in self[1:]))


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
    found, going, logs = problem.start(), np.arange(len(problem.knots)), np.log(penalty)
    task, normaliser = _Task.of(problem, penalty), _normaliser(problem, penalty)
    place = _placed(task, task.theta(*start.at(logs)))
    for number in range(1, _STEPS + 1):
        sides, hessian = _derivatives(task, place)
        steps, diagonals = _solved(hessian, sides if digits > DIGITS else sides[:, :1])
        step, decrement = steps[:, 0], -np.vecdot(sides[:, 0], steps[:, 0])
        place = _searched(task, place, step, decrement)
        done = (decrement < np.maximum(digits, _ROUNDING * np.abs(place.value))) | (number == _STEPS)
        if not done.any():
            continue
        evidence = normaliser[going[done]] - place.value[done] - np.log(diagonals[done]).sum(axis=1)
        drift = task.unfolded(steps[:, -1] * (digits > DIGITS), done)
        made = (*task.unfolded(place.theta, done), evidence, logs[going[done]], *drift, decrement[done])
        found.put(going[done], SplineSolution(*made))
        left = np.flatnonzero(~done)
        if not left.size:
            break
        going, task, place = going[left], task.some(left), place.some(left)
    return found


def _solved(hessian: Array, sides: Array) -> tuple[Array, Array]:
    """Newton's steps for each of several right sides, (g, sides, K + 1), and diagonals of Cholesky's factors.

    The factors take the place of the Hessians, of which the upper triangles are used.
    """
    steps, diagonals = np.empty(sides.shape), np.empty((len(sides), sides.shape[2]))
    for place in range(len(sides)):
        factor, step, failed = lapack.dposv(hessian[place].T, sides[place].T, lower=1, overwrite_a=1)
        if failed:
            raise np.linalg.LinAlgError("the Hessian is not positive definite.")
        steps[place], diagonals[place] = step.T, factor.diagonal()
    return -steps, diagonals


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
    """The gradient and what of it changes with the log penalty, (g, 2, K + 1), and the Hessian's upper part."""
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
    sides = np.zeros((len(slopes), 2, slopes.shape[1] + 1))
    gradient, rough = sides[:, 0], sides[:, 1]
    rough[:, 1:-1] -= first
    rough[:, 2:] += first
    np.add(place.pull, rough, out=gradient)
    gradient[:, 1:] += PRIOR * (1 - 1 / slopes)
    gradient[:, 1:-1] -= low.sum(axis=2)
    gradient[:, 2:] -= high.sum(axis=2)
    hessian = problem.gram.copy()
    diagonal, beside = task.diagonal + PRIOR / slopes**2, task.beside + np.vecdot(low, right)
    diagonal[:, :-1] += np.vecdot(low, left)
    diagonal[:, 1:] += np.vecdot(high, right)
    for offset, band in enumerate((diagonal, beside, task.twice)):
        _band(hessian, offset)[:] += band
    return sides, hessian


def _differences_of(slopes: Array) -> tuple[Array, Array]:
    """First and second differences."""
    first = slopes[:, 1:] - slopes[:, :-1]
    return first, first[:, 1:] - first[:, :-1]
