"""What a classifier says of many rows: a function of scores and thresholds, read off a table, and the maps it makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..._checks import Array
from ...distributions import Distribution
from ...maps.probability_rows import log_segment_masses
from ...maps.smooth_rows import SmoothRows
from ...numerics.blocks import row_blocks
from .inputs import FARTHEST
from .projection import log_masses

BLOCK = 512  # rows worked on at a time
FINE, ROUGH = 1024, 256  # cells between the farthest scores: a kernel of length 0.7 is met to about 1e-9, 1e-7


@dataclass(frozen=True, eq=False)
class Surface:
    """Values at K thresholds and evenly spaced scores, one of these beyond the farthest on either side.

    Parameters
    ----------
    values : array (K, cells + 3)

    Examples
    --------
    >>> wave = Surface.of(lambda score: np.sin(score)[:, None] * np.array([1.0, 2.0]))
    >>> wave(np.array([[0.5, 1.0], [-4.0, 4.0]])).round(6) - np.sin([[0.5, 1.0], [-4.0, 4.0]]).round(6) * [1, 2]
    array([[ 0.,  0.],
           [ 0., -0.]])
    """

    values: Array

    @classmethod
    def of(cls, function: Callable[[Array], Array], cells: int = FINE) -> Surface:
        """Of a function from scores (m,) to (m, K)."""
        end = FARTHEST * (1 + 2 / cells)
        return cls(np.ascontiguousarray(function(np.linspace(-end, end, cells + 3)).T))

    def __call__(self, score: Array) -> Array:
        """Values at scores (n, K) between the farthest, each at the threshold of its column."""
        count, width = self.values.shape
        x = score + FARTHEST
        x *= (width - 3) / (2 * FARTHEST)
        cell = np.minimum(x.astype(np.intp), width - 4)
        x -= cell
        cell += width * np.arange(count)
        flat, rest = self.values.ravel(), 1 - x
        outer = x * rest
        outer *= -1 / 6  # Lagrange's cubic through four neighbours: the line, and what bends it
        out: Array = flat.take(cell + 1)
        ahead = flat.take(cell + 2)
        before = flat.take(cell)
        behind = flat.take(cell + 3)
        bend = (1 + rest) * (before - 2 * out + ahead)
        bend += (1 + x) * (out - 2 * ahead + behind)
        bend *= outer
        out *= rest
        out += x * ahead
        out += bend
        return out


def maps_of_rows(law: Distribution, grid: Array, classify: Callable[[Array], list[Array]]) -> list[SmoothRows]:
    """One map a row for each of some classifiers: from their probabilities (n, K) at the scores of a grid (K,)."""
    knots, base = np.empty((len(law), len(grid))), np.empty((len(law), len(grid) + 1))
    masses: list[Array] = []
    for rows in row_blocks(max(len(law), 1), block=BLOCK):  # once at least, to see how many classifiers
        knots[rows] = law[rows].to_normal(grid[None, :])
        base[rows] = log_segment_masses(knots[rows])
        for k, probabilities in enumerate(classify(knots[rows])):
            if k == len(masses):
                masses.append(np.empty_like(base))
            masses[k][rows] = log_masses(probabilities, base[rows])
    return [SmoothRows.from_log_masses(knots, each, base) for each in masses]
