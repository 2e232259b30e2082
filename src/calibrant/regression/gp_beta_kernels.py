"""What forecasts look like to the Gaussian process: features, kernels between them, inducing points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from .._checks import Array
from ..distributions import Distribution

JITTER = 1e-6


@dataclass(frozen=True)
class Scaling:
    """The unit and origin that make forecasts comparable: features do not depend on the units of y."""

    centre: float
    unit: float
    log_unit: float  # standard deviation of the log standard deviations, at least 0.3
    spreads_differ: bool  # by more than 5 %

    @classmethod
    def of(cls, law: Distribution, weights: Array) -> Scaling:
        """From the forecasts of a fit."""
        location, scale = moments(law)
        share = weights / weights.sum()
        centre = float(share @ location)
        level = float(np.exp(share @ np.log(scale)))
        away = (location - centre) / level
        size = float(np.abs(away).max(initial=0.0)) or 1.0
        sd = size * np.sqrt(share @ np.square(away / size))
        log_scale = np.log(scale / level)
        spread = float(np.sqrt(share @ np.square(log_scale)))
        return cls(centre, level * float(max(sd, 0.1)), max(spread, 0.3), spread > 0.05)

    def features(self, law: Distribution) -> Array:
        """Standardised mean and logarithm of the standard deviation, (n, 2)."""
        location, scale = moments(law)
        with np.errstate(over="ignore"):
            mean = np.clip((location - self.centre) / self.unit, -1e6, 1e6)
            return np.column_stack([mean, np.clip(np.log(scale / self.unit), -50, 50)])


def moments(law: Distribution) -> tuple[Array, Array]:
    """Means and standard deviations; medians and half the central 68 % where they do not exist."""
    location, scale = law.mean(), law.std()
    wrong = ~(np.isfinite(location) & np.isfinite(scale) & (scale > 0))
    if wrong.any():
        low, middle, high = law[wrong].quantiles([0.15865525393145707, 0.5, 0.8413447460685429]).T
        location, scale = location.copy(), scale.copy()
        location[wrong] = middle
        scale[wrong] = np.maximum(0.5 * (high - low), 1e-9 * np.maximum(np.abs(middle), 1e-290))
    return location, scale


class Embedding:
    r"""Kernel between normal laws of the same means and standard deviations as the forecasts.

    .. math:: k = \theta s^{-1}\exp(-(\mu_1-\mu_2)^2/2s^2),\quad s^2=\sigma_1^2+\sigma_2^2+\theta^2

    Song et al. (2019), eq. 9, with variances where the paper prints standard deviations.
    """

    name = "embedding"

    def start(self, scaling: Scaling) -> Array:
        """Logarithms of the parameters before learning."""
        return np.zeros(1)

    def matrix(self, x: Array, other: Array, log_parameters: Array) -> Array:
        """Kernel matrix between two sets of features."""
        theta = np.exp(log_parameters[0])
        total = np.exp(2 * x[:, 1])[:, None] + (np.exp(2 * other[:, 1]) + theta**2)
        away = x[:, 0][:, None] - other[:, 0]
        return np.asarray(theta / np.sqrt(total) * np.exp(-0.5 * away * away / total))

    def diagonal(self, x: Array, log_parameters: Array) -> Array:
        """Kernel of each forecast with itself."""
        theta = np.exp(log_parameters[0])
        return np.asarray(theta / np.sqrt(2 * np.exp(2 * x[:, 1]) + theta**2))


class ARD:
    r"""Squared-exponential kernel on the mean and, unless all agree in it, the log standard deviation."""

    name = "ard"

    def start(self, scaling: Scaling) -> Array:
        """Logarithms of the length scales before learning."""
        return np.log([1.0, 2 * scaling.log_unit])[: 1 + scaling.spreads_differ]

    def matrix(self, x: Array, other: Array, log_parameters: Array) -> Array:
        """Kernel matrix between two sets of features."""
        away = np.zeros((len(x), len(other)))
        for column, length in enumerate(np.exp(log_parameters)):
            away += np.square(x[:, column, None] / length - other[:, column] / length)
        return np.exp(-0.5 * away)

    def diagonal(self, x: Array, log_parameters: Array) -> Array:
        """Ones."""
        return np.ones(len(x))


Kernel = Embedding | ARD
KERNELS: dict[str, Kernel] = {"embedding": Embedding(), "ard": ARD()}


def whitened(kernel: Kernel, log_parameters: Array, inducing: Array, x: Array) -> tuple[Array, Array]:
    r"""Whitened features :math:`\phi = L^{-1}k_u(x)` with :math:`LL^\top = K_u`, (n, m), and what they leave, (n,)."""
    gram = kernel.matrix(inducing, inducing, log_parameters)
    root = np.linalg.cholesky(gram + JITTER * np.eye(len(gram)))
    inverse, _ = lapack.dtrtri(root, lower=1)
    phi = kernel.matrix(x, inducing, log_parameters) @ inverse.T
    left = kernel.diagonal(x, log_parameters) - np.einsum("ij,ij->i", phi, phi)
    return phi, np.maximum(left, 0.0)


def choose_inducing(x: Array, scaling: Scaling, most: int) -> Array:
    """Forecasts that leave the least unexplained, one after the other (a pivoted Cholesky factor), at most so many."""
    kernel, lengths = KERNELS["ard"], np.log([0.5, scaling.log_unit])[: 1 + scaling.spreads_differ]
    left = np.ones(len(x))
    factor = np.empty((len(x), most))
    chosen: list[int] = []
    while len(chosen) < most:
        pivot = int(np.argmax(left))
        if left[pivot] < 1e-5:
            break
        k = len(chosen)
        column = kernel.matrix(x, x[pivot : pivot + 1], lengths)[:, 0] - factor[:, :k] @ factor[pivot, :k]
        factor[:, k] = column / np.sqrt(left[pivot])
        left = np.maximum(left - np.square(factor[:, k]), 0.0)
        left[pivot] = 0.0
        chosen.append(pivot)
    return x[chosen]
