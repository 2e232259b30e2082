"""The likelihood of labels whose log odds are those of forecasts, and what trees add to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit

from ..._checks import Array
from ...adapters.class_labels import Codes
from ...adapters.class_scores import less_largest, softmax_rows


@dataclass(frozen=True, eq=False)
class ClassLikelihood:
    r"""Labels of n rows, and what trees add to: log odds of the second of two classes, or K log probabilities.

    .. math:: \ell_i = \ln\sum_j e^{z_{ij}} - z_{i y_i}, \quad z = s + t, \quad \partial_j = p_j - [y_i = j], \quad
        h_j = \tfrac{K}{K-1} p_j (1 - p_j)

    s is the start and t is what trees say. The curvature is the diagonal of that of the softmax times K/(K - 1), which
    makes up for the one of K scores that is free (Friedman 2001); for two classes and one score it is p(1 - p).

    Parameters
    ----------
    start : ndarray (n, 1) or (n, K)
    codes : ndarray of int (n,)
    weights : ndarray (n,)

    Examples
    --------
    >>> rows = ClassLikelihood(np.zeros((2, 1)), np.array([0, 1]), np.ones(2))
    >>> rows.losses(np.array([[0.0], [2.0]])).round(4)
    array([0.6931, 0.1269])
    """

    start: Array
    codes: Codes
    weights: Array

    def __getitem__(self, rows: Any) -> ClassLikelihood:
        return ClassLikelihood(self.start[rows], self.codes[rows], self.weights[rows])

    def losses(self, said: Array) -> Array:
        """Minus the log probability of each label."""
        z = self.start + said
        if z.shape[1] == 1:
            return np.logaddexp(0.0, np.where(self.codes == 1, -z[:, 0], z[:, 0]))
        z = less_largest(z)
        return np.asarray(np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(z)), self.codes])

    def slopes(self, said: Array) -> tuple[Array, Array]:
        """First derivatives of the losses by what trees say, and their curvatures."""
        z = self.start + said
        if z.shape[1] == 1:
            p = expit(z)
            return p - (self.codes == 1)[:, None], p * (1 - p)
        p = softmax_rows(z)
        curvature = p * (1 - p) * (p.shape[1] / (p.shape[1] - 1))
        p[np.arange(len(p)), self.codes] -= 1
        return p, curvature

    def mean(self, said: Array | float) -> float:
        """Mean loss."""
        return float(np.average(self.losses(np.asarray(said)), weights=self.weights))

    def best_share(self, said: Array, low: float, high: float) -> tuple[float, float]:
        """The share of what is said, between two bounds, under which labels are likeliest, and the mean loss there.

        >>> rows = ClassLikelihood(np.zeros((4, 1)), np.array([0, 1, 1, 1]), np.ones(4))
        >>> [round(found, 3) for found in rows.best_share(np.ones((4, 1)), 0.0, 2.0)]  # ln 3
        [1.099, 0.562]
        """

        def loss(share: float) -> float:
            return self.mean(share * said)

        inside = float(minimize_scalar(loss, bounds=(low, high), method="bounded").x)
        return min(((share, loss(share)) for share in (low, inside, high)), key=lambda found: found[1])


def probabilities_of(z: Array) -> Array:
    """Probabilities (n, K) of log odds (n, 1) of the second of two classes, or of K scores.

    >>> probabilities_of(np.array([[0.0]]))
    array([[0.5, 0.5]])
    """
    if z.shape[1] > 1:
        return softmax_rows(z)
    return np.column_stack([expit(-z[:, 0]), expit(z[:, 0])])
