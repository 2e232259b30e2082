"""The likelihood of scores whose location, scale and skew are functions of the features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.optimize import minimize
from scipy.stats import t as student

from ..._checks import Array
from ...maps.skew import CENTRE, SkewMap

LARGEST_LOG = 4.0  # of the scale: factors of 55 at most
LARGEST_SKEW = 1.5


def scales(log_scale: Array) -> Array:
    """Scales of logarithms of any size."""
    return np.exp(np.clip(log_scale, -LARGEST_LOG, LARGEST_LOG))


@dataclass(frozen=True)
class Likelihood(ABC):
    r"""Student's t with :math:`\nu` degrees of freedom for scores u, given parameters (n, k) that are 0 at first."""

    n_outputs: ClassVar[int]
    errors: ClassVar[float]  # standard errors that a gain must exceed to be believed
    most: ClassVar[float]  # times that what trees say may be stretched
    nu: float

    @abstractmethod
    def losses(self, u: Array, parameters: Array) -> Array:
        """Minus the log density of each score, up to a constant."""

    @abstractmethod
    def slopes(self, u: Array, parameters: Array) -> tuple[Array, Array]:
        """Slopes of the losses in the parameters, (n, k), and their expected curvatures (Fisher)."""

    def _distances(self, r: Array) -> Array:
        return np.asarray(0.5 * (self.nu + 1) * np.log1p(r * r / self.nu))


class LocationScale(Likelihood):
    r"""Location m and log scale :math:`\ell`.

    .. math:: \ell + \tfrac{\nu+1}{2}\ln(1 + r^2/\nu), \quad r = (u - m)/s, \quad s = e^\ell

    with, for :math:`w = (\nu+1)/(\nu+r^2)`, the slopes and curvatures

    .. math:: \partial_m = -wr/s, \quad \partial_\ell = 1 - wr^2, \quad
        h_m = \frac{\nu+1}{(\nu+3)s^2}, \quad h_\ell = \frac{2\nu}{\nu+3}

    Examples
    --------
    >>> LocationScale(4.0).losses(np.array([0.0, 2.0]), np.zeros((2, 2))).round(4)
    array([0.    , 1.7329])
    """

    n_outputs, errors, most = 2, 1.0, 2.0

    def losses(self, u: Array, parameters: Array) -> Array:
        """Minus the log density of each score, up to a constant."""
        scale = scales(parameters[:, 1])
        return np.asarray(np.log(scale) + self._distances((u - parameters[:, 0]) / scale))

    def slopes(self, u: Array, parameters: Array) -> tuple[Array, Array]:
        """Slopes of the losses in the parameters, (n, 2), and their expected curvatures."""
        nu, scale = self.nu, scales(parameters[:, 1])
        r = (u - parameters[:, 0]) / scale
        w = (nu + 1) / (nu + r * r)
        curvature = np.empty(parameters.shape)
        curvature[:, 0], curvature[:, 1] = (nu + 1) / (nu + 3) / np.square(scale), 2 * nu / (nu + 3)
        return np.column_stack([-w * r / scale, 1 - w * r * r]), curvature


class Skew(Likelihood):
    r"""The skew :math:`\varepsilon` of `SkewMap`, S, which makes laws narrower on one side and wider on the other.

    .. math:: \tfrac{\nu+1}{2}\ln(1 + S(u)^2/\nu) - \ln S'(u)

    with the slope :math:`wS\,\partial_\varepsilon S + \tanh(\operatorname{asinh} u - \varepsilon)`,
    :math:`w = (\nu+1)/(\nu+S^2)`; its expected square is integrated once.

    Examples
    --------
    >>> Skew(8.0).losses(np.array([-2.0, 2.0]), np.array([[0.5], [0.5]])).round(2)
    array([2.47, 1.94])
    """

    n_outputs, errors, most = 1, 3.0, 1.0

    def losses(self, u: Array, parameters: Array) -> Array:
        """Minus the log density of each score, up to a constant."""
        value, _, (_, cosine) = self._parts(u, skews(parameters[:, 0]))
        return np.asarray(self._distances(value) - np.log(cosine / np.sqrt(1 + u * u)))

    def slopes(self, u: Array, parameters: Array) -> tuple[Array, Array]:
        """Slopes of the losses in the skew, (n, 1), and their expected curvatures."""
        skew = skews(parameters[:, 0])
        return self._slopes(u, skew)[:, None], np.interp(np.abs(skew), *self._curvatures)[:, None]

    def _slopes(self, u: Array, skew: Array) -> Array:
        value, by_skew, (sine, cosine) = self._parts(u, skew)
        return np.asarray((self.nu + 1) / (self.nu + value * value) * value * by_skew + sine / cosine)

    @staticmethod
    def _parts(u: Array, skew: Array) -> tuple[Array, Array, tuple[Array, Array]]:
        r"""S, its slope in the skew, and sinh and cosh of :math:`\operatorname{asinh} u - \varepsilon`."""
        up, down, root = np.exp(skew), np.exp(-skew), np.sqrt(1 + u * u)
        c, s = 0.5 * (up + down), 0.5 * (up - down)
        sine, cosine = u * c - root * s, root * c - u * s
        return sine + CENTRE * s, CENTRE * c - cosine, (sine, cosine)

    @cached_property
    def _curvatures(self) -> tuple[Array, Array]:
        """Skews and the mean square of the slope at scores that have them."""
        skew = np.linspace(0.0, LARGEST_SKEW, 16)
        levels = (np.arange(2000) + 0.5) / 2000
        scores = SkewMap(skew).inverse(np.tile(student.ppf(levels, self.nu), (len(skew), 1)))
        return skew, np.square(self._slopes(scores, skew[:, None])).mean(axis=1)


def skews(raw: Array) -> Array:
    """Skews of numbers of any size."""
    return np.clip(raw, -LARGEST_SKEW, LARGEST_SKEW)


def standards(u: Array, weights: Array, nu: float) -> tuple[float, float]:
    """Likeliest location and scale of all scores together; what is left for trees is not the same everywhere.

    Examples
    --------
    >>> standards(np.linspace(0.0, 2.0, 101), np.ones(101), 8.0)[0].__round__(4)
    1.0
    """
    kind, shares = LocationScale(nu), weights / weights.sum()

    def loss(both: Array) -> tuple[float, Array]:
        parameters = np.broadcast_to(both, (len(u), 2))
        return float(shares @ kind.losses(u, parameters)), shares @ kind.slopes(u, parameters)[0]

    limits = [(float(u.min()), float(u.max())), (-LARGEST_LOG, LARGEST_LOG)]
    found = minimize(loss, np.clip(np.zeros(2), *np.transpose(limits)), jac=True, method="L-BFGS-B", bounds=limits)
    return float(found.x[0]), float(np.exp(found.x[1]))


def stretches(u: Array, parameters: Array, weights: Array, kind: Likelihood) -> Array:
    """A factor from 1 to ``kind.most`` of each of unseen rows' parameters, under which their scores are likeliest.

    Stopping early shrinks what trees say; this undoes some of it.
    """
    shares = weights / weights.sum()

    def loss(factors: Array) -> tuple[float, Array]:
        stretched = factors * parameters
        slope = shares @ (kind.slopes(u, stretched)[0] * parameters)
        return float(shares @ kind.losses(u, stretched)), slope

    start = np.ones(kind.n_outputs)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(1.0, kind.most)] * kind.n_outputs)
    return np.asarray(found.x, dtype=np.float64)
