"""The negative binomial law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import erf, hyp2f1

from ..._checks import Array, positive
from ..._types import Numbers
from ...numerics.beta_tails import beta_score
from ...numerics.factorials import log_beta_kernel
from ...numerics.tails import ROOT_2
from ..base import across
from .counts import Counts

DISPERSIONS, LARGEST_ODDS = (1e-100, 1e100), 1e150  # what is told apart; beyond lie Poisson and a law at 0
NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)


@dataclass(frozen=True, eq=False, repr=False, init=False)
class NegativeBinomial(Counts):
    r"""Overdispersed counts: Poisson laws whose rates follow a gamma law.

    .. math:: P(Y = k) = \frac{\Gamma(n+k)}{\Gamma(n)\,k!}\,p^n(1-p)^k,\quad
        n = \frac1\alpha,\ p = \frac{1}{1+\alpha\mu}

    Parameters
    ----------
    mean : array-like (n,) or scalar
        Means :math:`\mu > 0`.
    dispersion : array-like (n,) or scalar
        :math:`\alpha > 0`; the variance is :math:`\mu + \alpha\mu^2`. In SciPy's terms this is
        ``nbinom(n=1 / dispersion, p=1 / (1 + dispersion * mean))``, the other way round
        ``mean = n * (1 - p) / p`` and ``dispersion = 1 / n``.

    Examples
    --------
    >>> law = NegativeBinomial([0.5, 20.0], 0.5)
    >>> law.interval(0.9)
    array([[ 0.,  2.],
           [ 3., 48.]])
    >>> law.var()
    array([  0.625, 220.   ])
    """

    _by_row: ClassVar[tuple[str, ...]] = ("rate", "dispersion")

    rate: Array
    dispersion: Array

    def __init__(self, mean: Numbers, dispersion: Numbers) -> None:
        self._set_columns(mean=mean, dispersion=dispersion)
        rate = self.__dict__.pop("mean")  # stored as `rate`: `mean` is a method of every law
        positive(rate, "mean", "A mean of 0 rules out every count but 0; give a small one, such as 1e-3.")
        object.__setattr__(self, "rate", rate)
        positive(self.dispersion, "dispersion", "No overdispersion? Use Poisson.")

    def _score(self, k: Array) -> Array:
        n, odds, rate, k = np.broadcast_arrays(*self._columns(k), k / across(self._unit(), k))
        return beta_score(n, k + 1, odds, (rate - k - 1) / (1 + odds))

    def _log_mass(self, k: Array) -> Array:
        unit = across(self._unit(), k)
        n, odds, rate, k, unit = np.broadcast_arrays(*self._columns(k), k / unit, unit)
        some = np.maximum(k, 1.0)
        log_mass = log_beta_kernel(n, some, odds, (rate - some) / (1 + odds)) - np.log(some)
        return np.where(k > 0, log_mass - np.log(unit), -n * np.log1p(odds))

    def _columns(self, k: Array) -> tuple[Array, Array, Array]:
        """n, the odds (1 - p) / p and the mean, beside k."""
        rate, dispersion = across(self.rate, k), np.clip(across(self.dispersion, k), *DISPERSIONS)
        rate = np.minimum(rate, LARGEST_ODDS / dispersion)
        return 1 / dispersion, dispersion * rate, rate

    def _unit(self) -> Array:
        """By how much counts are divided: 1, or what the mean is beyond the largest; wide laws have one shape."""
        return np.maximum(1.0, self.rate / (LARGEST_ODDS / np.clip(self.dispersion, *DISPERSIONS)))

    def _mass_ratio(self, k: Array) -> Array:
        n, odds, _ = self._columns(k)
        return np.asarray((n + k) / (k + 1) * (odds / (1 + odds)))

    def _skewness(self) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            return (1 + 2 * self.dispersion * self.rate) / self.std()

    def mean(self) -> Array:
        """Expectations."""
        return self.rate.copy()

    def var(self) -> Array:
        r"""Variances :math:`\mu + \alpha\mu^2`."""
        with np.errstate(over="ignore"):
            return self.rate + self.dispersion * self.rate * self.rate

    def std(self) -> Array:
        r"""Standard deviations :math:`\sqrt\mu\,\sqrt{1 + \alpha\mu}`; no square overflows."""
        with np.errstate(over="ignore"):
            plain = np.sqrt(1 + self.dispersion * self.rate)
            wide = np.sqrt(self.dispersion) * np.sqrt(self.rate)  # where the 1 is nothing
            return np.sqrt(self.rate) * np.where(np.isfinite(plain), plain, wide)

    def crps(self, y: Any) -> Array:
        r"""Closed form (Wei & Held 2014), written so that large means do not cancel; f is the probability of a count.

        .. math:: (y-\mu)(2F(y)-1) + 2\mu(1 + \alpha\lfloor y\rfloor) f(\lfloor y\rfloor)
            - \frac{\mu}{p}\,{}_2F_1\bigl(n+1, \tfrac12; 2; -\tfrac{4(1-p)}{p^2}\bigr)
        """
        return self._by_blocks(_crps, self._outcomes(y))


def _crps(law: NegativeBinomial, y: Array) -> Array:
    k = np.floor(y)
    inside = (k >= 0) & (k < np.inf)
    count = np.where(inside, k, 0.0)
    n, odds, _ = law._columns(y)
    with np.errstate(over="ignore"):
        unit = law._unit()
        mass = np.where(inside, np.exp(np.log1p(count / unit / n) + law._log_mass(count) + np.log(unit)), 0.0)
        centre = (y - law.rate) * erf(law.to_normal(y) / ROOT_2)
        return np.maximum(centre + law.rate * (2 * mass - _relative_spread(n, odds)), 0.0)


def _relative_spread(n: Array, odds: Array) -> Array:
    r"""Half the mean difference of two draws, divided by the mean: :math:`\frac1p\,{}_2F_1(n+1,\frac12;2;-4q/p^2)`."""
    out = np.empty(n.shape)
    odds = np.minimum(odds, 1e24)  # where the limit is reached and no power overflows
    few = n <= 5
    out[few] = (1 + odds[few]) * hyp2f1(n[few] + 1, 0.5, 2.0, -4 * odds[few] * (1 + odds[few]))
    out[~few] = _spread_integral(n[~few], odds[~few])
    return out


def _spread_integral(n: Array, odds: Array) -> Array:
    r"""The same for large n, where the hypergeometric series fails, by Gauss-Legendre over the peak at 0.

    .. math:: \frac{4}{\pi(1+q)}\int_0^{\pi/2}(1 - \kappa\sin^2\phi)^{n-1}\cos^2\phi\,d\phi,\quad
        \kappa = \frac{4q}{(1+q)^2}
    """
    q = odds / (1 + odds)
    kappa = 4 * q / (1 + q) ** 2
    end = np.arcsin(np.sqrt(40 / np.maximum(40.0, (n - 1) * kappa)))
    total = np.zeros(n.shape)
    for node, weight in zip(NODES, WEIGHTS, strict=True):
        phi = end * (0.5 + 0.5 * node)
        total += weight * np.exp((n - 1) * np.log1p(-kappa * np.sin(phi) ** 2)) * np.cos(phi) ** 2
    return 2 * end * total / (np.pi * (1 + q))
