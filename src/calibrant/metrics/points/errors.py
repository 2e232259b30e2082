"""Errors of point predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..._checks import Array, column, complain, nonempty, same_length, sample_weights
from ..._types import Numbers, Weights
from ...distributions.base import Distribution
from .._inputs import EPS, average, no_weights_per_row, with_weight

Points: TypeAlias = Numbers | Distribution
"""Point predictions, or laws of which a measure takes the point that suits it."""


def mape(y_true: Numbers, y_pred: Points, *, sample_weight: Weights = None, per_row: bool = False) -> float | Array:
    r"""Mean absolute percentage error as a fraction: 0.1 is ten per cent.

    .. math:: \frac1T \sum_t \left|\frac{y_t - \hat y_t}{y_t}\right|

    Outcomes of 0 have no percentage error and raise.

    Parameters
    ----------
    y_true : array-like (n,)
        Outcomes, none of them 0.
    y_pred : array-like (n,) or Distribution
        Point predictions; the medians of a Distribution.
    sample_weight, per_row
        As in :func:`nll`.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.mape([100.0, 200.0], [110.0, 180.0])
    0.1
    """
    return _mean_error(_relative, y_true, y_pred, sample_weight, per_row)


def mae(y_true: Numbers, y_pred: Points, *, sample_weight: Weights = None, per_row: bool = False) -> float | Array:
    r"""Mean absolute error :math:`\frac1T \sum_t |y_t - \hat y_t|`, in the unit of y.

    Parameters
    ----------
    y_true, sample_weight, per_row
        As in :func:`mape`; outcomes may be 0.
    y_pred : array-like (n,) or Distribution
        Point predictions; the medians of a Distribution, which minimise the expected absolute error.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.mae([1.0, 2.0], [1.5, 0.5])
    1.0
    """
    return _mean_error(lambda y, p: np.abs(y - p), y_true, y_pred, sample_weight, per_row)


def mse(y_true: Numbers, y_pred: Points, *, sample_weight: Weights = None, per_row: bool = False) -> float | Array:
    r"""Mean squared error :math:`\frac1T \sum_t (y_t - \hat y_t)^2`, in the squared unit of y.

    Parameters
    ----------
    y_true, sample_weight, per_row
        As in :func:`mape`; outcomes may be 0.
    y_pred : array-like (n,) or Distribution
        Point predictions; the means of a Distribution, which minimise the expected squared error.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.mse([1.0, 2.0], [1.5, 0.5])
    1.25
    """
    return _mean_error(lambda y, p: np.square(y - p), y_true, _means(y_pred), sample_weight, per_row)


def mean_error(
    y_true: Numbers, y_pred: Points, *, sample_weight: Weights = None, per_row: bool = False
) -> float | Array:
    r"""Mean error :math:`\frac1T \sum_t (\hat y_t - y_t)`: above 0 if predictions are too high; 0 if calibrated.

    The first of the two conditions for calibrated point predictions (type RD) of Bella et al. (2010),
    :math:`E(\hat y - y) = 0`.

    Parameters
    ----------
    y_true, sample_weight, per_row
        As in :func:`mape`; outcomes may be 0.
    y_pred : array-like (n,) or Distribution
        Point predictions; the means of a Distribution.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.mean_error([1.0, 2.0], [1.5, 3.5])
    1.0
    """
    return _mean_error(lambda y, p: p - y, y_true, _means(y_pred), sample_weight, per_row)


def mean_ratio(
    y_true: Numbers, y_pred: Points, *, sample_weight: Weights = None, per_row: bool = False
) -> float | Array:
    r"""Mean ratio :math:`\frac1T \sum_t \hat y_t / y_t`: above 1 if predictions are too high; 1 if calibrated.

    The second condition for calibrated point predictions (type RD) of Bella et al. (2010), :math:`E(\hat y / y) = 1`.
    Small outcomes weigh most: predictions of :math:`E(y)`, the best ones, have a mean ratio above 1 where y > 0 varies.
    Outcomes of 0, or as good as 0 beside the largest, have no ratio and raise.

    Parameters
    ----------
    y_true, sample_weight, per_row
        As in :func:`mape`.
    y_pred : array-like (n,) or Distribution
        Point predictions; the means of a Distribution.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.mean_ratio([100.0, 200.0], [110.0, 180.0])
    1.0
    """
    return _mean_error(_ratio, y_true, _means(y_pred), sample_weight, per_row)


def relative_mse(y_true: Numbers, y_pred: Points, *, sample_weight: Weights = None) -> float:
    r"""Squared error relative to that of the mean outcome; 0 is perfect, 1 no better than predicting the mean.

    .. math:: \frac{\sum_t (y_t - \hat y_t)^2}{\sum_t (y_t - \bar y)^2}

    It is :math:`1 - R^2`. Bella et al. (2010) print :math:`(y - \hat y)^2 / ((y - \mathrm{mean}(\hat y)) \times n)`,
    without the square below and with the mean of the predictions; misprints.

    Parameters
    ----------
    y_true, sample_weight
        As in :func:`mape`; outcomes may be 0, but not all equal.
    y_pred : array-like (n,) or Distribution
        Point predictions; the means of a Distribution.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.relative_mse([1.0, 2.0, 3.0], [1.0, 2.0, 2.0])
    0.5
    """
    y, point, weights = paired_points(y_true, _means(y_pred), sample_weight)
    spread = y - average(y, weights)
    unit = np.abs(spread).max()
    if not unit > 8 * EPS * np.abs(y).max():
        raise ValueError(f"`y_true` must not be constant; all {len(y)} outcomes are {y[0]:g}. Use mse.")
    with np.errstate(over="ignore"):
        return average(np.square((y - point) / unit), weights) / average(np.square(spread / unit), weights)


def paired_points(y_true: Numbers, y_pred: Points, sample_weight: Any) -> tuple[Array, Array, Array | None]:
    """Outcomes, predictions (the medians of laws) and weights of one length, without the rows of weight 0."""
    y = nonempty(column(y_true, "y_true"), "y_true")
    point = column(y_pred.median() if isinstance(y_pred, Distribution) else y_pred, "y_pred")
    same_length(y, "y_true", len(point))
    return with_weight(y, point, sample_weights(sample_weight, len(y)))


def _mean_error(
    error: Callable[[Array, Array], Array], y_true: Any, y_pred: Any, sample_weight: Any, per_row: bool
) -> float | Array:
    no_weights_per_row(sample_weight, per_row)
    y, point, weights = paired_points(y_true, y_pred, sample_weight)
    with np.errstate(over="ignore"):
        errors = error(y, point)
    return errors if per_row else average(errors, weights)


def _means(y_pred: Any) -> Any:
    return y_pred.mean() if isinstance(y_pred, Distribution) else y_pred


def _relative(y: Array, point: Array) -> Array:
    near_zero = np.abs(y) < np.finfo(np.float64).tiny
    complain("y_true", "non-zero", y, near_zero, "Percentages of 0 do not exist; use mae, or leave these rows out.")
    return np.abs((y - point) / y)


def near_zero(y: Array) -> NDArray[np.bool_]:
    """Which outcomes are 0, or as good as 0 beside the largest: they have no ratio."""
    return np.asarray(np.abs(y) <= max(EPS * np.abs(y).max(), np.finfo(np.float64).tiny))


def _ratio(y: Array, point: Array) -> Array:
    hint = "Ratios to 0 do not exist; use mean_error, or leave these rows out."
    complain("y_true", "away from 0", y, near_zero(y), hint)
    return np.asarray(point / y)
