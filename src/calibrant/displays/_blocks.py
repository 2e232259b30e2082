"""Many forecasts along an axis as few blocks of consecutive ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import Array


@dataclass(frozen=True, eq=False)
class Blocks:
    """Forecasts in order: places and medians (n,), ends of intervals (n, k), outcomes (n,), bars (n, 2) of blocks."""

    x: NDArray[Any]
    median: Array
    lower: Array
    upper: Array
    y_true: Array | None
    bars: Array | None = None

    def joined(self, blocks: int, coverage: float) -> Blocks:
        r"""Means of medians and of ends in so many blocks of equally many rows.

        An outcome is measured on the widest interval of its own row, :math:`r = (y - m)/(u - m)` above the median and
        :math:`(y - m)/(m - l)` below it. The bar of a block reaches from the :math:`(1 - c)/2` quantile of r to the
        :math:`(1 + c)/2` quantile, laid on the block's mean interval, whatever the rows of a block differ in: where
        forecasts are calibrated, its ends are those of the interval.
        """
        parts = np.array_split(np.arange(len(self.x)), min(blocks, len(self.x)))
        x = np.array([self.x[rows[0]] + (self.x[rows[-1]] - self.x[rows[0]]) / 2 for rows in parts])
        median, lower, upper = (
            np.array([values[rows].mean(axis=0) for rows in parts]) for values in (self.median, self.lower, self.upper)
        )
        if self.y_true is None:
            return Blocks(x, median, lower, upper, None)
        r = self._relative(self.y_true)
        levels = np.array([0.5, 0.5 - coverage / 2, 0.5 + coverage / 2])
        ends = np.array([_quantiles(r[rows], levels) for rows in parts])
        half = np.where(ends >= 0, (upper[:, 0] - median)[:, None], (median - lower[:, 0])[:, None])
        placed = median[:, None] + ends * half
        return Blocks(x, median, lower, upper, placed[:, 0], placed[:, 1:])

    def _relative(self, y: Array) -> Array:
        """Outcomes on the widest intervals of their rows: 0 at the median, 1 and -1 at the ends."""
        off = y - self.median
        half = np.where(off >= 0, self.upper[:, 0] - self.median, self.median - self.lower[:, 0])
        with np.errstate(divide="ignore", invalid="ignore"):  # laws of one point have no width
            return np.where(off == 0, 0.0, off / half)


def _quantiles(values: Array, levels: Array) -> Array:
    """Of what is known and finite; NaN where nothing is."""
    known = values[np.isfinite(values)]
    return np.quantile(known, levels) if len(known) else np.full(len(levels), np.nan)
