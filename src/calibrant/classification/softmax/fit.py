"""Softmax regression on log probabilities, with priors whose widths are given, published, or chosen by the data."""

from __future__ import annotations

import numpy as np

from ..._checks import Array
from .many import curvature_at, fit_many
from .precisions import FIRST, most_probable
from .problem import SoftmaxProblem

_ROUNDS = 20
_SETTLED = 0.01  # relative change of the precisions
_NEAR = 1e-4  # standard deviations from the solution, of a loss of 1, from where its precisions are as good
_FEW = 4096  # rows that find the neighbourhood of the solution
_MANY = 16  # classes from which on steps and precisions are taken in turns


def fit_softmax(problem: SoftmaxProblem, penalty: float | str) -> tuple[Array, Array]:
    """Parameters (K, F) and the precisions of the groups: one for all, ``"structured"`` or by ``"evidence"``."""
    many = problem.classes >= _MANY
    if penalty == "evidence":
        return fit_many(problem) if many else _by_evidence(problem)
    if penalty == "structured":
        precisions = problem.design.structured(problem.classes)
        return fit_many(problem, precisions) if many else (_given(problem, precisions), precisions)
    precisions = np.full(int(problem.design.groups(problem.classes).max()) + 1, float(penalty))
    return _given(problem, precisions), precisions


def _given(problem: SoftmaxProblem, precisions: Array) -> Array:
    """Parameters of least loss under given precisions."""
    place = problem.at(problem.centre)
    return problem.solve(place.theta, precisions, curvature_at(problem, place).inverse(precisions))


def _by_evidence(problem: SoftmaxProblem) -> tuple[Array, Array]:
    """Of many rows, some first."""
    theta, precisions = problem.centre, np.full(int(problem.design.groups(problem.classes).max()) + 1, FIRST)
    every = len(problem) // _FEW
    if every > 3:
        theta, precisions = _rounds(problem[::every], theta, precisions)
    return _rounds(problem, theta, precisions)


def _rounds(problem: SoftmaxProblem, theta: Array, precisions: Array) -> tuple[Array, Array]:
    """Solve, take the precisions of most evidence, solve again, until they stay."""
    curvature = problem.blocks(problem.at(theta))
    for _ in range(_ROUNDS):
        used = precisions
        theta = problem.solve(theta, used, curvature.inverse(used), near=_NEAR)
        curvature = problem.blocks(problem.at(theta))
        precisions, _ = most_probable(problem, theta, curvature.inverse(used).diagonal(), used)
        if (np.abs(precisions - used) <= _SETTLED * used).all():
            break
    return problem.solve(theta, used, curvature.inverse(used)), used
