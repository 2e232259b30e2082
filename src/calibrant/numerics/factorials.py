r"""Factorials and their ratios in logs, exact for large arguments.

Loader (2000), "Fast and accurate computation of binomial probabilities". The terms of
:math:`k\log\lambda - \lambda - \log k!` are of size :math:`k\log k` while the result is of size
:math:`(k-\lambda)^2/\lambda`; written as a deviance and Stirling's error, nothing cancels.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln

from .._checks import Array

LOG_2PI = math.log(2 * math.pi)
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
_HALF_STEP = (-1 / 8, 1 / 192, -1 / 640, 17 / 14336, -31 / 18432, 691 / 180224)


def stirling_error(a: Array) -> Array:
    r""":math:`\log\Gamma(a+1) - (a+\tfrac12)\log a + a - \tfrac12\log 2\pi` for a > 0."""
    small = a < 16
    if small.all():
        return _direct_error(a)
    return np.where(small, _direct_error(np.where(small, a, 1.0)), _odd_powers(_STIRLING, np.where(small, 16.0, a)))


def _direct_error(a: Array) -> Array:
    return np.asarray(gammaln(a + 1) - (a + 0.5) * np.log(a) + a - 0.5 * LOG_2PI)


def log_half_step(a: Array) -> Array:
    r""":math:`\log\Gamma(a+\tfrac12) - \log\Gamma(a)` for a > 0."""
    small = a < 16
    if small.all():
        return np.asarray(gammaln(a + 0.5) - gammaln(a))
    near = np.where(small, a, 1.0)
    far = np.where(small, 16.0, a)
    direct = gammaln(near + 0.5) - gammaln(near)
    return np.where(small, direct, 0.5 * np.log(far) + _odd_powers(_HALF_STEP, far))


def deviance(x: Array, mean: Array, difference: Array) -> Array:
    r""":math:`x\log(x/m) + m - x` for x, m > 0, from the difference x - m, which the caller knows best."""
    v = difference / (x + mean)
    square = np.minimum(v * v, 1.0)
    series = square * (1 / 19)
    for j in range(8, 0, -1):  # 0.1^20 / 21 is below the last digit
        series += 1 / (2 * j + 1)
        series *= square
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        near = difference * v + 2 * x * v * series
        ratio = x / mean
        log_ratio = np.log(ratio)
        if not (regular := np.isfinite(log_ratio)).all():
            log_ratio = np.where(regular, log_ratio, np.log(x) - np.log(mean))
        return np.where(np.abs(v) < 0.1, near, x * log_ratio - difference)


def log_gamma_kernel(a: Array, x: Array) -> Array:
    r""":math:`\log\{x^a e^{-x}/\Gamma(a+1)\}` for a, x > 0: the Poisson(x) probability of the count a."""
    return -deviance(a, x, a - x) - 0.5 * (LOG_2PI + np.log(a)) - stirling_error(a)


def log_beta_kernel(a: Array, b: Array, odds: Array, difference: Array) -> Array:
    r""":math:`\log\{p^a q^b/B(a,b)\}` for a, b > 0 and p + q = 1, from the odds q/p and the difference aq - bp."""
    p, q = 1 / (1 + odds), odds / (1 + odds)
    spread = np.minimum(a, b) / (1 + np.minimum(a, b) / np.maximum(a, b))  # ab / (a + b)
    errors = stirling_error(a + b) - stirling_error(a) - stirling_error(b)
    misfit = deviance(a, (a + b) * p, difference) + deviance(b, (a + b) * q, -difference)
    return 0.5 * (np.log(spread) - LOG_2PI) + errors - misfit


def _odd_powers(coefficients: tuple[float, ...], a: Array) -> Array:
    """c0 / a + c1 / a^3 + c2 / a^5 and so on."""
    inverse = 1 / a
    total = np.zeros_like(a)
    for c in reversed(coefficients):
        total = c + inverse * inverse * total
    return inverse * total
