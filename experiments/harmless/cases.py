"""Laws of normal scores: what is wrong with a forecaster, seen through its scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from calibrant.maps import Map

Array = NDArray[np.float64]
HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)


@dataclass(frozen=True, eq=False)
class Case:
    """Scores with a known density; expectations are sums over a fine grid."""

    name: str
    sample: Callable[[np.random.Generator, int], Array]
    log_density: Callable[[Array], Array]
    grid: Array

    @cached_property
    def weights(self) -> Array:
        """Probability of each grid point's surroundings."""
        mass = np.exp(self.log_density(self.grid)) * np.gradient(self.grid)
        return mass / mass.sum()

    @cached_property
    def truth(self) -> float:
        """Mean negative log density of the law itself: the best any map can reach."""
        return float(-self.weights @ self.log_density(self.grid))

    @cached_property
    def base(self) -> float:
        """That of the forecaster, N(0, 1) in scores."""
        return float(self.weights @ (0.5 * self.grid**2)) + HALF_LOG_2PI

    def nll(self, fitted: Map) -> float:
        """That of a map."""
        loss = 0.5 * fitted(self.grid) ** 2 - fitted.log_slope(self.grid)
        return float(self.weights @ loss) + HALF_LOG_2PI

    def share(self, fitted: Map) -> float:
        """Share of the possible gain a map has won."""
        return (self.base - self.nll(fitted)) / (self.base - self.truth)


def normal(name: str, mean: float, sd: float) -> Case:
    """Wrong location or scale."""
    grid = mean + sd * np.linspace(-9, 9, 20001)
    return Case(name, lambda rng, n: rng.normal(mean, sd, n), lambda z: stats.norm.logpdf(z, mean, sd), grid)


def gamma(shape: float) -> Case:
    """Standardised gamma: skewed, with an edge."""
    sd = np.sqrt(shape)

    def log_density(z: Array) -> Array:
        return np.asarray(stats.gamma.logpdf(z * sd + shape, shape) + np.log(sd))

    return Case("gamma", lambda rng, n: (rng.gamma(shape, 1.0, n) - shape) / sd, log_density, _above(-sd))


def _above(edge: float) -> Array:
    return edge + np.exp(np.linspace(np.log(1e-8), np.log(30.0), 40001))


def student(df: float) -> Case:
    """Student t standardised to variance 1."""
    sd = np.sqrt(df / (df - 2))

    def log_density(z: Array) -> Array:
        return np.asarray(stats.t.logpdf(z * sd, df) + np.log(sd))

    return Case(
        f"t{df:g}", lambda rng, n: rng.standard_t(df, n) / sd, log_density, np.sinh(np.linspace(-14, 14, 40001))
    )


def two_modes(half: float, sd: float) -> Case:
    """Two normals at ± half, standardised to variance 1."""
    total = np.hypot(half, sd)

    def sample(rng: np.random.Generator, n: int) -> Array:
        return (rng.choice([-half, half], n) + rng.normal(0.0, sd, n)) / total

    def log_density(z: Array) -> Array:
        modes = np.logaddexp(stats.norm.logpdf(z * total, -half, sd), stats.norm.logpdf(z * total, half, sd))
        return np.asarray(modes + np.log(0.5 * total))

    reach = (half + 9 * sd) / total
    return Case(f"modes ±{half:g}/{sd:g}", sample, log_density, np.linspace(-reach, reach, 40001))


RIGHT = normal("nothing", 0.0, 1.0)
FIXABLE = [
    normal("σ ×2", 0.0, 0.5),
    normal("σ /2", 0.0, 2.0),
    normal("σ /8", 0.0, 8.0),
    normal("bias 1σ", 1.0, 1.0),
    gamma(2.0),
    student(3.0),
    two_modes(1.5, 0.4),
    two_modes(1.2, 0.6),
]
