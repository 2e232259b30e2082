"""Intervals and quantiles that are given by name, as plain numbers: they are scored as they are, no law is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._checks import Array, column_names, finite, is_column, nonempty, probabilities, to_array
from ..adapters.names import level_of
from ..distributions.tables.intervals import ends, interval_columns, widths_are_sound


@dataclass(frozen=True, eq=False)
class Stated:
    """L columns of quantiles that answer for a law: whatever it is asked for, these are the numbers, (n, L)."""

    columns: tuple[Array, ...]

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, rows: Any) -> Stated:
        return Stated(tuple(column[rows] for column in self.columns))

    def from_normal(self, z: Array) -> Array:
        """The quantiles at the scores of the levels that they were given for."""
        return np.array(self.columns).T


def quantile_columns(forecasts: Any, levels: Array) -> Iterable[Array]:
    """Quantiles of all rows, level by level: those that were stated, or a law's."""
    return forecasts.columns if isinstance(forecasts, Stated) else forecasts.quantiles(levels).T


def interval_ends(forecasts: Any, coverage: float) -> Iterable[Array]:
    """Lower and upper ends of all rows: those that were stated, or a law's."""
    return forecasts.columns if isinstance(forecasts, Stated) else forecasts.interval(coverage).T


def is_stated(dist: Any, needed: tuple[str, ...], **named: Any) -> bool:
    """Whether forecasts are given by name and not as laws; both, or not all that is needed, is an error."""
    if dist is not None:
        given = [name for name, value in named.items() if value is not None]
        if given:
            raise TypeError(f"give either forecasts or `{given[0]}`, not both.")
        return False
    missing = [f"`{name}`" for name in needed if named[name] is None]
    if missing:
        raise TypeError(f"give forecasts, or {' and '.join(f'`{name}`' for name in needed)}; {missing[0]} is missing.")
    return True


def stated_ends(low: Any, high: Any, coverage: Any) -> Stated:
    """The ends of one interval a row."""
    _told(coverage)
    if is_column(low) and is_column(high) and low.shape == high.shape and widths_are_sound(low, high):
        return Stated((low, high))  # as nearly always
    lower, upper = ends(low, high)
    if lower.shape[1] != 1:
        raise ValueError(f"`coverage` must be one number for each of {lower.shape[1]} intervals a row; got 1.")
    return Stated((lower[:, 0], upper[:, 0]))


def _told(coverage: Any) -> None:
    if coverage is None:
        raise TypeError("`coverage` is missing: the probability that the intervals are meant to hold, 0.9 say.")


def stated_intervals(low: Any, high: Any, coverage: Any, median: Any = None) -> tuple[Array, Stated]:
    """Levels and quantiles that intervals give: lower ends, upper ends, median."""
    _told(coverage)
    levels, columns = interval_columns(low, high, coverage, median)
    return levels, Stated(columns)


def stated_quantiles(quantiles: Any, levels: Any) -> tuple[Array, Stated]:
    """Levels (L,) and quantiles of a table with `levels`, or of columns whose names are the levels."""
    names = list(quantiles) if isinstance(quantiles, Mapping) else column_names(quantiles)
    if levels is None:
        levels = [level_of(name) for name in names or []]
        if not levels or None in levels:
            raise TypeError("`levels` must be given, or told by the names of `quantiles`, as in {0.1: ..., 0.9: ...}.")
    if isinstance(quantiles, Mapping):
        quantiles = np.column_stack([np.atleast_1d(to_array(column, "quantiles")) for column in quantiles.values()])
    values = finite(to_array(quantiles, "quantiles"), "quantiles")
    tau = nonempty(probabilities(levels, "levels"), "levels")
    if values.ndim == 1 and len(tau) == 1:
        values = values[:, None]
    if values.ndim != 2 or values.shape[1] != len(tau):
        raise ValueError(f"`quantiles` must be (n, {len(tau)}), one column per level; got shape {values.shape}.")
    return tau, Stated(tuple(values.T))
