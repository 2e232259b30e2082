"""Rows to learn from and rows to be judged on, inside a calibrator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

ONE_SPLIT = 2_000  # rows from which one split serves
TRAIN, TEST = 4_500, 1_500
TRUST_IN_BASE = 1.0  # held-out rows' worth of trust that the base has in advance
PREMIUM = 0.2  # rows' worth of weight that the base always keeps: outcomes far off all that was learned stay possible

Rows = NDArray[np.intp]


def held_out_splits(n: int, random_state: Any = None, folds: int = 5) -> Iterator[tuple[Rows, Rows]]:
    """Random folds of n rows; from 2 000 rows on one split, of 4 500 and 1 500 rows at most.

    Examples
    --------
    >>> [(len(train), len(test)) for train, test in held_out_splits(10, folds=3)]
    [(6, 4), (7, 3), (7, 3)]
    >>> [(len(train), len(test)) for train, test in held_out_splits(100_000)]
    [(4500, 1500)]
    """
    rows = np.random.default_rng(0 if random_state is None else random_state).permutation(n)
    if n >= ONE_SPLIT:
        train = min(TRAIN, 3 * n // 4)
        yield rows[:train], rows[train : train + TEST]
        return
    for fold in range(folds):
        mine = np.arange(n) % folds == fold
        yield rows[~mine], rows[mine]


def drawn_rows(n: int, most: int, random_state: Any = None) -> Rows | slice:
    """At most so many of n rows, in their order; drawn at random, by seed 0 unless told.

    >>> drawn_rows(5, 9), len(drawn_rows(100, 9))
    (slice(None, None, None), 9)
    """
    if n <= most:
        return slice(None)
    rng = np.random.default_rng(0 if random_state is None else random_state)
    return np.sort(rng.choice(n, most, replace=False))


def base_premium(rows: float) -> float:
    """Least weight of the base after that many rows.

    >>> base_premium(99.0)
    0.002
    """
    return PREMIUM / (rows + 1)
