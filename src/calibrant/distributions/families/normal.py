"""The normal law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from ..._checks import Array
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

    def crps(self, y: Any) -> Array:
        r"""Closed form :math:`\sigma\,[u(2\Phi(u)-1) + 2\varphi(u) - \pi^{-1/2}]` (Gneiting & Raftery 2007, §4.2)."""
        return self._by_blocks(_crps, self._outcomes(y))


def _crps(law: Normal, y: Array) -> Array:
    u = law.standardised(y)
    with np.errstate(over="ignore", under="ignore"):
        density = np.exp(-0.5 * u * u - HALF_LOG_2PI)
    return np.asarray(law.scale * (u * (2 * ndtr(u) - 1) + 2 * density - 1 / np.sqrt(np.pi)))
