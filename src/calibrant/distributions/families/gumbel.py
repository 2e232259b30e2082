"""The Gumbel law of largest values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import exp1, exprel, log_ndtr

from ..._checks import Array
from ...numerics.tails import log_normal_hazard, score_from_log
from ..base import across
from ..location_scale import LocationScale

MEDIAN = -np.log(np.log(2))  # of the standard law
LOG_2 = np.log(2)
FAR = 36.0  # beyond, e^-u is below the last digit of u


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Gumbel(LocationScale):
    r"""Gumbel laws with distribution function :math:`\exp(-e^{-u})`, :math:`u = (y - \mu)/s`: skewed to the right.

    The law of yearly floods and other largest values of many.

    Parameters
    ----------
    loc, scale : array-like (n,) or scalar
        Modes and scales; the median is :math:`\mu - s\log\log 2`, the mean :math:`\mu + 0.577\,s` and the standard
        deviation :math:`s\,\pi/\sqrt6`.

    Examples
    --------
    >>> law = Gumbel([0.0, 10.0], [1.0, 2.0])
    >>> law.interval(0.9).round(3)
    array([[-1.097,  2.97 ],
           [ 7.806, 15.94 ]])
    >>> law.mean().round(3)
    array([ 0.577, 11.154])
    """

    def _standard_to_normal(self, u: Array) -> Array:
        return gumbel_score(u)

    def _standard_from_normal(self, z: Array) -> Array:
        return gumbel_quantile(z)

    def _standard_log_slope(self, u: Array, z: Array) -> Array:
        return gumbel_log_slope(u, z)

    def logpdf(self, y: Any) -> Array:
        """Closed form."""
        return self._by_blocks(_log_density, self._points(y))

    def mean(self) -> Array:
        r"""Expectations :math:`\mu + \gamma s` with Euler's constant."""
        return self.unstandardised(np.full(len(self), np.euler_gamma))

    def var(self) -> Array:
        r"""Variances :math:`s^2\pi^2/6`."""
        with np.errstate(over="ignore"):
            return np.square(self.scale) * (np.pi**2 / 6)

    def crps(self, y: Any) -> Array:
        r"""Closed form :math:`s\,[\gamma - \log 2 - u + 2E_1(e^{-u})]` (Jordan, Krüger & Lerch 2019, appendix A)."""
        return self._by_blocks(_crps, self._outcomes(y))


def gumbel_score(u: Array) -> Array:
    """Normal scores of the standard law, from the smaller tail."""
    with np.errstate(over="ignore"):
        low = -np.exp(-np.minimum(u, MEDIAN))  # log F
    high = np.maximum(u, MEDIAN)
    log_sf = np.log(exprel(-np.exp(-high))) - high
    return np.where(u < MEDIAN, score_from_log(low), -score_from_log(log_sf))


def gumbel_quantile(z: Array) -> Array:
    """Quantiles of the standard law at normal scores."""
    far = z > FAR
    with np.errstate(divide="ignore"):
        return np.where(far, -log_ndtr(-z), -np.log(-log_ndtr(np.where(far, 0.0, z))))


def gumbel_log_slope(u: Array, z: Array) -> Array:
    """Hazard of the smaller tail over that of a normal variable, in logs; z is the score of u."""
    t = np.exp(-np.maximum(u, MEDIAN))
    log_hazard = np.where(u < MEDIAN, -u, -t - np.log(exprel(-t)))
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(z), -np.inf, log_hazard - log_normal_hazard(np.abs(z)))


def _log_density(law: Gumbel, y: Array) -> Array:
    u = law.standardised(y)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(u == -np.inf, -np.inf, -u - np.exp(-u)) - across(np.log(law.scale), y)


def _crps(law: Gumbel, y: Array) -> Array:
    u = law.standardised(y)
    with np.errstate(over="ignore"):
        rest = exp1(np.exp(-np.minimum(u, FAR)))
    near = np.euler_gamma - LOG_2 - u + 2 * rest
    return np.asarray(law.scale * np.where(u < FAR, near, u - np.euler_gamma - LOG_2))
