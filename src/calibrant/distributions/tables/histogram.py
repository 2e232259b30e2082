"""Laws given by the masses of cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtr

from ..._checks import Array, complain, finite, index_of, to_array
from ..._types import Numbers
from ...maps.base import Side
from ...numerics.blocks import row_blocks
from ...numerics.lines import Positions, count_below, pick
from ...numerics.tails import log_slope_of, score_of
from ..base import across
from .lines import SharedOrByRow, spread_out

_SLACK = 1e-13  # relative error that a probability may carry and still meet the edge of its cell


@dataclass(frozen=True, eq=False, repr=False)
class Histogram(SharedOrByRow):
    r"""Uniform within cells: :math:`F(y) = \sum_{i<j} p_i + p_j (y - e_j)/(e_{j+1} - e_j)` on cell j.

    Scores are taken from the smaller tail, which is summed from its own end.

    Parameters
    ----------
    edges : array-like (k + 1,) or (n, k + 1)
        Increasing; shared by all rows or one line per row.
    masses : array-like (n, k)
        Probabilities of the cells: non-negative, each row sums to 1 (to 1e-6; the rest is normalised away).

    Examples
    --------
    >>> law = Histogram([0.0, 1.0, 3.0], [[0.5, 0.5], [0.2, 0.8]])
    >>> law.median()
    array([1.  , 1.75])
    >>> law.mean()
    array([1.25, 1.7 ])
    """

    _by_row: ClassVar[tuple[str, ...]] = ("masses", "lower", "upper")
    _maybe_by_row: ClassVar[tuple[str, ...]] = ("edges",)

    edges: Array
    masses: Array
    lower: Array
    upper: Array

    def __init__(self, edges: Numbers, masses: Numbers) -> None:
        """Check, normalise, and add up the masses from both ends."""
        index = index_of(masses, edges)
        shares = _normalised(masses)
        n, k = shares.shape
        lower, upper = np.zeros((n, k + 1)), np.zeros((n, k + 1))
        np.cumsum(shares, axis=1, out=lower[:, 1:])
        upper[:, :-1] = np.cumsum(shares[:, ::-1], axis=1)[:, ::-1]
        for name, value in (
            ("edges", _increasing(edges, n, k)),
            ("masses", shares),
            ("lower", lower),
            ("upper", upper),
        ):
            object.__setattr__(self, name, value)
        if index is not None:
            object.__setattr__(self, "_index", index)

    @property
    def support(self) -> tuple[Array, Array]:
        """Ends of the first and last cell that carries mass."""
        cells = self.masses > 0
        last = self.masses.shape[1] - np.argmax(cells[:, ::-1], axis=1)
        return pick(self.edges, np.argmax(cells, axis=1)), pick(self.edges, last)

    def _kinks(self) -> Array:
        return np.broadcast_to(self.edges, (len(self), self.edges.shape[-1]))

    def _cell(self, y: Array) -> tuple[Positions, Array, Array]:
        """The cell of each point, its width, and the share of it that lies below."""
        cell = np.clip(count_below(self.edges, y) - 1, 0, self.masses.shape[1] - 1)
        left = pick(self.edges, cell)
        width = pick(self.edges, cell + 1) - left
        with np.errstate(over="ignore"):
            return cell, width, np.clip((y - left) / width, 0.0, 1.0)

    def to_normal(self, y: Array, side: Side = "right") -> Array:
        """Score of the piecewise linear distribution function; ±inf outside the support."""
        y = spread_out(y, len(self))
        cell, _, share = self._cell(y)
        mass = pick(self.masses, cell)
        return score_of(pick(self.lower, cell) + mass * share, pick(self.upper, cell + 1) + mass * (1 - share))

    def from_normal(self, z: Array) -> Array:
        """The smallest y at which the distribution function is at least Φ(z), from the smaller tail."""
        z = spread_out(z, len(self))
        p, q = ndtr(z), ndtr(-z)
        rising = count_below(self.lower[:, 1:], p * (1 - _SLACK), strict=True)
        falling = self.masses.shape[1] - 1 - count_below(self.upper[:, -2::-1], q * (1 + _SLACK))
        cell = np.clip(np.where(z < 0, rising, falling), 0, self.masses.shape[1] - 1)
        left, right, mass = pick(self.edges, cell), pick(self.edges, cell + 1), pick(self.masses, cell)
        with np.errstate(divide="ignore", invalid="ignore"):
            up = left + (right - left) * ((p - pick(self.lower, cell)) / mass)
            down = right - (right - left) * ((q - pick(self.upper, cell + 1)) / mass)
        y = np.clip(np.where(z < 0, up, down), left, right)
        low, high = (across(end, z) for end in self.support)
        return np.where(np.isnan(z), np.nan, np.clip(np.where(mass > 0, y, left), low, high))

    def log_slope(self, y: Array) -> Array:
        """Log of mass over width, less the log density of the score."""
        return self.score_and_log_slope(y)[1]

    def score_and_log_slope(self, y: Array) -> tuple[Array, Array]:
        """Scores, and slopes from these and the density."""
        z = self.to_normal(y)
        return z, log_slope_of(_log_density(self, y), z)

    def logpdf(self, y: Any) -> Array:
        """Log of mass over width, also on the ends of the support; -inf outside."""
        return self._by_blocks(_log_density, self._points(y))

    def mean(self) -> Array:
        """Mass-weighted middles of the cells."""
        middle = 0.5 * self.edges[..., 1:] + 0.5 * self.edges[..., :-1]
        return np.asarray(np.vecdot(self.masses, middle))

    def std(self) -> Array:
        """Standard deviations: between cells and, width²/12, within."""
        size = self.edges[..., -1:] - self.edges[..., :1]
        middle = (0.5 * self.edges[..., 1:] + 0.5 * self.edges[..., :-1] - self.mean()[:, None]) / size
        within = np.square(np.diff(self.edges) / size) / 12
        return np.asarray(size[..., 0] * np.sqrt(np.vecdot(self.masses, np.square(middle) + within)))

    def var(self) -> Array:
        """Variances: between cells and, width²/12, within."""
        with np.errstate(over="ignore", under="ignore"):
            return np.square(self.std())

    def crps(self, y: Any) -> Array:
        r"""CRPS in closed form: F is linear on each piece, whose integral of F² is width · (a² + ab + b²)/3."""
        outcome = self._outcomes(y)
        out = np.empty(len(self))
        for rows in row_blocks(*self.masses.shape):
            out[rows] = _crps(self[rows], outcome[rows])
        return out


def _log_density(law: Histogram, y: Array) -> Array:
    y = spread_out(y, len(law))
    cell, width, _ = law._cell(y)
    low, high = (across(end, y) for end in law.support)
    with np.errstate(divide="ignore"):
        inside = np.log(pick(law.masses, cell)) - np.log(width)
    return np.where((y < low) | (y > high), -np.inf, np.where(np.isnan(y), np.nan, inside))


def _crps(law: Histogram, y: Array) -> Array:
    edges = np.broadcast_to(law.edges, law.lower.shape)
    cell, width, share = law._cell(y)
    width_all = np.diff(edges)
    below, above = _squares(law.lower[:, :-1], law.lower[:, 1:]), _squares(law.upper[:, 1:], law.upper[:, :-1])
    number = np.arange(law.masses.shape[1])
    whole = np.where(number < cell[:, None], below, np.where(number > cell[:, None], above, 0.0))
    a, b, mass = pick(law.lower, cell), pick(law.upper, cell + 1), pick(law.masses, cell)
    split = share * _squares(a, a + mass * share) + (1 - share) * _squares(b, b + mass * (1 - share))
    outside = np.maximum(edges[:, 0] - y, 0.0) + np.maximum(y - edges[:, -1], 0.0)
    return np.asarray(np.vecdot(width_all, whole) + width * split + outside)


def _squares(a: Array, b: Array) -> Array:
    return np.asarray((a * a + a * b + b * b) / 3)


def _normalised(values: Any) -> Array:
    masses = finite(to_array(values, "masses"), "masses")
    if masses.ndim != 2 or masses.shape[1] == 0:
        raise ValueError(f"`masses` must be (n, k), one row of k cells per forecast; got shape {masses.shape}.")
    complain("masses", "non-negative", masses, masses < 0)
    total = masses.sum(axis=1)
    off = np.abs(total - 1) > 1e-6
    if off.any():
        row = int(np.argmax(off))
        raise ValueError(
            f"`masses` must sum to 1 in every row; {int(off.sum())} of {len(off)} rows do not, first row {row} sums to "
            f"{total[row]:.6g}. Counts? Divide each row by its sum."
        )
    return np.asarray(masses / total[:, None])


def _increasing(values: Any, n: int, k: int) -> Array:
    edges = finite(to_array(values, "edges"), "edges", "Open ends? Close them where no mass is left.")
    if edges.shape not in ((k + 1,), (n, k + 1)):
        raise ValueError(f"`edges` must be ({k + 1},) or ({n}, {k + 1}) for {k} cells; got shape {edges.shape}.")
    complain("edges", "increasing", edges, np.diff(edges, prepend=-np.inf) <= 0)
    return edges.copy()
