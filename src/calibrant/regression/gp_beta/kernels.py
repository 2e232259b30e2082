"""What forecasts look like to the Gaussian process: features, and kernels between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
from scipy.linalg import lapack

from ..._checks import Array, finite, to_array
from ...distributions import Distribution, Mixture, Normal
from .parts import normal_parts

JITTER = 1e-6
Describe = Callable[[Distribution], Any]


@dataclass(frozen=True)
class Scaling:
    """The unit and origin that make forecasts comparable: features do not depend on the units of y.

    ``describe`` gives further features of forecasts, (n, d); they are standardised.
    """

    centre: float
    unit: float
    log_unit: float  # standard deviation of the log standard deviations, at least 0.3
    spreads_differ: bool  # by more than 5 %
    describe: Describe | None = None
    further: tuple[Array, Array] = (np.zeros(0), np.ones(0))  # centres and units of what it gives

    @classmethod
    def of(cls, law: Distribution, weights: Array, describe: Describe | None = None) -> Scaling:
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
        told = _described(describe, law)
        middle = share @ told
        width = np.sqrt(share @ np.square(told - middle))
        further = (middle, np.where(width > 1e-9 * np.abs(middle), width, 1.0))
        return cls(centre, level * float(max(sd, 0.1)), max(spread, 0.3), spread > 0.05, describe, further)

    def features(self, law: Distribution) -> Array:
        """Standardised mean, further features, and the logarithm of the standard deviation, (n, 2 + d)."""
        mean, log_scale = self.standardised(*moments(law))
        middle, width = self.further
        return np.column_stack([mean, (_described(self.describe, law) - middle) / width, log_scale])

    def standardised(self, location: Array, scale: Array) -> tuple[Array, Array]:
        """Locations and logarithms of scales in these units."""
        with np.errstate(over="ignore"):
            mean = np.clip((location - self.centre) / self.unit, -1e6, 1e6)
            return mean, np.clip(np.log(scale / self.unit), -50, 50)


def _described(describe: Describe | None, law: Distribution) -> Array:
    """What the user tells about forecasts, (n, d)."""
    if describe is None:
        return np.zeros((len(law), 0))
    told = finite(to_array(describe(law), "features"), "features")
    if told.ndim not in (1, 2) or len(told) != len(law):
        raise ValueError(
            f"`features` must return one line per forecast; got shape {told.shape} for {len(law)} forecasts."
        )
    return told.reshape(len(law), -1)


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

    Song et al. (2019), eq. 9. Mixtures of normal laws have :math:`\sum_i\sum_j w_i v_j k(N_i, N_j)`. A line of features
    holds means, log standard deviations and weights.

    Differs from the paper in: variances, where it prints standard deviations (the embedding of normal laws has
    variances); mixtures; other laws count as normal ones.
    """

    name = "embedding"

    def view(self, scaling: Scaling, law: Distribution) -> Array:
        """Standardised components of forecasts, (n, 3 c); c is 1 for all but mixtures of normal laws."""
        if not is_normal_mixture(law):
            mean, log_scale = scaling.standardised(*moments(law))
            return np.column_stack([mean, log_scale, np.ones(len(law))])
        mixture: Any = law
        parts = [scaling.standardised(part.loc, part.scale) for part in mixture.components]
        shares = np.broadcast_to(mixture.weights, (len(law), len(parts)))
        return np.column_stack([*(mean for mean, _ in parts), *(log_scale for _, log_scale in parts), shares])

    def start(self, scaling: Scaling) -> Array:
        """Logarithms of the parameters before learning."""
        return self.lengths(scaling, 2.0)

    def lengths(self, scaling: Scaling, size: float) -> Array:
        """Logarithm of ``size`` times half a unit."""
        return np.log([0.5 * size])

    def matrix(self, x: Array, other: Array, log_parameters: Array) -> Array:
        """Kernel matrix between two sets of features."""
        theta = np.exp(log_parameters[0])
        out = np.zeros((len(x), len(other)))
        for mean, variance, share in _components(x):
            for mean_2, variance_2, share_2 in _components(other):
                total = variance[:, None] + (variance_2 + theta**2)
                away = mean[:, None] - mean_2
                out += (theta * share)[:, None] * share_2 / np.sqrt(total) * np.exp(-0.5 * away * away / total)
        return out

    def diagonal(self, x: Array, log_parameters: Array) -> Array:
        """Kernel of each forecast with itself."""
        theta = np.exp(log_parameters[0])
        out = np.zeros(len(x))
        for mean, variance, share in _components(x):
            for mean_2, variance_2, share_2 in _components(x):
                total = variance + variance_2 + theta**2
                out += theta * share * share_2 / np.sqrt(total) * np.exp(-0.5 * np.square(mean - mean_2) / total)
        return out

    def slope(self, x: Array, other: Array, log_parameters: Array, pull: Array) -> Array:
        """Slope of the sum of pull times `matrix` in the other features' means and log deviations; 0 for weights."""
        theta = np.exp(log_parameters[0])
        by_mean, by_log = [], []
        for mean_2, variance_2, share_2 in _components(other):
            here, there = np.zeros(len(other)), np.zeros(len(other))
            for mean, variance, share in _components(x):
                total = variance[:, None] + (variance_2 + theta**2)
                away = mean[:, None] - mean_2
                height = pull * (theta * share)[:, None] / np.sqrt(total) * np.exp(-0.5 * away * away / total) / total
                here += share_2 * np.sum(height * away, axis=0)
                there += share_2 * variance_2 * np.sum(height * (away * away / total - 1), axis=0)
            by_mean.append(here)
            by_log.append(there)
        return np.column_stack([*by_mean, *by_log, np.zeros((len(other), len(by_mean)))])

    def moments(self, scaling: Scaling, x: Array) -> tuple[Array, Array]:
        """Means and standard deviations, in units of y, of laws that look like this."""
        means, log_scales, shares = np.split(x, 3, axis=1)
        centre = np.sum(shares * means, axis=1)
        variance = np.sum(shares * (np.exp(2 * log_scales) + np.square(means - centre[:, None])), axis=1)
        return scaling.centre + scaling.unit * centre, scaling.unit * np.sqrt(variance)


class QuantileEmbedding(Embedding):
    r"""Kernel between forecasts as they are, :math:`k = E\exp(-(Y_1-Y_2)^2/2\theta^2)` of independent outcomes.

    What Song et al. (2019), eq. 9, is for normal laws. Normal laws and their mixtures as in `Embedding`; others by
    `normal_parts`, a quadrature in the quantiles, and then as mixtures: good to 3e-4 for smooth laws, to 1e-2 where
    there are gaps, and exact for discrete ensembles of up to 64 members. Other atoms are spread out, good to 1e-2 where
    θ is at least the gap between them. Inducing points are single normal laws.

    Differs from the paper in: laws that are not normal, for which it names random draws.
    """

    name = "quantiles"

    def view(self, scaling: Scaling, law: Distribution) -> Array:
        """Standardised parts of forecasts, (n, 3 c)."""
        if type(law) is Normal or is_normal_mixture(law):
            return super().view(scaling, law)
        means, variances, shares = normal_parts(law, scaling.centre, scaling.unit)
        log_scales = 0.5 * np.log(np.maximum(variances, np.exp(-100)))
        return np.column_stack([means, log_scales, np.broadcast_to(shares, means.shape)])

    def diagonal(self, x: Array, log_parameters: Array) -> Array:
        """Kernel of each forecast with itself, each pair of parts once."""
        theta = np.exp(log_parameters[0])
        means, log_scales, shares = np.split(x.T, 3)
        variances = np.exp(2 * log_scales)
        out = np.zeros(len(x))
        for i in range(len(means)):
            total = variances[i] + variances[i:] + theta**2
            pairs = shares[i:] / np.sqrt(total) * np.exp(-0.5 * np.square(means[i] - means[i:]) / total)
            out += theta * shares[i] * (2 * pairs.sum(axis=0) - pairs[0])
        return out

    def single(self, x: Array) -> Array:
        """Each part a law of its own, (n c, 3)."""
        means, log_scales, _ = np.split(x, 3, axis=1)
        return np.column_stack([means.ravel(), log_scales.ravel(), np.ones(means.size)])


def is_normal_mixture(law: Distribution) -> TypeGuard[Mixture]:
    """Whether all components are normal laws."""
    return isinstance(law, Mixture) and all(type(part) is Normal for part in law.components)


def _components(x: Array) -> Iterator[tuple[Array, Array, Array]]:
    """Means, variances and weights of the first, the second … component."""
    means, log_scales, shares = np.split(x.T, 3)
    return zip(means, np.exp(2 * log_scales), shares, strict=True)


class ARD:
    """Squared-exponential kernel on the mean, further features and, unless all agree, the log standard deviation."""

    name = "ard"

    def view(self, scaling: Scaling, law: Distribution) -> Array:
        """Features of forecasts."""
        return scaling.features(law)

    def start(self, scaling: Scaling) -> Array:
        """Logarithms of the length scales before learning."""
        return self.lengths(scaling, 2.0)

    def lengths(self, scaling: Scaling, size: float) -> Array:
        """Logarithms of ``size`` times half a unit of the mean and one of the further features and log deviations."""
        units = [0.5, *np.ones(len(scaling.further[0])), scaling.log_unit]
        return np.log(size * np.array(units[: len(units) - 1 + scaling.spreads_differ]))

    def matrix(self, x: Array, other: Array, log_parameters: Array) -> Array:
        """Kernel matrix between two sets of features."""
        away = np.zeros((len(x), len(other)))
        for column, length in enumerate(np.exp(log_parameters)):
            away += np.square(x[:, column, None] / length - other[:, column] / length)
        return np.exp(-0.5 * away)

    def diagonal(self, x: Array, log_parameters: Array) -> Array:
        """Ones."""
        return np.ones(len(x))

    def slope(self, x: Array, other: Array, log_parameters: Array, pull: Array) -> Array:
        """Slope of the sum of pull times `matrix` in the other features."""
        weighted = pull * self.matrix(x, other, log_parameters)
        out = np.zeros(other.shape)
        for column, length in enumerate(np.exp(log_parameters)):
            away = x[:, column, None] / length - other[:, column] / length
            out[:, column] = np.sum(weighted * away, axis=0) / length
        return out

    def moments(self, scaling: Scaling, x: Array) -> tuple[Array, Array]:
        """Means and standard deviations, in units of y, of laws with these features."""
        return scaling.centre + scaling.unit * x[:, 0], scaling.unit * np.exp(x[:, -1])


Kernel = Embedding | ARD
KERNELS: dict[str, Kernel] = {"embedding": Embedding(), "ard": ARD(), "quantiles": QuantileEmbedding()}
COMPETING = ("embedding", "ard")  # for "auto"


def whitened(kernel: Kernel, log_parameters: Array, inducing: Array, x: Array) -> tuple[Array, Array]:
    r"""Whitened features :math:`\phi = L^{-1}k_u(x)` with :math:`LL^\top = K_u`, (n, m), and what they leave, (n,)."""
    gram = kernel.matrix(inducing, inducing, log_parameters)
    root = np.linalg.cholesky(gram + JITTER * np.eye(len(gram)))
    inverse, _ = lapack.dtrtri(root, lower=1)
    phi = kernel.matrix(x, inducing, log_parameters) @ inverse.T
    left = kernel.diagonal(x, log_parameters) - np.einsum("ij,ij->i", phi, phi)
    return phi, np.maximum(left, 0.0)
