"""Which rows are learned from and which are forecast: equal rows always on one side."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from .._checks import Array, count
from ..adapters.class_scores import ClassScores
from .distinct import DistinctRows, Places, class_ranks, spread_over, units_of

Split = tuple[Places, Places]  # rows to learn from, rows to forecast


def split_rows(
    table: Any,
    codes: NDArray[Any],
    weights: Array,
    *,
    groups: NDArray[np.object_] | None = None,
    time: NDArray[Any] | None = None,
    features: Array | None = None,
    cv: Any = 5,
) -> tuple[DistinctRows, list[Split]]:
    """Distinct rows of forecasts and outcomes, and splits of them.

    Parameters
    ----------
    table : Distribution, ClassScores or point predictions
    codes : ndarray (n,)
        Outcomes; numbers of classes where the table holds scores.
    weights : ndarray (n,)
    groups, time : ndarray (n,), optional
    features : ndarray (n, d), optional
        Rows that differ in these only are two rows, on one side of a split; NaN is missing.
    cv : int, tuple of ints or splitter
        Folds; folds, repetitions and seed.
    """
    if isinstance(cv, Iterable) and not isinstance(cv, (tuple, str)):
        cv = check_cv(cv)  # pairs of rows
    if hasattr(cv, "split"):
        if time is not None:
            raise ValueError("`cv` must be a number of blocks with `time`; a splitter decides for itself.")
        unit = units_of(table, codes)
        whole = DistinctRows(np.arange(len(codes)), weights, unit, np.zeros(len(codes), dtype=bool))
        return whole, given_splits(cv, codes, groups, unit)
    folds, repeats, seed = _three(cv)
    distinct = DistinctRows.of(table, codes, weights, _numbered(groups, time, features))
    if time is not None:
        if repeats != 1:
            raise ValueError("`cv` must be one number with `time`: blocks along it are always the same.")
        moments = np.unique(time, return_inverse=True)[1].reshape(-1)
        distinct = distinct.sorted_by(moments)
        return distinct, time_splits(moments[distinct.rows], distinct.weights, folds)
    rng = np.random.default_rng(seed)
    distinct, fold = spread_over(distinct, count(folds, "cv", least=2), rng)
    strata = _strata(table, codes, distinct) if isinstance(table, ClassScores) else None
    splits = [
        split
        for _ in range(count(repeats, "cv[1]"))
        for split in random_splits(distinct.unit, folds, rng, strata=strata, fold=fold)
    ]
    return distinct, splits


def _three(cv: Any) -> tuple[Any, Any, Any]:
    """Folds, repetitions and seed, of which the last ones may be missing.

    >>> _three(5), _three((5, 3))
    ((5, 1, 0), (5, 3, 0))
    """
    given = cv if isinstance(cv, tuple) else (cv,)
    if not 0 < len(given) <= 3:
        raise ValueError(f"`cv` must be folds, repetitions and seed, at most; got {cv!r}.")
    return (*given, *(5, 1, 0)[len(given) :])


def random_splits(
    unit: Places,
    folds: int,
    rng: np.random.Generator,
    *,
    strata: Places | None = None,
    fold: Places | None = None,
) -> list[Split]:
    """Folds of units, the rows of a unit together.

    Parameters
    ----------
    unit : ndarray (n,)
        The unit of each row; rows that are equal are one unit.
    folds : int
    rng : Generator
    strata : ndarray (n,), optional
        The class of each row; folds have equal shares of the classes.
    fold : ndarray (n,), optional
        The fold of each row where that is settled, -1 elsewhere.

    Examples
    --------
    >>> splits = random_splits(np.array([0, 1, 1]), 2, np.random.default_rng(0))
    >>> [(train.tolist(), test.tolist()) for train, test in splits]
    [([1, 2], [0]), ([0], [1, 2])]
    """
    fold = np.full(len(unit), -1) if fold is None else fold
    free = np.flatnonzero(fold < 0)
    names, first, place = np.unique(unit[free], return_index=True, return_inverse=True)
    order = rng.permutation(len(names))
    if strata is not None:
        order = order[np.argsort(strata[free[first]][order], kind="stable")]
    number = min(folds, len(names)) if len(free) == len(unit) else folds
    drawn = np.empty(len(names), dtype=np.intp)
    drawn[order] = np.arange(len(names)) % number
    settled = fold.copy()
    settled[free] = drawn[place.reshape(-1)]
    splits = [(np.flatnonzero(settled != k), np.flatnonzero(settled == k)) for k in range(number)]
    return [(train, test) for train, test in splits if len(train) and len(test)]


def time_splits(when: Places, weights: Array, cv: Any) -> list[Split]:
    """Blocks in order of time, each forecast from all rows before it; rows of one time are in one block.

    Parameters
    ----------
    when : ndarray (n,)
        The number 0, 1, … of the time of each row.
    weights : ndarray (n,)
    cv : int
        Number of blocks to forecast, each with about as much weight; one more comes before them.

    Examples
    --------
    >>> [(train.tolist(), test.tolist()) for train, test in time_splits(np.array([0, 1, 1, 2]), np.ones(4), 3)]
    [([0], [1, 2]), ([0, 1, 2], [3])]
    """
    blocks = count(cv, "cv") + 1
    mass = np.bincount(when, weights)
    if len(mass) < 2:
        raise ValueError("`time` must have at least two different values; it has one.")
    before = np.cumsum(mass) - mass
    block = np.minimum(np.floor(before / mass.sum() * blocks * (1 + 1e-12)), blocks - 1)[when]
    numbers = [k for k in np.unique(block) if k > 0]
    return [(np.flatnonzero(block < k), np.flatnonzero(block == k)) for k in numbers]


def given_splits(splitter: Any, y: NDArray[Any], groups: Any, units: Places) -> list[Split]:
    """Those of a splitter; what is to be forecast is not learned from, nor are its copies."""
    every = np.arange(len(y))
    splits = [(every[train], every[test]) for train, test in splitter.split(np.zeros((len(y), 1)), y, groups)]
    apart = [(train[~np.isin(units[train], units[test])], test) for train, test in splits]
    splits = [(train, test) for train, test in apart if len(train) and len(test)]
    if not splits:
        raise ValueError("`cv` must give a split with rows to learn from and rows to forecast; it gives none.")
    return splits


def _numbered(groups: NDArray[np.object_] | None, time: NDArray[Any] | None, features: Array | None) -> Places | None:
    """A number for each group, each time, each row of features, or for each combination of them."""
    names = None if groups is None else np.array([f"{type(name).__name__} {name}" for name in groups])
    found = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in (names, time) if column is not None]
    if features is not None:
        whole = np.where(np.isnan(features), np.inf, features)
        found.append(np.unique(whole, axis=0, return_inverse=True)[1].reshape(-1))
    if len(found) < 2:
        return found[0] if found else None
    return np.unique(np.column_stack(found), axis=0, return_inverse=True)[1].reshape(-1)


def _strata(table: ClassScores, codes: Places, distinct: DistinctRows) -> Places:
    """The class of each row, numbered in a way that neither names nor order of columns change."""
    mine = codes[distinct.rows]
    return class_ranks(table.values[distinct.rows, mine], mine, table.n_classes)[mine]
