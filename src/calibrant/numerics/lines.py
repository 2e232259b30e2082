"""Look-up in tables with one sorted line for all rows, or one line per row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._checks import Array

Positions = NDArray[np.intp]


def count_below(table: Array, y: Array, *, strict: bool = False) -> Positions:
    """Count the entries <= y (or < y) in each sorted line: y is (n,) or (n, k), the table (m,) or (n, m).

    >>> count_below(np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([1.0, 1.0]))
    array([2, 0])
    """
    if table.ndim == 1:
        return np.searchsorted(table, y, side="left" if strict else "right")
    m = table.shape[1]
    found = np.zeros(y.shape, dtype=np.intp)
    step = 1 << (m.bit_length() - 1) if m else 0
    while step:
        tried = found + step
        probe = pick(table, np.minimum(tried, m) - 1)
        passed = (probe < y) if strict else (probe <= y)
        found = np.where(passed & (tried <= m), tried, found)
        step >>= 1
    return found


def pick(table: Array, where: Positions) -> Array:
    """Entries of each line at the given places: where is (n,) or (n, k), the table (m,) or (n, m)."""
    if table.ndim == 1:
        return table[where]
    lines = np.arange(len(table))
    return table[lines[:, None] if where.ndim == 2 else lines, where]
