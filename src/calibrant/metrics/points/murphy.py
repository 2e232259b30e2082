"""Murphy diagrams: the mean elementary scores of point forecasts at every threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._brief import Brief
from ..._checks import Array, column, complain, count, nonempty, to_array
from ..._types import Numbers, Weights
from .._inputs import total
from .errors import Points, paired_points
from .functionals import Functional, FunctionalName


@dataclass(frozen=True, eq=False, repr=False)
class MurphyCurve(Brief):
    """Mean elementary scores of a forecaster; one that is below another everywhere is better by every proper score.

    Attributes
    ----------
    thetas : array (m,)
        Increasing thresholds.
    scores : array (m,)
        Mean elementary score at each.
    """

    thetas: Array
    scores: Array


def murphy_curve(
    y_true: Numbers,
    y_pred: Points,
    *,
    functional: FunctionalName = "mean",
    level: float | None = None,
    thetas: Numbers = 200,
    sample_weight: Weights = None,
) -> MurphyCurve:
    r"""Mean elementary scores of point forecasts at thresholds θ, the curve of a Murphy diagram; smaller is better.

    .. math:: S_\theta(x, y) = \begin{cases} (1 - \tau)\,d & y \le \theta < x \\ \tau\,d & x \le \theta < y \\
        0 & \text{else} \end{cases}, \qquad
        d = \begin{cases} 1 & \text{quantiles} \\ |y - \theta| & \text{expectiles} \end{cases}

    Ehm et al. (2016). Every score that is proper for the functional is a mixture of these over θ with some weight: with
    the same weight for all the area under the curve is the pinball loss, of means a quarter of the squared error. So a
    forecaster whose curve is nowhere above another's is at least as good by all of them; curves that cross say that the
    choice of the score decides. The cost is O((n + m) log n).

    Parameters
    ----------
    y_true : array-like (n,)
        Outcomes; 0 and 1 with probabilities as ``y_pred`` will do, and θ is then the ratio of cost to loss.
    y_pred : array-like (n,) or Distribution
        Point predictions; of a Distribution the means, quantiles or expectiles.
    functional : {"mean", "median", "quantile", "expectile"}
        What the predictions are meant to be; the mean is the expectile, the median the quantile, of level 1/2.
    level : float, optional
        The level τ of quantiles and expectiles.
    thetas : int or array-like (m,)
        Increasing thresholds; an integer m stands for that many, evenly spaced over all outcomes and predictions.
    sample_weight : array-like (n,), optional
        Frequencies: weight 2 is the row twice.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.murphy_curve([1.0, 2.0], [2.0, 0.0], thetas=[0.0, 1.0, 1.5]).scores
    array([0.5 , 0.25, 0.25])

    Differs from the paper in: thresholds are evenly spaced unless told, where theirs are all outcomes and predictions;
    rows have weights.
    """
    kind = Functional.named(functional, level)
    y, x, weights = paired_points(y_true, kind.of(y_pred), sample_weight)
    at = threshold_grid(thetas, [y, x])
    mass = np.full(len(y), 1 / len(y)) if weights is None else weights / total(y, weights)
    middle = 0.5 * y.min() + 0.5 * y.max()
    scores = np.zeros(len(at))
    for rows, factor in ((y < x, 1 - kind.level), (x < y, kind.level)):
        starts, ends = np.minimum(x, y)[rows], np.maximum(x, y)[rows]
        share = factor * mass[rows]
        if kind.is_quantile:
            scores += _held(starts, ends, share, at)
        else:
            away = _held(starts, ends, share * (y[rows] - middle), at)
            scores += np.abs((at - middle) * _held(starts, ends, share, at) - away)
    return MurphyCurve(at, scores)


def threshold_grid(thetas: Any, values: list[Array]) -> Array:
    """Increasing thresholds; a whole number stands for that many over the range of all values."""
    if isinstance(thetas, (int, np.integer)):
        low, high = min(each.min() for each in values), max(each.max() for each in values)
        return np.unique(np.linspace(low, high, count(thetas, "thetas")))
    grid = nonempty(column(np.atleast_1d(to_array(thetas, "thetas")), "thetas"), "thetas")
    complain("thetas", "increasing", grid, np.append(False, np.diff(grid) <= 0))
    return grid


def _held(starts: Array, ends: Array, values: Array, at: Array) -> Array:
    """Sum of the values of the intervals [start, end) that hold each point."""
    return _reached(starts, values, at) - _reached(ends, values, at)


def _reached(places: Array, values: Array, at: Array) -> Array:
    """Sum of the values whose place is at most each point."""
    order = np.argsort(places)
    sums = np.concatenate([[0.0], np.cumsum(values[order])])
    return np.asarray(sums[np.searchsorted(places[order], at, side="right")])
