"""Rows with equal score taken together, and blocks of them by pooled adjacent violators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from .._checks import Array


@dataclass(frozen=True, eq=False)
class Groups:
    """Distinct scores in increasing order, the weight of the rows that have them, and of those with the event.

    Examples
    --------
    >>> groups = Groups.of(np.array([0.7, 0.2, 0.7, 0.9]), np.array([True, False, False, False]))
    >>> groups.x, groups.share
    (array([0.2, 0.7, 0.9]), array([0. , 0.5, 0. ]))
    >>> groups.pooled().share
    array([0.   , 0.333])
    """

    x: Array
    mass: Array
    hits: Array

    @classmethod
    def of(cls, x: Array, events: NDArray[np.bool_] | Array, weights: Array | None = None) -> Self:
        """Sort and group; events may be any numbers, such as the 0 and 1 of a class."""
        if weights is None and x.dtype == np.float64 and events.dtype == bool and len(x) and x.min() >= 0:
            return cls._of_keys(x, events)
        order = np.argsort(x)
        x, hits = x[order], np.asarray(events, dtype=np.float64)[order]
        mass = np.ones(len(x)) if weights is None else weights[order]
        if weights is not None:
            hits *= mass
        new = x[1:] != x[:-1]
        if new.all():
            return cls(x, mass, hits)
        first = np.append(0, np.flatnonzero(new) + 1)
        return cls(x[first], np.add.reduceat(mass, first), np.add.reduceat(hits, first))

    @classmethod
    def _of_keys(cls, x: Array, events: NDArray[Any]) -> Self:
        """The same for scores that are not negative.

        The bits of such floats are ordered like the floats and their first is the sign; shifted out, it leaves room for
        the event. Sorting these keys takes half the time of sorting row numbers.
        """
        keys = (x + 0.0).view(np.uint64) << np.uint64(1)  # without the sign of -0.0
        keys |= events.astype(np.uint64)
        keys.sort()
        hits = (keys & np.uint64(1)).astype(np.float64)
        keys >>= np.uint64(1)
        x = keys.view(np.float64)
        first = np.flatnonzero(np.concatenate([[True], x[1:] != x[:-1]]))
        if len(first) == len(x):
            return cls(x, np.ones(len(x)), hits)
        return cls(x[first], np.diff(first, append=len(x)).astype(np.float64), np.add.reduceat(hits, first))

    @property
    def share(self) -> Array:
        """Share of events in each group."""
        return self.hits / self.mass

    @property
    def base_rate(self) -> float:
        """Share of all rows with the event."""
        return float(self.hits.sum() / self.mass.sum())

    def rising(self) -> Array:
        """The increasing shares nearest to the groups' own, one a group: adjacent violators pooled."""
        return np.asarray(isotonic_regression(self.share, weights=self.mass).x)

    def starts(self) -> NDArray[np.intp]:
        """First group of each block in which the increasing shares nearest to the groups' own are constant."""
        return np.asarray(isotonic_regression(self.share, weights=self.mass).blocks[:-1])

    def joined(self, first: NDArray[np.intp]) -> Groups:
        """Neighbouring groups taken together from these on, at the mean of their scores."""
        mass = np.add.reduceat(self.mass, first)
        return Groups(np.add.reduceat(self.mass * self.x, first) / mass, mass, np.add.reduceat(self.hits, first))

    def pooled(self) -> Groups:
        """The blocks at the mean of their scores; shares increase."""
        return self.joined(self.starts())

    def with_doubt(self, weight: float) -> Groups:
        """As if an event of that weight had the lowest score too, and a row without event the highest."""
        mass, hits = self.mass.copy(), self.hits.copy()
        hits[0] += weight
        mass[0] += weight
        mass[-1] += weight
        return Groups(self.x, mass, hits)
