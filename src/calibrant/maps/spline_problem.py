"""The convex problem behind the default map, and Newton's method for it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import ndtri

from .._checks import Array
from .cells import Cells

SPACING, MANY = 0.2, 500.0  # of knots in v, and rows above which they move closer together
CLIPPED = 3.0  # rows beyond the outermost knots
MOST_KNOTS = 400  # reached at a billion rows
PRIOR = 0.2  # rows' worth of trust in slope 1 at each knot
SKEW = 0.6  # nats by which Laplace's formula flatters each free slope, measured
_BINS = 16  # per piece, for the logarithms
_STEPS = 100
_ROUNDING = 1e-13  # of the objective: what is left of it after that cannot be told


class SplineSolution(NamedTuple):
    """A solution: T = offset at the middle knot, T' = slopes at the knots; the log evidence of the penalty."""

    offset: float
    slopes: Array
    evidence: float


class SplineProblem(NamedTuple):
    """The data reduced to what the objective needs; its size does not depend on the number of rows."""

    knots: Array
    gram: Array  # sum of w T² = θᵀ gram θ, θ = (offset, slopes)
    piece: NDArray[np.intp]  # of the points at which log T' is summed
    share: Array  # of the way through the piece
    mass: Array
    differences: Array  # roughness of the slopes c = |differences c|²
    rigidity: Array  # = cᵀ rigidity c
    stiffness: Array  # its eigenvalues


def reduce(cells: Cells) -> SplineProblem:
    """The problem of fitting these cells, which should have median 0 and scale 1."""
    knots, spacing = place_knots(cells)
    size, gaps = knots.size, np.diff(knots)
    piece = np.clip(np.searchsorted(knots, cells.z, side="right") - 1, 0, size - 2)
    share = np.clip((cells.z - knots[piece]) / gaps[piece], 0.0, 1.0)
    bins = piece * _BINS + np.minimum((share * _BINS).astype(np.intp), _BINS - 1)
    mass: Array = np.bincount(bins, cells.mass).astype(np.float64)
    kept = np.flatnonzero(mass)
    mean = np.minimum(np.bincount(bins, cells.mass * share)[kept] / mass[kept], 1.0)
    first, second = np.diff(np.eye(size), axis=0), np.diff(np.eye(size), 2, axis=0)
    differences = np.concatenate([first / spacing**0.5, second / spacing**1.5])
    rigidity = differences.T @ differences
    stiffness = np.maximum(np.linalg.eigvalsh(rigidity), 0.0)
    gram = _gram(cells, knots, piece, share)
    return SplineProblem(knots, gram, kept // _BINS, mean, mass[kept], differences, rigidity, stiffness)


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


def _gram(cells: Cells, knots: Array, piece: NDArray[np.intp], share: Array) -> Array:
    """Second moments of T's basis by pieces: T(z) = offset + heights[k] c + left c_k + right c_k+1 after knot k."""
    size, gaps = knots.size, np.diff(knots)
    beyond = cells.z - np.clip(cells.z, knots[0], knots[-1])
    left = gaps[piece] * (share - 0.5 * share**2) + np.minimum(beyond, 0.0)
    right = gaps[piece] * 0.5 * share**2 + np.maximum(beyond, 0.0)
    rows = np.arange(size - 1)
    base = np.column_stack([np.ones(size - 1), _heights(gaps)[:-1]])
    one, other = np.zeros((size - 1, size + 1)), np.zeros((size - 1, size + 1))
    one[rows, rows + 1], other[rows, rows + 2] = 1.0, 1.0

    def moment(values: Array) -> Array:
        return np.asarray(np.bincount(piece, cells.mass * values, minlength=size - 1)[:, None], dtype=np.float64)

    linear = one * moment(left) + other * moment(right)
    square = one.T @ (one * moment(left**2)) + other.T @ (other * moment(right**2))
    mixed = one.T @ (other * moment(left * right)) + base.T @ linear
    gram: Array = base.T @ (base * moment(np.ones_like(left))) + square + mixed + mixed.T
    return gram


def _heights(gaps: Array) -> Array:
    """The matrix that takes slopes to heights at the knots, above the middle one."""
    size = gaps.size + 1
    rise = np.zeros((size, size))
    rows = np.arange(size - 1)
    rise[rows + 1, rows] = rise[rows + 1, rows + 1] = 0.5 * gaps
    heights = np.cumsum(rise, axis=0)
    return np.asarray(heights - heights[size // 2])


def newton(problem: SplineProblem, start: SplineSolution, penalty: float) -> SplineSolution:
    r"""Minimise f by damped Newton steps; the log evidence is Laplace's, :math:`-f - \tfrac12\log\det H + \log Z`.

    Not ``numerics.newton``: slopes must stay positive along the line search, and the last factor of the Hessian serves
    the evidence.

    .. math:: f = \sum w \big[\tfrac12T^2 - \log T'\big] + \tfrac\lambda2|Dc|^2 + 0.2\sum(c - \log c - 1)
    """
    theta = np.append(start.offset, start.slopes)
    value = _objective(problem, theta, penalty)
    for _ in range(_STEPS):
        gradient, hessian = _derivatives(problem, theta, penalty)
        factor = cho_factor(hessian, lower=True, check_finite=False)
        step = -cho_solve(factor, gradient, check_finite=False)
        decrement = -float(gradient @ step)
        theta, value = _search(problem, (theta, value), step, decrement, penalty)
        if decrement < max(1e-6, _ROUNDING * abs(value)):
            break
    evidence = -value - float(np.log(np.diag(factor[0])).sum()) + _normaliser(problem, penalty)
    return SplineSolution(float(theta[0]), theta[1:], evidence)


def _search(
    problem: SplineProblem, here: tuple[Array, float], step: Array, decrement: float, penalty: float
) -> tuple[Array, float]:
    """Go along the step, halving it until slopes are positive and the objective has fallen."""
    theta, value = here
    slack = 1e-12 * abs(value)
    falling = step[1:] < 0
    length = min(1.0, 0.95 * float(np.min(-theta[1:][falling] / step[1:][falling], initial=2.0)))
    while length > 1e-10:
        trial = _objective(problem, theta + length * step, penalty)
        if trial <= value - 1e-4 * length * decrement + slack:
            return theta + length * step, trial
        length *= 0.5
    return theta, value


def _normaliser(problem: SplineProblem, penalty: float) -> float:
    """Log of the prior's normalising constant, corrected for the skewness of its free directions."""
    total = penalty * problem.stiffness + PRIOR
    return float(0.5 * np.log(total).sum() - SKEW * (PRIOR / total).sum())


def _objective(problem: SplineProblem, theta: Array, penalty: float) -> float:
    slopes = theta[1:]
    along = slopes[problem.piece] * (1 - problem.share) + slopes[problem.piece + 1] * problem.share
    fit = 0.5 * theta @ problem.gram @ theta - problem.mass @ np.log(along)
    rough = np.square(problem.differences @ slopes).sum()
    return float(fit + 0.5 * penalty * rough + PRIOR * (slopes - np.log(slopes) - 1).sum())


def _derivatives(problem: SplineProblem, theta: Array, penalty: float) -> tuple[Array, Array]:
    slopes, size, piece = theta[1:], theta.size - 1, problem.piece
    along = slopes[piece] * (1 - problem.share) + slopes[piece + 1] * problem.share
    left, right = (1 - problem.share) / along, problem.share / along
    gradient = problem.gram @ theta
    gradient[1:] += penalty * (problem.differences @ slopes) @ problem.differences + PRIOR * (1 - 1 / slopes)
    gradient[1:] -= np.bincount(piece, problem.mass * left, size) + np.bincount(piece + 1, problem.mass * right, size)
    diagonal = np.bincount(piece, problem.mass * left**2, size) + np.bincount(piece + 1, problem.mass * right**2, size)
    beside = np.bincount(piece, problem.mass * left * right, size)[: size - 1]
    hessian = problem.gram.copy()
    hessian[1:, 1:] += penalty * problem.rigidity
    k = np.arange(1, size + 1)
    hessian[k, k] += diagonal + PRIOR / slopes**2
    hessian[k[:-1], k[1:]] += beside
    hessian[k[1:], k[:-1]] += beside
    return gradient, hessian
