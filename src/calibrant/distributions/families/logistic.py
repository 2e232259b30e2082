"""The logistic law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import erf, erfinv, log_expit, log_ndtr

from ..._checks import Array
from ...numerics.tails import ROOT_2, log_normal_hazard, score_from_log
from ..location_scale import LocationScale, minus_size


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Logistic(LocationScale):
    r"""Logistic laws with distribution function :math:`1/(1 + e^{-(y-\mu)/s})`.

    Parameters
    ----------
    loc, scale : array-like (n,) or scalar
        Means and scales; the standard deviation is :math:`s\,\pi/\sqrt3`.

    Examples
    --------
    >>> law = Logistic([0.0, 10.0], [1.0, 2.0])
    >>> law.interval(0.9).round(3)
    array([[-2.944,  2.944],
           [ 4.111, 15.889]])
    """

    _centred: ClassVar[bool] = True

    def _standard_to_normal(self, u: Array) -> Array:
        size = np.abs(u)
        near = ROOT_2 * erfinv(np.tanh(np.minimum(size, 1.0) / 2))
        return np.copysign(np.where(size < 1, near, -score_from_log(log_expit(-size))), u)

    def _standard_from_normal(self, z: Array) -> Array:
        near = 2 * np.arctanh(erf(np.clip(z, -1, 1) / ROOT_2))
        with np.errstate(invalid="ignore"):
            return np.where(np.abs(z) < 1, near, log_ndtr(z) - log_ndtr(-z))

    def _standard_log_slope(self, u: Array, z: Array) -> Array:
        return log_expit(np.abs(u)) - log_normal_hazard(np.abs(z))

    def logpdf(self, y: Any) -> Array:
        """Closed form."""
        return self._closed_form(_log_density, self._points(y))

    def mean(self) -> Array:
        """Expectations."""
        return self.loc.copy()

    def var(self) -> Array:
        r"""Variances :math:`s^2\pi^2/3`."""
        with np.errstate(over="ignore"):
            return np.square(self.scale) * (np.pi**2 / 3)

    def crps(self, y: Any) -> Array:
        r"""Closed form :math:`s\,[u - 2\log F(u) - 1]` (Jordan, Krüger & Lerch 2019, appendix A)."""
        return self._closed_form(_crps, self._outcomes(y))


def _log_density(u: Array, scale: Array) -> Array:
    _add_twice_log1p_exp(u)
    u += np.log(scale)
    return np.negative(u, out=u)


def _crps(u: Array, scale: Array) -> Array:
    _add_twice_log1p_exp(u)
    u -= 1
    u *= scale
    return u


def _add_twice_log1p_exp(u: Array) -> None:
    """From u to |u| + 2 log(1 + exp(-|u|))."""
    more = np.exp(minus_size(u))
    np.log1p(more, out=more)
    more *= 2
    np.subtract(more, u, out=u)
