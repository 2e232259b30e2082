"""A monotone flow: the beta map with smooth steps on top, one map a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, log_expit, log_ndtr

from .._checks import Array
from ..numerics.tails import normal_hazard, score_of_logit
from .base import Map, Side, across

_CLOSE = 1e-13  # of h: beyond that there is only rounding


@dataclass(frozen=True, eq=False, repr=False)
class FlowMap(Map):
    r"""Increasing by construction, with as many shapes as steps; a batch, one map a row.

    .. math:: R = \sigma(h), \quad h = a\ln q - b\ln(1-q) + c + \sum_j e_j\,[\sigma((u-\kappa_j)/s) - \tfrac12],
        \quad q = \Phi(u), \; u = (z - m)/r

    with :math:`a, b > 0` and :math:`e_j \ge 0`; the identity at a = b = 1, c = 0, e = 0, m = 0, r = 1. Everything is
    computed from :math:`\ln\Phi(\pm u)` and hazard rates, finite in both tails.

    Parameters
    ----------
    a, b, c : ndarray (n,)
    heights, centres : ndarray (n, J)
        :math:`e_j` and :math:`\kappa_j`.
    width, location, scale : ndarray (n,)
        s, m and r.

    Examples
    --------
    >>> one = np.ones(1)
    >>> two_modes = FlowMap(one, one, 0 * one, 3 * np.ones((1, 1)), np.zeros((1, 1)), 0.5 * one, 0 * one, one)
    >>> two_modes(np.array([[-1.0, 0.0, 1.0]])).round(2) + 0.0
    array([[-1.58,  0.  ,  1.58]])
    """

    _by_row: ClassVar[tuple[str, ...]] = ("a", "b", "c", "heights", "centres", "width", "location", "scale")

    a: Array
    b: Array
    c: Array
    heights: Array
    centres: Array
    width: Array
    location: Array
    scale: Array

    def _logit_and_slope(self, z: Array) -> tuple[Array, Array]:
        """h and dh/dz."""
        scale, width = across(self.scale, z), across(self.width, z)
        u = (z - across(self.location, z)) / scale
        a, b = across(self.a, z), across(self.b, z)
        h = a * log_ndtr(u) - b * log_ndtr(-u) + across(self.c, z)
        slope = a * normal_hazard(-u) + b * normal_hazard(u)
        for j in range(self.heights.shape[1]):
            step = expit((u - across(self.centres[:, j], z)) / width)
            height = across(self.heights[:, j], z)
            h += height * (step - 0.5)
            slope += height * step * (1 - step) / width
        return h, slope / scale

    def __call__(self, z: Array, side: Side = "right") -> Array:
        """Score of R(Φ(z)), from the smaller tail."""
        return score_of_logit(self._logit_and_slope(np.asarray(z))[0])

    def log_slope(self, z: Array) -> Array:
        r"""Log dT/dz: :math:`\ln h' + \ln\sigma(|h|)` less the log hazard of the smaller tail."""
        return self.value_and_log_slope(z)[1]

    def value_and_log_slope(self, z: Array) -> tuple[Array, Array]:
        """Both from one logit."""
        h, slope = self._logit_and_slope(np.asarray(z))
        t = score_of_logit(h)
        with np.errstate(divide="ignore"):
            return t, np.asarray(np.log(slope) + log_expit(np.abs(h)) - np.log(normal_hazard(np.abs(t))))

    def inverse(self, t: Array) -> Array:
        """Solve h(z) = logit Φ(t) by guarded Newton steps."""
        t = np.asarray(t, dtype=float)
        with np.errstate(invalid="ignore"):
            logit = log_ndtr(t) - log_ndtr(-t)
        target = np.broadcast_to(logit, np.broadcast_shapes(t.shape, np.shape(across(self.a, t))))
        start = across(self.location, t) + across(self.scale, t) * t
        return self._solve(FlowMap._logit_and_slope, target, start, met=_CLOSE)
