"""Softmax regression on many classes: parameters and the precisions of their priors found together."""

from __future__ import annotations

import numpy as np

from ..._checks import Array
from ...numerics.newton_cg import direction
from .curvature import Curvature
from .designs import Full
from .precisions import LEAST, MOST, most_probable
from .problem import Place, SoftmaxProblem

_POOLED = 48  # classes
_FEW = 4096  # rows that find the neighbourhood of the solution
_START = {2: (0.05, 0.05), 3: (0.05, 1.0, 0.05)}  # precisions of the groups at first, in those of structured scaling
_ROUNDS, _MOST_HALVINGS = 30, 20
_ROUGH = 0.3  # residual of a step, relative
_FAR = 10.0  # length of steps that change the curvature, in standard deviations
_NEAR = 1.0  # length of the last: what is then left is about a hundredth of a nat, of all rows together
_SETTLED = 0.02  # change of the logarithms of the precisions; of few rows twice that
_LITTLE = 2e-4  # evidence that a precision may still gain, in half nats a row for each of its logarithm
_LONGEST, _HIGHEST = 8.0, 1.5  # change of such logarithms, in units of that of the fixed point, and in all
_ROUNDING = 1e-8  # of a loss in single precision, relative


def fit_many(problem: SoftmaxProblem, precisions: Array | None = None) -> tuple[Array, Array]:
    """Parameters (K, F) and the precisions of their groups, given or of most evidence."""
    theta, given = problem.centre, precisions is not None
    published = problem.design.structured(problem.classes)
    start = published * np.array(_START[len(published)]) if precisions is None else precisions
    problem = problem.in_single_precision()
    every = len(problem) // _FEW
    if every > 1:
        theta, start = _together(problem[::every], theta, start, np.inf if given else 2 * _SETTLED)
    return _together(problem, theta, start, np.inf if given else _SETTLED)


def curvature_at(problem: SoftmaxProblem, place: Place) -> Curvature:
    """Exact blocks of the classes, or pooled ones where there are so many that they would cost more than the rest."""
    pool = isinstance(problem.design, Full) and problem.classes >= _POOLED
    return problem.pooled(place) if pool else problem.blocks(place)


def _together(problem: SoftmaxProblem, theta: Array, precisions: Array, settled: float) -> tuple[Array, Array]:
    """A step of Newton's method, one of the precisions, and so on; these stay as they are if all are ``settled``."""
    groups = problem.design.groups(problem.classes)
    place = problem.at(theta)
    before, size = None, np.inf
    for _ in range(_ROUNDS):
        if size > _FAR:
            curvature = curvature_at(problem, place)
        inverse = curvature.inverse(precisions)
        loss, gradient, product = problem.penalised(place, precisions[groups])
        size = float(np.sqrt((gradient * inverse(gradient)).sum()))
        step = direction(gradient, product, inverse, _ROUGH)
        place = _downhill(problem, place, step, loss, precisions[groups])
        if settled < np.inf:
            wanted, known = most_probable(problem, place.theta, inverse.diagonal(), precisions)
            gap = np.log(wanted / precisions)
        else:
            gap = known = np.zeros(len(precisions))
        if size <= _NEAR and ((np.abs(gap) <= settled) | (np.abs(gap) * known <= _LITTLE * problem.weight)).all():
            break
        further = np.clip(np.exp(_secant(before, precisions, gap)) * precisions, LEAST, MOST)
        before, precisions = (precisions, gap), further
    return place.theta, precisions


def _downhill(problem: SoftmaxProblem, place: Place, step: Array, loss: float, precision: Array) -> Place:
    """The step, or half of it, and so on, until the loss does not rise; no step if it always does."""
    for halvings in range(_MOST_HALVINGS):
        trial = problem.at(place.theta + 0.5**halvings * step)
        if problem.penalised(trial, precision)[0] <= loss + _ROUNDING * abs(loss):
            return trial
    return place


def _secant(before: tuple[Array, Array] | None, precisions: Array, gap: Array) -> Array:
    """Change of the logarithms of precisions, from their gaps to the fixed point here and before.

    >>> _secant((np.array([1.0]), np.array([0.6])), np.exp([0.6]), np.array([0.3]))
    array([0.6])
    """
    if before is None:
        return np.clip(gap, -_HIGHEST, _HIGHEST)
    moved = np.log(precisions / before[0])
    slope = np.divide(before[1] - gap, moved, out=np.ones(len(gap)), where=np.abs(moved) > 1e-9)
    return np.asarray(np.clip(gap / np.clip(slope, 1 / _LONGEST, 1.0), -_HIGHEST, _HIGHEST))
