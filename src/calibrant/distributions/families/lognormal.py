"""The log-normal law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import erf, log_ndtr, ndtr

from ..._checks import Array, finite, positive
from ..._types import Numbers
from ...maps.base import Side
from ...numerics.quiet import NOT_NUMBERS
from ...numerics.tails import HALF_LOG_2PI, ROOT_2
from ..base import Parametric, across
from ..location_scale import copies_soundly

SMALL_SCALE = 0.01
FAR_LOG_MEAN, WIDE = 700.0, 2.0


@dataclass(frozen=True, eq=False, repr=False)
class LogNormal(Parametric):
    r"""Laws of :math:`Y = e^X` with a normal X; the normal score is :math:`z = (\log y - \mu)/\sigma`.

    Parameters
    ----------
    loc, scale : array-like (n,) or scalar
        Mean and standard deviation of log y: the median is :math:`e^\mu`, the mean :math:`e^{\mu+\sigma^2/2}`.

    Examples
    --------
    >>> law = LogNormal([0.0, 1.0], 0.5)
    >>> law.interval(0.9).round(3)
    array([[0.439, 2.276],
           [1.194, 6.187]])
    """

    _by_row: ClassVar[tuple[str, ...]] = ("loc", "scale")

    loc: Array
    scale: Array

    def __init__(self, loc: Numbers, scale: Numbers) -> None:
        if copies_soundly(self, loc, scale):
            return
        self._set_columns(loc=loc, scale=scale)
        finite(self.loc, "loc", "It is the mean of log y.")
        positive(self.scale, "scale", "It is the standard deviation of log y.")

    @property
    def support(self) -> tuple[Array, Array]:
        """From 0 to infinity."""
        return np.zeros(len(self)), np.full(len(self), np.inf)

    def to_normal(self, y: Array, side: Side = "right") -> Array:
        """Normal scores; -inf for y <= 0."""
        with np.errstate(over="ignore", divide="ignore"):
            if y.ndim == 1:
                return self._scores(y)
            z = _log(y) - across(self.loc, y)
            z /= across(self.scale, y)
        return z

    def _scores(self, y: Array) -> Array:
        """Normal scores of one outcome a row."""
        z = _log(y)
        z -= self.loc
        z /= self.scale
        return z

    def from_normal(self, z: Array) -> Array:
        """Quantiles at normal scores."""
        with np.errstate(over="ignore"):
            return np.exp(across(self.loc, z) + across(self.scale, z) * z)

    def log_slope(self, y: Array) -> Array:
        """log dz/dy; -inf for y < 0."""
        with np.errstate(divide="ignore"):
            slope = -_log(y) - across(np.log(self.scale), y)
        return np.where(y < 0, -np.inf, slope)

    def mean(self) -> Array:
        r"""Expectations :math:`e^{\mu+\sigma^2/2}`."""
        with np.errstate(over="ignore"):
            return np.exp(self.loc + 0.5 * np.square(self.scale))

    def var(self) -> Array:
        r"""Variances :math:`(e^{\sigma^2}-1)\,e^{2\mu+\sigma^2}`."""
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            square: Array = np.square(self.scale)
            return np.exp(2 * self.loc + 2 * square + np.log(-np.expm1(-square)))

    def crps(self, y: Any) -> Array:
        r"""Closed form (Baran & Lerch 2015), :math:`z = (\log y-\mu)/\sigma`.

        .. math:: y(2\Phi(z)-1) - 2e^{\mu+\sigma^2/2}\,[\Phi(z-\sigma) + \Phi(\sigma/\sqrt2) - 1]
        """
        return self._by_blocks(_crps, self._outcomes(y))


def _log(y: Array) -> Array:
    """Logs of what is above 0, and -inf; a new array."""
    above = np.maximum(y, 0.0)
    return np.log(above, out=above if above.ndim else None)


def _crps(law: LogNormal, y: Array) -> Array:
    return NOT_NUMBERS.copy().run(_plain_crps, law, y)


def _plain_crps(law: LogNormal, y: Array) -> Array:
    z, scale = law._scores(y), law.scale
    least, most = _ends(scale)
    part, far = _part_of_mean(law, z, wide=most > WIDE)
    out = _balance(z)
    out *= y
    out -= part
    if least < SMALL_SCALE:
        small = scale < SMALL_SCALE
        out[small] = _crps_of_small_scale(law.loc[small], scale[small], z[small], y[small])
    if far:
        out[np.isnan(out) & ~np.isnan(y)] = np.inf  # the terms overflow only where the score does
    return out


def _part_of_mean(law: LogNormal, z: Array, *, wide: bool) -> tuple[Array, bool]:
    """The mean times what stands in brackets, doubled; in logs where a factor may overflow or the sum may vanish.

    And whether there are such rows.
    """
    scale = law.scale
    log_mean = scale * scale
    log_mean *= 0.5
    log_mean += law.loc
    least, most = _ends(log_mean)
    is_far = wide or max(-least, most) > FAR_LOG_MEAN
    if is_far:
        far = (np.abs(log_mean) > FAR_LOG_MEAN) | (scale > WIDE)
        in_logs = _part_in_logs(log_mean[far], z[far], scale[far])
    room = z - scale
    out = _balance(room)
    np.multiply(scale, 0.5, out=room)
    out += erf(room, out=room)
    out *= np.exp(log_mean, out=log_mean)
    if is_far:
        out[far] = in_logs
    return out, is_far


def _part_in_logs(log_mean: Array, z: Array, scale: Array) -> Array:
    below, spread = (np.exp(log_mean + log_ndtr(score)) for score in (z - scale, scale * (-1 / ROOT_2)))
    return np.asarray(2 * (below - spread))


def _ends(column: Array) -> tuple[float, float]:
    """Least and largest number; 1 of none."""
    return (column.item(column.argmin()), column.item(column.argmax())) if column.size else (1.0, 1.0)


def _balance(score: Array) -> Array:
    r"""From scores s to :math:`2\Phi(s) - 1`."""
    out = np.abs(score)
    out *= 1 / ROOT_2
    erf(out, out=out)  # of both signs it takes longer, for nobody can foresee which comes next
    return np.copysign(out, score, out=out)


def _crps_of_small_scale(loc: Array, scale: Array, z: Array, y: Array) -> Array:
    """The same with terms of the size of the result: a series for Phi(z) - Phi(z - scale)."""
    mean = np.exp(loc + 0.5 * scale**2)
    c, h = z - scale / 2, scale / 2
    series = 1 + (c**2 - 1) * h**2 / 6 + (c**4 - 6 * c**2 + 3) * h**4 / 120
    mass = np.where(np.abs(c) < 30, scale * np.exp(-0.5 * c**2 - HALF_LOG_2PI) * series, 0.0)
    excess = np.where(np.abs(z) < 30, mean * np.expm1(scale * z - 0.5 * scale**2), y - mean)
    return excess * (2 * ndtr(z) - 1) + mean * (2 * mass - erf(scale / 2))
