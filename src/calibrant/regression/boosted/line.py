"""What trees say of the log scale, bent so that unseen rows are likeliest."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.optimize import minimize

from ..._checks import Array
from ...calibration.pit_watch import effective_rows
from ...maps import PiecewiseLinearMap
from ..features import weighted_quantiles
from .objective import LARGEST_LOG, LocationScale

_LEVELS = np.array([0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99])  # of the said log scales, where the line may bend
_APART = 1e-3  # knots of the line, at least
_STIFFNESS = 4.0  # nats, of all rows together, that a slope of 0 or 2 costs
_SLOPES = (0.1, 3.0)


def fit_line(u: Array, said: Array, weights: Array, kind: LocationScale) -> PiecewiseLinearMap | None:
    r"""An increasing bent line g of the log scale, under which unseen scores are likeliest; None where it is constant.

    .. math:: \sum_i w_i\, loss(u_i; m_i, g(\ell_i)) + 4\sum_j (g'_j - 1)^2

    Trees that stop early say too little of a small segment that is far off, and too much of noise elsewhere: no one
    factor mends both.

    Parameters
    ----------
    u : ndarray (n,)
    said : ndarray (n, 2)
        Location and log scale of rows by trees that have not seen them.
    weights : ndarray (n,)
    kind : LocationScale
    """
    knots = _knots(said[:, 1], weights)
    if len(knots) < 2:
        return None
    rises, shares = _rises(said[:, 1], knots), weights / weights.sum()
    stiffness = _STIFFNESS / effective_rows(weights)

    def loss(line: Array) -> tuple[float, Array]:
        bent = np.column_stack([said[:, 0], line[0] + rises @ line[1:]])
        slope = shares * kind.slopes(u, bent)[0][:, 1]
        off = line[1:] - 1
        value = shares @ kind.losses(u, bent) + stiffness * off @ off
        return float(value), np.concatenate([[slope.sum()], slope @ rises + 2 * stiffness * off])

    start = np.concatenate([knots[:1], np.ones(len(knots) + 1)])
    limits = [(-LARGEST_LOG, LARGEST_LOG), *[_SLOPES] * (len(knots) + 1)]
    first, below, *inner, above = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=limits).x
    levels = first + np.concatenate([[0.0], np.cumsum(np.array(inner) * np.diff(knots))])
    return PiecewiseLinearMap(knots, levels, (float(below), float(above)))


def _knots(values: Array, weights: Array) -> Array:
    found = np.unique(weighted_quantiles(values, weights, _LEVELS))
    return np.asarray(found[np.concatenate([[True], np.diff(found) > _APART])])


def _rises(values: Array, knots: Array) -> Array:
    """How far each value lies within each piece of the line, from the first knot on; a column a piece."""
    inner = [np.clip(values, low, high) - low for low, high in pairwise(knots)]
    return np.column_stack([np.minimum(values - knots[0], 0.0), *inner, np.maximum(values - knots[-1], 0.0)])
