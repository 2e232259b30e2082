"""The beta law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import betaincinv, betaln, erf, log_ndtr, ndtr

from ..._checks import Array, finite, positive
from ..._types import Numbers
from ...maps.base import Side
from ...numerics.beta_tails import beta_score
from ...numerics.factorials import log_beta_kernel
from ...numerics.tails import ROOT_2, log_slope_of
from ..base import Parametric, across


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Beta(Parametric):
    r"""Beta laws with density :math:`\propto x^{a-1}(1-x)^{b-1}`, :math:`x = (y - l)/(h - l)` between 0 and 1.

    Shares, rates and whatever lies between two known ends.

    Parameters
    ----------
    a, b : array-like (n,) or scalar
        Shapes; the mean of x is :math:`a/(a+b)`. From a mean m and a standard deviation s of x, with
        ``k = m * (1 - m) / s**2 - 1``: ``Beta(k * m, k * (1 - m))``.
    lower, upper : array-like (n,) or scalar
        Ends of the support.

    Examples
    --------
    >>> law = Beta([1.0, 8.0], [1.0, 2.0])
    >>> law.interval(0.9).round(3)
    array([[0.05 , 0.95 ],
           [0.571, 0.959]])
    """

    _by_row: ClassVar[tuple[str, ...]] = ("a", "b", "lower", "upper")

    a: Array
    b: Array
    lower: Array
    upper: Array

    def __init__(self, a: Numbers, b: Numbers, lower: Numbers = 0.0, upper: Numbers = 1.0) -> None:
        self._set_columns(a=a, b=b, lower=lower, upper=upper)
        positive(self.a, "a")
        positive(self.b, "b")
        finite(self.lower, "lower")
        finite(self.upper, "upper")
        positive(self.upper - self.lower, "upper - lower")

    @classmethod
    def _example(cls, rng: np.random.Generator, rows: int) -> Beta:
        return cls(rng.uniform(1.5, 5, rows), rng.uniform(1.5, 5, rows), rng.normal(0, 1, rows), 5.0)

    @property
    def support(self) -> tuple[Array, Array]:
        """From lower to upper."""
        return self.lower.copy(), self.upper.copy()

    def to_normal(self, y: Array, side: Side = "right") -> Array:
        """Normal scores; infinite at the ends and beyond."""
        p, q, a, b = self._shares(y)
        inside = (p > 0) & (q > 0)
        p, q = np.where(inside, p, 0.5), np.where(inside, q, 0.5)
        z = beta_score(a, b, q / p, a * q - b * p)
        return np.where(inside, z, np.where(np.isnan(y), np.nan, np.where(y >= across(self.upper, y), np.inf, -np.inf)))

    def from_normal(self, z: Array) -> Array:
        """Quantiles at normal scores, from the smaller tail."""
        a, b, low, high = (across(part, z) for part in (self.a, self.b, self.lower, self.upper))
        below, above = _small_share(a, b, np.minimum(z, 0.0)), _small_share(b, a, -np.maximum(z, 0.0))
        return np.clip(np.where(z < 0, low + (high - low) * below, high - (high - low) * above), low, high)

    def log_slope(self, y: Array) -> Array:
        """log dz/dy; -inf outside."""
        return self.score_and_log_slope(y)[1]

    def score_and_log_slope(self, y: Array) -> tuple[Array, Array]:
        """Scores, and slopes from these and the density."""
        z = self.to_normal(y)
        slope = log_slope_of(_log_density(self, y), np.where(np.isinf(z), 0.0, z))
        return z, np.where(np.isinf(z), -np.inf, slope)

    def logpdf(self, y: Any) -> Array:
        """Closed form; at an end the limit from inside."""
        return self._by_blocks(_log_density, self._points(y))

    def mean(self) -> Array:
        r"""Expectations :math:`l + (h-l)\,a/(a+b)`."""
        return self.lower + (self.upper - self.lower) * (self.a / (self.a + self.b))

    def var(self) -> Array:
        r"""Variances :math:`(h-l)^2\,ab/\{(a+b)^2(a+b+1)\}`."""
        total = self.a + self.b
        return np.square(self.upper - self.lower) * (self.a / total) * (self.b / total) / (total + 1)

    def crps(self, y: Any) -> Array:
        r"""Closed form (Jordan, Krüger & Lerch 2019, appendix A), written so that large shapes do not cancel.

        .. math:: (h-l)\Bigl[(x-m)(2F(x)-1) + \frac{2x^a(1-x)^b}{(a+b)B(a,b)}
            - \frac{2B(2a,2b)}{(a+b)B(a,b)^2}\Bigr],\quad m = \frac{a}{a+b}
        """
        return self._by_blocks(_crps, self._outcomes(y))

    def _shares(self, y: Array) -> tuple[Array, Array, Array, Array]:
        """x and 1 - x, each from its own end, and the shapes beside them."""
        low, high = across(self.lower, y), across(self.upper, y)
        with np.errstate(over="ignore"):
            p, q = (y - low) / (high - low), (high - y) / (high - low)
        p, q, a, b = np.broadcast_arrays(p, q, across(self.a, y), across(self.b, y))
        return p, q, a, b


def _small_share(a: Array, b: Array, z: Array) -> Array:
    r"""Lower quantiles of x at scores z <= 0; where x is tiny, P is :math:`x^a/\{a\,B(a,b)\}`."""
    power = (log_ndtr(z) + np.log(a) + betaln(a, b)) / a
    tiny = power < -40
    x = betaincinv(a, b, np.where(tiny, 0.5, ndtr(z)))
    return np.where(tiny, np.exp(np.minimum(power, 0.0)), x)


def _log_density(law: Beta, y: Array) -> Array:
    p, q, a, b = law._shares(y)
    inside = (p > 0) & (q > 0)
    x, rest = np.where(inside, p, 0.5), np.where(inside, q, 0.5)
    out = log_beta_kernel(a, b, rest / x, a * rest - b * x) - np.log(x) - np.log(rest)
    with np.errstate(divide="ignore"):
        ends = np.where(p == 0, _at_end(a, b), np.where(q == 0, _at_end(b, a), np.where(np.isnan(p), np.nan, -np.inf)))
    return np.where(inside, out, ends) - across(np.log(law.upper - law.lower), y)


def _at_end(a: Array, b: Array) -> Array:
    """Log density where x is 0: b for a = 1."""
    return np.where(a == 1, np.log(b), np.where(a < 1, np.inf, -np.inf))


def _crps(law: Beta, y: Array) -> Array:
    p, q, a, b = law._shares(y)
    inside = (p > 0) & (q > 0)
    x, rest = np.where(inside, p, 0.5), np.where(inside, q, 0.5)
    total = a + b
    peak = np.where(inside, np.exp(log_beta_kernel(a, b, rest / x, a * rest - b * x)), 0.0)
    odds, none = b / a, np.zeros(len(law))
    spread = np.exp(2 * log_beta_kernel(a, b, odds, none) - log_beta_kernel(2 * a, 2 * b, odds, none))
    away = (b * p - a * q) / total  # x - m
    return (law.upper - law.lower) * (away * erf(law.to_normal(y) / ROOT_2) + 2 * (peak - spread) / total)
