r"""Normal scores from the probabilities of both tails, so that neither tail saturates.

.. math:: z = \Phi^{-1}(p) \text{ if } p < q \text{ else } -\Phi^{-1}(q),\qquad p = P(Y \le y),\ q = P(Y > y)
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_expit, log_ndtr, ndtri, ndtri_exp

from .._checks import Array
from .factorials import LOG_2PI
from .tails import score_from_log

_SLACK, _EPS = 1e-12, 4 * np.finfo(float).eps


def score_of(p: Array, q: Array) -> Array:
    """Normal score of lower tail p and upper tail q, taken from the smaller one."""
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


def log_slope_of(log_density: Array, z: Array) -> Array:
    """Log dz/dy from the log density of y and its normal score."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(log_density + 0.5 * np.square(z) + 0.5 * LOG_2PI)


def slack(z: Array) -> Array:
    """How far a score may be off after a round trip through a float probability; atoms forgive this much."""
    with np.errstate(over="ignore", under="ignore"):
        return np.minimum(_SLACK + _EPS * np.exp(0.5 * np.square(np.clip(z, 0.0, 8.0))), 1e-3)
