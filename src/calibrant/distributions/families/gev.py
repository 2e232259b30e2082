"""The generalised extreme value law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import gamma, gammaincc, gammaln, zeta

from ..._checks import Array, finite
from ..._types import Numbers
from ...numerics.power_lines import bent_log, bent_power
from ..base import Distribution, across
from ..location_scale import LocationScale
from .gumbel import gumbel_log_slope, gumbel_quantile, gumbel_score

LOG_2 = np.log(2)
SERIES = 0.1  # shapes below have logs of gamma functions as series
_TERMS = np.arange(2, 18)
_ZETA = zeta(_TERMS) / _TERMS
NEAR_ZERO = 0.01  # shapes below are interpolated, lest differences cancel
_NODES = np.array([-0.04, -0.03, -0.02, -0.01, 0.01, 0.02, 0.03, 0.04])


@dataclass(frozen=True, eq=False, repr=False)
class GEV(LocationScale):
    r"""Generalised extreme value laws: :math:`F = \exp(-(1 + \xi u)^{-1/\xi})`, :math:`u = (y - \mu)/\sigma`.

    The law of the largest of many: yearly floods, peaks of load. Shape 0 is the Gumbel law.

    Parameters
    ----------
    loc, scale : array-like (n,) or scalar
    shape : array-like (n,) or scalar
        :math:`\xi`: positive shapes have a heavy upper tail of index :math:`1/\xi` and a lower end, negative ones an
        upper end, at :math:`\mu - \sigma/\xi`. SciPy's ``genextreme`` has c = -shape.

    Examples
    --------
    >>> law = GEV(0.0, [1.0, 2.0], [0.0, 0.25])
    >>> law.interval(0.9).round(3)
    array([[-1.097,  2.97 ],
           [-1.919,  8.81 ]])
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
    def _example(cls, rng: np.random.Generator, rows: int) -> GEV:
        return cls(rng.normal(0, 3, rows), np.exp(rng.normal(0, 0.7, rows)), rng.uniform(0, 0.2, rows))

    @property
    def support(self) -> tuple[Array, Array]:
        r"""One end at :math:`\mu - \sigma/\xi`, unless the shape is 0."""
        with np.errstate(divide="ignore", over="ignore"):
            end = self.loc - self.scale / self.shape
        return np.where(self.shape > 0, end, -np.inf), np.where(self.shape < 0, end, np.inf)

    @property
    def tail_index(self) -> Array:
        r""":math:`1/\xi` for a positive shape."""
        return np.where(self.shape > 0, 1 / np.where(self.shape > 0, self.shape, 1.0), np.inf)

    def _gumbel(self, u: Array) -> Array:
        """The Gumbel variable behind u."""
        return bent_log(u, across(self.shape, u))

    def _standard_to_normal(self, u: Array) -> Array:
        return gumbel_score(self._gumbel(u))

    def _standard_from_normal(self, z: Array) -> Array:
        return bent_power(gumbel_quantile(z), across(self.shape, z))

    def _standard_log_slope(self, u: Array, z: Array) -> Array:
        v = self._gumbel(u)
        with np.errstate(invalid="ignore"):
            return np.where(np.isinf(v), -np.inf, gumbel_log_slope(v, z) - across(self.shape, u) * v)

    def logpdf(self, y: Any) -> Array:
        """Closed form."""
        return self._by_blocks(_log_density, self._points(y))

    def mean(self) -> Array:
        r"""Expectations :math:`\mu + \sigma(\Gamma(1-\xi) - 1)/\xi`; inf for shapes from 1 on."""
        exists = self.shape < 1
        return np.where(exists, self.unstandardised(_excess(np.where(exists, self.shape, 0.0))), np.inf)

    def var(self) -> Array:
        r"""Variances :math:`\sigma^2\{\Gamma(1-2\xi) - \Gamma(1-\xi)^2\}/\xi^2`; inf for shapes from 1/2 on."""
        exists = self.shape < 0.5
        with np.errstate(over="ignore", under="ignore"):
            return np.where(exists, np.square(self.scale) * _standard_var(np.where(exists, self.shape, 0.0)), np.inf)

    def crps(self, y: Any) -> Array:
        r"""Closed form (Friederichs & Thorarinsdottir 2012) for shapes below 1, quadrature beyond.

        .. math:: \sigma\Bigl[u(2F-1) + \frac{2F - 1 - 2^\xi\Gamma(1-\xi) + 2\gamma(1-\xi, t)}{\xi}\Bigr],\quad
            t = -\log F
        """
        return self._by_blocks(_crps, self._outcomes(y))


def _log_gamma(shape: Array) -> Array:
    """Log of Gamma(1 - shape), for shapes below 1."""
    near = np.where(np.abs(shape) < SERIES, shape, 0.0)
    series = near * (np.euler_gamma + (_ZETA * near[:, None] ** (_TERMS - 1)).sum(axis=1))
    return np.where(np.abs(shape) < SERIES, series, gammaln(1 - np.where(np.abs(shape) < SERIES, 0.0, shape)))


def _excess(shape: Array) -> Array:
    """(Gamma(1 - shape) - 1) / shape."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.abs(shape) < 1e-12, np.euler_gamma, np.expm1(_log_gamma(shape)) / shape)


def _standard_var(shape: Array) -> Array:
    near = np.where(np.abs(shape) < SERIES / 2, shape, 0.0)
    series = (_ZETA * (2.0**_TERMS - 2) * near[:, None] ** (_TERMS - 2)).sum(axis=1)  # the exponent below over shape²
    small: Array = np.exp(2 * _log_gamma(near)) * series * _relative(series * near**2)
    far = np.where(np.abs(shape) < SERIES / 2, -1.0, shape)
    return np.where(np.abs(shape) < SERIES / 2, small, (gamma(1 - 2 * far) - gamma(1 - far) ** 2) / far**2)


def _relative(x: Array) -> Array:
    """(exp(x) - 1) / x."""
    return np.where(x == 0, 1.0, np.expm1(x) / np.where(x == 0, 1.0, x))


def _log_density(law: GEV, y: Array) -> Array:
    v = law._gumbel(law.standardised(y))
    with np.errstate(over="ignore", invalid="ignore"):
        value = -v * (1 + across(law.shape, y)) - np.exp(-v)
    return np.where(np.isinf(v), -np.inf, value) - across(np.log(law.scale), y)


def _crps(law: GEV, y: Array) -> Array:
    closed = law.shape < 0.99
    u, shape = law.standardised(y), np.where(closed, law.shape, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        t = np.exp(-law._gumbel(u))
        rise, excess = (
            np.where(shape == 0, LOG_2, np.expm1(shape * LOG_2) / np.where(shape == 0, 1.0, shape)),
            _excess(shape),
        )
        spread = rise - excess + shape * rise * excess
        out = np.asarray(law.scale * (u * (2 * np.exp(-t) - 1) - spread + 2 * _tail_difference(t, shape)))
    if not closed.all():
        out[~closed] = Distribution.crps(law[~closed], y[~closed])
    return out


def _tail_difference(t: Array, shape: Array) -> Array:
    r""":math:`\{e^{-t} - \Gamma(1-\xi, t)\}/\xi`, interpolated over shapes near 0, where it is smooth."""
    near = np.abs(shape) < NEAR_ZERO
    far = np.where(near, NEAR_ZERO, shape)
    out = np.asarray(_direct(t, far))
    if near.any():
        at, x = _direct(t[near][:, None], _NODES), shape[near][:, None]
        gaps = _NODES[:, None] - _NODES + np.eye(len(_NODES))
        weights = np.stack([np.prod(np.delete(x - _NODES, j, axis=1), axis=1) for j in range(len(_NODES))], axis=1)
        out[near] = (at * weights / gaps.prod(axis=1)).sum(axis=1)
    return out


def _direct(t: Array, shape: Array) -> Array:
    return (np.exp(-t) - gamma(1 - shape) * gammaincc(1 - shape, t)) / shape
