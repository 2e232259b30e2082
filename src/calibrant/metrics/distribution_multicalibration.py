"""Calibration of predictive laws in every segment: the largest deviation of the PITs."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import Numbers, Weights
from ..distributions.scores import score_intervals
from ._inputs import level_grid, paired
from .feature_cells import FEWEST, FeatureCells
from .quantile_calibration import observed_levels


def distribution_multicalibration_error(
    y_true: Numbers,
    dist: Any,
    X: Any = None,
    *,
    levels: Numbers = 20,
    max_conditions: int = 3,
    max_values: int = 3,
    sample_weight: Weights = None,
) -> float:
    r"""Largest deviation of the PITs in any segment, in standard errors; of calibrated forecasts about 4.

    .. math:: \max_{g, j} \frac{|\hat p_{gj} - p_j|}{\sqrt{p_j (1 - p_j) / n_g}}, \quad
        \hat p_{gj} = \tfrac1{n_g} \#\{t \in g : F_t(y_t) \le p_j\}

    The counterpart of :func:`multicalibration_error` for distributions: :func:`calibration_error` is small where
    faults of different segments cancel, this is not. The largest of many standard normal deviations is 3 for a handful
    of segments and 4 for hundreds, if all is well; 5 is beyond chance. Segments are all intersections of at most three
    features, each cut into three values, with ten rows or more; without features it is the deviation of all rows.

    Parameters
    ----------
    y_true, dist, sample_weight
        As in :func:`nll`. An outcome on an atom counts with the share of its jump below the level.
    X : features (n, d), optional
        Numbers, texts or categories; a frame, an array or lists. Missing values are a value of their own.
    levels : int or array-like
        As in :func:`calibration_error`; at 0 and 1 there is nothing to see.
    max_conditions, max_values
        As in :func:`multicalibration_error`.

    Examples
    --------
    All outcomes below the median in one group and above it in the other:

    >>> import numpy as np
    >>> from calibrant import Normal, metrics
    >>> y = Normal(np.zeros(100), 1.0).ppf(np.linspace(0.005, 0.995, 100))
    >>> law, X = Normal(np.zeros(100), 1.0), np.repeat([[0], [1]], 50, axis=0)
    >>> round(metrics.distribution_multicalibration_error(y, law), 6)
    0.0
    >>> metrics.distribution_multicalibration_error(y, law, X)
    7.07
    """
    grid = level_grid(levels)
    grid = grid[(grid > 0) & (grid < 1)]
    if not len(grid):
        raise ValueError(f"`levels` must have one between 0 and 1; got {levels!r}.")
    y, law, weights = paired(y_true, dist, sample_weight)
    scores, largest = score_intervals(law, y), 0.0
    for cell in FeatureCells(X, len(y), sample_weight, max_values, max_conditions):
        labels = (np.cumsum(np.bincount(cell) > 0) - 1)[cell]
        observed = observed_levels(scores, grid, weights, labels)
        off = np.abs(observed.frequency - grid) * np.sqrt(observed.rows[:, None] / (grid * (1 - grid)))
        largest = max(largest, float(off[observed.rows >= min(FEWEST, observed.rows.sum())].max(initial=0.0)))
    return largest
