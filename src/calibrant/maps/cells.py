"""Millions of scores as a few thousand cells: weighted points that carry all a smooth map can learn from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from .._checks import Array
from ..numerics.nested_grid import gridded

FEW = 2048  # cells; up to so many distinct scores each is its own
FINE = 256  # cells per unit of asinh((z - median) / scale) that repeated scores are spread over at least
HUGE, TINY = 1e20, 1e-20  # no score is taken for larger, nor for smaller unless 0
FAR = 1e4  # scales from the median beyond which a score is just "very far"; five per row if there are few rows
PARTS, MORE_PARTS = 9, 600  # points a repeated score is spread over, and more if it makes up all rows
_LADDER = ((0.25, 0.75), (0.1, 0.9), (0.02, 0.98), (0.001, 0.999), (1e-12, 1 - 1e-12))
_REACH = np.minimum(ndtri([high for _, high in _LADDER]), 4.0)  # half their distance in a standard normal law


@dataclass(frozen=True, eq=False)
class Cells:
    """Sorted distinct points and the weight at each; a weight of 2 is the point twice."""

    z: Array
    mass: Array

    @cached_property
    def total(self) -> float:
        """Sum of weights: the number of rows."""
        return float(self.mass.sum())

    @cached_property
    def ranks(self) -> Array:
        """Mid-ranks in (0, 1)."""
        return (np.cumsum(self.mass) - 0.5 * self.mass) / self.total

    def quantile(self, levels: Sequence[float]) -> Array:
        """Interpolated between mid-ranks of rows; within a repeated score that score."""
        edge = 0.5 * np.minimum(self.mass, 1.0)
        upper = np.cumsum(self.mass)
        rows = np.column_stack([upper - self.mass + edge, upper - edge])
        return np.interp(np.multiply(levels, self.total), rows.ravel(), np.repeat(self.z, 2))

    def centre_scale(self) -> tuple[float, float]:
        """Median, and interquartile range in units in which a normal law has scale 1 (0 if all points are equal).

        Where half the rows lie much closer together than the rest, half of the range of four fifths of them, but not
        more than ten times as much; where half of them are equal, wider ranges.
        """
        values = self.quantile([0.5, *np.ravel(_LADDER)])
        widths = (values[2::2] - values[1::2]) / (2 * _REACH)
        if widths[0] > 0:
            return float(values[0]), float(max(widths[0], min(0.5 * widths[1], 10 * widths[0])))
        return float(values[0]), 0.5 * float(widths[np.argmax(widths > 0)])


def cells_of(z: Array, weights: Array | None = None) -> Cells:
    """Distinct scores with their counts up to 2048 of them; of more, means of the cells of a `NestedGrid`.

    Many rows need no sort, and cells do not depend on the order of rows, nor on whether a row comes twice or with
    weight 2, nor on whether rows were summarised by a finer grid before.
    Scores more than 10⁴ scales (5n if that is less) from the median, infinite ones too, count as that far.

    Examples
    --------
    >>> cells_of(np.array([0.5, -1.0, 0.5])).mass.tolist()
    [1.0, 2.0]
    """
    z = np.ravel(np.asarray(z, dtype=np.float64))
    if weights is not None:
        weights = np.ravel(weights)
        if not weights.all():
            z, weights = z[weights > 0], weights[weights > 0]
    if max(-z.min(), z.max()) > HUGE:
        z = np.clip(z, -HUGE, HUGE)
    z, mass = gridded(z, weights, most=FEW)
    cells = _merged(np.where(np.abs(z) < TINY, 0.0, z), mass)
    centre, scale = cells.centre_scale()
    reach = scale * min(FAR, 5 * cells.total)
    if max(cells.z[-1] - centre, centre - cells.z[0]) <= reach:
        return cells
    return _merged(np.clip(cells.z, centre - reach, centre + reach), cells.mass)


def spread_ties(cells: Cells) -> Cells:
    """Spread repeated scores over ± half the distance to the nearest neighbour: rounding acts like intervals.

    At least over ± half a cell of the grid and a tenth of a scale times its share of rows, so that an atom amid
    continuous scores is a narrow peak, not an infinite one; at most over ± one scale of the forecast or half of the
    scores', so that a lone atom does not blur the forecast.
    """
    tied = cells.mass > 1
    if not tied.any() or cells.z.size < 2:
        return cells
    centre, scale = cells.centre_scale()
    gaps = np.diff(cells.z)
    half = 0.5 * np.minimum(np.append(gaps[0], gaps), np.append(gaps, gaps[-1]))[tied]
    cell = np.hypot(scale, cells.z[tied] - centre) / FINE
    least = np.maximum(0.5 * cell, 0.1 * scale * cells.mass[tied] / cells.total)
    half = np.clip(half, least, max(1.0, 0.5 * scale))
    parts = PARTS + (MORE_PARTS * cells.mass[tied] / cells.total).astype(np.intp)
    whole = np.repeat(np.arange(parts.size), parts)
    number = np.arange(whole.size) - np.repeat(np.cumsum(parts) - parts, parts)
    offsets = (2 * number + 1) / parts[whole] - 1
    points = np.concatenate([cells.z[~tied], cells.z[tied][whole] + half[whole] * offsets])
    mass = np.concatenate([cells.mass[~tied], (cells.mass[tied] / parts)[whole]])
    order = np.argsort(points, kind="stable")
    return Cells(points[order], mass[order])


def _merged(z: Array, mass: Array) -> Cells:
    """Cells of sorted points, some of them equal but for rounding."""
    rounding = 1e-8 * np.minimum(np.maximum(1.0, np.abs(z[1:])), z[-1] - z[0])
    first = np.flatnonzero(np.append(True, np.diff(z) > rounding))
    return Cells(z[first], np.add.reduceat(mass, first))
