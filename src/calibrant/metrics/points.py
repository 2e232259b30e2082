"""Errors of point predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._checks import Array, column, complain, nonempty, same_length, sample_weights
from ..distributions.base import Distribution
from ._inputs import average, no_weights_per_row


def mape(y_true: Any, y_pred: Any, *, sample_weight: Any = None, per_row: bool = False) -> float | Array:
    r"""Mean absolute percentage error as a fraction: 0.1 is ten per cent.

    .. math:: \frac1T \sum_t \left|\frac{y_t - \hat y_t}{y_t}\right|

    Outcomes of 0 have no percentage error and raise.

    Parameters
    ----------
    y_true : array-like (n,)
        Outcomes, none of them 0.
    y_pred : array-like (n,) or Distribution
        Point predictions; the medians of a Distribution.
    sample_weight : array-like (n,), optional
        Frequencies: weight 2 is the row twice.
    per_row : bool
        Return the n values instead of their mean.

    Returns
    -------
    float, or array (n,)

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.mape([100.0, 200.0], [110.0, 180.0])
    0.1
    """
    return _mean_error(_relative, y_true, y_pred, sample_weight, per_row)


def mae(y_true: Any, y_pred: Any, *, sample_weight: Any = None, per_row: bool = False) -> float | Array:
    r"""Mean absolute error :math:`\frac1T \sum_t |y_t - \hat y_t|`, in the unit of y.

    Parameters
    ----------
    y_true, sample_weight, per_row
        As in :func:`mape`; outcomes may be 0.
    y_pred : array-like (n,) or Distribution
        Point predictions; the medians of a Distribution, which minimise the expected absolute error.

    Returns
    -------
    float, or array (n,)

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.mae([1.0, 2.0], [1.5, 0.5])
    1.0
    """
    return _mean_error(lambda y, p: np.abs(y - p), y_true, y_pred, sample_weight, per_row)


def mse(y_true: Any, y_pred: Any, *, sample_weight: Any = None, per_row: bool = False) -> float | Array:
    r"""Mean squared error :math:`\frac1T \sum_t (y_t - \hat y_t)^2`, in the squared unit of y.

    Parameters
    ----------
    y_true, sample_weight, per_row
        As in :func:`mape`; outcomes may be 0.
    y_pred : array-like (n,) or Distribution
        Point predictions; the means of a Distribution, which minimise the expected squared error.

    Returns
    -------
    float, or array (n,)

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.mse([1.0, 2.0], [1.5, 0.5])
    1.25
    """
    point = y_pred.mean() if isinstance(y_pred, Distribution) else y_pred
    return _mean_error(lambda y, p: np.square(y - p), y_true, point, sample_weight, per_row)


def _mean_error(
    error: Callable[[Array, Array], Array], y_true: Any, y_pred: Any, sample_weight: Any, per_row: bool
) -> float | Array:
    no_weights_per_row(sample_weight, per_row)
    y = nonempty(column(y_true, "y_true"), "y_true")
    point = y_pred.median() if isinstance(y_pred, Distribution) else y_pred
    point = column(point, "y_pred")
    same_length(y, "y_true", len(point))
    weights = sample_weights(sample_weight, len(y))
    if weights is not None:
        y, point, weights = y[weights > 0], point[weights > 0], weights[weights > 0]
    with np.errstate(over="ignore"):
        errors = error(y, point)
    return errors if per_row else average(errors, weights)


def _relative(y: Array, point: Array) -> Array:
    near_zero = np.abs(y) < np.finfo(np.float64).tiny
    complain("y_true", "non-zero", y, near_zero, "Percentages of 0 do not exist; use mae, or leave these rows out.")
    return np.abs((y - point) / y)
