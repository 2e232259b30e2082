"""Series side by side: what came before, what is known of each step, and the windows that a network learns from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._checks import Array, complain, nonempty, one_of, plain_array, to_array
from .._types import Labels, Numbers

UNITS = ("mean", "log1p", "none")
_Float32 = NDArray[np.float32]


class Panel(NamedTuple):
    """What `panel` makes of a long table."""

    values: Array
    """(n_series, T), NaN where a series has no row"""
    covariates: Array
    """(n_series, T, k), NaN where a series has no row"""
    series: NDArray[Any]
    """(n_series,) labels, sorted"""
    time: NDArray[Any]
    """(T,) dates or numbers, sorted"""


def panel(series: Labels, time: Labels, values: Numbers, covariates: Numbers | None = None) -> Panel:
    """Series side by side from the columns of a long table, one row a series and date, in any order.

    Dates that no series has are not made up. Rows of the future, whose value is not known, have NaN as `values`: their
    covariates are kept.

    Parameters
    ----------
    series, time : array-like (rows,)
    values : array-like (rows,)
    covariates : array-like or frame (rows, k), optional

    Examples
    --------
    >>> table = panel(["b", "a", "a"], ["2024-01-01", "2024-01-02", "2024-01-01"], [5.0, 2.0, 1.0])
    >>> table.values
    array([[ 1.,  2.],
           [ 5., nan]])
    """
    labels, row = np.unique(plain_array(series), return_inverse=True)
    times, step = np.unique(plain_array(time), return_inverse=True)
    y = to_array(values, "values").reshape(-1)
    nonempty(y, "values")
    known = np.empty((len(y), 0)) if covariates is None else to_array(covariates, "covariates").reshape(len(y), -1)
    if not len(row) == len(step) == len(y):
        raise ValueError(f"`series`, `time` and `values` must be as long; got {len(row)}, {len(step)} and {len(y)}.")
    place = row * len(times) + step
    if len(np.unique(place)) < len(place):
        again = np.setdiff1d(np.arange(len(place)), np.unique(place, return_index=True)[1])[0]
        raise ValueError(
            f"`time` must be different in each row of a series; {times[step[again]]} is there twice in "
            f"{labels[row[again]]}. Add the rows up, or average them."
        )
    side = np.full((len(labels) * len(times), 1 + known.shape[1]), np.nan)
    side[place] = np.column_stack([y, known])
    cube = side.reshape(len(labels), len(times), -1)
    return Panel(cube[..., 0], cube[..., 1:], labels, times)


def read_series(series: Any) -> Array:
    """Values (n_series, T), NaN where missing; one series may come as (T,)."""
    values = to_array(series, "series")
    values = values[None] if values.ndim == 1 else values
    if values.ndim != 2 or values.size == 0:
        raise ValueError(f"`series` must be (n_series, T), one row a series; got shape {values.shape}.")
    complain("series", "finite, or NaN where missing", values, np.isinf(values))
    return values


def read_covariates(covariates: Any, rows: int, steps: int) -> Array:
    """What is known of each step, (n_series, steps, k); (T, k) is the same for all series; what is beyond is left."""
    if covariates is None:
        return np.empty((rows, steps, 0))
    known = to_array(covariates, "covariates")
    known = np.broadcast_to(known, (rows, *known.shape)) if known.ndim == 2 else known
    if known.ndim != 3 or len(known) != rows or known.shape[1] < steps:
        raise ValueError(
            f"`covariates` must be ({rows}, {steps}, k) or ({steps}, k), the steps to forecast included; got shape "
            f"{np.shape(covariates)}."
        )
    complain("covariates", "finite, or NaN where missing", known, np.isinf(known))
    return known[:, :steps]


def sizes(values: Array) -> Array:
    """Mean absolute value of each series, (n,); 1 where there is none."""
    seen = np.isfinite(values)
    total = np.where(seen, np.abs(values), 0.0).sum(axis=1)
    return np.where(total > 0, total / np.maximum(seen.sum(axis=1), 1), 1.0)


def to_units(values: Array, units: str, size: Array) -> Array:
    """Values that a network of all series can learn: over the size of their series, as log(1 + y), or as they are."""
    one_of(units, "units", UNITS)
    if units == "log1p":
        complain("series", "at least 0 for units='log1p'", values, values < 0)
        return np.log1p(values)
    return values / size[:, None] if units == "mean" else values


def from_units(values: Array, units: str, size: Array) -> Array:
    """The inverse; the size has the shape of the values, or one that broadcasts to it."""
    if units == "log1p":
        return np.expm1(values)
    return values * size if units == "mean" else values


def described(known: Array, size: Array) -> Array:
    """What is known of each step, and the log of the size of its series: (n, steps, k + 1)."""
    constant = np.broadcast_to(np.log(size)[:, None, None], (*known.shape[:2], 1))
    return np.concatenate([known, constant], axis=2)


def inputs_of(values: Array, known: Array, lags: int) -> _Float32:
    """What the network sees before each step, (n, steps, 2 lags + k); missing is 0.

    The last values, newest first; whether each was seen; what is known of the step.
    """
    n, steps, _ = known.shape
    past = np.full((n, steps + lags), np.nan)
    past[:, lags : lags + values.shape[1]] = values
    before = np.stack([past[:, lags - j : lags - j + steps] for j in range(1, lags + 1)], axis=2)
    return np.concatenate([np.nan_to_num(before), np.isfinite(before), np.nan_to_num(known)], axis=2, dtype=np.float32)


class Windows(NamedTuple):
    """Stretches of series to learn from; what lies before the beginning, or is missing, has weight 0."""

    inputs: _Float32
    """(windows, length, features)"""
    targets: _Float32
    """(windows, length)"""
    weights: _Float32
    """(windows, length): 1 for the values to forecast"""


def windows(inputs: _Float32, values: Array, length: int, first: int, last: int) -> Windows:
    """Stretches whose later halves hold each value of the steps from `first` until before `last` once."""
    ahead = max(1, length // 2)
    ends = np.arange(last, first, -ahead)[::-1]
    place = ends[:, None] + np.arange(-length, 0)
    there, asked = place >= 0, place >= np.maximum(ends - ahead, first)[:, None]
    place = np.maximum(place, 0)
    seen = np.isfinite(values[:, place])
    rows = len(values) * len(ends)
    return Windows(
        (inputs[:, place] * there[..., None].astype(np.float32)).reshape(rows, length, inputs.shape[2]),
        np.nan_to_num(values[:, place]).astype(np.float32).reshape(rows, length),
        (seen & there & asked).astype(np.float32).reshape(rows, length),
    )
