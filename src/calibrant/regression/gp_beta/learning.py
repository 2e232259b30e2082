"""Learning the kernel's parameters, B, δ and inducing points: the bound, at its top over q, climbs in them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from ..._checks import Array
from .inducing import by_locations
from .inference import Data, Fit, Posterior, Prior, climb
from .kernels import Kernel, Scaling, whitened
from .likelihood import PAIRS, congruence

CALM, PLAIN = 0.1, 0.2  # prior standard deviations of the latents: where learning starts, and without learning
SHAKE = 1e-4  # of the logarithms of kernel parameters, for differences
GAIN, FTOL = 1e-2, 1e-4  # nats that inner steps, and relative ones that hyperparameters, are not tried for
_LOWER = ((1, 0), (2, 0), (2, 1))


@dataclass(frozen=True)
class Hyperparameters:
    """Logarithms of the kernel's parameters, the lower root of B (3, 3) and the latents' means δ (3,)."""

    kernel: Array
    root: Array
    shift: Array

    @classmethod
    def default(cls, kernel: Kernel, scaling: Scaling, size: float = PLAIN) -> Hyperparameters:
        """The identity map as the prior mean, B small: averaged over much more, the prior is far from the identity."""
        return cls(kernel.start(scaling), size * np.eye(3), np.zeros(3))

    def packed(self) -> Array:
        """As one vector; the diagonal of the root by its logarithms, the rest relative to it."""
        diagonal = np.diag(self.root)
        rest = [self.root[i, j] / diagonal[i] for i, j in _LOWER]
        return np.concatenate([self.kernel, np.log(diagonal), rest, self.shift])

    @classmethod
    def unpacked(cls, vector: Array) -> Hyperparameters:
        """From such a vector."""
        kernel, diagonal = vector[:-9], np.exp(vector[-9:-6])
        root = np.diag(diagonal)
        for (i, j), value in zip(_LOWER, vector[-6:-3], strict=True):
            root[i, j] = diagonal[i] * value
        return cls(kernel, root, vector[-3:])


@dataclass(frozen=True)
class Problem:
    """Rows, features, inducing points and the kernel between them."""

    data: Data
    features: Array
    inducing: Array
    kernel: Kernel
    scaling: Scaling

    def part(self, rows: NDArray[np.intp]) -> Problem:
        """The same on some of the rows."""
        data = Data(self.data.low[rows], self.data.high[rows], self.data.weights[rows])
        return Problem(data, self.features[rows], self.inducing, self.kernel, self.scaling)

    def prior(self, h: Hyperparameters) -> Prior:
        """What the hyperparameters say before the outcomes do."""
        phi, left = whitened(self.kernel, h.kernel, self.inducing, self.features)
        return Prior(phi, left, h.root, h.shift)

    def penalty(self, vector: Array) -> tuple[float, Array]:
        """Minus the log prior of the hyperparameters and its gradient: weak, for when there are few rows."""
        start = Hyperparameters.default(self.kernel, self.scaling, CALM).packed()
        widths = np.concatenate([np.ones(len(vector) - 3), np.full(3, 0.3)])
        u = (vector - start) / widths
        return 0.5 * float(u @ u), u / widths


class Learned(NamedTuple):
    """Hyperparameters, the posterior, the bound after each iteration, whether the search ended; the inducing points."""

    hyperparameters: Hyperparameters
    posterior: Posterior
    bounds: list[float]
    converged: bool
    inducing: Array


def learn(problem: Problem, before: Learned | None = None, *, most: int = 100) -> Learned:
    """Hyperparameters of the highest penalised bound, sought from those learned before (on fewer rows)."""
    calm = Hyperparameters.default(problem.kernel, problem.scaling, CALM).packed()
    start = calm if before is None else before.hyperparameters.packed()
    first = Posterior.start(len(problem.inducing)) if before is None else before.posterior
    return _Search(problem, first).run(start, _limits(calm), most)


def learn_locations(problem: Problem, before: Learned, *, held: bool, most: int = 100) -> Learned:
    """The same with the features of inducing points, if that is higher than ``before``; ``held`` hyperparameters stay.

    Points move at most a unit beyond those they start from.
    """
    calm = Hyperparameters.default(problem.kernel, problem.scaling, CALM).packed()
    vector, points = before.hyperparameters.packed(), problem.inducing
    limits = [(v, v) for v in vector] if held else _limits(calm)
    ends = zip(points.min(axis=0) - 1.0, points.max(axis=0) + 1.0, strict=True)
    start = np.concatenate([vector, points.ravel()])
    found = _Search(problem, Posterior.start(len(points))).run(start, limits + list(ends) * len(points), most)
    higher = [bound for bound in found.bounds if bound > before.bounds[-1]]
    if not higher:
        return before
    return found._replace(bounds=before.bounds + higher, converged=before.converged and found.converged)


def _limits(calm: Array) -> list[tuple[float, float]]:
    return [(v - 3.0, v + 3.0) for v in calm[:-9]] + [(-4.6, 1.1)] * 3 + [(-8.0, 8.0)] * 6


class _Search:
    """The highest penalised bound along vectors of hyperparameters and, where these move, inducing features."""

    def __init__(self, problem: Problem, first: Posterior) -> None:
        self.problem, self.first = problem, first
        self.size = len(problem.kernel.start(problem.scaling)) + 9
        self.best: list[tuple[float, Array, Posterior]] = []
        self.bounds: list[float] = []

    def run(self, start: Array, limits: list[tuple[float, float]], most: int) -> Learned:
        """From there, within limits, at most so many iterations."""
        result = minimize(
            self.loss,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=limits,
            callback=lambda _: self.bounds.append(self.best[-1][0]),
            options={"maxiter": most, "ftol": FTOL, "gtol": 1e-3},
        )
        bound, vector, posterior = self.best[-1]
        h, problem = self.at(vector)
        return Learned(h, posterior, self.bounds or [bound], result.nit < most, problem.inducing)

    def at(self, vector: Array) -> tuple[Hyperparameters, Problem]:
        """What a vector stands for."""
        h = Hyperparameters.unpacked(vector[: self.size])
        if len(vector) == self.size:
            return h, self.problem
        return h, replace(self.problem, inducing=vector[self.size :].reshape(self.problem.inducing.shape))

    def loss(self, vector: Array) -> tuple[float, Array]:
        """Minus the penalised bound at its top over the posterior, and the slope."""
        h, problem = self.at(vector)
        prior = problem.prior(h)
        warm = self.best[-1][2] if self.best else self.first
        fit = climb(warm, prior, problem.data, gain=GAIN, most=8).fit
        penalty, slope = problem.penalty(vector[: self.size])
        if not np.isfinite(fit.bound):  # too far
            return 1e15, np.zeros(len(vector))
        if not self.best or fit.bound - penalty > self.best[-1][0]:
            self.best.append((fit.bound - penalty, vector.copy(), fit.posterior))
        uphill = gradient(problem, h, prior, fit)
        if len(vector) == self.size:
            return penalty - fit.bound, slope - uphill
        places = location_gradient(problem, h, prior, fit)
        return penalty - fit.bound, np.concatenate([slope - uphill, -places.ravel()])


def gradient(problem: Problem, h: Hyperparameters, prior: Prior, fit: Fit) -> Array:
    """Gradient of the bound in the packed hyperparameters, the whitened posterior held fixed."""
    weights, posterior = problem.data.weights, fit.posterior
    g, hessian = weights * fit.rows.gradient, weights * fit.rows.hessian
    pairs = np.einsum("ijn,kln->ijkl", _full(hessian), _full(fit.cores), optimize=True)
    whole = np.einsum("ijkl,jk->il", pairs, prior.root)  # sum of Hessian x root x covariance of the whitened latents
    by_root = whole + (g @ prior.phi) @ posterior.mean.T
    scaled = np.array([by_root[i, j] * h.root[i, i] for i, j in _LOWER])
    by_diagonal = np.array([by_root[i] @ h.root[i] for i in range(3)])
    return np.concatenate([_by_kernel(problem, h, prior, fit), by_diagonal, scaled, g.sum(axis=1)])


def location_gradient(problem: Problem, h: Hyperparameters, prior: Prior, fit: Fit) -> Array:
    """Gradient of the bound in the features of the inducing points (m, c), the whitened posterior held fixed."""
    pull, _ = _pull(problem, prior, fit)
    return by_locations(problem.kernel, h.kernel, problem.inducing, problem.features, pull)


def _pull(problem: Problem, prior: Prior, fit: Fit) -> tuple[Array, Array]:
    """Gradient of the bound in the whitened features (n, m), and twice that in what these leave of (n,)."""
    weights, m = problem.data.weights, len(problem.inducing)
    inner = congruence(prior.root.T) @ (weights * fit.rows.hessian)
    pull = (fit.posterior.mean.T @ (prior.root.T @ (weights * fit.rows.gradient))).T
    trace = inner[0] + inner[3] + inner[5]
    pull -= trace[:, None] * prior.phi
    for entry, (i, j) in zip(inner, PAIRS, strict=True):
        block = fit.posterior.cover[i * m : (i + 1) * m, j * m : (j + 1) * m]
        pull += entry[:, None] * (prior.phi @ (block if i == j else block + block.T))
    return pull, trace


def _by_kernel(problem: Problem, h: Hyperparameters, prior: Prior, fit: Fit) -> Array:
    """The part for the kernel: the features' own gradient, met with differences of the features."""
    pull, trace = _pull(problem, prior, fit)
    out = np.empty(len(h.kernel))
    for k in range(len(out)):
        ahead, back = h.kernel.copy(), h.kernel.copy()
        ahead[k] += SHAKE
        back[k] -= SHAKE
        ends = [whitened(problem.kernel, p, problem.inducing, problem.features)[0] for p in (ahead, back)]
        own = [problem.kernel.diagonal(problem.features, p) for p in (ahead, back)]
        change = np.sum(pull * (ends[0] - ends[1])) + 0.5 * trace @ (own[0] - own[1])
        out[k] = change / (2 * SHAKE)
    return out


def _full(entries: Array) -> Array:
    """Symmetric matrices (3, 3, n) from their six entries (6, n)."""
    aa, ab, ac, bb, bc, cc = entries
    return np.array([[aa, ab, ac], [ab, bb, bc], [ac, bc, cc]])
