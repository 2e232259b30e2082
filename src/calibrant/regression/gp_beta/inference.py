"""Variational inference by natural gradients: a normal law of the whitened inducing values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from ..._checks import Array
from .likelihood import PAIRS, Expected, clipped, congruence, expected

BLOCK = 1024  # rows at a time: intermediate results stay in the cache


@dataclass(frozen=True)
class Data:
    """Log probabilities below and above each outcome, and weights: three arrays (n,)."""

    low: Array
    high: Array
    weights: Array


@dataclass(frozen=True)
class Prior:
    """Whitened features (n, m), what they leave (n,), the root of B (3, 3) and the means δ of the latents (3,)."""

    phi: Array
    left: Array
    root: Array
    shift: Array


@dataclass(frozen=True)
class Posterior:
    """Normal law of the whitened inducing values: mean (3, m), precision, covariance (3m, 3m) and its log det."""

    mean: Array
    precision: Array
    cover: Array
    log_det: float = 0.0

    @classmethod
    def start(cls, m: int) -> Posterior:
        """The prior."""
        return cls(np.zeros((3, m)), np.eye(3 * m), np.eye(3 * m))

    @property
    def divergence(self) -> float:
        """Kullback-Leibler divergence from the prior."""
        return 0.5 * float(np.trace(self.cover) + np.square(self.mean).sum() - self.mean.size - self.log_det)


class Fit(NamedTuple):
    """A posterior, its bound, the sums a step is made of, and the averages of each row."""

    posterior: Posterior
    bound: float
    gradient: Array  # of the expected log likelihood, (3, m)
    rows: Expected
    cores: Array  # covariances (6, n) of the whitened latents


def latents(posterior: Posterior, prior: Prior) -> tuple[Array, Array, Array]:
    """Means (3, n) and covariances (6, n) of the latents of each row, and the latter before B is applied.

    Song et al. (2019), eq. 12, for whitened inducing values; δ of the link is added to the means.
    """
    n, m = prior.phi.shape
    blocks = np.concatenate([posterior.cover[i * m : (i + 1) * m, j * m : (j + 1) * m] for i, j in PAIRS], axis=1)
    cores = np.empty((6, n))
    for start in range(0, n, BLOCK):
        part = prior.phi[start : start + BLOCK]
        cores[:, start : start + BLOCK] = np.einsum("nkm,nm->kn", (part @ blocks).reshape(len(part), 6, m), part)
    cores[[0, 3, 5]] += prior.left
    mean = prior.root @ (posterior.mean @ prior.phi.T) + prior.shift[:, None]
    return mean, congruence(prior.root) @ cores, cores


def evaluate(posterior: Posterior, prior: Prior, data: Data) -> Fit:
    """The evidence lower bound (Song et al. 2019, the second below eq. 11, less the base's own) and what a step needs.

    Differs from the paper in: the average over the latents is over 13 nodes, there over random draws.
    """
    mean, cover, cores = latents(posterior, prior)
    parts = []
    with np.errstate(over="ignore", invalid="ignore"):  # a step too far, to be taken back
        for start in range(0, len(data.low), BLOCK):
            b = slice(start, start + BLOCK)
            parts.append(expected(mean[:, b], cover[:, b], data.low[b], data.high[b]))
        rows = Expected(*(np.concatenate(column, axis=-1) for column in zip(*parts, strict=True)))
        bound = float(data.weights @ rows.value) - posterior.divergence
        gradient = prior.root.T @ ((data.weights * rows.gradient) @ prior.phi)
    usable = np.isfinite(bound) and np.isfinite(rows.hessian.sum())
    return Fit(posterior, bound if usable else -np.inf, gradient, rows, cores)


def curvature(hessian: Array, prior: Prior, weights: Array) -> Array:
    """Minus the summed Hessian of the whitened values, (3m, 3m)."""
    n, m = prior.phi.shape
    moved = -weights * (congruence(prior.root.T) @ hessian)
    out = np.empty((3 * m, 3 * m))
    total = np.zeros((6, m, m))
    for start in range(0, n, BLOCK):
        part = prior.phi[start : start + BLOCK]
        scaled = moved[:, start : start + BLOCK, None] * part
        total += np.matmul(part.T, scaled)
    for block, (i, j) in zip(total, PAIRS, strict=True):
        out[i * m : (i + 1) * m, j * m : (j + 1) * m] = block
        out[j * m : (j + 1) * m, i * m : (i + 1) * m] = block
    return out


def _inverse(precision: Array) -> tuple[Array, float] | None:
    """Inverse of a positive definite matrix and its log determinant, or None."""
    root, failed = lapack.dpotrf(precision, lower=1)
    if failed:
        return None
    inverse, failed = lapack.dpotri(root, lower=1)
    lower = np.tril(inverse)
    return lower + np.tril(lower, -1).T, -2 * float(np.log(np.diag(root)).sum())


def step(fit: Fit, prior: Prior, data: Data) -> Fit | None:
    """A natural-gradient step, halved until the bound rises; None if it does not."""
    old = fit.posterior
    size = old.mean.size
    for clip in (False, True):
        hessian = clipped(fit.rows.hessian) if clip else fit.rows.hessian
        target = np.eye(size) + curvature(hessian, prior, data.weights)
        flat = old.mean.ravel()
        push = target @ flat - flat + fit.gradient.ravel()
        for rate in (1.0, 0.5, 0.2, 0.05, 0.01):
            precision = (1 - rate) * old.precision + rate * target
            if (inverse := _inverse(precision)) is None:
                continue
            cover, log_det = inverse
            mean = cover @ ((1 - rate) * (old.precision @ flat) + rate * push)
            trial = evaluate(Posterior(mean.reshape(old.mean.shape), precision, cover, log_det), prior, data)
            if trial.bound > fit.bound:
                return trial
    return None


def promise(fit: Fit) -> float:
    """What the next step gains by moving the mean, if the bound is as curved as it seems."""
    left = (fit.gradient - fit.posterior.mean).ravel()
    return 0.5 * float(left @ fit.posterior.cover @ left)


class Climb(NamedTuple):
    """Where the steps led, the bound after each, and whether the last gained next to nothing."""

    fit: Fit
    bounds: list[float]
    converged: bool


def climb(start: Posterior, prior: Prior, data: Data, *, gain: float, most: int) -> Climb:
    """Steps until one gains, or the next promises, less than ``gain`` nats."""
    fit = evaluate(start, prior, data)
    if fit.bound == -np.inf:
        fit = evaluate(Posterior.start(prior.phi.shape[1]), prior, data)
    bounds = [fit.bound]
    for _ in range(most if np.isfinite(fit.bound) else 0):
        better = step(fit, prior, data)
        if better is None:
            return Climb(fit, bounds, True)
        fit, risen = better, better.bound - fit.bound
        bounds.append(fit.bound)
        if risen < gain or promise(fit) < gain:
            return Climb(fit, bounds, True)
    return Climb(fit, bounds, False)
