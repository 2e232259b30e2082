"""Rows that differ: copies of a row are one row with their weights, in an order that does not depend on theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import Array
from ..adapters.class_scores import ClassScores
from ..distributions import Distribution

Places = NDArray[np.intp]
_ROUNDING = 1e-9  # in normal scores, and relative in spreads: a model may forecast two copies a last digit apart


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """Distinct rows in sorted order.

    Attributes
    ----------
    rows : ndarray (m,)
        Place of the first copy of each.
    weights : ndarray (m,)
        Those of the copies together.
    unit : ndarray (m,)
        Number of the unit of each: rows of one unit say the same and must not be parted.
    repeated : ndarray of bool (m,)
        Whether its forecast also came with another outcome: a score with few values, whose equal rows are no copies.
    """

    rows: Places
    weights: Array
    unit: Places
    repeated: NDArray[np.bool_]

    @classmethod
    def of(cls, forecasts: Any, codes: NDArray[Any], weights: Array, beside: Places | None = None) -> DistinctRows:
        """Find them; ``codes`` are the outcomes, numbers of classes where forecasts are scores.

        ``beside`` numbers what else makes a difference (groups, times); rows that differ in it only are one unit.
        """
        order, unit, new_row, repeated = _sorted_rows(forecasts, codes)
        if beside is not None:
            order, new_row = _parted(order, new_row, beside)
        first = np.flatnonzero(new_row)
        return cls(
            np.minimum.reduceat(order, first),
            np.add.reduceat(weights[order], first),
            unit[order[first]],
            repeated[order[first]],
        )

    def sorted_by(self, moments: Places) -> DistinctRows:
        """The same in order of time."""
        order = np.argsort(moments[self.rows], kind="stable")
        return DistinctRows(self.rows[order], self.weights[order], self.unit[order], self.repeated[order])


def spread_over(distinct: DistinctRows, folds: int, rng: np.random.Generator) -> tuple[DistinctRows, Places]:
    """Rows of repeated forecasts that stand for at least as many rows as folds, dealt to the folds at random.

    Where all rows come k times, that many are taken for copies of one.

    Returns
    -------
    DistinctRows
        With a line for each fold that got some of them, instead of theirs.
    ndarray
        The fold of each line, -1 where it is still to be drawn.
    """
    numbers = np.round(distinct.weights).astype(np.int64)
    copies = max(1, int(np.gcd.reduce(numbers)))  # where every row comes ten times, ten are one
    even = distinct.repeated & (numbers >= folds * copies)
    if not even.any():
        return distinct, np.full(len(even), -1)
    counts = np.zeros((len(even), folds))
    counts[~even, 0] = 1
    counts[even] = rng.multinomial(numbers[even] // copies, np.full(folds, 1 / folds))
    lines, fold = np.nonzero(counts)
    weights = distinct.weights[lines] * counts[lines, fold] / counts.sum(axis=1)[lines]
    spread = DistinctRows(distinct.rows[lines], weights, distinct.unit[lines], distinct.repeated[lines])
    return spread, np.where(even[lines], fold, -1)


def units_of(forecasts: Any, codes: NDArray[Any]) -> Places:
    """The unit of every row, copies and all."""
    return _sorted_rows(forecasts, codes)[1]


def _sorted_rows(forecasts: Any, codes: NDArray[Any]) -> tuple[Places, Places, Any, Any]:
    """Order of the rows, the unit of each row, where a new row begins in this order, which forecasts are repeated."""
    find = _of_scores if isinstance(forecasts, ClassScores) else _of_laws
    order, new_unit, new_row, repeated = find(forecasts, codes)
    unit = np.empty(len(order), dtype=np.intp)
    unit[order] = np.cumsum(new_unit) - 1
    return order, unit, new_row, repeated


def _parted(order: Places, new_row: Any, beside: Places) -> tuple[Places, Any]:
    """Rows that are equal but for what is beside them, parted by it."""
    run = np.cumsum(new_row)
    again = np.lexsort([beside[order], run])
    order, run = order[again], run[again]
    code = beside[order]
    return order, np.concatenate([[True], (np.diff(run) > 0) | (np.diff(code) != 0)])


def _of_laws(forecasts: Any, y: Array) -> tuple[Places, Any, Any, Any]:
    """Laws by median, spread and the outcome's normal score; points by themselves."""
    if isinstance(forecasts, Distribution):
        low, centre, high = forecasts.quantiles([0.16, 0.5, 0.84]).T
        spread, scores = high - low, forecasts._by_blocks(lambda law, v: law.to_normal(v), y)
    else:
        centre, spread, scores = np.asarray(forecasts), np.zeros(len(y)), np.zeros(len(y))
    slack = _ROUNDING * np.maximum(np.abs(spread), np.abs(centre))
    codes = [_clusters(centre, slack), _clusters(spread, slack), _clusters(scores, np.full(len(y), _ROUNDING))]
    order = np.lexsort([codes[2], y, codes[1], codes[0]])
    new_law = (np.diff(codes[0][order]) != 0) | (np.diff(codes[1][order]) != 0)
    parted = new_law | (np.diff(y[order]) != 0) | (np.diff(codes[2][order]) != 0)
    new = np.concatenate([[True], parted])
    repeated = np.empty(len(y), dtype=bool)
    repeated[order] = _has_several(np.concatenate([[0], np.cumsum(new_law)]), y[order])
    return order, new, new, repeated


def _clusters(values: Array, slack: Array) -> Places:
    """Numbers 0, 1, … in the order of the values; neighbours no further apart than their slack have one."""
    order = np.argsort(values, kind="stable")
    with np.errstate(invalid="ignore"):  # infinite values are neighbours
        apart = np.diff(values[order]) > slack[order][1:]
    found = np.empty(len(values), dtype=np.intp)
    found[order] = np.concatenate([[0], np.cumsum(apart)])
    return found


def _of_scores(forecasts: ClassScores, codes: Places) -> tuple[Places, Any, Any, Any]:
    """Scores by that of the class that came, then by all in order of size: names and order of classes do not count."""
    values, n = forecasts.values, len(codes)
    keys = np.column_stack([values[np.arange(n), codes], np.sort(values, axis=1)])
    rank = class_ranks(keys[:, 0], codes, forecasts.n_classes)
    order = np.lexsort([rank[codes], *values.T[np.argsort(rank)], *keys.T[::-1]])
    new_unit = np.concatenate([[True], (np.diff(keys[order], axis=0) != 0).any(axis=1)])
    parted = (np.diff(values[order], axis=0) != 0).any(axis=1) | (np.diff(codes[order]) != 0)
    score = np.unique(values, axis=0, return_inverse=True)[1].reshape(-1)
    return order, new_unit, new_unit | np.concatenate([[True], parted]), _has_several(score, codes)


def class_ranks(scores: Array, codes: Places, n_classes: int) -> Places:
    """Classes numbered by the range of their rows' own scores, which neither names nor copies of rows change."""
    low, high = np.full(n_classes, np.inf), np.full(n_classes, -np.inf)
    np.minimum.at(low, codes, scores)
    np.maximum.at(high, codes, scores)
    rank = np.empty(n_classes, dtype=np.intp)
    rank[np.lexsort([low, high])] = np.arange(n_classes)
    return rank


def _has_several(forecast: Places, outcomes: NDArray[Any]) -> NDArray[np.bool_]:
    """Which rows have a forecast that came with several outcomes."""
    order = np.lexsort([outcomes, forecast])
    f, y = forecast[order], outcomes[order]
    changes = np.concatenate([[False], (np.diff(f) == 0) & (np.diff(y) != 0)])
    return np.asarray(np.bincount(f, changes)[forecast] > 0)
