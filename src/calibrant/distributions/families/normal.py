"""The normal law."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import erf

from ..._checks import Array
from ...numerics.quiet import OVERFLOWS
from ...numerics.tails import HALF_LOG_2PI
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

    _centred: ClassVar[bool] = True

    def _standard_to_normal(self, u: Array) -> Array:
        return u

    def _standard_from_normal(self, z: Array) -> Array:
        return z

    def _standard_log_slope(self, u: Array, z: Array) -> Array:
        return np.zeros(u.shape)

    def _row_scores(self, y: Array) -> Array:
        return self._closed_form(lambda u, scale: u, y)

    def mean(self) -> Array:
        """Expectations."""
        return self.loc.copy()

    def var(self) -> Array:
        """Variances."""
        return OVERFLOWS.copy().run(np.square, self.scale)

    def std(self) -> Array:
        """Standard deviations."""
        return self.scale.copy()

    def logpdf(self, y: Any) -> Array:
        """Closed form."""
        return self._closed_form(_log_density, self._points(y))

    def _log_loss(self, y: Array) -> Array:
        """Closed form."""
        return self._closed_form(_log_loss, y)

    def crps(self, y: Any) -> Array:
        r"""Closed form :math:`\sigma\,[u(2\Phi(u)-1) + 2\varphi(u) - \pi^{-1/2}]` (Gneiting & Raftery 2007, §4.2)."""
        return self._closed_form(_crps, self._outcomes(y))


def _log_density(u: Array, scale: Array) -> Array:
    _log_loss(u, scale)
    return np.negative(u, out=u)


def _log_loss(u: Array, scale: Array) -> Array:
    level = np.log(scale)
    level += HALF_LOG_2PI
    u *= u
    u *= 0.5
    u += level
    return u


def _crps(u: Array, scale: Array) -> Array:
    np.abs(u, out=u)
    balance = u * math.sqrt(0.5)
    erf(balance, out=balance)  # of both signs it takes longer, for nobody can foresee which comes next
    balance *= u
    u *= u
    u *= -0.5
    np.exp(u, out=u)
    u *= 2 / math.sqrt(2 * math.pi)
    u += balance
    u -= 1 / math.sqrt(math.pi)
    u *= scale
    return u
