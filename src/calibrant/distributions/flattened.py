"""A law made uniform within cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import log_ndtr

from .._checks import Array
from ..maps.base import Side
from ..numerics.lines import count_below, pick
from ..numerics.tails import log_between, log_slope_of, score_of_logs
from .base import Distribution
from .tables.lines import spread_out


@dataclass(frozen=True, eq=False, repr=False)
class Flattened(Distribution):
    r"""The law with the base's probabilities at the edges, uniform between them, and the base itself beyond.

    .. math:: F(y) = G(e_j) + \{G(e_{j+1}) - G(e_j)\}\frac{y - e_j}{e_{j+1} - e_j}, \qquad e_j \le y \le e_{j+1}

    Parameters
    ----------
    base : Distribution
        Without atoms.
    edges : array (K,)
        Strictly increasing, at least two, shared by all rows.
    scores : array (n, K)
        The base's normal scores of the edges.

    Examples
    --------
    >>> from calibrant import Normal
    >>> Flattened.of(Normal([0.0], 1.0), np.array([-1.0, 1.0])).cdf([0.5]).round(3)
    array([0.671])
    """

    _by_row: ClassVar[tuple[str, ...]] = ("scores",)

    base: Distribution
    edges: Array
    scores: Array

    @classmethod
    def of(cls, base: Distribution, edges: Array) -> Self:
        """Flatten a law between edges."""
        return cls(base, edges, np.broadcast_to(base.to_normal(edges[None, :]), (len(base), len(edges))))

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.base)

    @property
    def index(self) -> Any:
        """The index of the base."""
        return self.base.index

    @property
    def tail_index(self) -> Array:
        """The base's."""
        return self.base.tail_index

    @property
    def support(self) -> tuple[Array, Array]:
        """The base's, drawn out to the edges of the cells in which it ends."""
        low, high = self.base.support
        cell_low = np.searchsorted(self.edges, low, side="right") - 1
        cell_high = np.searchsorted(self.edges, high, side="left")
        last = len(self.edges) - 1
        inner_low = (cell_low >= 0) & (cell_low < last)
        inner_high = (cell_high > 0) & (cell_high <= last)
        return (
            np.where(inner_low, self.edges[np.clip(cell_low, 0, last)], low),
            np.where(inner_high, self.edges[np.clip(cell_high, 0, last)], high),
        )

    def _kinks(self) -> Array:
        return np.hstack([self.base._kinks(), np.broadcast_to(self.edges, (len(self), len(self.edges)))])

    def to_normal(self, y: Array, side: Side = "right") -> Array:
        """Score of the straight line within cells, of the base beyond."""
        y = spread_out(y, len(self))
        cell, inside = self._cell(y)
        z0, z1 = pick(self.scores, cell), pick(self.scores, cell + 1)
        share = np.clip((y - self.edges[cell]) / (self.edges[cell + 1] - self.edges[cell]), 0.0, 1.0)
        return np.where(inside, _between(z0, z1, share), self.base.to_normal(y, side))

    def from_normal(self, z: Array) -> Array:
        """The point of the cell at the share of its mass, the base's quantile beyond."""
        z = spread_out(z, len(self))
        place = count_below(self.scores, z, strict=True) - 1
        last = len(self.edges) - 1
        cell = np.clip(place, 0, last - 1)
        z0, z1 = pick(self.scores, cell), pick(self.scores, cell + 1)
        with np.errstate(invalid="ignore"):
            share = np.clip(np.exp(log_between(z0, z) - log_between(z0, z1)), 0.0, 1.0)
            rest = np.clip(np.exp(log_between(z, z1) - log_between(z0, z1)), 0.0, 1.0)
        low, high = self.edges[cell], self.edges[cell + 1]
        y = np.where(share < 0.5, low + share * (high - low), high - rest * (high - low))
        return np.where((place >= 0) & (place < last), y, self.base.from_normal(z))

    def log_slope(self, y: Array) -> Array:
        """Log mass over width of the cell, seen in normal scores."""
        return self.score_and_log_slope(y)[1]

    def score_and_log_slope(self, y: Array) -> tuple[Array, Array]:
        """Scores, and slopes from these and the density."""
        y = spread_out(y, len(self))
        cell, inside = self._cell(y)
        mass = log_between(pick(self.scores, cell), pick(self.scores, cell + 1))
        density = mass - np.log(self.edges[cell + 1] - self.edges[cell])
        z = self.to_normal(y)
        return z, np.where(inside, log_slope_of(density, z), self.base.log_slope(y))

    def _cell(self, y: Array) -> tuple[Any, Any]:
        last = len(self.edges) - 1
        place = np.searchsorted(self.edges, y, side="right") - 1
        return np.clip(place, 0, last - 1), (place >= 0) & (place < last)


def _between(z0: Array, z1: Array, share: Array) -> Array:
    """Score at a share of the way in probability, from the smaller tail."""
    mass = log_between(z0, z1)
    with np.errstate(divide="ignore"):
        low = np.logaddexp(log_ndtr(z0), mass + np.log(share))
        high = np.logaddexp(log_ndtr(-z1), mass + np.log1p(-share))
    inner = score_of_logs(np.minimum(low, -1e-300), np.minimum(high, -1e-300))
    return np.where(share == 0.0, z0, np.where(share == 1.0, z1, inner))
