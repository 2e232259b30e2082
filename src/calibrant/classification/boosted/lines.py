"""Rows to learn from, without copies, and the folds that they belong to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._checks import Array, believed
from ...adapters.class_labels import Codes
from ...calibration.pit_watch import effective_rows
from ...numerics.copies import merged

FOLDS = 5
_DIGITS = 9  # to which copies of a row agree
_MOST_COPIES = 10.0  # of a row, on average, that are believed
Rows = NDArray[np.intp]


class Lines(NamedTuple):
    """Places of rows, each with its fold and weight; ``n_rows`` of weight 1 say as much.

    Copies of a row are one line, in one fold: weights of a survey, or rows drawn with replacement, are no reason to
    believe what trees learn by heart. But rows of equal features whose labels differ are no copies: of such, the
    weights are spread over the folds.
    """

    row: Rows
    fold: Rows
    weight: Array
    n_rows: float


def lines_of(features: Array, codes: Codes, weights: Array, seed: int) -> Lines:
    """Lines in an order that does not depend on that of the rows; each fold has its share of each class.

    Examples
    --------
    >>> x, y = np.array([[0.0], [0.0], [1.0]]), np.array([0, 1, 1])
    >>> lines = lines_of(x, y, np.array([7.0, 1.0, 7.0]), seed=0)
    >>> [lines.weight[lines.row == row].tolist() for row in range(3)], lines.n_rows
    ([[2.0, 2.0, 1.0, 1.0, 1.0], [1.0], [7.0]], 9.0)
    """
    told = np.column_stack([np.where(np.isnan(features), np.inf, features), codes])
    row, weight = merged(np.round(told, _DIGITS), weights)
    same = (np.round(told[row][1:, :-1], _DIGITS) == np.round(told[row][:-1, :-1], _DIGITS)).all(axis=1)
    mixed = np.concatenate([[False], same]) | np.concatenate([same, [False]])
    n_rows = float(weight[mixed].sum() + (effective_rows(weight[~mixed]) if not mixed.all() else 0.0))
    weight = believed(weight, _MOST_COPIES * n_rows / len(row))
    order = np.random.default_rng(seed).permutation(len(row))
    turn = np.empty(len(row), dtype=np.intp)
    turn[order[np.argsort(codes[row][order], kind="stable")]] = np.arange(len(row))
    share = np.where(mixed[:, None], _spread(weight), weight[:, None] * np.eye(1, FOLDS))
    line, place = np.nonzero(share > 0)
    return Lines(row[line], (turn[line] + place) % FOLDS, share[line, place], n_rows)


def _spread(weight: Array) -> Array:
    """Shares of whole copies over the folds, (n, 5); what is left over goes to the first ones."""
    each = np.floor(weight / FOLDS)[:, None]
    left = weight[:, None] - FOLDS * each - np.arange(FOLDS)
    return np.asarray(each + np.clip(left, 0, 1))
