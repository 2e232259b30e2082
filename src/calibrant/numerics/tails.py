r"""Normal scores and quantiles from the smaller tail, in logs where probabilities underflow.

Continued fractions are used only far out, where a fixed number of terms reaches full precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincc, erfcx, gammainc, gammaincc, gammaln, log_ndtr, ndtri, ndtri_exp

from .._checks import Array
from .factorials import log_beta_kernel, log_gamma_kernel

Mask = NDArray[np.bool_]
Index = NDArray[np.intp]
LogTail = Callable[[Array, Index], tuple[Array, Array]]

ROOT_2 = math.sqrt(2)
TINY = 1e-290  # tail probabilities below are worked out in logs
TERMS = 60  # of a continued fraction, enough from 4 standard deviations on
LARGEST_SCORE = 1e153  # |z| beyond is taken for infinite; its square would overflow


def log_normal_hazard(z: Array) -> Array:
    r""":math:`\log\{\varphi(z)/\Phi(-z)\}` for z >= 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(0.5 * math.log(2 / math.pi) - np.log(erfcx(z / ROOT_2)))


def score(tail: Array, upper: Mask, log_tail: Callable[[Mask], Array]) -> Array:
    """Normal scores from lower or upper tail probabilities; ``log_tail(where)`` gives the logs of the tiny ones."""
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


def solve_log_tail(tail: LogTail, target: Array, start: Array) -> Array:
    r"""Solve :math:`\log G(v) = t` by Newton's method; v is the logarithm of the variable, G a tail probability.

    ``tail(v, i)`` gives :math:`\log G` and its derivative for the problems i. Where v has a log-concave density (as
    log |T| has, and log X of a gamma variable X), log G is concave and the method converges from any start.
    """
    v = start.copy()
    active = np.flatnonzero(np.isfinite(target) & np.isfinite(start))
    for _ in range(100):
        if not active.size:
            break
        value, slope = tail(v[active], active)
        step = np.clip((target[active] - value) / slope, -5.0, 5.0)
        v[active] += step
        active = active[np.abs(step) > 1e-9]  # convergence is quadratic: the step just taken was the last needed
    return v


# ---- gamma ----
def gamma_score(a: Array, x: Array) -> Array:
    """Normal scores of x under the standard gamma law with shape a; -inf for x <= 0."""
    a, x = np.broadcast_arrays(a, x)
    inside = (x > 0) & (x < np.inf) & (a < np.inf)
    if not inside.all():
        z = np.where(x > 0, np.where(a < np.inf, np.inf, -np.inf), np.where(np.isnan(x), np.nan, -np.inf))
        z[inside] = gamma_score(a[inside], x[inside])
        return z
    tail = gammainc(a, x)
    upper = tail > 0.5
    tail[upper] = gammaincc(a[upper], x[upper])
    tail[_gamma_is_far(a, x)] = 0.0
    return score(tail, upper, lambda i: gamma_far_tail(a[i], x[i], upper[i])[0])


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
    for n in range(TERMS, 0, -1):
        below = sign * (a - x) + np.where(upper, 2 * n + 1, n) + fraction
        fraction = n * (np.where(upper, a - n, x) / below)
    hazard = sign * (a - x) + upper + fraction
    log_hazard = np.log(hazard)
    return np.log(a) + log_gamma_kernel(a, x) - log_hazard, log_hazard


def _gamma_is_far(a: Array, x: Array) -> Mask:
    """Where SciPy's series would need more terms than it takes."""
    return (a > 1e4) & (np.abs(x - a) > 4.4 * np.sqrt(a))


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

    def tail(v: Array, i: Index) -> tuple[Array, Array]:
        value, log_hazard = gamma_tail(a[i], start[i] * np.exp(v), upper[i])
        return value, np.where(upper[i], -1.0, 1.0) * np.exp(log_hazard)

    return start * np.exp(solve_log_tail(tail, log_tail, np.zeros(a.shape)))


# ---- beta ----
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

    return score(tail, upper, log_tail)


def _beta_fraction(b: Array, x: Array, difference: Array) -> Array:
    r""":math:`x^a (1-x)^b / \{B(a,b)\,I_x(a,b)\}`, difference = a(1-x) - bx > 0 (DLMF 15.8.1, then 15.7.5)."""
    fraction = np.zeros(b.shape)
    for n in range(TERMS, 0, -1):
        fraction = n * x * ((b - n) / (difference + x + n * (1 + x) + fraction))
    return difference + x + fraction
