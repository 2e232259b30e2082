"""Work in blocks, so that intermediate results stay in the cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import Array

BLOCK = 16384  # numbers worked on at a time


def row_blocks(rows: int, width: int = 1, block: int = 4 * BLOCK) -> Iterator[slice]:
    """Slices of rows that hold ``block`` numbers each, at ``width`` numbers a row; one row at least.

    >>> list(row_blocks(5, 4, block=8))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 6, None)]
    """
    step = max(1, block // max(1, width))
    return (slice(start, start + step) for start in range(0, rows, step))


def column_blocks(block: int, *columns: Array) -> Iterator[tuple[Array, ...]]:
    """Columns of one length, cut into blocks together; short ones as they are.

    >>> list(column_blocks(2, np.arange(3.0), np.zeros(3)))
    [(array([0., 1.]), array([0., 0.])), (array([2.]), array([0.]))]
    """
    if len(columns[0]) <= block:
        yield columns
        return
    for rows in row_blocks(len(columns[0]), block=block):
        yield tuple(column[rows] for column in columns)


def in_blocks(function: Callable[[Array], NDArray[Any]], z: Array, dtype: type = np.float64) -> NDArray[Any]:
    """``function(z)`` for an elementwise function of 1-D arrays, computed block by block; any shape of z."""
    z = np.asarray(z, dtype=np.float64)
    flat = np.ravel(z)
    out: NDArray[Any] = np.empty(flat.size, dtype)
    for part in row_blocks(flat.size, block=BLOCK // 2):
        out[part] = function(flat[part])
    return out.reshape(z.shape)


def constant(value: float, n: int) -> Array:
    """One number for n rows, read-only, that takes no room; `np.broadcast_to` takes ten times as long.

    >>> constant(2.0, 3), constant(2.0, 3).strides
    (array([2., 2., 2.]), (0,))
    """
    one = np.array([value], dtype=np.float64)
    one.flags.writeable = False
    return np.ndarray((n,), np.float64, one, strides=(0,))


def joined(parts: Iterator[Array]) -> Array:
    """Results of blocks laid end to end; of no blocks, an empty array."""
    return np.concatenate([np.empty(0), *parts])
