"""Sums of products."""

from __future__ import annotations

import numpy as np

from .._checks import Array

ALONE = 10_000  # numbers of which BLAS makes a sum by itself; of more by threads, which wait for the next sum busily


def inner(left: Array, right: Array) -> float:
    """Sum of products of two columns, by one thread: others cost more than they gain.

    >>> inner(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    if len(left) <= ALONE:
        return float(left.dot(right))
    whole = len(left) - len(left) % ALONE
    parts = np.vecdot(left[:whole].reshape(-1, ALONE), right[:whole].reshape(-1, ALONE))
    return float(parts.sum() + left[whole:].dot(right[whole:]))
