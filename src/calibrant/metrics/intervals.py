"""How often central intervals hold the outcome."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._checks import Array, nonempty, probabilities, to_array
from .._types import Numbers, Weights
from ..numerics.blocks import row_blocks
from ._inputs import average, no_weights_per_row, paired


def coverage(
    y_true: Numbers, dist: Any, *, coverage: Numbers = 0.9, sample_weight: Weights = None, per_row: bool = False
) -> float | Array:
    r"""Share of outcomes inside the central intervals; compare it with the nominal coverage.

    .. math:: \frac1T \#\{t : l_t \le y_t \le u_t\}, \quad
        [l_t, u_t] = [F_t^{-1}(\tfrac{1-c}2),\, F_t^{-1}(\tfrac{1+c}2)]

    The standard error of a perfect forecaster's value is :math:`\sqrt{c(1-c)/T}`. Intervals of laws with atoms hold
    at least their nominal probability, mostly more.

    Parameters
    ----------
    y_true, dist, sample_weight
        As in :func:`nll`.
    coverage : float or array-like (k,)
        Nominal coverage c, or several.
    per_row : bool
        Return 1.0 (inside) and 0.0 (outside) per row instead of the share.

    Returns
    -------
    float, array (k,) where several coverages are given; per row, array (n,) or (n, k)

    Examples
    --------
    >>> from calibrant import Normal, metrics
    >>> metrics.coverage([-2.0, 0.1, 0.5, 1.8], Normal([0.0] * 4, 1.0), coverage=[0.5, 0.9])
    array([0.5, 0.5])
    """
    nominal = nonempty(probabilities(coverage, "coverage"), "coverage")
    no_weights_per_row(sample_weight, per_row)
    y, law, weights = paired(y_true, dist, sample_weight)
    inside = np.empty((len(nominal), len(y)))
    for k, c in enumerate(nominal):
        for rows in row_blocks(len(y), 2):
            low, high = law[rows].interval(float(c)).T
            inside[k, rows] = (low <= y[rows]) & (y[rows] <= high)
    single = to_array(coverage, "coverage").ndim == 0
    if per_row:
        return inside[0] if single else inside.T
    shares = np.array([average(line, weights) for line in inside])
    return float(shares[0]) if single else shares
