"""The beta map: three parameters for bias, spread and skew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_ndtr

from .._checks import Array
from ..numerics.tails import log_tails, normal_hazard, score_of_logit
from .base import Map, Side, across
from .tails import UnitTails


@dataclass(frozen=True, eq=False, repr=False)
class BetaMap(Map):
    r""":math:`R(p) = \sigma(a\ln p - b\ln(1-p) + c)`, a, b > 0; identity at a = b = 1, c = 0 (Song et al. 2019, eq. 2).

    Parameters are scalars (shared) or (n,) arrays (one map a row). Works on :math:`\ln\Phi(\pm z)`, finite in both
    tails.

    Examples
    --------
    >>> BetaMap()(np.array([-30.0, 0.0, 2.0])).round(6)
    array([-30.,   0.,   2.])
    """

    _by_row: ClassVar[tuple[str, ...]] = ("a", "b", "c")

    a: Any = 1.0
    b: Any = 1.0
    c: Any = 0.0

    def _logit(self, z: Array) -> tuple[Array, Array, Array]:
        low, high = log_tails(z)
        return across(self.a, z) * low - across(self.b, z) * high + across(self.c, z), low, high

    def __call__(self, z: Array, side: Side = "right") -> Array:
        """Score of R(Φ(z)), from the smaller tail."""
        return score_of_logit(self._logit(np.asarray(z))[0])

    def log_slope(self, z: Array) -> Array:
        """Log dR/dp seen in normal scores."""
        return self.value_and_log_slope(z)[1]

    def value_and_log_slope(self, z: Array) -> tuple[Array, Array]:
        """Both from one logit."""
        z = np.asarray(z)
        h, low, high = self._logit(z)
        t = score_of_logit(h)
        with np.errstate(over="ignore", invalid="ignore"):
            rate = _log_ratio(h, low, high, across(np.log(self.a), z), across(np.log(self.b), z))
            return t, rate + 0.5 * (t - z) * (t + z)

    def inverse(self, t: Array) -> Array:
        """Solve a ln Φ(z) - b ln Φ(-z) + c = logit Φ(t) by guarded Newton steps."""
        t = np.asarray(t, dtype=float)
        with np.errstate(invalid="ignore"):
            logit = log_ndtr(t) - log_ndtr(-t)
        target = np.broadcast_to(logit, np.broadcast_shapes(t.shape, np.shape(across(self.a, t))))
        return self._solve(BetaMap._logit_and_slope, target, t)

    def _logit_and_slope(self, z: Array) -> tuple[Array, Array]:
        h = self._logit(z)[0]
        return h, across(self.a, z) * normal_hazard(-z) + across(self.b, z) * normal_hazard(z)


def fit_beta(z: Array, weights: Array | None = None, *, heavy_tails: bool = False) -> Map:
    """Fit by maximum likelihood, with one pseudo-row at the identity; slope 1 beyond the data on heavy-tailed bases."""
    w = np.ones(len(z)) if weights is None else weights
    low, high = log_tails(z)
    total = w.sum()

    def loss(theta: Array) -> tuple[float, Array]:
        la, lb, c = theta
        h = np.exp(la) * low - np.exp(lb) * high + c
        ratio = _log_ratio(h, low, high, la, lb)
        t, share = np.tanh(0.5 * h), np.exp(la - low - np.logaddexp(la - low, lb - high))
        gradient = np.array([w @ (share - t * np.exp(la) * low), w @ (1 - share + t * np.exp(lb) * high), -(w @ t)])
        return (0.5 * theta @ theta - w @ ratio) / total, (theta - gradient) / total

    best = minimize(loss, np.zeros(3), jac=True, method="L-BFGS-B", bounds=[(-8, 8)] * 2 + [(-50, 50)])
    a, b, c = np.exp(best.x[0]), np.exp(best.x[1]), best.x[2]
    fitted = BetaMap(float(a), float(b), float(c))
    return UnitTails(fitted, float(z.min()), float(z.max())) if heavy_tails else fitted


def _log_ratio(h: Array, low: Array, high: Array, log_a: Any, log_b: Any) -> Array:
    """Log dR/dp without forming p: finite in both tails (Song et al. 2019, eq. 7)."""
    size = np.abs(h)
    return np.asarray(-size - 2 * np.log1p(np.exp(-size)) + np.logaddexp(log_a - low, log_b - high))
