"""From what a classifier says along the thresholds to a distribution."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.optimize import isotonic_regression

from ..._checks import Array

BASE_SHARE = 0.01  # of the forecast itself in the result
_STRIP = 16  # cells smoothed by one product
_REACH = 0.01  # standard deviation of the smoothing over the length of the grid


def log_masses(cdf: Array, base: Array) -> Array:
    r"""Log masses between thresholds of a monotone and smooth version of a classifier, with a little of the base.

    The projection by isotonic regression has flat pieces with corners. The ratio of its masses m to the base's b
    is averaged over near cells, :math:`b_i (w * m)_i / (w * b)_i`: where the base is narrow its shape is kept, where
    nothing was changed nothing is.

    Parameters
    ----------
    cdf : array (n, K)
        Probabilities of Y <= t along a grid of thresholds, in no order.
    base : array (n, K + 1)
        Log masses of the forecasts between them.
    """
    cdf = cdf.copy()
    for row in np.flatnonzero((np.diff(cdf) < 0).any(axis=1)):
        cdf[row] = isotonic_regression(cdf[row]).x
    none, whole = np.zeros((len(cdf), 1)), np.ones((len(cdf), 1))
    mass = _smoothed(np.maximum(np.diff(np.hstack([none, cdf, whole])), 0.0), np.exp(base))
    with np.errstate(divide="ignore"):
        return np.asarray(np.logaddexp(np.log1p(-BASE_SHARE) + np.log(mass), np.log(BASE_SHARE) + base))


def _smoothed(mass: Array, base: Array) -> Array:
    """Masses (n, K + 1) whose ratio to the base's is smooth; those of both ends stay."""
    inner = slice(1, -1)
    some, all_ = (
        gaussian_filter1d(part[:, inner], _REACH * mass.shape[1], axis=1, mode="constant") for part in (mass, base)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        smooth = some * np.where(all_ > 0, base[:, inner] / all_, 0.0)  # this ratio is at most that to the own weight
        smooth *= mass[:, inner].sum(axis=1, keepdims=True) / smooth.sum(axis=1, keepdims=True)
    out = mass.copy()
    out[:, inner] = np.where(np.isfinite(smooth), smooth, mass[:, inner])
    return out


def made_to_rise(cdf: Array) -> Array:
    """Probabilities (n, K) projected row by row, all by one isotonic regression: each row is lifted above the others.

    >>> made_to_rise(np.array([[0.2, 0.5, 0.3], [0.1, 0.0, 0.4]]))
    array([[0.2 , 0.4 , 0.4 ],
           [0.05, 0.05, 0.4 ]])
    """
    if not cdf.size:
        return cdf
    lift = 2.0 * np.arange(len(cdf))[:, None]
    return np.asarray(isotonic_regression((cdf + lift).ravel()).x.reshape(cdf.shape) - lift)


@cache
def band(thresholds: int) -> Array:
    """Weights of the smoothing between so many thresholds, as `gaussian_filter1d` has them, moving along (16, ...)."""
    sigma = _REACH * (thresholds + 1)
    reach = int(4 * sigma + 0.5)
    one = np.zeros(2 * reach + 1)
    one[reach] = 1.0
    weights = gaussian_filter1d(one, sigma, mode="constant")
    table = np.zeros((_STRIP, _STRIP + 2 * reach))
    for place, line in enumerate(table):
        line[place : place + len(weights)] = weights
    table.setflags(write=False)
    return table


def blurred(mass: Array, table: Array, out: Array) -> Array:
    """Columns (M, n) averaged with the weights of a `band`, zeros beyond; by products of small matrices."""
    size, reach = len(mass), reach_of(table)
    for start in range(0, size, _STRIP):
        stop = min(start + _STRIP, size)
        low, high = max(start - reach, 0), min(stop + reach, size)
        first = low - start + reach
        np.matmul(table[: stop - start, first : first + high - low], mass[low:high], out=out[start:stop])
    return out


def reach_of(table: Array) -> int:
    """Cells on either side that a `band` averages over."""
    return (int(table.shape[1]) - _STRIP) // 2
