r"""CRPS of laws on whole numbers from their probabilities: exact sums between two ends beyond which nothing is left.

.. math:: \mathrm{CRPS}(y) = \sum_k \lambda_k F(k)^2 + (1-\lambda_k)(1-F(k))^2,\quad
    \lambda_k = \text{share of } [k, k+1) \text{ below } y
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._checks import Array
from ..numerics.blocks import BLOCK, joined, row_blocks

WIDEST = 2**20  # whole numbers from end to end
NOTHING = 1e-11  # what a tail may add to the score

Ask = Callable[[Array], Array]


def count_ends(tail: Ask, start: Array, end: Array, sign: float) -> Array:
    """How far to sum: doubling steps from ``start`` to where distance times squared tail is nothing, or to ``end``."""
    step, out = np.ones(start.shape), np.full(start.shape, np.nan)
    while np.isnan(out).any():
        with np.errstate(invalid="ignore"):
            at = start + sign * step
            at = np.where(sign * (at - end) >= 0, end, at)
            reached = (at == end) | (step * np.square(tail(at)) < NOTHING)
        out = np.where(np.isnan(out) & reached, at, out)
        step = 2 * step
        if step.min() > 2 * WIDEST:
            break
    return np.where(np.isnan(out), sign * np.inf, out)


def refuse_wide(low: Array, high: Array, name: str) -> None:
    """Raise where the sum would be too long."""
    wide = ~(high - low < WIDEST)
    if wide.any():
        raise ValueError(
            f"the CRPS of {name} would sum over more than {WIDEST} whole numbers in {int(wide.sum())} of {len(wide)} "
            f"rows, first row {int(np.argmax(wide))}. Use a continuous law, or Quantiles of this one."
        )


def crps_of_counts(mass: Callable[[slice, Array], Array], y: Array, low: Array, high: Array) -> Array:
    """CRPS of one outcome per row; ``mass(rows, k)`` gives the probabilities of the whole numbers k, (n, w)."""
    width = int((high - low).max(initial=0)) + 1

    def part(rows: slice) -> Array:
        k = low[rows, None] + np.arange(width)
        below = np.clip(y[rows, None] - k, 0.0, 1.0)
        lower = np.minimum(np.cumsum(mass(rows, k), axis=1), 1.0)
        total = (below * np.square(lower) + (1 - below) * np.square(1 - lower)).sum(axis=1)
        return np.asarray(total + np.maximum(low[rows] - y[rows], 0.0) + np.maximum(y[rows] - low[rows] - width, 0.0))

    return joined(part(rows) for rows in row_blocks(len(y), width, 16 * BLOCK))
