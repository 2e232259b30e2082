"""Maps that never look ahead: learned once before the test, or again and again from all that has happened until then.

A forecast of lead h that is made in the morning of a day is about the day h - 1 days later; its outcome is known in the
morning after that. Maps of all series are learned together and each series has its own on top (`GroupedCalibrator`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibrant import GroupedCalibrator, QuantileCalibrator
from calibrant.distributions import Distribution, concatenate

Array = NDArray[np.float64]
WEEK = 7


class Issued(NamedTuple):
    """Forecasts of one lead, made every morning for n series; the first morning begins the tail."""

    law: Distribution
    """(days * n) rows, all series of the first morning first"""
    y: Array
    """(days, n): what came of them, NaN where the store was closed or the series is too young"""
    lead: int = 1

    def known(self, first: int, last: int) -> tuple[Distribution, Array, NDArray[np.intp]]:
        """Forecasts, outcomes and series of some mornings, those with an outcome."""
        n = self.y.shape[1]
        rows = np.arange(first * n, last * n)
        rows = rows[np.isfinite(self.y.ravel()[rows])]
        return self.law[rows], self.y.ravel()[rows], rows % n


def learned_once(issued: Issued, test: int) -> Distribution:
    """Forecasts of the mornings from ``test`` on, by maps learned from the outcomes before it."""
    law, y, series = issued.known(0, test - issued.lead + 1)
    return _moved(_calibrator().fit(law, y, groups=series), issued, test, len(issued.y))


def learned_again(issued: Issued, test: int, every: int = WEEK) -> Distribution:
    """Forecasts of the mornings from ``test`` on; after so many mornings maps are learned from all outcomes before.

    They are those of `learned_once` at first.
    """
    return concatenate(list(_again(issued, test, every)))


def _again(issued: Issued, test: int, every: int) -> Iterator[Distribution]:
    calibrator, seen = _calibrator(), 0
    for morning in range(test, len(issued.y), every):
        law, y, series = issued.known(seen, morning - issued.lead + 1)
        seen = morning - issued.lead + 1
        if len(y):
            calibrator.partial_fit(law, y, groups=series)
        yield _moved(calibrator, issued, morning, min(morning + every, len(issued.y)))


def _calibrator() -> GroupedCalibrator:
    return GroupedCalibrator(QuantileCalibrator())


def _moved(calibrator: GroupedCalibrator, issued: Issued, first: int, last: int) -> Distribution:
    n = issued.y.shape[1]
    rows = slice(first * n, last * n)
    return calibrator.transform(issued.law[rows], groups=np.tile(np.arange(n), last - first))
