"""The mode of a posterior density whose parameters are functions of the forecast."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
from scipy.linalg import cholesky, lapack
from scipy.optimize import OptimizeResult, minimize

from .._checks import Array

_ROUGH = 1e-5  # relative change of the loss at which curvature is worth its price
_LEAST_CURVATURE = 1e-11  # of the mean one: under weights of 1e14 the prior's is lost in rounding
_CURVATURE_ROWS = 2_000  # that it is worked out from
_LEAST_SLOPE = 1e-9
_FEW, _MOST_STEPS = 500, (600, 2_000)  # of few rows, and of more: longer searches learn few by heart
_STEPS = 30  # after which the curvature is worked out anew
_MANY_COPIES = 2.5  # that a row stands for, on average, beyond which that is enough
_ENOUGH, _EACH = 50, 0.02  # steps there, or so many a copy: what more of them find is the rows by heart
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

        L-BFGS, first in the coefficients and then in units of the curvature, which are a third of the steps; where
        these are many, the curvature is worked out anew on the way. Where rows stand for several others, the last
        digits take long and tell nothing: a change of 1e-5 is enough, and one step for fifty
        of them.
        """
        if self.weights.mean() > _MANY_COPIES:
            tolerance = max(tolerance, _ROUGH)
        most = _MOST_STEPS[len(self.weights) >= _FEW]
        first = most if tolerance < _ROUGH else max(_ENOUGH, int(_EACH * self.weights.sum()))
        found = _minimise(self.loss, start.ravel(), max(tolerance, _ROUGH), first)
        at, value, steps = found.x, float(found.fun), int(found.nit)
        while tolerance < _ROUGH and steps < most:
            root = cholesky(self._curvature(at), lower=True)
            found = _minimise(self._in_units(at, value, root), np.zeros(len(at)), tolerance, _STEPS)
            steps += max(int(found.nit), 1)
            if found.fun < value:  # a search that ends in rounding may end worse
                at, value = at + _solved(root, found.x, trans=1), float(found.fun)
            if found.nit < _STEPS:
                break
        return at.reshape(start.shape), steps

    def _in_units(self, at: Array, value: float, root: Array) -> Callable[[Array], tuple[float, Array]]:
        """The loss of steps from a place, in units of a curvature there."""

        def loss(v: Array) -> tuple[float, Array]:
            with np.errstate(over="ignore", invalid="ignore"):
                found, gradient = self.loss(at + _solved(root, v, trans=1))
            if not np.isfinite(gradient).all():  # a trial step so long that densities overflow: a wall, rising outwards
                size = float(np.linalg.norm(v))
                return value + _WALL * size, _WALL * v / size
            return found, _solved(root, gradient)

        return loss

    def _curvature(self, flat: Array) -> Array:
        """The prior's and the likelihood's, by the products of the slopes of some rows (Fisher), a row."""
        part = slice(None, None, -(-len(self.weights) // _CURVATURE_ROWS))
        slopes, w = self.likelihood(flat)[1][:, part], self.weights[part]
        each = (slopes[:, None] * np.sqrt(w / w.sum()) * self.basis[:, part]).reshape(len(flat), -1)
        fisher = each @ each.T
        prior = max(1 / self.weights.sum(), _LEAST_CURVATURE * np.trace(fisher) / len(flat))
        return np.asarray(prior * np.eye(len(flat)) + fisher)


def _solved(root: Array, side: Array, trans: int = 0) -> Array:
    """A lower triangle's solution, or its transpose's, without checks: a search asks hundreds of times."""
    return np.asarray(lapack.dtrtrs(root, side, lower=1, trans=trans)[0])


def _minimise(
    loss: Callable[[Array], tuple[float, Array]], start: Array, tolerance: float, steps: int
) -> OptimizeResult:
    return minimize(
        loss, start, jac=True, method="L-BFGS-B",
        options={"maxiter": steps, "maxfun": 2 * steps, "maxcor": 20, "ftol": tolerance, "gtol": _LEAST_SLOPE},
    )  # fmt: skip
