r"""Tails, normal scores and quantiles of gamma laws, in logs where probabilities underflow.

Continued fractions are used only far out, where a fixed number of terms reaches full precision.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import gammainc, gammaincc, gammaln, log_ndtr

from .._checks import Array
from .factorials import log_gamma_kernel
from .roots import Where, solve_increasing
from .tails import LARGEST_SCORE, TINY, Mask, score_of_tail

_LARGE = 1e4  # shapes
_TERMS = 60  # of a continued fraction, enough from 4 standard deviations on


def gamma_score(a: Array, x: Array) -> Array:
    """Normal scores of x under the standard gamma law with shape a; -inf for x <= 0."""
    return _with_ends(_inner_score, np.inf, a, x)


def gamma_balance(a: Array, x: Array) -> Array:
    r""":math:`2F_a(x) - 1`, from the smaller tail; -1 for x <= 0."""
    return _with_ends(_inner_balance, 1.0, a, x)


def _with_ends(inner: Callable[[Array, Array], Array], end: float, a: Array, x: Array) -> Array:
    """``inner(a, x)`` within the support, -end below it and end above."""
    a, x = np.broadcast_arrays(a, x)
    inside = (x > 0) & (x < np.inf) & (a < np.inf)
    if inside.all():
        return inner(a, x)
    out = np.where(x > 0, np.where(a < np.inf, end, -end), np.where(np.isnan(x), np.nan, -end))
    out[inside] = inner(a[inside], x[inside])
    return out


def _inner_score(a: Array, x: Array) -> Array:
    tail, upper = _smaller_tail(a, x)
    return score_of_tail(tail, upper, lambda i: gamma_far_tail(a[i], x[i], upper[i])[0])


def _inner_balance(a: Array, x: Array) -> Array:
    tail, upper = _smaller_tail(a, x)
    if (tiny := tail < TINY).any():
        tail[tiny] = np.exp(gamma_far_tail(a[tiny], x[tiny], upper[tiny])[0])
    return np.where(upper, 1 - 2 * tail, 2 * tail - 1)


def _smaller_tail(a: Array, x: Array) -> tuple[Array, Mask]:
    """The smaller tail probability, or nearly so, and whether it is the upper one; 0 where it is for logs to tell."""
    upper = x > a
    if (odd := a < 1).any():
        upper[odd] = gammainc(a[odd], x[odd]) > 0.5
    lower = ~upper
    tail = np.empty(x.shape)
    tail[lower], tail[upper] = gammainc(a[lower], x[lower]), gammaincc(a[upper], x[upper])
    if a.max(initial=0.0) > _LARGE:
        tail[_gamma_is_far(a, x)] = 0.0
    return tail, upper


def gamma_tail(a: Array, x: Array, upper: Mask) -> tuple[Array, Array]:
    r"""Log of the lower or upper tail probability, and log of x times density over tail probability; 0 < x < inf."""
    tail = np.empty(x.shape)
    tail[upper] = gammaincc(a[upper], x[upper])
    tail[~upper] = gammainc(a[~upper], x[~upper])
    far = (tail < TINY) | _gamma_is_far(a, x) & (upper == (x > a))
    near = np.where(far, 1.0, tail)
    log_tail = np.log(near)
    log_hazard = np.log(a) + log_gamma_kernel(a, x) - log_tail
    if far.any():
        log_tail[far], log_hazard[far] = gamma_far_tail(a[far], x[far], upper[far])
    return log_tail, log_hazard


def gamma_far_tail(a: Array, x: Array, upper: Mask) -> tuple[Array, Array]:
    """What ``gamma_tail`` gives, by the continued fractions DLMF 8.9.2 (upper) and Nörlund's (lower)."""
    fraction = np.zeros(a.shape)
    sign = np.where(upper, -1.0, 1.0)
    for n in range(_TERMS, 0, -1):
        below = sign * (a - x) + np.where(upper, 2 * n + 1, n) + fraction
        fraction = n * (np.where(upper, a - n, x) / below)
    hazard = sign * (a - x) + upper + fraction
    log_hazard = np.log(hazard)
    return np.log(a) + log_gamma_kernel(a, x) - log_hazard, log_hazard


def _gamma_is_far(a: Array, x: Array) -> Mask:
    """Where SciPy's series would need more terms than it takes."""
    return (a > _LARGE) & (np.abs(x - a) > 4.4 * np.sqrt(a))


def gamma_quantile(a: Array, z: Array) -> Array:
    """The inverse of ``gamma_score``."""
    shape = np.broadcast_shapes(a.shape, z.shape)
    a, z = (np.broadcast_to(array, shape).ravel() for array in (a, z))
    power = (log_ndtr(z) + gammaln(a + 1)) / a  # log x where x is so small that P = x^a / Gamma(a + 1)
    regular = (power > -40) & (np.abs(z) < LARGEST_SCORE)
    out = np.exp(np.minimum(power, 0.0))
    out[~(z < LARGEST_SCORE)] = np.inf
    out[np.isnan(z)] = np.nan
    if regular.any():
        out[regular] = _regular_gamma_quantile(a[regular], z[regular], power[regular])
    return out.reshape(shape)


def _regular_gamma_quantile(a: Array, z: Array, power: Array) -> Array:
    upper = z > 0
    log_tail = log_ndtr(-np.abs(z))
    cube = 1 - 1 / (9 * a) + z / (3 * np.sqrt(a))  # Wilson & Hilferty (1931)
    bound = a + np.sqrt(2 * a) * np.sqrt(-log_tail) - log_tail  # Chernoff's, never below the upper quantile
    with np.errstate(over="ignore"):
        small = power < np.log(0.5 * (a + 1))
        start = np.exp(np.where(small, power, 0.0))
        start = np.where(small & ((a < 1) | (cube < 0.3)), start, np.minimum(a * np.maximum(cube, 0.3) ** 3, bound))

    sign = np.where(upper, -1.0, 1.0)

    def height_and_slope(v: Array, i: Where) -> tuple[Array, Array]:
        value, log_hazard = gamma_tail(a[i], start[i] * np.exp(v), upper[i])
        return sign[i] * value, np.exp(log_hazard)

    v = solve_increasing(height_and_slope, sign * log_tail, np.zeros(a.shape), close=1e-9, longest=5.0)
    return start * np.exp(v)
