"""Rows to learn a shape from, and rows kept aside for the ranks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._checks import Array, own_array
from ...calibration.feature_table import FeatureTable, features_of
from ...calibration.labels import Labels
from ...distributions import Distribution, Normal
from ..features import distinct

Rows = NDArray[np.intp]

ENOUGH = 200  # rows ranked together: coverage then varies by 0.02 at 90 %


@dataclass(frozen=True, eq=False)
class Sample:
    """Forecasts and what came with them, a row each."""

    table: Any
    y: Array
    weights: Array | None
    labels: Labels | None = None
    X: Any = None
    ratio: Array | None = None

    def owned(self) -> Sample:
        """The same with outcomes and weights that nobody else can change: maps are learned when they are asked for."""
        weights = None if self.weights is None else own_array(self.weights, "sample_weight")
        return replace(self, y=own_array(self.y, "y"), weights=weights)

    def part(self, rows: Rows) -> Sample:
        """Some of them."""
        some: list[Any] = [None if each is None else each[rows] for each in (self.weights, self.labels, self.ratio)]
        return Sample(self.table[rows], self.y[rows], some[0], some[1], features_of(self.X, rows), some[2])

    def divided(self, share: float | None, random_state: Any, *, together: bool) -> tuple[Sample, Sample]:
        """Rows drawn for the shape, and a share kept aside; copies of a row stay together, as one with their weight.

        None is a half; of many rows that are ranked together fewer.
        """
        rows, weights = distinct(self._laws(), self.y, self.weights, self._beside())
        n = len(rows)
        if n < 2:
            raise ValueError("at least two different rows are needed: one to learn from, and one to be kept aside.")
        if share is None:
            share = min(max(1 / 5, ENOUGH / n), 1 / 2) if together else 1 / 2
        kept = min(max(round(share * n), 1), n - 1)
        order = np.random.default_rng(0 if random_state is None else random_state).permutation(n)
        once = Sample(self.table, self.y, _put(len(self.y), rows, weights), self.labels, self.X, self.ratio)
        return once.part(rows[np.sort(order[kept:])]), once.part(rows[np.sort(order[:kept])])

    def _laws(self) -> Distribution:
        if isinstance(self.table, Distribution):
            return self.table
        return Normal(np.asarray(getattr(self.table, "loc", self.table)), 1.0)

    def _beside(self) -> Array | None:
        """Features, groups and ratios as numbers."""
        n = len(self.y)
        columns = [] if self.X is None else [FeatureTable.learn(self.X, n)(self.X, n)]
        if self.labels is not None:
            columns.append(np.unique(self.labels.astype(str), return_inverse=True)[1].astype(float)[:, None])
        if self.ratio is not None:
            columns.append(self.ratio[:, None])
        return np.hstack(columns) if columns else None


def _put(n: int, rows: Rows, weights: Array) -> Array:
    out = np.zeros(n)
    out[rows] = weights
    return out


def ones(weights: Array | None, n: int) -> Array:
    """Weights, 1 each where none are given."""
    return np.ones(n) if weights is None else weights


def some(values: Array, rows: Rows) -> Array:
    """Entries of some rows, of a constant as many."""
    return values[: len(rows)] if values.strides == (0,) else values[rows]
