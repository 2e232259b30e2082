"""Precisions of the priors of softmax regression under which the labels are most probable."""

from __future__ import annotations

import numpy as np

from ..._checks import Array
from .problem import SoftmaxProblem

FIRST, LEAST, MOST = 10.0, 1e-3, 1e6  # precisions: to begin with, smallest, largest


def most_probable(problem: SoftmaxProblem, theta: Array, variance: Array, used: Array) -> tuple[Array, Array]:
    r"""MacKay's (1992) :math:`\alpha_g = \gamma_g / \sum_{i \in g} (\theta_i - \theta_{0i})^2`, and :math:`\gamma_g`.

    :math:`\gamma_g` is the number of parameters of the group that the data determine,
    :math:`\sum_{i \in g} 1 - \alpha_g (H^{-1})_{ii}`. H is taken within each class; of K classes' scores one is free to
    choose, hence the factor (K - 1)/K.

    Parameters
    ----------
    problem : SoftmaxProblem
    theta : array (K, F)
        Parameters of least loss under the precisions in use.
    variance : array (K, F)
        Diagonal of the inverse of H.
    used : array (groups,)
    """
    groups = problem.design.groups(problem.classes)
    known = (1 - used[groups] * variance) * (1 - 1 / problem.classes)
    moved = np.bincount(groups.ravel(), ((theta - problem.centre) ** 2).ravel())
    determined = np.asarray(np.bincount(groups.ravel(), known.ravel()), dtype=np.float64)
    return np.clip(determined / np.maximum(moved, 1e-300), LEAST, MOST), determined
