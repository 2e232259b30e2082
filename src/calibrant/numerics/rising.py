"""Isotonic regression for quantiles and expectiles: one value a group of rows, rising from group to group."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from .._checks import Array

_MOST = 100  # sweeps; about five are enough
_EPS = float(np.finfo(np.float64).eps)
_Places = NDArray[np.intp]


def rising_quantiles(group: NDArray[Any], y: Array, weights: Array, level: float) -> Array:
    r"""The rising values :math:`x_g` with the least :math:`\sum_i w_i (\tau - 1\{y_i < x_{g_i}\})(y_i - x_{g_i})`.

    Halving (Stout 2013): whether groups lie above or below the middle outcome needs no more than a sum, for each
    stretch of groups that is still together; log2(n) sweeps over the rows.

    Parameters
    ----------
    group : ndarray of int (n,)
        0, 1, ..., each of them at least once.
    y, weights : ndarrays (n,)
    level : float
        The level τ.

    Examples
    --------
    >>> rising_quantiles(np.array([0, 1, 1, 1, 2]), np.array([3.0, 1.0, 2.0, 9.0, 4.0]), np.ones(5), 0.5)
    array([2., 2., 4.])
    """
    values, rank = np.unique(y, return_inverse=True)
    size = int(group.max()) + 1
    low, high = np.zeros(size, dtype=np.intp), np.full(size, len(values) - 1, dtype=np.intp)
    while (low < high).any():
        middle = (low + high) // 2
        gain = np.asarray(np.bincount(group, weights * (level - (rank <= middle[group])), size), dtype=np.float64)
        up = _upper_part(gain, np.flatnonzero(np.diff(low, prepend=-1))) & (low < high)
        low, high = np.where(up, middle + 1, low), np.where(up, high, middle)
    return np.asarray(values[low])


def _upper_part(gain: Array, starts: _Places) -> NDArray[np.bool_]:
    """Groups of the end of each stretch with the largest sum of gains; the stretches begin at ``starts``."""
    reached = np.cumsum(gain)
    before = np.concatenate([[0.0], reached])[starts]
    least = np.minimum.reduceat(reached, starts)
    sizes = np.diff(starts, append=len(gain))
    places = np.arange(len(gain))
    at_least = np.where(reached == np.repeat(least, sizes), places, len(gain))
    first = np.where(least < before, np.minimum.reduceat(at_least, starts) + 1, starts)
    return np.asarray(places >= np.repeat(first, sizes))


def rising_expectiles(group: NDArray[Any], y: Array, weights: Array, level: float) -> Array:
    r"""The rising values :math:`x_g` with the least :math:`\sum_i w_i |\tau - 1\{y_i < x_{g_i}\}| (y_i - x_{g_i})^2`.

    Isotonic regression with the weights :math:`w_i |\tau - 1\{y_i < x_{g_i}\}|` of the values before, until these stay.
    The derivative of the loss is a convex or concave function of x, so values only fall, or only rise, after the first
    sweep, as in Newton's method, and the end is exact.

    Parameters
    ----------
    group, y, weights, level
        As in :func:`rising_quantiles`.

    Examples
    --------
    >>> rising_expectiles(np.array([0, 1, 1, 2]), np.array([3.0, 1.0, 2.0, 4.0]), np.ones(4), 0.5)
    array([2., 2., 4.])
    """
    size = int(group.max()) + 1
    unit = np.abs(y).max() or 1.0
    asymmetric = 0.5 * weights
    x = np.full(size, np.inf)
    for _ in range(_MOST):
        mass = np.bincount(group, asymmetric, size)
        before, x = x, isotonic_regression(np.bincount(group, asymmetric * (y / unit), size) / mass, weights=mass).x
        if not (np.abs(x - before) > 4 * _EPS).any():
            break
        asymmetric = weights * np.where(y / unit < x[group], 1 - level, level)
    return np.asarray(unit * x)
