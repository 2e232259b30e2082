"""A Gaussian process with its landmarks on a grid, fine enough to be the exact one, and its evidence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import minimize

from ..._checks import Array
from ...numerics.soundness import check_finite, check_numbers
from .designs import Dense, Products
from .laplace import DIGITS, LARGEST, MOST_STEPS, SMALLEST, TIGHT, Pairs, mode
from .likelihoods import Likelihood

_LANDMARKS = (16, 20)  # along input and threshold
_JITTER = 1e-8  # on the diagonal of the landmarks
_RESOLVED = 1.4  # gaps between landmarks that a length must have: .0001 of the variance is left out then
_STARTS = ((1.0, 1.0), (5.0, 3.0))  # of the search: scale, and lengths in units of the first ones
_STEP = 3e-4  # of finite differences in log scale and log lengths


@dataclass(frozen=True, eq=False)
class GridProcess:
    r"""Functions of two inputs with unit prior, which are products, for the kernel :math:`s^2 k(x - x') k(t - t')`.

    .. math:: B_{ac}(x, t) = s\, [L_1^{-1} k(x, c_1)]_a\, [L_2^{-1} k(t, c_2)]_c, \qquad L_i L_i^T = k(c_i, c_i)

    The RBF kernel is a product, so that Nyström's method on a grid of landmarks needs the roots of two small matrices.

    Parameters
    ----------
    first, second : array (a,), (c,)
        Landmarks along each input, evenly spaced.
    lengths : array (2,)
    scale : float
        s.

    Examples
    --------
    >>> process = GridProcess(np.linspace(0, 1, 6), np.linspace(-2, 2, 8), np.array([0.5, 1.0]), 2.0)
    >>> B = process(np.array([[0.25, 0.0], [0.5, 1.0]]))
    >>> (B @ B.T).round(3), round(float(4 * np.exp(-0.5 * (0.5**2 + 1))), 3)
    (array([[4.   , 2.141],
           [2.141, 4.   ]]), 2.141)
    """

    first: Array
    second: Array
    lengths: Array
    scale: float

    @property
    def size(self) -> int:
        """Number of functions."""
        return len(self.first) * len(self.second)

    def shortest(self, gap: float) -> Array:
        """Lengths that its landmarks resolve, and no less than the gap between thresholds: none is seen within it."""
        first, second = (_RESOLVED * (side[1] - side[0]) for side in (self.first, self.second))
        at_thresholds = self.second[1] - self.second[0] <= gap * (1 + 1e-9)  # nothing is left out there
        return np.array([first, gap if at_thresholds else max(second, gap)])

    @cached_property
    def _roots(self) -> list[Array]:
        sides = zip((self.first, self.second), self.lengths, strict=True)
        return [np.asarray(cholesky(_kernel(c, c, ell) + _JITTER * np.eye(len(c)), lower=True)) for c, ell in sides]

    def _factor(self, side: int, x: Array) -> Array:
        """Functions of one input, (n, a) or (n, c)."""
        landmarks, scale = ((self.first, self.scale), (self.second, 1.0))[side]
        covariance = scale * _kernel(x, landmarks, self.lengths[side])
        return solve_triangular(self._roots[side], covariance.T, lower=True, check_finite=False).T

    def __call__(self, x: Array) -> Array:
        """Values of the functions at points (n, 2), (n, size)."""
        first, second = (self._factor(side, x[:, side]) for side in (0, 1))
        return (first[:, :, None] * second[:, None, :]).reshape(len(x), self.size)

    def combined(self, x: Array, coefficients: Array) -> Array:
        """Sums (n, k) of the functions with coefficients (size, k)."""
        return np.asarray(self(x) @ coefficients)

    def products(self, x: Array, t: Array) -> Products:
        """The functions at inputs (n, K) and thresholds (K,)."""
        by_threshold = self._factor(0, x.T.ravel()).reshape(*x.T.shape, len(self.first))
        return Products(by_threshold, self._factor(1, t))

    def left_out(self, design: Dense | Products) -> Array:
        """Prior variance at inputs that the functions there do not have, (n,)."""
        return np.maximum(self.scale**2 - design.squares(), 0.0)

    def _check_sound(self) -> None:
        """Raise ValueError if this is no process: its numbers may come from anywhere."""
        check_numbers(self)
        check_finite(self, "first", "second", "lengths", "scale")
        if self.first.ndim != 1 or self.second.ndim != 1 or self.lengths.shape != (2,):
            raise ValueError("GridProcess must have two lines of landmarks, and a length for each.")
        if not (self.lengths > 0).all() or not self.scale > 0:
            raise ValueError("GridProcess must have positive lengths and scale.")


def grid_process(ends: tuple[float, float], n_thresholds: int, lengths: Array) -> GridProcess:
    """Landmarks at 16 inputs between these ends and at every threshold, or at 20 places if these are more.

    >>> grid_process((0.0, 1.0), 8, np.array([0.2, 0.35])).size
    128
    """
    inputs, places = _LANDMARKS
    return GridProcess(np.linspace(*ends, inputs), np.linspace(-2, 2, min(n_thresholds, places)), lengths, 1.0)


class GridEvidence:
    """As `Evidence`, of a process on a grid, at inputs (n, K) and thresholds (K,); slopes are finite differences.

    Parameters
    ----------
    process : GridProcess
        Its lengths and scale are where the search starts.
    x, t : array (n, K), (K,)
    pairs : Pairs
        Offsets, outcomes and weights; the basis is not used.
    likelihood : Likelihood
    """

    def __init__(self, process: GridProcess, x: Array, t: Array, pairs: Pairs, likelihood: Likelihood) -> None:
        self.process, self.x, self.t, self.pairs, self.likelihood = process, x, t, pairs, likelihood
        self._start = np.zeros(process.size)

    def at(self, flat: Array) -> GridProcess:
        """The process of log s and log lengths."""
        return replace(self.process, scale=float(np.exp(flat[0])), lengths=np.exp(flat[1:]))

    def best(self) -> GridProcess:
        """The process with the largest evidence that two searches find."""
        shortest = self.process.shortest(float(self.t[1] - self.t[0]))
        lowest = np.maximum(np.append(SMALLEST, np.log(shortest)), SMALLEST)
        found = [self._search(scale, stretch, lowest) for scale, stretch in _STARTS]
        return self.at(np.round(min(found)[1], DIGITS))

    def _search(self, scale: float, stretch: float, lowest: Array) -> tuple[float, list[float]]:
        """Least negative evidence near the first process with its scale and lengths multiplied, and where it is."""
        first = np.log(np.append(scale * self.process.scale, stretch * self.process.lengths))
        bounds = [(low, LARGEST) for low in lowest.tolist()]
        options: Any = {"maxiter": MOST_STEPS, "ftol": 1e-8, "eps": _STEP}

        def loss(flat: Array) -> float:
            return -self(flat)

        start: Any = np.maximum(first, lowest)
        found = minimize(loss, start, method="L-BFGS-B", bounds=bounds, options=options)
        return float(found.fun), found.x.tolist()

    def __call__(self, flat: Array) -> float:
        """Evidence."""
        basis = self.at(flat).products(self.x, self.t)
        pairs = self.pairs._replace(basis=basis)
        theta, hessian = mode(lambda: [pairs], self.likelihood, self._start, TIGHT)
        self._start = theta  # the next mode is near
        value = self.likelihood.terms(pairs.offset + basis.combined(theta), pairs.below).value
        half_log_det = np.log(np.diag(cholesky(hessian, lower=True))).sum()
        return float(pairs.weights @ value - 0.5 * theta @ theta - half_log_det)


def _kernel(x: Array, landmarks: Array, length: float) -> Array:
    return np.exp(-0.5 * np.square((x[:, None] - landmarks) / length))
