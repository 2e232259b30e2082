"""Student's t law."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy
from scipy.special import digamma, exprel, log_ndtr, ndtr, stdtr, stdtrit

from ..._checks import Array, positive
from ..._types import Numbers
from ...numerics.factorials import log_half_step
from ...numerics.roots import Where, solve_increasing
from ...numerics.tails import HALF_LOG_2PI, LARGEST_SCORE, TINY, log_normal_hazard, score_of_tail
from ..base import across
from ..location_scale import LocationScale

MOST_TERMS = 40  # degrees of freedom
ROUGH_INVERSE = tuple(int(part) for part in scipy.__version__.split(".")[:2]) < (1, 15)  # eight digits in places


@dataclass(frozen=True, eq=False, repr=False)
class StudentT(LocationScale):
    r"""Student's t laws with density :math:`\propto (1 + u^2/\nu)^{-(\nu+1)/2}`, :math:`u = (y - \mu)/\sigma`.

    Parameters
    ----------
    loc, scale : array-like (n,) or scalar
        Centre and scale; the standard deviation is :math:`\sigma\sqrt{\nu/(\nu-2)}`, infinite for df <= 2.
    df : array-like (n,) or scalar
        Degrees of freedom, any positive number; this is the tail index.

    Examples
    --------
    >>> law = StudentT([0.0, 10.0], 1.0, df=3.0)
    >>> law.interval(0.9).round(3)
    array([[-2.353,  2.353],
           [ 7.647, 12.353]])
    >>> law.tail_index
    array([3., 3.])
    """

    _by_row: ClassVar[tuple[str, ...]] = ("loc", "scale", "df")
    _centred: ClassVar[bool] = True

    loc: Array
    scale: Array
    df: Array

    def __init__(self, loc: Numbers, scale: Numbers, df: Numbers) -> None:
        self._set_columns(loc=loc, scale=scale, df=df)
        self._check()
        positive(self.df, "df", "No heavy tails? Use Normal.")

    @property
    def tail_index(self) -> Array:
        """The degrees of freedom."""
        return self.df.copy()

    def _standard_to_normal(self, u: Array) -> Array:
        df, u = np.broadcast_arrays(across(self.df, u), u)
        size = np.abs(u)
        return score_of_tail(stdtr(df, -size), u > 0, lambda i: _far_tail(df[i], _log(size[i]))[0])

    def _standard_from_normal(self, z: Array) -> Array:
        df, z = np.broadcast_arrays(across(self.df, z), z)
        size = -stdtrit(df, ndtr(-np.abs(z)))
        if ROUGH_INVERSE:
            size = polished(df, size, ndtr(-np.abs(z)))
        far = (np.abs(z) > 8) | ~(size < 1e30)  # where SciPy's inverse loses its way
        far &= np.abs(z) < LARGEST_SCORE
        if far.any():
            size[far] = _far_quantile(df[far], np.abs(z[far]))
        return np.where(np.abs(z) < LARGEST_SCORE, np.sign(z) * size, z)

    def _standard_log_slope(self, u: Array, z: Array) -> Array:
        df, u = np.broadcast_arrays(across(self.df, u), u)
        far = (np.abs(z) > 36) & np.isfinite(u)
        with np.errstate(over="ignore", invalid="ignore"):
            out: Array = log_density(df, u) + 0.5 * z * z + HALF_LOG_2PI
        if far.any():
            log_size = _log(np.abs(u[far]))
            hazard = _tail(df[far], log_size)[1]
            out[far] = np.log(hazard) - log_size - log_normal_hazard(np.abs(z[far]))
        return np.where(np.isinf(u), -np.inf, out)

    def logpdf(self, y: Any) -> Array:
        """Closed form."""
        return self._by_blocks(_law_log_density, self._points(y))

    def mean(self) -> Array:
        """Expectations; inf for df <= 1."""
        return np.where(self.df > 1, self.loc, np.inf)

    def var(self) -> Array:
        r"""Variances :math:`\sigma^2\nu/(\nu-2)`; inf for df <= 2."""
        exists = self.df > 2
        with np.errstate(over="ignore"):
            return np.where(exists, np.square(self.scale) * (self.df / np.where(exists, self.df - 2, 1.0)), np.inf)

    def crps(self, y: Any) -> Array:
        r"""Closed form (Jordan, Krüger & Lerch 2019, appendix A); inf for df <= 1/2.

        .. math:: \sigma\Bigl[u(2F_\nu(u)-1) + 2f_\nu(u)\frac{\nu+u^2}{\nu-1}
            - \frac{2\sqrt\nu}{\nu-1}\frac{B(\frac12,\nu-\frac12)}{B(\frac12,\frac\nu2)^2}\Bigr]
        """
        return self._by_blocks(_crps, self._outcomes(y))


def _log(x: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.log(x)


def _log1p_ratio(df: Array, u: Array) -> Array:
    """log(1 + u²/df) without overflow."""
    with np.errstate(over="ignore"):
        ratio = np.abs(u) / np.sqrt(df)
    far = ratio > 1e8
    if not far.any():
        return np.log1p(np.square(ratio))
    return np.where(far, 2 * _log(np.where(far, ratio, 1.0)), np.log1p(np.square(np.where(far, 0.0, ratio))))


def _log_constant(df: Array) -> Array:
    return log_half_step(df / 2) - 0.5 * np.log(df * np.pi)


def log_density(df: Array, u: Array) -> Array:
    """Log density of the standard laws."""
    return _log_constant(df) - (df + 1) / 2 * _log1p_ratio(df, u)


def polished(df: Array, size: Array, tail: Array) -> Array:
    """One Newton step towards the size with this upper tail probability, in log size; as it was where that fails."""
    with np.errstate(all="ignore"):
        step = (stdtr(df, -size) - tail) / (np.exp(log_density(df, size)) * size)
        return np.where(np.abs(step) < 1e-6, size * np.exp(step), size)


def _law_log_density(law: StudentT, y: Array) -> Array:
    return log_density(across(law.df, y), law.standardised(y)) - across(np.log(law.scale), y)


def _far_tail(df: Array, log_u: Array) -> tuple[Array, Array]:
    r"""log P(T > u) and :math:`u f(u)/P(T > u)` where P is tiny.

    .. math:: P(T > u) = \frac{x^a (1-x)^{-1/2}}{2a\,B(a,\frac12)}\,{}_2F_1(1, \tfrac12; a+1; -\nu/u^2),\quad
        x = \frac{\nu}{\nu+u^2},\ a = \frac\nu2
    """
    a = df / 2
    log_ratio = np.log(df) - 2 * log_u
    with np.errstate(over="ignore"):
        ratio = np.exp(log_ratio)
    series = np.ones(a.shape)
    for j in range(20, 0, -1):  # Horner's rule; from TINY on, 20 terms reach full precision for every df
        series = 1 - ratio * (j - 0.5) / (a + j) * series
    log_constant = log_half_step(a) - np.log(df) - 0.5 * math.log(math.pi)
    log_tail = log_constant - a * np.logaddexp(0, -log_ratio) + 0.5 * np.logaddexp(0, log_ratio) + np.log(series)
    return log_tail, df / (1 + ratio) / series


def _tail(df: Array, log_u: Array) -> tuple[Array, Array]:
    """What ``_far_tail`` gives, for any u."""
    with np.errstate(over="ignore"):
        u = np.exp(log_u)
    tail = stdtr(df, -u)
    far = tail < TINY
    log_tail = np.log(np.where(far, 1.0, tail))
    hazard = np.exp(log_density(df, u) + log_u - log_tail)
    if far.any():
        log_tail[far], hazard[far] = _far_tail(df[far], log_u[far])
    return log_tail, hazard


def _far_quantile(df: Array, z: Array) -> Array:
    """Upper quantiles at scores z, by Newton's method in log u."""
    square = z * z / df
    start = 0.5 * (np.log(df) + square + np.log(-np.expm1(-square)))  # z² = df log(1 + u²/df), nearly

    def height_and_slope(v: Array, i: Where) -> tuple[Array, Array]:
        value, hazard = _tail(df[i], v)
        return -value, hazard

    with np.errstate(over="ignore"):
        return np.exp(solve_increasing(height_and_slope, -log_ndtr(-z), start, close=1e-9, longest=5.0))


def _crps(law: StudentT, y: Array) -> Array:
    u = np.abs(law.standardised(y))
    exists = (law.df > 0.5) & np.isfinite(u)
    df, u = np.where(exists, law.df, 2.0), np.where(exists, u, 0.0)
    shared = df[:1] if (df == df[:1]).all() else df  # what depends on df alone is worked out once
    centre = u * _balance(shared, u)
    half, whole = log_half_step(shared / 2), log_half_step(shared - 0.5)
    spread = 2 * shared * np.exp(2 * half - whole - 0.5 * np.log(np.pi * shared))
    rate = _log_rate(shared, whole - half) - 0.5 * _log1p_ratio(shared, u)
    value = law.scale * (centre + spread * rate * exprel((shared - 1) * rate))  # no singularity at df = 1
    return np.where(exists, value, np.where(np.isnan(y), np.nan, np.inf))


def _balance(df: Array, u: Array) -> Array:
    """P(|T| < u); where one small whole number of degrees of freedom serves all rows, by finite sums."""
    if len(df) == 1 and df[0] <= MOST_TERMS and df[0] == int(df[0]):
        return _whole_balance(int(df[0]), u)
    return np.asarray(1 - 2 * stdtr(df, -u))


def _whole_balance(df: int, u: Array) -> Array:
    r"""With :math:`\theta = \arctan(u/\sqrt\nu)`, sums of powers of its cosine (Abramowitz & Stegun 26.7.3, 26.7.4)."""
    tangent = np.minimum(u, 1e150) / math.sqrt(df)
    square = 1 / (1 + np.square(tangent))
    sine = tangent * np.sqrt(square)
    odd = df % 2
    total = np.zeros(u.shape)
    for j in range((df - odd) // 2 - 1, 0, -1):
        total += 1
        total *= square
        total *= (2 * j - 1 + odd) / (2 * j + odd)
    total += df > 1
    if not odd:
        return np.asarray(sine * total)
    total *= sine * np.sqrt(square)
    return np.asarray((np.arctan(tangent) + total) * (2 / math.pi))


def _log_rate(df: Array, difference: Array) -> Array:
    """``difference`` log_half_step(df - 1/2) - log_half_step(df/2) over df - 1, a derivative where df is near 1."""
    near = np.abs(df - 1) < 1e-5
    rate = np.asarray(difference / np.where(near, 1.0, df - 1))
    if near.any():
        middle = 0.75 * df[near] - 0.25
        rate[near] = 0.5 * (digamma(middle + 0.5) - digamma(middle))
    return rate
