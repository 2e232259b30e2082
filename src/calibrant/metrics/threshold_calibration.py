"""Threshold calibration: among forecasts with P(Y <= t) = q, how often Y <= t happens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .._brief import Brief
from .._checks import Array, choices, column, count, nonempty
from .._types import Numbers, Weights
from ._inputs import equal_mass_bins, paired
from .classes.bins import equal_width_bins


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ThresholdReliability(Brief):
    """Reliability of P(Y <= t) at K thresholds in at most B bins; unused bins have 0 rows and NaN elsewhere."""

    thresholds: Array  # (K,)
    forecast: Array  # (K, B) mean forecast probability of a bin
    observed: Array  # (K, B) observed frequency of Y <= t in it
    rows: Array  # (K, B) number of rows in it, counted with their weights

    @property
    def error(self) -> float:
        """Mean squared distance between forecast and observed, over rows and thresholds; 0 is perfect."""
        used = self.rows > 0
        squares = np.square(self.forecast[used] - self.observed[used])
        return float(np.dot(self.rows[used], squares) / self.rows.sum())


def threshold_reliability(
    y_true: Numbers,
    dist: Any,
    *,
    thresholds: Numbers = 16,
    n_bins: int = 8,
    spaced: Literal["quantile", "even"] = "quantile",
    bins: Literal["mass", "width"] = "mass",
    sample_weight: Weights = None,
) -> ThresholdReliability:
    r"""Threshold-wise reliability: forecast probabilities of :math:`Y \le t_i` against observed frequencies.

    For every threshold the rows are sorted by :math:`q = F_t(t_i)` into bins of equal size (equal values share one);
    in each bin the mean of q is set against the frequency of :math:`y_t \le t_i`. It is the one-threshold form of
    empirical calibration, Song et al. (2018), def. 3, drawn in their fig. 5 with even thresholds and bins of equal
    width.

    Parameters
    ----------
    y_true, dist, sample_weight
        As in :func:`nll`.
    thresholds : int or array-like (K,)
        Thresholds; an integer K stands for that many, as ``spaced`` says.
    n_bins : int
        Number B of bins.
    spaced : {"quantile", "even"}
        K thresholds are the outcomes' quantiles of levels 1/(K+1), ..., K/(K+1); or they are evenly spaced from half
        the range of the outcomes below the lowest to half of it above the highest (Song et al. 2018, §6.2), where most
        rows of the outer ones have a probability near 0 or 1.
    bins : {"mass", "width"}
        Bins of equal numbers of rows, or equal parts of [0, 1] (theirs), of which some may be empty.

    Examples
    --------
    >>> from calibrant import Normal, metrics
    >>> law = Normal([-1.0, -1.0, 1.0, 1.0], 1.0)
    >>> curve = metrics.threshold_reliability([-2.0, 0.5, -0.5, 2.0], law, thresholds=[0.0], n_bins=2)
    >>> curve.forecast, curve.observed
    (array([[0.1587, 0.8413]]), array([[0.5, 0.5]]))
    """
    count(n_bins, "n_bins")
    choices(spaced=(spaced, ("quantile", "even")), bins=(bins, ("mass", "width")))
    y, law, weights = paired(y_true, dist, sample_weight)
    mass = np.ones(len(y)) if weights is None else weights
    points = _thresholds(thresholds, spaced, y, mass)
    forecast, observed, rows = (np.full((len(points), n_bins), fill) for fill in (np.nan, np.nan, 0.0))
    for k, t in enumerate(points):
        q = law.cdf(np.full(len(y), t))
        labels = equal_width_bins(q, n_bins) if bins == "width" else equal_mass_bins(q, weights, n_bins)
        rows[k] = np.bincount(labels, mass, n_bins)
        used = rows[k] > 0
        forecast[k, used] = np.bincount(labels, mass * q, n_bins)[used] / rows[k, used]
        observed[k, used] = np.bincount(labels, mass * (y <= t), n_bins)[used] / rows[k, used]
    return ThresholdReliability(points, forecast, observed, rows)


def _thresholds(thresholds: Any, spaced: str, y: Array, mass: Array) -> Array:
    if not isinstance(thresholds, (int, np.integer)):
        return nonempty(column(np.atleast_1d(thresholds), "thresholds"), "thresholds")
    number = count(thresholds, "thresholds")
    if spaced == "even":
        low, high = y.min(), y.max()
        return np.unique(np.linspace(low - 0.5 * (high - low), high + 0.5 * (high - low), number))
    return outcome_quantiles(number, y, mass)


def outcome_quantiles(number: int, y: Array, mass: Array) -> Array:
    """The different ones among quantiles of levels 1/(K+1), ..., K/(K+1)."""
    order = np.argsort(y)
    upper = np.cumsum(mass[order])
    levels = np.arange(1, number + 1) / (number + 1)
    return np.asarray(np.unique(y[order][np.searchsorted(upper, levels * upper[-1])]))
