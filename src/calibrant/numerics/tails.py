r"""Normal scores from the smaller tail, so that neither tail saturates; in logs where probabilities underflow.

.. math:: z = \Phi^{-1}(p) \text{ if } p < q \text{ else } -\Phi^{-1}(q),\qquad p = P(Y \le y),\ q = P(Y > y)
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, log_expit, log_ndtr, ndtri, ndtri_exp

from .._checks import Array

Mask = NDArray[np.bool_]

ROOT_2 = math.sqrt(2)
HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
TINY = 1e-290  # tail probabilities below are worked out in logs
LARGEST_SCORE = 1e153  # |z| beyond is taken for infinite; its square would overflow
_SLACK, _EPS = 1e-12, 4 * np.finfo(float).eps


# ---- the pair of tails ----
def score_of(p: Array, q: Array) -> Array:
    """Normal score of lower tail p and upper tail q, taken from the smaller one.

    >>> score_of(np.array([0.5, 1.0]), np.array([0.5, 1e-20])).round(2) + 0.0
    array([0.  , 9.26])
    """
    low = p < q
    z = ndtri(np.where(low, p, q))
    return np.asarray(np.where(low, z, -z))


def score_of_logs(log_p: Array, log_q: Array) -> Array:
    """Normal score of the logs of lower and upper tail, taken from the smaller one; finite far beyond 1e-308."""
    low = log_p < log_q
    z = score_from_log(np.where(low, log_p, log_q))
    return np.asarray(np.where(low, z, -z))


def score_of_logit(h: Array) -> Array:
    r"""Normal score of the probability :math:`\sigma(h) = 1/(1 + e^{-h})`, from the smaller tail."""
    return np.asarray(-np.sign(h) * ndtri_exp(log_expit(-np.abs(h))))


def log_between(low: Array, high: Array) -> Array:
    r"""Log of :math:`\Phi(\text{high}) - \Phi(\text{low})`, differences taken where the probabilities are small."""
    flip = low > -high
    a, b = np.where(flip, -high, low), np.where(flip, -low, high)
    log_b = log_ndtr(b)
    with np.errstate(divide="ignore", invalid="ignore"):
        out = log_b + np.log1p(-np.exp(log_ndtr(a) - log_b))
    return np.where((a >= b) | (log_b == -np.inf), -np.inf, out)


# ---- one tail that is known to be the smaller ----
def score_of_tail(tail: Array, upper: Mask, log_tail: Callable[[Mask], Array]) -> Array:
    """Normal scores of lower or upper tail probabilities; ``log_tail(where)`` gives the logs of the tiny ones."""
    z = ndtri(tail)
    tiny = tail < TINY
    if tiny.any():
        z[tiny] = score_from_log(log_tail(tiny))
    return np.where(upper, -z, z)


def score_from_log(log_tail: Array) -> Array:
    r""":math:`\Phi^{-1}(e^t)` for t <= log ½; a Newton step adds the digits that ``ndtri_exp`` lacks far out."""
    z = np.asarray(ndtri_exp(log_tail))
    with np.errstate(invalid="ignore"):
        step = (log_ndtr(z) - log_tail) * np.exp(-log_normal_hazard(-z))
    return z - np.where(np.isfinite(step), step, 0.0)


# ---- densities beside scores ----
def normal_hazard(z: Array) -> Array:
    r""":math:`\varphi(z)/\Phi(-z)`, without under- or overflow.

    >>> normal_hazard(np.array([-50.0, 0.0, 1e100])).round(3)
    array([0.000e+000, 7.980e-001, 1.000e+100])
    """
    with np.errstate(divide="ignore"):
        return np.asarray(math.sqrt(2 / math.pi) / erfcx(z / ROOT_2))


def log_normal_hazard(z: Array) -> Array:
    r""":math:`\log\{\varphi(z)/\Phi(-z)\}` for z >= 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(0.5 * math.log(2 / math.pi) - np.log(erfcx(z / ROOT_2)))


def log_slope_of(log_density: Array, z: Array) -> Array:
    """Log dz/dy from the log density of y and its normal score."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(log_density + 0.5 * np.square(z) + HALF_LOG_2PI)


def slack(z: Array) -> Array:
    """How far a score may be off after a round trip through a float probability; atoms forgive this much."""
    with np.errstate(over="ignore", under="ignore"):
        return np.minimum(_SLACK + _EPS * np.exp(0.5 * np.square(np.clip(z, 0.0, 8.0))), 1e-3)


def log_tails(u: Array) -> tuple[Array, Array]:
    r""":math:`\ln\Phi(u)` and :math:`\ln\Phi(-u)`, the larger of them from the smaller.

    >>> [float(each) for each in log_tails(np.array(-40.0))]
    [-804.608442013754, -0.0]
    """
    smaller = log_ndtr(-np.abs(u))
    larger = np.log1p(-np.exp(smaller))
    left = u < 0
    return np.where(left, smaller, larger), np.where(left, larger, smaller)


def sigmoid(x: Array) -> Array:
    """The logistic function in place: three times as fast as `scipy.special.expit`, and 0 below -709.

    >>> sigmoid(np.array([-1000.0, 0.0, 1000.0]))
    array([0. , 0.5, 1. ])
    """
    np.negative(x, out=x)
    with np.errstate(over="ignore"):
        np.exp(x, out=x)
    x += 1
    return np.reciprocal(x, out=x)
