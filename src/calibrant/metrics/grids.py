"""Scores of arrays of any shape: stations by days, maps by hours; with what is missing left out, or shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from .._checks import Array, nonempty, one_of, to_array
from .._types import Numbers
from ..distributions.base import Distribution

NanPolicy = Literal["raise", "omit", "propagate"]
POLICIES = ("raise", "omit", "propagate")


def score_grid(
    metric: Callable[..., Any],
    y_true: Numbers,
    forecasts: Any,
    *,
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    member_axis: SupportsIndex = -1,
    nan_policy: NanPolicy = "raise",
    **options: Any,
) -> float | Array:
    r"""Any score of rows on arrays of any shape, of each entry or averaged over some axes.

    Parameters
    ----------
    metric : callable
        A measure of this library that has ``per_row``, such as :func:`crps` or :func:`mae`, or
        ``metric(y, forecasts, per_row=True)`` of your own.
    y_true : array-like of any shape s
        Outcomes.
    forecasts : array-like of shape s with one more axis, or of shape s, or a tuple or dict of these, or Distribution
        Members of ensembles along ``member_axis``; or points; or several numbers an entry, which are handed on with a
        row an entry in their tuple or dict, so that a pair is mean and standard deviation, and ``{0.1: ..., 0.9: ...}``
        are quantiles; or as many laws as there are entries, in C order.
    axis : int or tuple of int, optional
        Axes of s that the mean is taken over; the score of each entry unless told.
    member_axis : int
        Where the members are.
    nan_policy : {"raise", "omit", "propagate"}
        What is done about entries with a missing outcome or number of the forecast: an error, or they score NaN and are
        left out of means, or make them NaN.
    **options
        For the metric, such as ``levels``.

    Returns
    -------
    array of shape s, or s without ``axis``; float if nothing is left of it
        NaN where there was nothing to take a mean of.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import metrics
    >>> y = np.array([[1.0, 2.0, np.nan], [4.0, 5.0, 6.0]])
    >>> metrics.score_grid(metrics.mae, y, np.full((2, 3), 3.0), axis=1, nan_policy="omit")
    array([1.5, 2. ])
    >>> metrics.score_grid(metrics.crps, y, (y * 0 + 3.0, 1.0), nan_policy="propagate").round(3)
    array([[1.453, 0.602,   nan],
           [0.602, 1.453, 2.437]])
    """
    one_of(nan_policy, "nan_policy", POLICIES)
    y = to_array(y_true, "y_true")
    nonempty(y.ravel(), "y_true")
    rows, known = _rows(forecasts, y.shape, member_axis)
    known = known & ~np.isnan(y.ravel())
    if nan_policy == "raise":
        known[:] = True  # the metric says what is missing, and where
    scores = np.full(y.size, np.nan)
    if known.any():
        part = y.ravel()[known]
        scores[known] = metric(part, _taken(rows, known), per_row=True, **options)
    return _averaged(scores.reshape(y.shape), axis, nan_policy == "omit")


def _rows(forecasts: Any, shape: tuple[int, ...], member_axis: SupportsIndex) -> tuple[Any, NDArray[np.bool_]]:
    """Forecasts with a row an entry, and which rows have all their numbers."""
    size = int(np.prod(shape))
    if isinstance(forecasts, Distribution):
        if len(forecasts) != size:
            raise ValueError(f"`forecasts` must have a law for each of the {size} entries; got {len(forecasts)}.")
        return forecasts, np.ones(size, dtype=bool)
    if isinstance(forecasts, Mapping):
        columns = {name: _entries(each, shape) for name, each in forecasts.items()}
        return columns, _complete(np.stack(list(columns.values()), axis=1))
    if isinstance(forecasts, tuple):
        parts = tuple(_entries(each, shape) for each in forecasts)
        return parts, _complete(np.stack(parts, axis=1))
    array = to_array(forecasts, "forecasts")
    if array.ndim != len(shape) + 1:
        points = _entries(array, shape)
        return points, ~np.isnan(points)
    if not -array.ndim <= int(member_axis) < array.ndim:
        raise ValueError(f"`member_axis` must be an axis of {array.ndim} dimensions; got {member_axis}.")
    members = np.moveaxis(array, int(member_axis), -1)
    if members.shape[:-1] != shape:
        raise ValueError(f"`forecasts` must be {shape} and an axis of members; got shape {array.shape}.")
    members = members.reshape(size, -1)
    return members, _complete(members)


def _complete(numbers: Array) -> NDArray[np.bool_]:
    return np.asarray(~np.isnan(numbers).any(axis=1))


def _entries(values: Any, shape: tuple[int, ...]) -> Array:
    """One number an entry."""
    array = to_array(values, "forecasts")
    if array.ndim and array.shape != shape:
        raise ValueError(f"`forecasts` must be {shape}, or that and an axis of members; got shape {array.shape}.")
    return np.broadcast_to(array, shape).ravel()


def _taken(rows: Any, known: NDArray[np.bool_]) -> Any:
    """These rows."""
    if isinstance(rows, dict):
        return {name: each[known] for name, each in rows.items()}
    return tuple(each[known] for each in rows) if isinstance(rows, tuple) else rows[known]


def _averaged(scores: Array, axis: Any, omit: bool) -> float | Array:
    """Means over some axes, of what is there if the rest is left out."""
    if axis is None:
        return scores if scores.ndim else float(scores)
    axes = axis if isinstance(axis, tuple) else (axis,)
    for each in axes:
        if not -scores.ndim <= int(each) < scores.ndim:
            raise ValueError(f"`axis` must be one of the {scores.ndim} axes of `y_true`; got {each}.")
    there = ~np.isnan(scores) if omit else np.ones(scores.shape, dtype=bool)
    with np.errstate(invalid="ignore", over="ignore"):
        means = np.where(there, scores, 0.0).sum(axis=axes) / there.sum(axis=axes)
    return means if means.ndim else float(means)
