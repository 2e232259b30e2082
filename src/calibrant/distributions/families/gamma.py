"""The gamma law."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln

from ..._checks import Array, positive
from ..._types import Numbers
from ...maps.base import Side
from ...numerics.factorials import log_gamma_kernel, log_half_step
from ...numerics.gamma_tails import gamma_balance, gamma_quantile, gamma_score, gamma_tail
from ...numerics.tails import HALF_LOG_2PI, log_normal_hazard
from ..base import Parametric, across

TINY_SHAPE, SMALL_SHAPE = 0.1, 16.0


@dataclass(frozen=True, eq=False, repr=False)
class Gamma(Parametric):
    r"""Gamma laws with density :math:`x^{a-1}e^{-x}/(\theta\,\Gamma(a))`, :math:`x = y/\theta > 0`.

    Parameters
    ----------
    shape, scale : array-like (n,) or scalar
        :math:`a` and :math:`\theta`; the mean is :math:`a\theta`, the variance :math:`a\theta^2`. From a mean m and a
        standard deviation s: ``Gamma((m / s) ** 2, s**2 / m)``. Shape 1 is the exponential law.

    Examples
    --------
    >>> law = Gamma([1.0, 4.0], [1.0, 0.5])
    >>> law.interval(0.9).round(3)
    array([[0.051, 2.996],
           [0.683, 3.877]])
    """

    _by_row: ClassVar[tuple[str, ...]] = ("shape", "scale")

    shape: Array
    scale: Array

    def __init__(self, shape: Numbers, scale: Numbers) -> None:
        self._set_columns(shape=shape, scale=scale)
        positive(self.shape, "shape")
        positive(self.scale, "scale")

    @property
    def support(self) -> tuple[Array, Array]:
        """From 0 to infinity."""
        return np.zeros(len(self)), np.full(len(self), np.inf)

    def to_normal(self, y: Array, side: Side = "right") -> Array:
        """Normal scores; -inf for y <= 0."""
        return gamma_score(across(self.shape, y), _standardised(self, y))

    def from_normal(self, z: Array) -> Array:
        """Quantiles at normal scores."""
        with np.errstate(over="ignore"):
            return across(self.scale, z) * gamma_quantile(across(self.shape, z), z)

    def log_slope(self, y: Array) -> Array:
        """log dz/dy; -inf for y < 0."""
        return self.score_and_log_slope(y)[1]

    def score_and_log_slope(self, y: Array) -> tuple[Array, Array]:
        """Slopes from density and score; far out from hazards, lest they cancel."""
        a, x = np.broadcast_arrays(across(self.shape, y), _standardised(self, y))
        z = gamma_score(a, x)
        with np.errstate(over="ignore", invalid="ignore"):
            out = _log_standard_density(a, x) + 0.5 * z * z + HALF_LOG_2PI
        far = (np.abs(z) > 36) & np.isfinite(z)
        if far.any():
            log_hazard = gamma_tail(a[far], x[far], z[far] > 0)[1]
            out[far] = log_hazard - np.log(x[far]) - log_normal_hazard(np.abs(z[far]))
        out = np.where(np.isinf(z), np.where(x == 0, np.inf, -np.inf), out)
        return z, out - across(np.log(self.scale), y)

    def logpdf(self, y: Any) -> Array:
        """Closed form; at y = 0 the limit from the right (infinite for shape < 1)."""
        return self._by_blocks(_log_density, self._points(y))

    def mean(self) -> Array:
        r"""Expectations :math:`a\theta`."""
        with np.errstate(over="ignore"):
            return self.shape * self.scale

    def var(self) -> Array:
        r"""Variances :math:`a\theta^2`."""
        with np.errstate(over="ignore"):
            return self.shape * self.scale * self.scale

    def std(self) -> Array:
        r"""Standard deviations :math:`\sqrt a\,\theta`."""
        with np.errstate(over="ignore"):
            return np.sqrt(self.shape) * self.scale

    def crps(self, y: Any) -> Array:
        r"""Closed form (Möller & Scheuerer 2015), written so that large shapes do not cancel.

        .. math:: \theta\Bigl[(x-a)(2F_a(x)-1) + \frac{2x^a e^{-x}}{\Gamma(a)} - \frac{1}{B(\frac12,a)}\Bigr]
        """
        return self._by_blocks(_crps, self._outcomes(y))


def _standardised(law: Gamma, y: Array) -> Array:
    with np.errstate(over="ignore"):
        return y / across(law.scale, y)


def _log_standard_density(a: Array, x: Array) -> Array:
    a, x = np.broadcast_arrays(a, x)
    inside = (x > 0) & (x < np.inf)
    safe = np.where(inside, x, 1.0)
    out = np.log(a) + log_gamma_kernel(a, safe) - np.log(safe)
    at_zero = np.where(a == 1, 0.0, np.where(a < 1, np.inf, -np.inf))
    outside = np.where(x == 0, at_zero, np.where(np.isnan(x), np.nan, -np.inf))
    return np.where(inside, out, outside)


def _log_density(law: Gamma, y: Array) -> Array:
    return _log_standard_density(across(law.shape, y), _standardised(law, y)) - across(np.log(law.scale), y)


def _crps(law: Gamma, y: Array) -> Array:
    a, x = law.shape, _standardised(law, y)
    inside = (x > 0) & (x < np.inf)
    if inside.all():
        return _inner_crps(law, x)
    peak = np.where(inside, a * np.exp(log_gamma_kernel(a, np.where(inside, x, 1.0))), 0.0)
    spread = np.exp(log_half_step(a)) / math.sqrt(math.pi)
    with np.errstate(over="ignore", invalid="ignore"):
        away = np.where(np.isinf(x), y - law.mean(), law.scale * (x - a))  # x may overflow where y does not
        out = away * gamma_balance(a, x) + law.scale * (2 * peak - spread)
    return np.where(np.isnan(out) & ~np.isnan(y), np.inf, np.maximum(out, 0.0))


def _inner_crps(law: Gamma, x: Array) -> Array:
    """Where all outcomes lie within the support, and none is so vast that a ratio overflows."""
    a = law.shape
    out, ratio = _peak_and_ratio(a, x)
    out *= 2
    ratio /= math.sqrt(math.pi)
    out -= ratio
    with np.errstate(over="ignore", invalid="ignore"):
        out += (x - a) * gamma_balance(a, x)
        out *= law.scale
    return np.where(np.isnan(out), np.inf, np.maximum(out, 0.0))


def _peak_and_ratio(a: Array, x: Array) -> tuple[Array, Array]:
    r""":math:`x^a e^{-x}/\Gamma(a)` and :math:`\Gamma(a + \frac12)/\Gamma(a)`, directly where nothing cancels."""
    if a.min(initial=SMALL_SHAPE) > TINY_SHAPE and a.max(initial=0.0) < SMALL_SHAPE:
        log_gamma = gammaln(a)
        return np.exp(a * np.log(x) - x - log_gamma), np.exp(gammaln(a + 0.5) - log_gamma)
    return a * np.exp(log_gamma_kernel(a, x)), np.exp(log_half_step(a))
