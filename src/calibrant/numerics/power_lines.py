r"""Powers that pass through lines: :math:`\log(1 + \xi u)/\xi`, which is u for :math:`\xi = 0`, and its inverse."""

from __future__ import annotations

import numpy as np
from scipy.special import exprel

from .._checks import Array


def bent_log(u: Array, shape: Array) -> Array:
    r""":math:`\log(1 + \xi u)/\xi`; infinite beyond the end at :math:`-1/\xi`.

    >>> bent_log(np.array([2.0, 2.0, 2.0]), np.array([0.0, 1.0, -0.5])).round(4)
    array([2.    , 1.0986,    inf])
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        x = np.where(shape == 0, 0.0, shape * u)
        far = np.isinf(x) & np.isfinite(u)
        log = np.log1p(np.maximum(np.where(far, 0.0, x), -1.0))
        log = np.where(far & (x > 0), np.log(np.abs(u)) + np.log(np.abs(shape)), np.where(far, -np.inf, log))
        out = np.where(np.abs(x) < 1e-8, u * (1 - 0.5 * x), log / shape)
    return np.where(np.isinf(u) & (shape == 0), u, out)


def bent_power(v: Array, shape: Array) -> Array:
    r"""The inverse, :math:`(e^{\xi v} - 1)/\xi`."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        x = np.where(shape == 0, 0.0, shape * v)
        out = np.where(x < -40, -1 / shape, np.where(np.isinf(v), v, v * exprel(np.maximum(x, -40.0))))
    return np.asarray(out)
