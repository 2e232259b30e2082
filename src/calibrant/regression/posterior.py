"""The mode of a posterior density whose parameters are functions of the forecast."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import OptimizeResult, minimize

from .._checks import Array

_ROUGH = 1e-5  # relative change of the loss at which curvature is worth its price
_LEAST_CURVATURE = 1e-11  # of the mean one: under weights of 1e14 the prior's is lost in rounding
_CURVATURE_ROWS = 2_000  # that it is worked out from
_LEAST_SLOPE = 1e-9
_WALL = 1e3  # how steeply the loss rises where it is no number


class Posterior(ABC):
    r"""Likelihood of rows with k parameters each, :math:`\eta_i = \theta b_i`, and priors N(0, 1) of all coefficients.

    Attributes
    ----------
    basis : ndarray (m, n)
        Functions :math:`b` of the forecast, one line a function.
    weights : ndarray (n,)
    shape : tuple of int
        (k, m), of the coefficients :math:`\theta`.
    """

    basis: Array
    weights: Array

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Of the coefficients: one line a parameter, one column a function."""

    @abstractmethod
    def likelihood(self, flat: Array) -> tuple[Array, Array]:
        r"""Log densities of the rows (n,), up to a constant, and their slopes in :math:`\eta`, (k, n)."""

    def loss(self, flat: Array) -> tuple[float, Array]:
        r"""Minus the log posterior, :math:`\frac12|\theta|^2 - \sum_i w_i \ln p_i`, and its gradient, a row."""
        value, slopes = self.likelihood(flat)
        slopes *= self.weights
        gradient, rows = (slopes @ self.basis.T).ravel(), self.weights.sum()
        return float(0.5 * flat @ flat - self.weights @ value) / rows, (flat - gradient) / rows

    def mode(self, start: Array, tolerance: float) -> tuple[Array, int]:
        """Coefficients where the loss is least, and the steps taken; ``tolerance`` is its last relative change.

        L-BFGS, first in the coefficients and then in units of the curvature found there: a third of the steps.
        """
        near = _minimise(self.loss, start.ravel(), max(tolerance, _ROUGH))
        if tolerance >= _ROUGH:
            return near.x.reshape(start.shape), int(near.nit)
        root = cholesky(self._curvature(near.x), lower=True)

        def loss(v: Array) -> tuple[float, Array]:
            with np.errstate(over="ignore", invalid="ignore"):
                value, gradient = self.loss(near.x + solve_triangular(root, v, lower=True, trans=1))
            if not np.isfinite(gradient).all():  # a trial step so long that densities overflow: a wall, rising outwards
                size = float(np.linalg.norm(v))
                return near.fun + _WALL * size, _WALL * v / size
            return value, solve_triangular(root, gradient, lower=True)

        best = _minimise(loss, np.zeros(len(near.x)), tolerance)
        step = best.x if best.fun < near.fun else np.zeros(len(near.x))  # a search that ends in rounding may end worse
        found = near.x + solve_triangular(root, step, lower=True, trans=1)
        return found.reshape(start.shape), int(near.nit + best.nit)

    def _curvature(self, flat: Array) -> Array:
        """The prior's and the likelihood's, by the products of the slopes of some rows (Fisher), a row."""
        part = slice(None, None, -(-len(self.weights) // _CURVATURE_ROWS))
        slopes, w = self.likelihood(flat)[1][:, part], self.weights[part]
        each = (slopes[:, None] * np.sqrt(w / w.sum()) * self.basis[:, part]).reshape(len(flat), -1)
        fisher = each @ each.T
        prior = max(1 / self.weights.sum(), _LEAST_CURVATURE * np.trace(fisher) / len(flat))
        return np.asarray(prior * np.eye(len(flat)) + fisher)


def _minimise(loss: Callable[[Array], tuple[float, Array]], start: Array, tolerance: float) -> OptimizeResult:
    return minimize(
        loss, start, jac=True, method="L-BFGS-B",
        options={"maxiter": 2000, "maxfun": 4000, "maxcor": 20, "ftol": tolerance, "gtol": _LEAST_SLOPE},
    )  # fmt: skip
