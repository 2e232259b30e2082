"""Sums in which what is old counts less, for many half-lives at once."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..._checks import Array

BLOCK = 32  # rows worked on at a time


@lru_cache(maxsize=64)
def kernel(half_lives: tuple[float, ...], step: float) -> Array:
    """Weights (H, BLOCK, 1 + BLOCK) of a sum before the rows, and of each row, in the sums after each row."""
    rows = np.arange(BLOCK)
    age = rows[:, None] - np.arange(-1, BLOCK)
    with np.errstate(over="ignore"):
        weights: Array = np.exp2(-np.maximum(age, 0) * step / np.array(half_lives)[:, None, None])
    weights *= age >= 0
    weights.flags.writeable = False
    return weights


def decayed_sums(half_lives: tuple[float, ...], step: float, start: Array, added: Array) -> Array:
    """Sums after each row, (H, n, C), of a start (H, C) and n rows (H, n, C) or (n, C); a row is ``step`` later.

    >>> decayed_sums((1.0,), 1.0, np.array([[4.0]]), np.array([[1.0], [0.0]]))[0, :, 0]
    array([3. , 1.5])
    """
    rows = added.shape[-2]
    whole = np.empty((len(half_lives), rows + 1, added.shape[-1]))
    whole[:, 0], whole[:, 1:] = start, added
    return np.asarray(kernel(half_lives, step)[:, :rows, : rows + 1] @ whole)
