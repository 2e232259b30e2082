"""Stock on a grid: its unit in each series, and values between the places of the grid."""

from __future__ import annotations

import numpy as np

from ..._checks import Array


def units(most: Array, levels: int, pack: int) -> Array:
    """The smallest unit for which ``most`` (n,) units take at most so many levels: a divisor or multiple of the pack.

    >>> units(np.array([20.0, 55.0, 200.0, 2000.0]), 21, 12)
    array([  1.,   3.,  12., 108.])
    """
    need = most / max(levels - 1, 1)
    divisors = np.array([k for k in range(1, pack + 1) if pack % k == 0], dtype=np.float64)
    small = divisors[np.minimum(np.searchsorted(divisors, need), len(divisors) - 1)]
    return np.where(need <= pack, small, pack * np.ceil(need / pack))


def between(place: Array, size: int) -> Array:
    """Weights (n, k, size) of the two grid points around each place (n, k); places beyond the last are the last.

    >>> between(np.array([[0.25, 9.0]]), 3)
    array([[[0.75, 0.25, 0.  ],
            [0.  , 0.  , 1.  ]]])
    """
    inside = np.minimum(place, size - 1.0)[..., None]
    return np.maximum(1.0 - np.abs(inside - np.arange(size)), 0.0)


def at(table: Array, places: Array) -> Array:
    """Values (n, ...) of a table (n, N_1, ..., N_m, ...) at one place (n, m) a row, linear between grid points."""
    for column in places.T:
        weights = between(column[:, None], table.shape[1])
        table = (weights @ table.reshape(*table.shape[:2], -1)).reshape(len(table), *table.shape[2:])
    return table


def peak(table: Array) -> Array:
    """Places (n,) of the largest of the values (n, k), between them by the parabola through it and its neighbours.

    >>> peak(np.array([[1.0, 4.0, 4.0, 0.0], [5.0, 4.0, 0.0, 0.0]]))
    array([1.5, 0. ])
    """
    best = table.argmax(axis=1)
    rows, inner = np.arange(len(table)), (best > 0) & (best < table.shape[1] - 1)
    middle = np.where(inner, best, 1)
    low, top, high = (table[rows, np.clip(middle + k, 0, table.shape[1] - 1)] for k in (-1, 0, 1))
    bend = 2 * top - low - high
    return best + np.where(inner & (bend > 0), 0.5 * (high - low) / np.where(bend > 0, bend, 1.0), 0.0)
