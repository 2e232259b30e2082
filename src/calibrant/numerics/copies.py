"""Rows that are copies of each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._checks import Array


def merged(table: Array, weights: Array) -> tuple[NDArray[np.intp], Array]:
    """Rows of a table that differ, sorted, as places of their first copies, with their summed weights.

    What is computed from these does not depend on the order of rows, and weight 2 is the row twice to the last bit.

    Examples
    --------
    >>> merged(np.array([[2.0], [1.0], [2.0]]), np.array([1.0, 1.0, 3.0]))
    (array([1, 0]), array([1., 4.]))
    """
    order = np.lexsort(table.T[::-1])
    lines = table[order]
    first = np.concatenate([[True], (lines[1:] != lines[:-1]).any(axis=1)])
    return order[first], np.add.reduceat(weights[order], np.nonzero(first)[0])
