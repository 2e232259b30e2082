"""The likelihood of scores whose location and scale are functions of the features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from ..._checks import Array

LARGEST_LOG = 4.0  # of the scale: factors of 55 at most
_MOST_STRETCH = 2.0


@dataclass(frozen=True, eq=False)
class StudentLikelihood:
    """Standardised scores (n,), their weights and the degrees of freedom; trees say location and log scale."""

    u: Array
    weights: Array
    nu: float

    def __getitem__(self, rows: Any) -> StudentLikelihood:
        return StudentLikelihood(self.u[rows], self.weights[rows], self.nu)

    def losses(self, said: Array) -> Array:
        """See `losses`."""
        return losses(self.u, said, self.nu)

    def slopes(self, said: Array) -> tuple[Array, Array]:
        """See `slopes`."""
        return slopes(self.u, said, self.nu)


def scales(log_scale: Array) -> Array:
    """Scales of logarithms of any size."""
    return np.exp(np.clip(log_scale, -LARGEST_LOG, LARGEST_LOG))


def losses(u: Array, parameters: Array, nu: float) -> Array:
    r"""Minus the log density of each score, up to a constant, under Student's t.

    .. math:: \ell + \tfrac{\nu+1}{2}\ln(1 + r^2/\nu), \quad r = (u - m)/e^\ell

    Parameters
    ----------
    u : ndarray (n,)
    parameters : ndarray (n, 2)
        Location m and log scale :math:`\ell`.
    nu : float

    Examples
    --------
    >>> losses(np.array([0.0, 2.0]), np.zeros((2, 2)), 4.0).round(4)
    array([0.    , 1.7329])
    """
    scale = scales(parameters[:, 1])
    r = (u - parameters[:, 0]) / scale
    return np.asarray(np.log(scale) + 0.5 * (nu + 1) * np.log1p(r * r / nu))


def slopes(u: Array, parameters: Array, nu: float) -> tuple[Array, Array]:
    r"""Slopes of the losses in m and :math:`\ell`, (n, 2), and their expected curvatures (Fisher).

    .. math:: \partial_m = -wr/s, \quad \partial_\ell = 1 - wr^2, \quad w = \frac{\nu+1}{\nu+r^2}, \quad
        h_m = \frac{\nu+1}{(\nu+3)s^2}, \quad h_\ell = \frac{2\nu}{\nu+3}
    """
    scale = scales(parameters[:, 1])
    r = (u - parameters[:, 0]) / scale
    w = (nu + 1) / (nu + r * r)
    curvature = np.empty(parameters.shape)
    curvature[:, 0], curvature[:, 1] = (nu + 1) / (nu + 3) / np.square(scale), 2 * nu / (nu + 3)
    return np.column_stack([-w * r / scale, 1 - w * r * r]), curvature


def stretches(u: Array, parameters: Array, weights: Array, nu: float) -> Array:
    """Two factors between 1 and 2 of unseen rows' location and log scale, under which their scores are likeliest.

    Stopping early shrinks what trees say; this undoes some of it.
    """
    shares = weights / weights.sum()

    def loss(factors: Array) -> tuple[float, Array]:
        stretched = factors * parameters
        slope = shares @ (slopes(u, stretched, nu)[0] * parameters)
        return float(shares @ losses(u, stretched, nu)), slope

    found = minimize(loss, np.ones(2), jac=True, method="L-BFGS-B", bounds=[(1.0, _MOST_STRETCH)] * 2)
    return np.asarray(found.x, dtype=np.float64)
