r"""Normal scores of beta laws, in logs where probabilities underflow.

The continued fraction is used only far out, where a fixed number of terms reaches full precision.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betainc, betaincc

from .._checks import Array
from .factorials import deviance, log_beta_kernel
from .tails import Mask, score_of_tail

_TERMS = 60  # of a continued fraction, enough from 4 standard deviations on


def beta_score(a: Array, b: Array, odds: Array, difference: Array) -> Array:
    r"""Normal scores of :math:`I_p(a, b)` with q/p = odds and difference = aq - bp."""
    p, q = 1 / (1 + odds), odds / (1 + odds)
    swap = odds <= 1  # the smaller of p and q carries the digits
    first, second, x = np.where(swap, b, a), np.where(swap, a, b), np.where(swap, q, p)
    tail = np.asarray(betainc(first, second, x), dtype=float)
    large = tail > 0.5
    tail[large] = betaincc(first[large], second[large], x[large])
    variance = (a + b) * p * q
    far = (variance > 1e4) & (np.abs(difference) > 4.4 * np.sqrt(variance))
    tail[far] = 0.0
    upper = np.where(far, difference < 0, swap != large)

    def log_tail(i: Mask) -> Array:
        sign = np.where(upper[i], -1.0, 1.0)
        other = np.where(upper[i], a[i], b[i])
        kernel = log_beta_kernel(a[i], b[i], odds[i], difference[i])
        return kernel - np.log(_beta_fraction(other, np.where(upper[i], q[i], p[i]), sign * difference[i]))

    lost = np.isnan(tail) & ~far
    if not lost.any():
        return score_of_tail(tail, upper, log_tail)
    z = score_of_tail(np.where(lost, 0.5, tail), upper, log_tail)
    z[lost] = _signed_root(a[lost], b[lost], odds[lost], difference[lost])
    return z


def _signed_root(a: Array, b: Array, odds: Array, difference: Array) -> Array:
    """The root of twice the deviance: the score but for the inverse root of the smaller shape, where SciPy gives up."""
    p, q = 1 / (1 + odds), odds / (1 + odds)
    misfit = deviance(a, (a + b) * p, difference) + deviance(b, (a + b) * q, -difference)
    return np.asarray(-np.sign(difference) * np.sqrt(2 * np.maximum(misfit, 0.0)))


def _beta_fraction(b: Array, x: Array, difference: Array) -> Array:
    r""":math:`x^a (1-x)^b / \{B(a,b)\,I_x(a,b)\}`, difference = a(1-x) - bx > 0 (DLMF 15.8.1, then 15.7.5)."""
    fraction = np.zeros(b.shape)
    for n in range(_TERMS, 0, -1):
        fraction = n * x * ((b - n) / (difference + x + n * (1 + x) + fraction))
    return difference + x + fraction
