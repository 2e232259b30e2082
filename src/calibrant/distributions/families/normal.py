"""The normal law."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import erf

from ..._checks import Array
from ...numerics.tails import HALF_LOG_2PI
from ..base import across
from ..location_scale import LocationScale


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Normal(LocationScale):
    r"""Normal laws; the normal score is :math:`z = (y - \mu)/\sigma`, which never saturates.

    Parameters
    ----------
    loc, scale : array-like (n,) or scalar
        Means and standard deviations.

    Examples
    --------
    >>> law = Normal([0.0, 10.0], [1.0, 2.0])
    >>> law.interval(0.9)
    array([[-1.645,  1.645],
           [ 6.710, 13.290]])
    """

    def _standard_to_normal(self, u: Array) -> Array:
        return u

    def _standard_from_normal(self, z: Array) -> Array:
        return z

    def _standard_log_slope(self, u: Array, z: Array) -> Array:
        return np.zeros(u.shape)

    def mean(self) -> Array:
        """Expectations."""
        return self.loc.copy()

    def var(self) -> Array:
        """Variances."""
        with np.errstate(over="ignore", under="ignore"):
            return np.square(self.scale)

    def std(self) -> Array:
        """Standard deviations."""
        return self.scale.copy()

    def logpdf(self, y: Any) -> Array:
        """Closed form."""
        return self._by_blocks(_log_density, self._points(y))

    def crps(self, y: Any) -> Array:
        r"""Closed form :math:`\sigma\,[u(2\Phi(u)-1) + 2\varphi(u) - \pi^{-1/2}]` (Gneiting & Raftery 2007, §4.2)."""
        return self._by_blocks(_crps, self._outcomes(y))


def _log_density(law: Normal, y: Array) -> Array:
    with np.errstate(over="ignore"):
        out = law.standardised(y)
        out *= out
    out *= -0.5
    out -= across(np.log(law.scale), y)
    out -= HALF_LOG_2PI
    return out


def _crps(law: Normal, y: Array) -> Array:
    u = law.standardised(y)
    np.abs(u, out=u)
    out = u * math.sqrt(0.5)
    erf(out, out=out)  # of both signs it takes twice as long, for nobody can foresee which comes next
    with np.errstate(over="ignore", under="ignore"):
        out *= u
        u *= u
        u *= -0.5
        np.exp(u, out=u)
    u *= 2 / math.sqrt(2 * math.pi)
    out += u
    out -= 1 / math.sqrt(math.pi)
    out *= law.scale
    return out
