"""Segments of the tested rows in which forecasts are wrong, before and after the chosen calibration."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..select.segments.faults import faults_of
from ..select.segments.find import segments_of
from ..select.segments.measured import extent
from .result import WrongSegment
from .sides import Sides, measured_share


def wrong_segments(sides: Sides, X: Any) -> list[WrongSegment]:
    """Where the forecasts are wrong, by the features of the tested rows; nothing where there are none."""
    if X is None or len(sides.weights) < 2:
        return []
    found = segments_of(sides.before, sides.weights, X)
    faults = faults_of(sides.after, sides.weights, np.random.default_rng(0))
    told = []
    for segment, rows in zip(found, found.measured_in(X), strict=True):
        mask = np.zeros(len(sides.weights), dtype=bool)
        mask[rows] = True
        after = extent(segment.kind, sides.after, faults, mask).fault
        measured = (measured_share(side[rows], sides.weights[rows]) for side in (sides.before, sides.after))
        about = (segment.fault, after, segment.adjusted)
        told.append(WrongSegment(segment.name, segment.rows, segment.share, *about, *measured))
    return told
