"""What a day does to the shelf: the oldest units are sold first, the rest is a day older."""

from __future__ import annotations

import numpy as np

from ..._checks import Array


def sell(stock: Array, demand: Array) -> Array:
    """What is left after so much demand, first in first out.

    >>> sell(np.array([[2.0, 3.0, 4.0]]), np.array([4.0]))
    array([[0., 1., 4.]])
    """
    left = np.maximum(np.cumsum(stock, axis=1) - demand[:, None], 0.0)
    return np.diff(left, axis=1, prepend=0.0)


def age(stock: Array) -> tuple[Array, Array]:
    """Stock with a day of life less, and the units (n,) whose last day it was.

    >>> age(np.array([[1.0, 2.0, 3.0]]))
    (array([[2., 3., 0.]]), array([1.]))
    """
    return np.column_stack([stock[:, 1:], np.zeros(len(stock))]), stock[:, 0]
