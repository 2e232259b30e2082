"""The Laplace law."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import erf, erfinv, log_ndtr

from ..._checks import Array
from ...numerics.tails import ROOT_2, log_normal_hazard, score_from_log
from ..location_scale import LocationScale, minus_size

LOG_2 = math.log(2)


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Laplace(LocationScale):
    r"""Laplace (double exponential) laws with density :math:`\frac1{2b}e^{-|y-\mu|/b}`.

    Parameters
    ----------
    loc, scale : array-like (n,) or scalar
        Medians and mean absolute deviations; the standard deviation is :math:`\sqrt2\,b`.

    Examples
    --------
    >>> law = Laplace([0.0, 10.0], [1.0, 2.0])
    >>> law.interval(0.9).round(3)
    array([[-2.303,  2.303],
           [ 5.395, 14.605]])
    """

    _centred: ClassVar[bool] = True

    def _standard_to_normal(self, u: Array) -> Array:
        size = np.abs(u)
        near = ROOT_2 * erfinv(-np.expm1(-size))
        return np.copysign(np.where(size < 1, near, -score_from_log(-np.maximum(size, 1.0) - LOG_2)), u)

    def _standard_from_normal(self, z: Array) -> Array:
        size = np.abs(z)
        near = -np.log1p(-erf(np.minimum(size, 1.0) / ROOT_2))
        return np.copysign(np.where(size < 1, near, -log_ndtr(-size) - LOG_2), z)

    def _standard_log_slope(self, u: Array, z: Array) -> Array:
        return -log_normal_hazard(np.abs(z))  # the hazard of a Laplace tail is 1

    def _kinks(self) -> Array:
        return self.loc[:, None]

    def logpdf(self, y: Any) -> Array:
        """Closed form."""
        return self._closed_form(_log_density, self._points(y))

    def mean(self) -> Array:
        """Expectations."""
        return self.loc.copy()

    def var(self) -> Array:
        """Variances, twice the squared scale."""
        with np.errstate(over="ignore"):
            return 2 * np.square(self.scale)

    def crps(self, y: Any) -> Array:
        r"""Closed form :math:`b\,[|u| + e^{-|u|} - \frac34]` (Jordan, Krüger & Lerch 2019, appendix A)."""
        return self._closed_form(_crps, self._outcomes(y))


def _log_density(u: Array, scale: Array) -> Array:
    minus_size(u)
    u -= np.log(scale)
    u -= LOG_2
    return u


def _crps(u: Array, scale: Array) -> Array:
    near = np.exp(minus_size(u))
    np.subtract(near, u, out=u)
    u -= 0.75
    u *= scale
    return u
