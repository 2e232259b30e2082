"""The log density ratio of the beta map, its derivatives, and their averages over normal parameters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._checks import Array
from ...maps.averaged_beta import FEW

PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))  # the six entries of a symmetric 3 x 3 matrix, in order
_NODES, _WEIGHTS = FEW


_I, _J = (np.array(side) for side in zip(*PAIRS, strict=True))


class Expected(NamedTuple):
    """Averages over the parameters' law, one column a row: the value (n,), its gradient (3, n), Hessian (6, n)."""

    value: Array
    gradient: Array
    hessian: Array


def log_ratio(parameters: Array, low: Array, high: Array) -> Array:
    r"""Value, gradient (3) and Hessian (6) of :math:`\ln r` in :math:`(\ln a, \ln b, c)`, stacked: (10, ...).

    .. math:: \ln r = -|h| - 2\ln(1+e^{-|h|}) + \ln(e^{\ln a-l_0}+e^{\ln b-l_1}),\quad h = a l_0 - b l_1 + c

    with :math:`l_0 = \ln F(y)`, :math:`l_1 = \ln(1-F(y))`: the logarithm of Song et al. (2019), eq. 7, finite in both
    tails. ``parameters`` is (3, ...); the Hessian comes in the order of `PAIRS`.

    Examples
    --------
    >>> log_ratio(np.zeros((3, 1)), np.log([0.25]), np.log([0.75]))[1:4, 0]
    array([0.0569, 0.3938, 0.5   ])
    """
    log_a, log_b, c = parameters
    rise, fall = np.exp(log_a) * low, -np.exp(log_b) * high  # the derivatives of h
    h = rise + fall + c
    first, second = log_a - low, log_b - high
    lead = first - second
    e, f = np.exp(-np.abs(h)), np.exp(-np.abs(lead))
    t = np.copysign((1 - e) / (1 + e), h)
    share = np.where(lead >= 0, 1.0, f) / (1 + f)
    bend, swap = 0.5 * (t * t - 1), share * (1 - share)
    out = np.empty((10, *h.shape))
    out[0] = np.maximum(first, second) - np.abs(h) + np.log1p(f) - 2 * np.log1p(e)
    rise_t, fall_t = t * rise, t * fall
    np.subtract(share, rise_t, out=out[1])
    np.subtract(1 - share, fall_t, out=out[2])
    np.negative(t, out=out[3])
    np.multiply(bend, rise, out=out[6])
    np.multiply(bend, fall, out=out[8])
    np.add(out[6] * rise - rise_t, swap, out=out[4])
    np.subtract(out[6] * fall, swap, out=out[5])
    np.add(out[8] * fall - fall_t, swap, out=out[7])
    out[9] = bend
    return out


def expected(mean: Array, cover: Array, low: Array, high: Array) -> Expected:
    """Averages of `log_ratio` over normal parameters: means (3, n), covariances (6, n), by the rule of 13 nodes."""
    r = roots(cover)
    x, y, z = _NODES.T[:, :, None]
    parameters = np.empty((3, len(_NODES), mean.shape[1]))
    parameters[0] = mean[0] + x * r[0]
    parameters[1] = mean[1] + x * r[1] + y * r[3]
    parameters[2] = mean[2] + x * r[2] + y * r[4] + z * r[5]
    averages = np.matmul(_WEIGHTS, log_ratio(parameters, low, high))
    return Expected(averages[0], averages[1:4], averages[4:])


def roots(cover: Array) -> Array:
    """Cholesky roots of many 3 x 3 matrices; an entry (i, j) of `PAIRS` stands for row j, column i."""
    aa, ab, ac, bb, bc, cc = cover
    tiny = 1e-14
    r00 = np.sqrt(np.maximum(aa, tiny))
    r10, r20 = ab / r00, ac / r00
    r11 = np.sqrt(np.maximum(bb - r10 * r10, tiny))
    r21 = (bc - r10 * r20) / r11
    r22 = np.sqrt(np.maximum(cc - r20 * r20 - r21 * r21, tiny))
    return np.stack([r00, r10, r20, r11, r21, r22])


def congruence(left: Array) -> Array:
    """The 6 x 6 matrix that takes the entries of a symmetric X to those of left X leftᵀ."""
    straight = left[_I][:, _I] * left[_J][:, _J]
    crossed = left[_I][:, _J] * left[_J][:, _I]
    return np.asarray(straight + (_I != _J) * crossed)


def clipped(hessian: Array, most: float = -1e-6) -> Array:
    """The nearest Hessians (6, n) whose eigenvalues are at most ``most``: a single row's is never negative definite."""
    full = np.empty((hessian.shape[1], 3, 3))
    for k, (i, j) in enumerate(PAIRS):
        full[:, i, j] = full[:, j, i] = hessian[k]
    values, vectors = np.linalg.eigh(full)
    full = np.einsum("nij,nj,nkj->nik", vectors, np.minimum(values, most), vectors)
    return np.stack([full[:, i, j] for i, j in PAIRS])
