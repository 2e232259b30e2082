"""The generalised Pareto law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import exprel, log_ndtr, ndtri

from ..._checks import Array, finite
from ..._types import Numbers
from ...numerics.power_lines import bent_log, bent_power
from ...numerics.tails import log_normal_hazard, score_from_log
from ..base import across
from ..location_scale import LocationScale

LOG_2 = np.log(2)


@dataclass(frozen=True, eq=False, repr=False)
class GPD(LocationScale):
    r"""Generalised Pareto laws: :math:`P(Y > y) = (1 + \xi u)^{-1/\xi}`, :math:`u = (y - \mu)/\sigma \ge 0`.

    The law of what exceeds a high threshold :math:`\mu`; shape 0 is the exponential law.

    Parameters
    ----------
    loc, scale : array-like (n,) or scalar
        Lower ends and scales.
    shape : array-like (n,) or scalar
        :math:`\xi`: the tail index is :math:`1/\xi` where it is positive; the support ends at :math:`\mu - \sigma/\xi`
        where it is negative. SciPy's ``genpareto`` calls it c.

    Examples
    --------
    >>> law = GPD(0.0, [1.0, 2.0], [0.0, 0.25])
    >>> law.interval(0.9).round(3)
    array([[0.051, 2.996],
           [0.103, 8.918]])
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
    def _example(cls, rng: np.random.Generator, rows: int) -> GPD:
        return cls(0.0, np.exp(rng.normal(0, 0.7, rows)), rng.uniform(-0.2, 0.2, rows))

    @property
    def support(self) -> tuple[Array, Array]:
        r"""From loc to infinity, or to :math:`\mu - \sigma/\xi` for a negative shape."""
        bounded = self.shape < 0
        reach = np.where(bounded, -1 / np.where(bounded, self.shape, -1.0), np.inf)
        return self.loc.copy(), self.loc + self.scale * reach

    @property
    def tail_index(self) -> Array:
        r""":math:`1/\xi` for a positive shape."""
        return np.where(self.shape > 0, 1 / np.where(self.shape > 0, self.shape, 1.0), np.inf)

    def _hazard(self, u: Array) -> Array:
        """-log P(U > u), from 0 to infinity."""
        return bent_log(np.maximum(u, 0.0), across(self.shape, u))

    def _standard_to_normal(self, u: Array) -> Array:
        v = self._hazard(u)
        low = ndtri(-np.expm1(-np.minimum(v, LOG_2)))
        return np.where(v < LOG_2, low, -score_from_log(-np.maximum(v, LOG_2)))

    def _standard_from_normal(self, z: Array) -> Array:
        return bent_power(-log_ndtr(-z), across(self.shape, z))

    def _standard_log_slope(self, u: Array, z: Array) -> Array:
        """Hazard of the smaller tail over that of a normal variable."""
        v = self._hazard(u)
        with np.errstate(divide="ignore", invalid="ignore"):
            log_hazard = -across(self.shape, u) * v
            log_hazard = np.where(z < 0, log_hazard - v - np.log(-np.expm1(-v)), log_hazard)
            return np.where(np.isinf(z), -np.inf, log_hazard - log_normal_hazard(np.abs(z)))

    def logpdf(self, y: Any) -> Array:
        """Closed form."""
        return self._by_blocks(_log_density, self._points(y))

    def mean(self) -> Array:
        r"""Expectations :math:`\mu + \sigma/(1-\xi)`; inf for shapes from 1 on."""
        exists = self.shape < 1
        return np.where(exists, self.loc + self.scale / np.where(exists, 1 - self.shape, 1.0), np.inf)

    def var(self) -> Array:
        r"""Variances :math:`\sigma^2/\{(1-\xi)^2(1-2\xi)\}`; inf for shapes from 1/2 on."""
        exists = self.shape < 0.5
        shape = np.where(exists, self.shape, 0.0)
        with np.errstate(over="ignore", under="ignore"):
            return np.where(exists, np.square(self.scale / (1 - shape)) / (1 - 2 * shape), np.inf)

    def crps(self, y: Any) -> Array:
        r"""Closed form (Friederichs & Thorarinsdottir 2012), :math:`v = -\log P(U > u)`; inf for shapes from 2 on.

        .. math:: \sigma\Bigl[|u| - 2\,\frac{1 - e^{-(1-\xi)v}}{1-\xi} + \frac1{2-\xi}\Bigr]
        """
        return self._by_blocks(_crps, self._outcomes(y))


def _log_density(law: GPD, y: Array) -> Array:
    u = law.standardised(y)
    v = law._hazard(u)
    with np.errstate(invalid="ignore"):
        inside = np.where(v == np.inf, -np.inf, -v * (1 + across(law.shape, y)))
    return np.where(u < 0, -np.inf, inside) - across(np.log(law.scale), y)


def _crps(law: GPD, y: Array) -> Array:
    u = law.standardised(y)
    exists = law.shape < 2
    shape = np.where(exists, law.shape, 0.0)
    v = np.minimum(law._hazard(u), 1e300)
    with np.errstate(over="ignore", invalid="ignore"):
        value = (
            np.abs(u)
            - 2 * np.where(shape < 1, _saturating(v, 1 - shape), v * exprel((shape - 1) * v))
            + 1 / (2 - shape)
        )
    return np.where(exists, law.scale * value, np.where(np.isnan(y), np.nan, np.inf))


def _saturating(v: Array, rate: Array) -> Array:
    """(1 - exp(-rate v)) / rate for rate >= 0."""
    safe = np.where(rate > 0, rate, 1.0)
    return np.where(rate > 0, -np.expm1(-safe * v) / safe, v)
