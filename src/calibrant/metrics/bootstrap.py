"""Intervals around any measure: by resampling rows, or from the spread of its values."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import ndtri, stdtrit

from .._brief import Brief
from .._checks import Array, count, one_of, probability, sample_weights
from .._types import Weights
from ._inputs import average

Metric = Callable[..., Any]


@dataclass(frozen=True, slots=True, repr=False)
class MetricInterval(Brief):
    """The value of a measure, and an interval around it."""

    value: Any
    low: Any
    high: Any


def bootstrap_interval(
    metric: Metric,
    y_true: Any,
    y_pred: Any,
    *,
    coverage: float = 0.9,
    n_resamples: int = 500,
    method: Literal["percentile", "basic", "normal"] = "percentile",
    random_state: Any = 0,
    sample_weight: Weights = None,
) -> MetricInterval:
    r"""Bootstrap interval of any measure, from sets of rows drawn with replacement.

    A resample is the rows with the number of times each was drawn as its weight, so nothing is copied and no class is
    lost. Measures that are means of rows (those with ``per_row``) are worked out once. Efron & Tibshirani (1993).

    Parameters
    ----------
    metric : callable
        ``metric(y_true, y_pred, sample_weight=...)`` that returns a number or an array: any measure of this library
        with its settings through ``functools.partial`` or a lambda.
    y_true : array-like (n,)
        Outcomes or labels.
    y_pred : array-like, Distribution
        n forecasts, as the measure takes them.
    coverage : float
        Nominal coverage.
    n_resamples : int
        Number of resamples.
    method : {"percentile", "basic", "normal"}
        Quantiles :math:`[q_{\alpha/2}, q_{1-\alpha/2}]` of the resamples' values, or
        :math:`[2v - q_{1-\alpha/2}, 2v - q_{\alpha/2}]` around the value v, better for measures that noise enlarges,
        such as :func:`ece`: resampling enlarges them once more. "normal" is :math:`v \pm z_{1-\alpha/2} s` with the
        resamples' standard deviation s, and always holds v.
    random_state : int or numpy Generator
        The same resamples unless told.
    sample_weight : array-like (n,), optional
        Frequencies: weight 2 is the row twice.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.bootstrap_interval(metrics.brier_score, [0, 0, 1, 1] * 25, [0.1, 0.4, 0.6, 0.9] * 25)
    MetricInterval(value=0.085, low=0.072, high=0.097)
    """
    level = probability(coverage, "coverage")
    one_of(method, "method", ("percentile", "basic", "normal"))
    weights = sample_weights(sample_weight, len(y_true))
    value = metric(y_true, y_pred, sample_weight=weights)
    counts = _Resamples(len(y_true), weights, np.random.default_rng(random_state))
    values = _values(metric, y_true, y_pred, (value, weights))
    again = count(n_resamples, "n_resamples")
    if values is None:
        draws = [metric(y_true, y_pred, sample_weight=counts.draw()) for _ in range(again)]
    else:
        draws = [average(values, counts.draw()) for _ in range(again)]
    low, high = np.quantile(np.asarray(draws, dtype=np.float64), [0.5 - level / 2, 0.5 + level / 2], axis=0)
    if method == "basic":
        low, high = 2 * value - high, 2 * value - low
    elif method == "normal":
        reach = ndtri(0.5 + level / 2) * np.std(np.asarray(draws, dtype=np.float64), axis=0, ddof=1)
        low, high = value - reach, value + reach
    plain = np.ndim(value) == 0
    return MetricInterval(value, *((float(low), float(high)) if plain else (low, high)))


def _values(metric: Metric, y_true: Any, y_pred: Any, found: tuple[Any, Array | None]) -> Array | None:
    """Values of the rows whose mean the measure is, if it is one; ``found`` is the measure and its weights."""
    value, weights = found
    try:
        told = "per_row" in inspect.signature(metric).parameters
    except (TypeError, ValueError):  # some built-in functions have none
        return None
    if not told or np.ndim(value) > 0:
        return None
    values = np.asarray(metric(y_true, y_pred, per_row=True), dtype=np.float64)
    plain = values.shape == (len(y_true),) and bool(np.isfinite(values).all())
    same = plain and np.isclose(average(values, weights), value, rtol=1e-9, atol=0.0)
    return values if same else None


def mean_interval(
    metric: Metric, y_true: Any, y_pred: Any, *, coverage: float = 0.9, sample_weight: Weights = None
) -> MetricInterval:
    r"""Interval of a measure that is a mean over independent rows, from the spread of their values.

    .. math:: \bar v \pm t_{n-1}\, s/\sqrt n

    Parameters
    ----------
    metric : callable
        A measure with ``per_row=True``: scores such as :func:`log_loss`, :func:`crps`, and :func:`mae`.
    y_true, y_pred, coverage, sample_weight
        As in :func:`bootstrap_interval`.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.mean_interval(metrics.brier_score, [0, 0, 1, 1] * 25, [0.1, 0.4, 0.6, 0.9] * 25)
    MetricInterval(value=0.085, low=0.0725, high=0.0975)
    """
    level = probability(coverage, "coverage")
    values = np.asarray(metric(y_true, y_pred, per_row=True))
    weights = sample_weights(sample_weight, len(values))
    n = float(len(values) if weights is None else weights.sum())
    if not n > 1:
        raise ValueError(f"An interval needs more than one row; got {n:g}.")
    if weights is not None:
        values, weights = values[weights > 0], weights[weights > 0]
    mean = average(values, weights)
    std = np.sqrt(average(np.square(values - mean), weights) / (n - 1))
    reach = float(stdtrit(n - 1, 0.5 + level / 2) * std)
    return MetricInterval(mean, mean - reach, mean + reach)


@dataclass(frozen=True, slots=True)
class _Resamples:
    """Numbers of times that rows come in sets drawn with replacement."""

    rows: int
    weights: Array | None
    rng: np.random.Generator

    def draw(self) -> Array:
        """As many draws as rows, a row of weight 2 filling two places."""
        if self.weights is None:
            places = (self.rng.random(self.rows) * self.rows).astype(np.intp)
        else:
            reached = np.cumsum(self.weights)
            u = self.rng.random(max(1, round(reached[-1]))) * reached[-1]
            places = np.searchsorted(reached, u, side="right")
        return np.bincount(places, minlength=self.rows).astype(np.float64)
