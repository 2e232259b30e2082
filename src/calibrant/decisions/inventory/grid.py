"""Stock on a grid: its unit in each series, and values between the places of the grid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..._checks import Array


def units(most: Array, together: Sequence[Sequence[int]], max_states: int, pack: int) -> Array:
    """The smallest unit of each series, a divisor or multiple of the pack, for which no grid has too many places.

    Parameters
    ----------
    most : ndarray (n, deliveries)
        Most units of each delivery. All series share the grid, each in its own unit.
    together : sequence of sequences of int
        Which deliveries a grid has, for each grid that is needed.

    >>> units(np.array([[20.0, 20.0], [60.0, 60.0], [700.0, 500.0]]), [[0], [0, 1]], 450, 12)
    array([ 1.,  3., 36.])
    """
    candidates, budget = _candidates(pack, float(most.max(initial=0.0))), float(max_states)
    places = np.stack([_places(most / unit, together) for unit in candidates])
    while True:
        unit = candidates[np.minimum(np.sum(places > budget, axis=0), len(candidates) - 1)]
        shared = np.ceil(most / unit[:, None]).max(axis=0, initial=0.0)[None]
        if _places(shared, together)[0] <= max_states or (unit == candidates[-1]).all():
            return np.asarray(unit)
        budget *= 0.8


def _candidates(pack: int, most: float) -> Array:
    """Divisors of the pack, and multiples that grow by a quarter or less, up to all units in one."""
    units = [k for k in range(1, pack + 1) if pack % k == 0]
    while units[-1] < most:
        units.append(pack * max(units[-1] // pack + 1, int(1.25 * units[-1]) // pack))
    return np.array(units, dtype=np.float64)


def _places(steps: Array, together: Sequence[Sequence[int]]) -> Array:
    """Places of the largest grid, (n,), for so many steps of each delivery (n, deliveries)."""
    sizes = np.ceil(steps) + 1
    places: Array = np.max([sizes[:, list(which)].prod(axis=1) for which in together], axis=0)
    return places


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

    At an end it is the parabola of the last three, and never more than half a place away.

    >>> peak(np.array([[1.0, 4.0, 4.0, 0.0], [5.0, 2.0, 0.0, 0.0], [1.0, 3.0, 4.9, 5.0]])).round(2)
    array([1.5 , 0.  , 2.56])
    """
    best, last = table.argmax(axis=1), table.shape[1] - 1
    if last < 2:
        return np.asarray(best, dtype=np.float64)
    rows, middle = np.arange(len(table)), np.clip(best, 1, last - 1)
    low, top, high = (table[rows, middle + k] for k in (-1, 0, 1))
    bend = 2 * top - low - high
    curved = bend > 0
    place = np.where(curved, middle + 0.5 * (high - low) / np.where(curved, bend, 1.0), best)
    return np.asarray(np.clip(np.clip(place, best - 0.5, best + 0.5), 0.0, last))
