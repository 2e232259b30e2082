"""Rows with equal forecast probability taken together, and blocks of them by pooled adjacent violators."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from .._checks import Array
from ._classes import EventForecasts


@dataclass(frozen=True, slots=True, eq=False)
class ScoreGroups:
    """Distinct probabilities in increasing order, weight of the rows that have them, and of those with the event."""

    p: Array
    mass: Array
    hits: Array

    @classmethod
    def of(cls, forecasts: EventForecasts) -> ScoreGroups:
        """Sort and group.

        >>> ScoreGroups.of(EventForecasts(np.array([0.7, 0.2, 0.7]), np.array([True, False, False]), None)).hits
        array([0., 1.])
        """
        if forecasts.weights is None:
            p, hits = _sorted_together(forecasts.p, forecasts.events)
            first = _first_of_equal(p)
            if len(first) == len(p):
                return cls(p, np.ones(len(p)), hits)
            return cls(p[first], np.diff(first, append=len(p)).astype(np.float64), np.add.reduceat(hits, first))
        order = np.argsort(forecasts.p)
        p, mass = forecasts.p[order], forecasts.weights[order]
        first = _first_of_equal(p)
        hits = np.add.reduceat(mass * forecasts.events[order], first)
        return cls(p[first], np.add.reduceat(mass, first), hits)

    @property
    def share(self) -> Array:
        """Share of rows with the event in each group."""
        return self.hits / self.mass

    @property
    def base_rate(self) -> float:
        """Share of all rows with the event."""
        return float(self.hits.sum() / self.mass.sum())

    def pooled(self) -> Array:
        """The increasing shares nearest to the groups' own: adjacent violators pooled."""
        return np.asarray(isotonic_regression(self.share, weights=self.mass).x)


def _sorted_together(p: Array, events: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Probabilities in increasing order with their events as 0.0 and 1.0.

    The bits of non-negative floats are ordered like the floats and their first is the sign; shifted out, it leaves
    room for the event. Sorting such keys takes half the time of sorting row numbers.
    """
    keys = p.view(np.uint64) << np.uint64(1)
    keys |= events.astype(np.uint64)
    keys.sort()
    hits = (keys & np.uint64(1)).astype(np.float64)
    keys >>= np.uint64(1)
    return keys.view(np.float64), hits


def _first_of_equal(p: Array) -> NDArray[np.intp]:
    return np.flatnonzero(np.concatenate([[True], p[1:] != p[:-1]]))
