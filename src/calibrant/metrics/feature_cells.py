"""Segments of rows that multicalibration is measured in: all intersections of a few features, each cut into a few."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import Array, count, sample_weights
from ..adapters.feature_columns import categories_of, codes_of, feature_columns, numbers_of

Cells = NDArray[np.signedinteger[Any]]
_SHORT = 2**15  # numbers below are sorted faster
FEWEST = 10.0  # rows of a segment


class FeatureCells:
    r"""Rows by what their features are, each cut into a few values, and all intersections of a few features.

    A category is one of the :math:`k - 1` most frequent ones or one of the others, unless there are at most k. Numbers
    are cut at their quantiles :math:`1/k, 2/k, \dots`, unless there are at most k different ones. What is missing is a
    value of its own.

    Parameters
    ----------
    X : features (n, d), or None
    rows : int
        Number of rows that have a weight.
    sample_weight : array-like (n,), optional
        Frequencies; rows of weight 0 are as if they were not there.
    max_values : int
        The number k.
    max_conditions : int
        Features that a segment may be described by.

    Examples
    --------
    >>> cells = FeatureCells([["a", 1.0], ["b", 2.0], ["a", None]], 3, None, 3, 2)
    >>> [cell.tolist() for cell in cells]
    [[0, 0, 0], [0, 1, 0], [0, 1, 2], [0, 4, 2]]
    """

    def __init__(self, X: Any, rows: int, sample_weight: Any, max_values: int, max_conditions: int) -> None:
        k = count(max_values, "max_values", least=2)
        self.rows, self.depth = rows, count(max_conditions, "max_conditions", least=0)
        every = rows if sample_weight is None else np.size(sample_weight)
        weights = sample_weights(sample_weight, every)
        names, columns = (None, []) if X is None else feature_columns(X, every)
        there = slice(None) if weights is None else weights > 0
        w = np.ones(rows) if weights is None else weights[there]
        self.codes = []
        for place, column in enumerate(columns):
            known = categories_of(column)
            if known is None:
                name = f"X[{names[place]!r}]" if names is not None else f"X[:, {place}]"
                self.codes.append(_cut(numbers_of(column, name)[there], w, k))
            else:
                self.codes.append(_frequent(codes_of(column, known)[there], w, k))

    def __iter__(self) -> Iterator[Cells]:
        """Yield the number of each row's segment, all rows first, then by combinations of features."""
        return self.of(np.arange(self.rows))

    def of(self, rows: NDArray[np.intp]) -> Iterator[Cells]:
        """The same of rows in another order."""
        sizes = [int(codes.max(initial=0)) + 1 for codes in self.codes]
        most = float(np.prod(sorted(sizes)[-self.depth :])) if self.depth else 1.0
        kind: Any = np.int16 if most < _SHORT else np.intp
        ordered = [codes[rows].astype(kind) for codes in self.codes]
        for depth in range(min(self.depth, len(self.codes)) + 1):
            for chosen in combinations(range(len(self.codes)), depth):
                cell = np.zeros(len(rows), dtype=kind)
                for place in chosen:
                    cell = cell * sizes[place] + ordered[place]
                yield cell


def _cut(values: Array, weights: Array, k: int) -> Cells:
    """Numbers of the bins of numbers; the last of them is for those that are missing."""
    gone = np.isnan(values)
    there, w = values[~gone], weights[~gone]
    found = np.unique(there)
    if len(found) > k:
        order = np.argsort(there, kind="stable")
        reached = np.cumsum(w[order])
        place = np.searchsorted(reached, np.arange(k + 1) / k * (reached[-1] - 1), side="right")
        found = np.unique(there[order][np.minimum(place, len(order) - 1)])[1:]
    codes = np.searchsorted(found, values, side="left").astype(np.intp)
    codes[gone] = len(found)
    return codes


def _frequent(codes: Array, weights: Array, k: int) -> Cells:
    """The most frequent of the categories in a new order, the others together behind them."""
    names = np.nan_to_num(codes, nan=-1.0).astype(np.intp)
    found, place = np.unique(names, return_inverse=True)
    if len(found) <= k:
        return place.astype(np.intp)
    mass = np.bincount(place, weights)
    rank = np.empty(len(found), dtype=np.intp)
    rank[np.argsort(-mass, kind="stable")] = np.arange(len(found))
    return np.minimum(rank, k - 1)[place]
