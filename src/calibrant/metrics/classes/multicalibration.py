"""Calibration of class probabilities in every segment: the largest cumulated difference."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..._checks import Array, one_of
from ..._types import Labels, Weights
from ..feature_cells import FEWEST, Cells, FeatureCells
from .forecasts import EventForecasts, Probabilities, class_forecasts

Scale = Literal["absolute", "sigma", "relative"]


def multicalibration_error(
    y_true: Labels,
    y_proba: Probabilities,
    X: Any = None,
    *,
    scale: Scale = "absolute",
    max_conditions: int = 3,
    max_values: int = 3,
    classes: Labels | None = None,
    sample_weight: Weights = None,
) -> float:
    r"""Largest cumulated difference of labels and probabilities in any segment; 0 is perfect.

    .. math:: \operatorname{MCE} = \sigma_0 \max_g \frac{E_g}{\sigma_g}, \quad
        E_g = \max_{0 \le j \le k \le n_g} \Bigl| \frac1{n_g} \sum_{i=j+1}^k (y_{(i)} - p_{(i)}) \Bigr|, \quad
        \sigma_g^2 = \frac1{n_g^2} \sum_{i \in g} p_i (1 - p_i)

    with the rows of segment g sorted by p and :math:`g = 0` for all rows. :math:`E_g` is the estimated cumulative
    calibration error (ECCE) of Arrieta-Ibarra et al. (2022), which needs no bins; their largest one in units of its
    deviation is Guy et al.'s (2025), as the package mcgrad 0.1.5 works it out. Segments are all intersections of at
    most three features, each cut into three values, with ten rows or more. Without features it is the ECCE of all rows.
    On the scale "sigma" 1.6 is the mean of one calibrated segment, and 5 is beyond chance for any number of them. All
    combinations of 20 features on 100 000 rows take about 10 seconds, of two at a time 2.

    Parameters
    ----------
    y_true, y_proba, classes, sample_weight
        As in :func:`brier_score`. Of more than two classes each is measured against the rest; the largest error counts.
    X : features (n, d), optional
        Numbers, texts or categories; a frame, an array or lists. Missing values are a value of their own.
    scale : {"absolute", "sigma", "relative"}
        A difference of probabilities; its number of standard deviations, :math:`\max_g E_g / \sigma_g`; or the absolute
        one as a share of the rarer outcome's frequency.
    max_conditions : int
        Features that a segment may be described by.
    max_values : int
        Values k of a feature: the k - 1 most frequent categories and the others, or numbers between the quantiles 1/k,
        2/k, ….

    Examples
    --------
    Right on the whole, wrong in both groups:

    >>> from calibrant import metrics
    >>> y, p, X = [0, 1] * 20, [0.5] * 40, [["a"], ["b"]] * 20
    >>> round(metrics.multicalibration_error(y, p), 6), metrics.multicalibration_error(y, p, X, scale="sigma")
    (0.0, 4.47)

    Differs from the paper in: rows of equal probability are taken together, so that the order of rows does not matter;
    weights are frequencies, :math:`\sigma_g^2 = \sum w p (1 - p) / (\sum w)^2`; all segments are looked at, where the
    package stops after 1000; the relative scale is a share, not a percentage.
    """
    one_of(scale, "scale", ("absolute", "sigma", "relative"))
    forecasts = class_forecasts(y_true, y_proba, classes, sample_weight)
    cells = FeatureCells(X, len(forecasts.codes), sample_weight, max_values, max_conditions)
    return max(_error(problem, cells, scale) for problem in forecasts.one_against_rest())


def _error(problem: EventForecasts, cells: FeatureCells, scale: Scale) -> float:
    """The error of one binary problem."""
    order = np.argsort(problem.p, kind="stable")
    p, events = problem.p[order], problem.events[order]
    w = np.ones(len(p)) if problem.weights is None else problem.weights[order]
    found = (cumulated_differences(cell, p, events, w) for cell in cells.of(order))
    whole, sigma = next(found)
    largest = max([_ratio(whole, sigma), *(_ratio(*each) for each in found)])
    if scale == "sigma":
        return largest
    error = largest * float(sigma[0]) if sigma[0] > 0 else float(whole[0])
    if scale == "absolute":
        return error
    share = float(np.dot(w, events) / w.sum())
    return error / rarer if (rarer := min(share, 1 - share)) > 0 else float(np.inf if error else 0.0)


def cumulated_differences(cell: Cells, p: Array, events: NDArray[np.bool_], weights: Array) -> tuple[Array, Array]:
    """Range of the cumulated differences in each segment, and its standard deviation; rows come in order of p.

    All rows are a segment, however few; others that have too few are left out.

    >>> p, events = np.array([0.2, 0.4, 0.9]), np.array([True, False, True])
    >>> cumulated_differences(np.zeros(3, dtype=int), p, events, np.ones(3))
    (array([0.267]), array([0.233]))
    """
    order = np.argsort(cell, kind="stable")
    cell, p, w = cell[order], p[order], weights[order]
    step, variance = w * (events[order] - p), w * (p * (1 - p))
    start = np.flatnonzero(np.diff(cell, prepend=-1))
    last = np.append(start[1:], len(cell))
    total = np.cumsum(step)
    along = total - np.repeat(total[start] - step[start], last - start)
    ends = np.append((np.diff(cell) > 0) | (np.diff(p) > 0), True)  # equal probabilities are one step
    along[~ends] = 0.0
    high, low = (np.maximum.reduceat(way, start) for way in (along, -along))
    mass = np.add.reduceat(w, start)
    many = mass >= min(FEWEST, w.sum())
    ranges = (np.maximum(high, 0.0) + np.maximum(low, 0.0)) / mass
    return ranges[many], (np.sqrt(np.add.reduceat(variance, start)) / mass)[many]


def _ratio(ranges: Array, sigma: Array) -> float:
    """The largest range in standard deviations; infinite where what was certain did not come."""
    safe = np.where(sigma > 0, sigma, 1.0)
    return float(np.where(sigma > 0, ranges / safe, np.where(ranges > 0, np.inf, 0.0)).max(initial=0.0))
