"""Scores of predicted labels as functions of confusion tables: F1, Matthews, scikit-learn's by name, any callable."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import Array, complain
from ..adapters.class_labels import Codes
from ..numerics.blocks import row_blocks

TableScores = Callable[[Array], Array]  # of confusion tables (P, K, K), a line a real class; one value each
_ROUNDING = 1e-12  # less weight, relative to all, is none


def f_scores(tables: Array) -> Array:
    r"""F1 of the second of two classes, :math:`2 TP / (2 TP + FP + FN)`; of more the mean over those that occur.

    >>> f_scores(np.array([[[3.0, 1.0], [2.0, 4.0]]]))
    array([0.7273])
    """
    hits = np.diagonal(tables, axis1=1, axis2=2)
    rows = tables.sum(axis=1) + tables.sum(axis=2)
    scores = np.divide(2 * hits, rows, out=np.zeros(rows.shape), where=rows > 0)
    return np.asarray(scores[:, 1] if tables.shape[1] == 2 else scores.sum(axis=1) / (rows > 0).sum(axis=1))


def matthews_scores(tables: Array) -> Array:
    """Matthews's correlation of real and predicted classes, of any number; 0 where one of them is constant.

    >>> matthews_scores(np.array([[[3.0, 0.0], [0.0, 4.0]]]))
    array([1.])
    """
    n = tables.sum(axis=(1, 2))
    predicted, real = tables.sum(axis=1), tables.sum(axis=2)
    covariance = np.trace(tables, axis1=1, axis2=2) * n - (predicted * real).sum(axis=1)
    spread = np.sqrt((n**2 - (predicted**2).sum(axis=1)) * (n**2 - (real**2).sum(axis=1)))
    known = spread > _ROUNDING * n**2
    return np.asarray(np.divide(covariance, spread, out=np.zeros(len(n)), where=known))


VECTORISED: dict[str, TableScores] = {"f1": f_scores, "matthews_corrcoef": matthews_scores}


def score_of_rows(objective: Any, labels: NDArray[Any]) -> TableScores:
    """A callable ``score(y_true, labels)``, or one of scikit-learn's by name, of tables of these classes.

    Names score the numbers 0, 1, ... of the classes, so that the second of two is the positive one.
    """
    if callable(objective):
        return _Rows(objective, labels)
    from sklearn.metrics import get_scorer

    scorer = get_scorer(objective)
    signed: Any = scorer._sign
    options = scorer._kwargs
    return _Rows(
        lambda y, p, sample_weight: signed * scorer._score_func(y, p, sample_weight=sample_weight, **options),
        np.arange(len(labels)),
    )


def scorer_names() -> list[str]:
    """Names of scikit-learn's scorers of predicted labels."""
    from sklearn.metrics import get_scorer, get_scorer_names

    scorers = {name: get_scorer(name) for name in get_scorer_names()}
    return [
        name
        for name, scorer in scorers.items()
        if scorer._response_method == "predict" and scorer._score_func.__module__ == "sklearn.metrics._classification"
    ]


class _Rows:
    """Tables scored as rows: a row a cell with its weight, or where weights are not taken so many rows a cell."""

    def __init__(self, score: Callable[..., Any], labels: NDArray[Any]) -> None:
        self.score, self.labels = score, labels
        try:
            self.weighted = "sample_weight" in inspect.signature(score).parameters
        except ValueError:  # of functions that do not tell
            self.weighted = False

    def __call__(self, tables: Array) -> Array:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of classes that are never predicted
            values = [self._one(table) for table in tables]
        return np.nan_to_num(np.array(values, dtype=np.float64), nan=-np.inf)

    def _one(self, table: Array) -> float:
        real, given = np.nonzero(table > _ROUNDING * table.sum())
        weights = table[real, given]
        if self.weighted:
            return float(self.score(self.labels[real], self.labels[given], sample_weight=weights))
        whole = weights.round()
        uneven = np.abs(weights - whole) > 1e-9 * whole
        complain("sample_weight", "whole numbers, as `objective` takes no sample_weight", weights, uneven)
        rows = np.repeat(np.arange(len(whole)), whole.astype(np.intp))
        return float(self.score(self.labels[real[rows]], self.labels[given[rows]]))


def tables_along(c: int, order: Codes, others: Codes, codes: Codes, rows: Array, size: int) -> Iterator[Array]:
    """Confusion tables (block, K, K), ``rows`` being weights, with the first 0, 1, ..., n rows given to class c.

    Parameters
    ----------
    c : int
    order : ndarray of int (n,)
        In which rows go over to class c.
    others : ndarray of int (n,)
        Where they come from.
    codes : ndarray of int (n,)
        Real classes.
    rows : ndarray (n,)
        Weights.
    size : int
        Number of classes K.
    """
    now = np.bincount(codes * size + others, rows, size * size).astype(np.float64)
    yield now.reshape(1, size, size)
    for part in row_blocks(len(order), size * size):
        mine = order[part]
        change = np.zeros((len(mine), size * size))
        place = np.arange(len(mine))
        change[place, codes[mine] * size + c] += rows[mine]
        change[place, codes[mine] * size + others[mine]] -= rows[mine]
        tables = np.maximum(now + np.cumsum(change, axis=0), 0.0)
        now = tables[-1]
        yield tables.reshape(-1, size, size)
