"""Tables: quantile columns, columns of samples, or the columns mean and std."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from .._checks import column_names, index_of, to_array
from ..distributions.base import Distribution
from ..distributions.families.normal import Normal
from ..distributions.tables.ensemble import Ensemble
from ..distributions.tables.quantiles import Quantiles
from .names import NAMES, Told, forecasts_told, level_of, same_level


def from_mapping(obj: Any) -> Distribution | None:
    """A dict {level: column} of quantiles, {"mean": column, "std": column}, or {"sample_0": column, ...}."""
    if not isinstance(obj, Mapping):
        return None
    if not obj:
        raise ValueError("a dict of quantiles must have at least two levels; it is empty.")
    told = _told(list(obj))
    columns = [obj[name] for name in told.columns]
    return Ensemble(_stacked(columns)) if told.kind == "samples" else _law(told, columns)


def from_frame(obj: Any) -> Distribution | None:
    """A pandas, polars or pyarrow table of quantiles, or of means and standard deviations, beside other columns.

    Samples, whose columns are 0, 1, … or sample_0, sample_1, …, are left to `sample_columns`.
    """
    told = _told_of_frame(obj)
    return None if told is None or told.kind == "samples" else _law(told, _columns(obj, told))


def sample_columns(obj: Any) -> Any:
    """The columns of samples of a table, as an array or a pandas frame; whatever is no such table, as it is."""
    told = _told_of_frame(obj)
    if told is None or told.kind != "samples":
        return obj
    columns = _columns(obj, told)
    if not hasattr(obj, "iloc"):
        return _stacked(columns)
    return obj.iloc[:, [column_names(obj).index(name) for name in told.columns]]  # type: ignore[union-attr]


def _told_of_frame(obj: Any) -> Told | None:
    names = column_names(obj)
    if names is None or getattr(obj, "ndim", 2) != 2 or names == list(range(len(names))):
        return None
    return _told(names)


def _columns(frame: Any, told: Told) -> list[Any]:
    names = column_names(frame) or []
    if hasattr(frame, "iloc"):
        return [frame.iloc[:, names.index(name)] for name in told.columns]
    return [frame[name] for name in told.columns]


def _told(names: list[Any]) -> Told:
    """The one kind of distributions that names tell."""
    found = forecasts_told(names, numbers=True)
    levels = [level for name in names if (level := level_of(name)) is not None]
    if not found and len(levels) == len(names):
        found = [Told("quantiles", tuple(names), tuple(levels))]
    if len(found) != 1 or found[0].kind in ("points", "classes"):
        _refuse(names, found)
    told = found[0]
    twice = same_level(told.columns, told.keys) if told.kind == "quantiles" else None
    if twice:
        name, other, level = twice
        raise ValueError(f"`{name}` and `{other}` are both of level {level:g}. Two models? Select the columns of one.")
    if told.note:
        warnings.warn(f"{told.note}.", stacklevel=5)
    return told


def _refuse(names: list[Any], found: list[Told]) -> NoReturn:
    if len({told.kind for told in found}) > 1:
        listed = ", ".join(f"{NAMES[told.kind]} in {told.columns[0]!r}" for told in found)
        raise TypeError(f"columns must tell one kind of forecasts; these tell {listed}. Select the columns of one.")
    if found and found[0].kind in ("points", "classes"):
        what = f"{found[0].columns[0]!r} holds {NAMES[found[0].kind]}"
        hint = "Use ResidualCalibrator, or add a column std" if found[0].kind == "points" else "Give them as scores"
        raise TypeError(f"a distribution needs a spread, and {what}. {hint}.")
    if found:
        listed = " and ".join(repr(told.columns[0]) for told in found)
        raise TypeError(f"columns must be of one model; {listed} are not. Select the columns of one.")
    strange = [name for name in names if level_of(name) is None]
    shown = ", ".join(repr(name) for name in strange[:4])
    raise TypeError(
        f"columns must be quantile levels (0.1, 'q0.1', 'q10', '10%'), samples (sample_0, ...), or mean and std; "
        f"{len(strange)} of {len(names)} are neither: {shown}. Select the columns of the forecast first."
    )


def _law(told: Told, columns: list[Any]) -> Distribution:
    if told.kind == "normal":
        return Normal(*columns)
    law = Quantiles(np.asarray(told.keys, dtype=float), _stacked(columns))
    index = index_of(*columns)
    if index is not None:
        object.__setattr__(law, "_index", index)
    return law


def _stacked(columns: list[Any]) -> Any:
    lengths = sorted({int(np.size(column)) if np.ndim(column) == 0 else len(column) for column in columns})
    if len(lengths) > 1:
        raise ValueError(f"quantile columns must have one length; got {', '.join(map(str, lengths))}.")
    return np.column_stack([np.atleast_1d(to_array(column, "values")) for column in columns])
