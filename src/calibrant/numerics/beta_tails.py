r"""Normal scores of beta laws, in logs where probabilities underflow.

The continued fraction is used only far out, where a fixed number of terms reaches full precision.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betainc, betaincc

from .._checks import Array
from .factorials import deviance, log_beta_kernel
from .gamma_tails import gamma_score
from .tails import Mask, score_of_tail

HUGE, VAST = 1e15, 1e35  # shapes
_TERMS = 60  # of a continued fraction, enough from 4 standard deviations on


def beta_score(a: Array, b: Array, odds: Array, difference: Array) -> Array:
    r"""Normal scores of :math:`I_p(a, b)` with q/p = odds and difference = aq - bp."""
    small, large = np.minimum(a, b), np.maximum(a, b)
    root, limit = small > HUGE, (large > VAST) & (small <= HUGE)  # where SciPy takes for ever, or gives up
    if not (root | limit).any():
        return _plain_score(a, b, odds, difference)
    z = np.empty(np.shape(root))
    for rows, score in ((root, _signed_root), (limit, _gamma_limit), (~(root | limit), _plain_score)):
        if rows.any():
            z[rows] = score(a[rows], b[rows], odds[rows], difference[rows])
    return z


def _plain_score(a: Array, b: Array, odds: Array, difference: Array) -> Array:
    """From SciPy's tails, or in logs where they are tiny."""
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

    return score_of_tail(tail, upper, log_tail)


def _gamma_limit(a: Array, b: Array, odds: Array, difference: Array) -> Array:
    """Scores where one shape is so vast that only the other counts: a gamma law."""
    few = a < b
    with np.errstate(all="ignore"):
        score = gamma_score(np.where(few, a, b), np.where(few, b / odds, a * odds))
    return np.where(few, score, -score)


def _signed_root(a: Array, b: Array, odds: Array, difference: Array) -> Array:
    """The root of twice the deviance: the score but for the inverse root of the smaller shape."""
    p, q = 1 / (1 + odds), odds / (1 + odds)
    misfit = deviance(a, (a + b) * p, difference) + deviance(b, (a + b) * q, -difference)
    return np.asarray(-np.sign(difference) * np.sqrt(2 * np.maximum(misfit, 0.0)))


def _beta_fraction(b: Array, x: Array, difference: Array) -> Array:
    r""":math:`x^a (1-x)^b / \{B(a,b)\,I_x(a,b)\}`, difference = a(1-x) - bx > 0 (DLMF 15.8.1, then 15.7.5)."""
    fraction = np.zeros(b.shape)
    for n in range(_TERMS, 0, -1):
        fraction = n * x * ((b - n) / (difference + x + n * (1 + x) + fraction))
    return difference + x + fraction
