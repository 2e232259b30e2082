"""The Poisson law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import i0e, i1e

from ..._checks import Array, positive
from ..._types import Numbers
from ...numerics.factorials import log_gamma_kernel
from ...numerics.gamma_tails import gamma_balance, gamma_score
from ...numerics.poisson_sums import are_few, poisson_sums
from ..base import across
from .counts import Counts


@dataclass(frozen=True, eq=False, repr=False)
class Poisson(Counts):
    r"""Poisson laws of counts, :math:`P(Y = k) = \lambda^k e^{-\lambda}/k!`.

    Parameters
    ----------
    rate : array-like (n,) or scalar
        Means (and variances) :math:`\lambda > 0`.

    Examples
    --------
    >>> law = Poisson([0.5, 20.0])
    >>> law.interval(0.9)
    array([[ 0.,  2.],
           [13., 28.]])
    >>> law.logpmf([0, 20])
    array([-0.5  , -2.421])
    """

    _by_row: ClassVar[tuple[str, ...]] = ("rate",)

    rate: Array

    def __init__(self, rate: Numbers) -> None:
        self._set_columns(rate=rate)
        positive(self.rate, "rate", "A rate of 0 rules out every count but 0; give a small one, such as 1e-3.")

    def _score(self, k: Array) -> Array:
        return -gamma_score(k + 1, across(self.rate, k))

    def _log_mass(self, k: Array) -> Array:
        rate = across(self.rate, k)
        return np.where(k > 0, log_gamma_kernel(np.maximum(k, 1.0), rate), -rate)

    def _mass_ratio(self, k: Array) -> Array:
        return np.asarray(across(self.rate, k) / (k + 1))

    def _skewness(self) -> Array:
        return 1 / np.sqrt(self.rate)

    def mean(self) -> Array:
        """Expectations."""
        return self.rate.copy()

    def var(self) -> Array:
        """Variances, equal to the rates."""
        return self.rate.copy()

    def crps(self, y: Any) -> Array:
        r"""Closed form (Wei & Held 2014) with Bessel functions I.

        .. math:: (y-\lambda)(2F(y)-1) + 2\lambda P(Y = \lfloor y\rfloor)
            - \lambda e^{-2\lambda}[I_0(2\lambda) + I_1(2\lambda)]
        """
        return self._by_blocks(_crps, self._outcomes(y))


def _crps(law: Poisson, y: Array) -> Array:
    balance, mass = _balance_and_mass(law, np.floor(y))
    spread = i0e(2 * law.rate) + i1e(2 * law.rate)
    return (y - law.rate) * balance + law.rate * (2 * mass - spread)


def _balance_and_mass(law: Poisson, k: Array) -> tuple[Array, Array]:
    """2 P(Y <= k) - 1 and P(Y = k) at whole numbers, by sums where these are short."""
    few = are_few(k, law.rate)
    if few.all():
        below, mass = poisson_sums(k, law.rate)
        return 2 * below - 1, mass
    if few.any():
        out = np.empty((2, len(k)))
        for rows in (few, ~few):
            out[:, rows] = _balance_and_mass(law[rows], k[rows])
        return out[0], out[1]
    inside = (k >= 0) & (k < np.inf)
    counts = np.where(inside, k, 0.0)
    balance = np.where(inside, -gamma_balance(counts + 1, law.rate), np.sign(k))
    return balance, np.where(inside, np.exp(law._log_mass(counts)), 0.0)
