"""The skew-normal law."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import log_ndtr, ndtr, owens_t

from ..._checks import Array, finite
from ..._types import Numbers
from ...numerics.roots import Where, solve_increasing
from ...numerics.tails import HALF_LOG_2PI, LARGEST_SCORE, log_slope_of, score_from_log, score_of
from ..base import across
from ..location_scale import LocationScale

LOG_2 = math.log(2)
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)


@dataclass(frozen=True, eq=False, repr=False)
class SkewNormal(LocationScale):
    r"""Skew-normal laws with density :math:`2\varphi(u)\Phi(\alpha u)/\sigma`, :math:`u = (y - \mu)/\sigma`.

    Azzalini (1985). Shape 0 is the normal law, positive shapes lean to the right.

    Parameters
    ----------
    loc, scale : array-like (n,) or scalar
    shape : array-like (n,) or scalar
        :math:`\alpha`; the mean is :math:`\mu + \sigma\delta\sqrt{2/\pi}`, :math:`\delta = \alpha/\sqrt{1+\alpha^2}`.

    Examples
    --------
    >>> law = SkewNormal(0.0, [1.0, 2.0], [0.0, 4.0])
    >>> law.interval(0.9).round(3)
    array([[-1.645,  1.645],
           [-0.161,  3.92 ]])
    """

    _by_row: ClassVar[tuple[str, ...]] = ("loc", "scale", "shape")

    loc: Array
    scale: Array
    shape: Array

    def __init__(self, loc: Numbers, scale: Numbers, shape: Numbers) -> None:
        self._set_columns(loc=loc, scale=scale, shape=shape)
        self._check()
        finite(self.shape, "shape")

    @classmethod
    def _example(cls, rng: np.random.Generator, rows: int) -> SkewNormal:
        return cls(rng.normal(0, 3, rows), np.exp(rng.normal(0, 0.7, rows)), rng.normal(0, 3, rows))

    def _standard_to_normal(self, u: Array) -> Array:
        a, u = np.broadcast_arrays(across(self.shape, u), u)
        flip = a < 0  # the mirror image of a positive shape
        z = _score(np.abs(a), np.where(flip, -u, u))
        return np.where(flip, -z, z)

    def _standard_from_normal(self, z: Array) -> Array:
        a, z = np.broadcast_arrays(across(self.shape, z), z)
        flip, size = (a < 0).ravel(), np.abs(a).ravel()
        goal = np.where(flip, -z.ravel(), z.ravel())
        known = ~(np.abs(goal) < 0.1 * LARGEST_SCORE)

        def height_and_slope(u: Array, i: Where) -> tuple[Array, Array]:
            score = _score(size[i], u)
            with np.errstate(over="ignore"):
                return score, np.exp(np.minimum(log_slope_of(_log_standard_density(size[i], u), score), 700.0))

        start = np.where(goal > 0, goal, goal / np.sqrt(1 + np.square(size)))
        u = solve_increasing(height_and_slope, np.where(known, 0.0, goal), np.where(known, 0.0, start), close=1e-11)
        return np.where(known, z.ravel(), np.where(flip, -u, u)).reshape(z.shape)

    def _standard_log_slope(self, u: Array, z: Array) -> Array:
        return np.where(np.isinf(z), -np.inf, log_slope_of(_log_standard_density(across(self.shape, u), u), z))

    def logpdf(self, y: Any) -> Array:
        """Closed form."""
        return self._by_blocks(_log_density, self._points(y))

    def _lean(self) -> Array:
        """delta."""
        return self.shape / np.hypot(1.0, self.shape)

    def mean(self) -> Array:
        r"""Expectations :math:`\mu + \sigma\delta\sqrt{2/\pi}`."""
        return self.unstandardised(math.sqrt(2 / math.pi) * self._lean())

    def var(self) -> Array:
        r"""Variances :math:`\sigma^2(1 - 2\delta^2/\pi)`."""
        with np.errstate(over="ignore", under="ignore"):
            return np.square(self.scale) * (1 - 2 / math.pi * np.square(self._lean()))

    def crps(self, y: Any) -> Array:
        r"""Closed form, with :math:`k = \sqrt{1+\alpha^2}` and :math:`m = \delta\sqrt{2/\pi}`.

        .. math:: \sigma\Bigl[u(2F-1) + 4\varphi(u)\Phi(\alpha u) + m(1 - 2\Phi(ku)) - \frac{2}{\sqrt\pi}\Bigl(
            1 - \frac2\pi\arctan\frac1k - \frac{\sqrt2\,\delta}{\pi}\arctan\frac{\alpha}{\sqrt2}\Bigr)\Bigr]

        The last term is half the mean distance of two draws: :math:`X - X'` is :math:`\sqrt2` times a normal variable
        plus :math:`\pm\delta` times the smaller of two half-normal ones.
        """
        return self._by_blocks(_crps, self._outcomes(y))


def _score(a: Array, u: Array) -> Array:
    """Scores for shapes >= 0: the lower tail is the light one and is integrated where Owen's function cancels."""
    tilt = 2 * owens_t(u, a)
    lower, upper = ndtr(u) - tilt, ndtr(-u) + tilt
    z = np.asarray(score_of(np.clip(lower, 0.0, 1.0), np.clip(upper, 0.0, 1.0)))
    far = (u < 0) & (lower < 1e-2 * ndtr(u)) & (u > -np.inf)
    if far.any():
        z[far] = score_from_log(_log_lower_tail(a[far], u[far]))
    deep = (u > 37) & (u < np.inf) | (u < -37) & (a == 0) & (u > -np.inf)
    if deep.any():
        z[deep] = np.where(u[deep] > 0, -score_from_log(log_ndtr(-u[deep]) + LOG_2 * (a[deep] > 0)), u[deep])
    return np.where(np.isinf(u), u, z)


def _log_lower_tail(a: Array, u: Array) -> Array:
    r"""Log of :math:`\int_0^\infty 2\varphi(u-s)\Phi(\alpha(u-s))\,ds`, which falls exponentially."""
    rate = (1 + np.square(a)) * -u + np.sqrt(1 + np.square(a))
    s = (40 / rate)[:, None] * np.square(0.5 + 0.5 * _NODES)  # denser where the integrand is large
    weight = (40 / rate)[:, None] * (0.5 + 0.5 * _NODES) * _WEIGHTS
    logs = _log_standard_density(a[:, None], u[:, None] - s)
    top = _log_standard_density(a, u)
    return np.asarray(top + np.log((np.exp(logs - top[:, None]) * weight).sum(axis=1)))


def _log_standard_density(a: Array, u: Array) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(LOG_2 - 0.5 * np.square(u) - HALF_LOG_2PI + log_ndtr(np.where(a == 0, 0.0, a * u)))


def _log_density(law: SkewNormal, y: Array) -> Array:
    u = law.standardised(y)
    inner = _log_standard_density(across(law.shape, y), np.where(np.isinf(u), 0.0, u))
    return np.where(np.isinf(u), -np.inf, inner) - across(np.log(law.scale), y)


def _crps(law: SkewNormal, y: Array) -> Array:
    a, u = law.shape, law.standardised(y)
    k, lean = np.hypot(1.0, a), law._lean()
    with np.errstate(over="ignore", under="ignore"):
        density = np.exp(-0.5 * u * u - HALF_LOG_2PI) * ndtr(a * u)
        centre = u * (1 - 2 * ndtr(-u) - 4 * owens_t(u, a)) + 4 * density
        lost = math.sqrt(2 / math.pi) * lean * (1 - 2 * ndtr(k * u))
    apart = 1 - 2 / math.pi * np.arctan(1 / k) - math.sqrt(2) / math.pi * lean * np.arctan(a / math.sqrt(2))
    return np.asarray(law.scale * (centre + lost - 2 / math.sqrt(math.pi) * apart))
