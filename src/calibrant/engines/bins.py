"""Rows put together by what was predicted and by time, and how many intervals of each bin hold their outcome."""

from __future__ import annotations

import numpy as np

from .._checks import Array
from ..metrics._inputs import equal_mass_bins
from ..metrics.evaluation import LawEvaluation
from .result import Bin
from .sides import COVERAGE, Sides, measured_share

MOST_LEVELS, MOST_BLOCKS = 5, 12
FEWEST_IN_BIN = 40  # rows, so that 4 are expected outside the intervals


def conditional_bins(sides: Sides) -> list[Bin]:
    """Coverage by predicted median, then by predicted width; of classes none, as reliability diagrams show it."""
    if not isinstance(sides.before, LawEvaluation):
        return []
    law = sides.before.law
    low, high = law.interval(COVERAGE).T
    with np.errstate(invalid="ignore"):  # of laws without end
        found = {"level": law.median(), "width": high - low}
    return [part for by, values in found.items() for part in _bins(sides, by, values, MOST_LEVELS)]


def time_bins(sides: Sides) -> list[Bin]:
    """Coverage in blocks of time."""
    return [] if sides.time is None else _bins(sides, "time", sides.time, MOST_BLOCKS)


def _bins(sides: Sides, by: str, values: Array, most: int) -> list[Bin]:
    """Bins of about equal weight; none where all rows are alike, or too few."""
    number = min(most, int(sides.weights.sum() // FEWEST_IN_BIN))
    if number < 2 or not np.isfinite(values).all():
        return []
    labels = equal_mass_bins(values, sides.weights, number)
    if labels.max() == 0:
        return []
    found = []
    for k in range(labels.max() + 1):
        rows = np.flatnonzero(labels == k)
        w, inside = sides.weights[rows], values[rows]
        before, after = (measured_share(side[rows], w) for side in (sides.before, sides.after))
        found.append(Bin(by, float(inside.min()), float(inside.max()), float(w.sum()), before, after))
    return found
