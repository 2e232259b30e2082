"""One smooth curve on [0, 1] per row: segments of a law get new masses, and the density does not jump between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr

from .._checks import Array
from ..numerics.lines import count_below, pick
from ..numerics.tails import log_between, score_of_logs
from .base import Map, Side
from .probability_rows import ProbabilityRows

_STEEPEST = 20.0  # log of the largest ratio of a slope at a knot to the mean slope of a segment


@dataclass(frozen=True, eq=False, repr=False)
class SmoothRows(Map):
    r"""R increasing with a continuous slope, one R per row: rational quadratic pieces; R(0) = 0 and R(1) = 1.

    .. math:: R(p) = r_i + (r_{i+1} - r_i)\,\frac{\xi^2 + a\,\xi(1 - \xi)}{1 + (a + b - 2)\,\xi(1 - \xi)},
        \qquad \xi = \frac{p - p_i}{p_{i+1} - p_i}

    Gregory & Delbourgo (1982). a and b are the slopes at both ends of a segment over its mean slope
    :math:`e^{\rho_i}`; the slope at a knot is the geometric mean of its neighbours' mean slopes, and in both tails the
    mean slope itself, so that a tail index is kept. Increasing whatever the masses are, and inverted in closed form.

    Parameters
    ----------
    knots, levels : array (n, K)
        Normal scores of :math:`p_i` and :math:`r_i = R(p_i)`, non-decreasing in each row.
    log_rise : array (n, K + 1)
        Log mean slopes :math:`\rho_i` of the segments.

    Examples
    --------
    >>> from scipy.special import ndtri
    >>> rows = SmoothRows.from_log_masses(ndtri(np.array([[0.25, 0.75]])), np.log([[0.1, 0.8, 0.1]]))
    >>> ndtr(rows(ndtri(np.array([[0.25, 0.5, 0.75]])))).round(3)
    array([[0.1, 0.5, 0.9]])
    """

    _by_row: ClassVar[tuple[str, ...]] = ("knots", "levels", "log_rise")
    _ascending: ClassVar[tuple[str, ...]] = ("knots", "levels")

    knots: Array
    levels: Array
    log_rise: Array

    @classmethod
    def from_log_masses(cls, knots: Array, log_masses: Array, log_base: Array | None = None) -> Self:
        """As `ProbabilityRows.from_log_masses`."""
        line = ProbabilityRows.from_log_masses(knots, log_masses, log_base)
        return cls(line.knots, line.levels, line.log_rise)

    @property
    def row_bends(self) -> Array:
        """The knots."""
        return self.knots

    def __call__(self, z: Array, side: Side = "right") -> Array:
        """Score of R(Φ(z))."""
        return self.value_and_log_slope(z)[0]

    def inverse(self, t: Array) -> Array:
        """Score of the p with R(p) = Φ(t)."""
        t = self._spread(t)
        segment = count_below(self.levels, t, strict=True)
        (bottom, top), (a, b) = self._ends(self.levels, segment), self._bends(segment)
        log_low, log_high = _shares(t, bottom, top)
        x, back = (_solved(np.exp(one), np.exp(other), *ends) for one, other, ends in (
            (log_low, log_high, (a, b)), (log_high, log_low, (b, a))
        ))  # fmt: skip
        return _inside(log_low + x, log_high + back, *self._ends(self.knots, segment))

    def log_slope(self, z: Array) -> Array:
        """Log dR/dp seen in normal scores."""
        return self.value_and_log_slope(z)[1]

    def value_and_log_slope(self, z: Array) -> tuple[Array, Array]:
        """Both from one look-up."""
        z = self._spread(z)
        segment = count_below(self.knots, z)
        (a, b), (bottom, top) = self._bends(segment), self._ends(self.levels, segment)
        log_low, log_high = _shares(z, *self._ends(self.knots, segment))
        x, rest = np.exp(log_low), np.exp(log_high)
        spread = np.log1p((a + b - 2) * x * rest)
        t = _inside(log_low + np.log(x + a * rest) - spread, log_high + np.log(rest + b * x) - spread, bottom, top)
        bend = np.log(b * x * x + 2 * x * rest + a * rest * rest) - 2 * spread
        with np.errstate(over="ignore", invalid="ignore"):
            return t, pick(self.log_rise, segment) + bend + 0.5 * (t - z) * (t + z)

    def tails_in(self, z: Array, segment: NDArray[np.intp]) -> tuple[Array, Array]:
        """R and 1 - R at scores (n, m, q), q in each of m known segments, without logs: for sums, not for far tails."""
        which = np.broadcast_to(segment, z.shape[:2])
        (start, end), (bottom, top) = self._ends(self.knots, which), self._ends(self.levels, which)
        a, b = (side[:, :, None] for side in self._bends(which))
        with np.errstate(divide="ignore", invalid="ignore"):
            upper = (start + end > 0)[:, :, None]
            first = ndtr(np.where(upper[:, :, 0], -start, start))[:, :, None]
            x = np.abs(ndtr(np.where(upper, -z, z)) - first) / _mass(start, end)[:, :, None]
        x = np.clip(np.where(np.isnan(x), 0.5, x), 0.0, 1.0)
        rest, mass = 1 - x, _mass(bottom, top)[:, :, None]
        both = x * rest
        spread = mass / (1 + (a + b - 2) * both)
        return ndtr(bottom)[:, :, None] + (x * x + a * both) * spread, ndtr(-top)[:, :, None] + (
            rest * rest + b * both
        ) * spread

    def _bends(self, segment: NDArray[np.intp]) -> tuple[Array, Array]:
        """Slopes at both ends of segments over their mean slopes."""
        rise, last = self.log_rise, self.log_rise.shape[1] - 1
        own = pick(rise, segment)
        sides = (pick(rise, np.clip(segment + step, 0, last)) for step in (-1, 1))
        a, b = (np.exp(np.clip(0.5 * (side - own), -_STEEPEST, _STEEPEST)) for side in sides)
        return a, b

    def _ends(self, table: Array, segment: NDArray[np.intp]) -> tuple[Array, Array]:
        last = table.shape[1] - 1
        low, high = pick(table, np.clip(segment - 1, 0, last)), pick(table, np.clip(segment, 0, last))
        return np.where(segment == 0, -np.inf, low), np.where(segment > last, np.inf, high)

    def _spread(self, z: Array) -> Array:
        z = np.asarray(z, dtype=np.float64)
        return np.broadcast_to(z, (len(self.knots), z.shape[1]) if z.ndim == 2 else (len(self.knots),))


def _shares(z: Array, start: Array, end: Array) -> tuple[Array, Array]:
    """Logs of the shares of a segment's probability below and above a score in it."""
    z = np.clip(z, start, end)
    whole = log_between(start, end)
    with np.errstate(invalid="ignore"):
        low, high = log_between(start, z) - whole, log_between(z, end) - whole
    none = np.isneginf(whole)
    return np.where(none, np.log(0.5), np.minimum(low, 0.0)), np.where(none, np.log(0.5), np.minimum(high, 0.0))


def _inside(log_low: Array, log_high: Array, start: Array, end: Array) -> Array:
    """Scores in segments that leave these shares of the segment's probability below and above, in logs."""
    whole = log_between(start, end)
    low = np.logaddexp(log_ndtr(start), whole + log_low)
    high = np.logaddexp(log_ndtr(-end), whole + log_high)
    return np.clip(score_of_logs(np.minimum(low, -1e-300), np.minimum(high, -1e-300)), start, end)


def _solved(share: Array, rest: Array, a: Array, b: Array) -> Array:
    r"""Log of :math:`\xi` over the share that it is given, by the root that does not cancel."""
    delta = a + b - 2
    middle = a - share * delta
    root = np.sqrt(np.maximum(np.square(middle) + 4 * (1 - middle) * share, 0.0))
    other = b - rest * delta
    mirrored = np.sqrt(np.maximum(np.square(other) + 4 * (1 - other) * rest, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        direct = np.log(2.0) - np.log(middle + root)
        across = np.log(np.maximum(1 - 2 * rest / (other + mirrored), 0.0)) - np.log(share)
    return np.where(middle >= 0, direct, across)


def _mass(low: Array, high: Array) -> Array:
    """Probability between scores, from the smaller tail."""
    with np.errstate(invalid="ignore"):
        upper = low + high > 0
    return np.asarray(np.abs(ndtr(np.where(upper, -high, high)) - ndtr(np.where(upper, -low, low))))
