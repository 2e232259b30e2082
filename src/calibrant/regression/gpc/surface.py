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

_BLOCK = 512  # rows worked on at a time
_CELLS = 1024  # between the farthest scores: a kernel of length 0.7 is met to about 1e-9
_STEP = 2 * FARTHEST / _CELLS


@dataclass(frozen=True, eq=False)
class Surface:
    """Values at K thresholds and evenly spaced scores, one of these beyond the farthest on either side.

    Parameters
    ----------
    values : array (K, 1024 + 3)

    Examples
    --------
    >>> wave = Surface.of(lambda score: np.sin(score)[:, None] * np.array([1.0, 2.0]))
    >>> wave(np.array([[0.5, 1.0], [-4.0, 4.0]])).round(6) - np.sin([[0.5, 1.0], [-4.0, 4.0]]).round(6) * [1, 2]
    array([[ 0.,  0.],
           [ 0., -0.]])
    """

    values: Array

    @classmethod
    def of(cls, function: Callable[[Array], Array]) -> Surface:
        """Of a function from scores (m,) to (m, K)."""
        scores = np.linspace(-FARTHEST - _STEP, FARTHEST + _STEP, _CELLS + 3)
        return cls(np.ascontiguousarray(function(scores).T))

    def __call__(self, score: Array) -> Array:
        """Values at scores (n, K) between the farthest, each at the threshold of its column."""
        x = score + FARTHEST
        x *= 1 / _STEP
        cell = np.minimum(x.astype(np.intp), _CELLS - 1)
        x -= cell
        count, width = self.values.shape
        cell += width * np.arange(count)
        flat, rest = self.values.ravel(), 1 - x
        outer = x * rest
        outer *= -1 / 6  # Lagrange's cubic through four neighbours: the line, and what bends it
        out = flat.take(cell + 1)
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


def maps_of_rows(law: Distribution, grid: Array, classifier: Callable[[Array], Array]) -> SmoothRows:
    """One map a row, from probabilities (n, K) at the scores of the thresholds of a grid (K,)."""
    knots, masses = np.empty((len(law), len(grid))), np.empty((len(law), len(grid) + 1))
    base = np.empty_like(masses)
    for rows in row_blocks(len(law), block=_BLOCK):
        knots[rows] = law[rows].to_normal(grid[None, :])
        base[rows] = log_segment_masses(knots[rows])
        masses[rows] = log_masses(classifier(knots[rows]), base[rows])
    return SmoothRows.from_log_masses(knots, masses, base)
