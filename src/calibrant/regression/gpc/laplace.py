r"""Laplace's approximation of a sparse Gaussian-process classifier, and of eq. 10 of Song et al. (2018)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.optimize import minimize

from ..._checks import Array
from .designs import Dense, Products
from .likelihoods import Likelihood
from .process import Process

SMALLEST, LARGEST = np.log(0.03), np.log(100.0)  # of lengths and scale
MOST_STEPS = 60
DIGITS = 3  # of the log lengths: a tenth of a percent; more would be rounding
LOOSE, CLOSE, TIGHT = 1e-6, 1e-9, 1e-15  # the evidence is not flat in the mode: its last digits count


class Pairs(NamedTuple):
    """Pairs of rows and thresholds: basis functions, offsets, whether y <= t, weights."""

    basis: Dense | Products
    offset: Array
    below: Array
    weights: Array


def mode(
    blocks: Callable[[], Iterable[Pairs]], likelihood: Likelihood, start: Array, tolerance: float = CLOSE
) -> tuple[Array, Array]:
    """Most probable coefficients under a unit normal prior, by damped Newton steps, and the Hessian there.

    ``tolerance`` is the relative change of the loss that the last step would have promised.
    """
    theta = start
    best, step, value, curved = theta, np.zeros_like(theta), np.inf, np.eye(len(theta))
    for _ in range(60):
        loss, gradient, hessian = _derivatives(blocks(), likelihood, theta)
        if not loss <= value + 1e-9 * abs(value):  # too far: half the way back
            step = 0.5 * step
            theta = best + step
            continue
        best, value, curved, step = theta, loss, hessian, -cho_solve(cho_factor(hessian), gradient)
        if -gradient @ step < tolerance * max(1.0, abs(loss)):
            break
        theta = best + step
    return best, curved


def weighted(blocks: Callable[[], Iterable[Pairs]], factor: float) -> Callable[[], Iterable[Pairs]]:
    """The same pairs with weights multiplied."""
    return lambda: (block._replace(weights=factor * block.weights) for block in blocks())


def _derivatives(blocks: Iterable[Pairs], likelihood: Likelihood, theta: Array) -> tuple[float, Array, Array]:
    loss, gradient, hessian = 0.5 * theta @ theta, theta.copy(), np.eye(len(theta))
    for block in blocks:
        terms = likelihood.terms(block.offset + block.basis.combined(theta), block.below)
        loss -= block.weights @ terms.value
        gradient -= block.basis.gathered(block.weights * terms.slope)
        hessian += block.basis.gram(block.weights * terms.curvature)
    return float(loss), gradient, hessian


class Evidence:
    r"""Log of eq. 10's integral by Laplace's method, as a function of log s and the log lengths.

    .. math:: \log \int \prod_i \phi(h_i, b_i)\, N(h; 0, \Sigma)\, dh \approx
        \sum_i \log \phi(\hat h_i, b_i) - \tfrac12 \hat h^T \Sigma^{-1} \hat h
        - \tfrac12 \log\lvert I + W^{1/2} \Sigma W^{1/2} \rvert

    Rasmussen & Williams (2006), eq. 3.32; :math:`\Sigma = B B^T` is the process', :math:`\hat h` the mode.

    Parameters
    ----------
    process : Process
        Landmarks, kernel and whether there are linear functions; lengths and scale are where the search starts.
    x : array (n, d)
        Inputs.
    pairs : Pairs
        Their offsets, outcomes and weights; the basis is not used.
    likelihood : Likelihood
    """

    def __init__(self, process: Process, x: Array, pairs: Pairs, likelihood: Likelihood) -> None:
        self.process, self.x, self.pairs, self.likelihood = process, x, pairs, likelihood
        self._start = np.zeros(process.size)

    def at(self, flat: Array) -> Process:
        """The process of log s and log lengths."""
        return replace(self.process, scale=float(np.exp(flat[0])), lengths=np.exp(flat[1:]))

    def best(self, shortest: Array) -> Process:
        """The process with the largest evidence near the first one, no length below these: gaps between inputs."""
        first = np.log(np.append(self.process.scale, self.process.lengths))

        def loss(flat: Array) -> tuple[float, Array]:
            value, gradient = self(flat)
            return -value, -gradient

        lowest = np.maximum(np.append(SMALLEST, np.log(np.maximum(shortest, 1e-9))), SMALLEST)
        bounds = [(low, LARGEST) for low in lowest.tolist()]
        options: Any = {"maxiter": MOST_STEPS, "ftol": 1e-13, "gtol": 1e-6}
        found = minimize(loss, np.maximum(first, lowest), jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        return self.at(np.round(found.x, DIGITS))

    def __call__(self, flat: Array) -> tuple[float, Array]:
        """Evidence and gradient."""
        process = self.at(flat)
        basis = Dense(process(self.x))
        pairs = self.pairs._replace(basis=basis)
        theta, hessian = mode(lambda: [pairs], self.likelihood, self._start, TIGHT)
        self._start = theta  # the next mode is near
        terms = self.likelihood.terms(pairs.offset + basis.combined(theta), pairs.below)
        value = pairs.weights @ terms.value - 0.5 * theta @ theta - 0.5 * np.linalg.slogdet(hessian)[1]
        return float(value), self._gradient(process, basis.values, theta, hessian)

    def _gradient(self, process: Process, functions: Array, theta: Array, hessian: Array) -> Array:
        r"""Derivatives by the covariances K with the landmarks and M among them, :math:`\hat h = K\alpha`.

        With :math:`C = M + K^T W K`: the explicit part is :math:`g^T \dot K \alpha - \frac12 \alpha^T \dot M \alpha
        + \frac12 \operatorname{tr} M^{-1} \dot M - \frac12 \operatorname{tr} C^{-1}(\dot M + 2 K^T W \dot K)`; the mode
        moves by :math:`\dot\alpha = C^{-1}(\dot K^T g - K^T W \dot K \alpha - \dot M \alpha)` and changes W.
        """
        pairs = self.pairs
        terms = self.likelihood.terms(pairs.offset + functions @ theta, pairs.below)
        g, w, bend = (pairs.weights * part for part in terms[1:])
        own, among, back = slice(process.fixed, None), _among(process), np.eye(process.size)
        back[own, own] = solve_triangular(process.root, np.eye(len(process.landmarks)), lower=True).T
        alpha, m_inverse = (back @ theta)[own], back[own, own] @ back[own, own].T
        c_inverse = back @ cho_solve(cho_factor(hessian), back.T)
        values, slopes = process.kernel(self.x)
        covariance = np.hstack([functions[:, : process.fixed], values])
        spread = covariance @ c_inverse
        leverage, weighted = np.vecdot(spread, covariance) * bend, w[:, None] * spread[:, own]
        out = np.empty(len(slopes))
        for k, (dk, dm) in enumerate(zip(slopes, among, strict=True)):
            moved, pull = dk @ alpha, dm @ alpha
            explicit = g @ moved - 0.5 * alpha @ pull + 0.5 * np.sum((m_inverse - c_inverse[own, own]) * dm)
            explicit -= np.sum(weighted * dk)
            right = -covariance.T @ (w * moved)
            right[own] += dk.T @ g - pull
            out[k] = explicit - 0.5 * leverage @ (moved + spread @ right)
        return out


def _among(process: Process) -> list[Array]:
    """Derivatives of the covariances among the landmarks, with the jitter's."""
    return [2 * process.root @ process.root.T, *process.kernel(process.landmarks)[1][1:]]
