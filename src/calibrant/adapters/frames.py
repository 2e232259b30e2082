"""Tables: quantile columns, or the columns mean and std."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .._checks import column_names, index_of, to_array
from ..distributions.base import Distribution
from ..distributions.families.normal import Normal
from ..distributions.tables.quantiles import Quantiles
from .class_labels import label_in

_CENTRES, _SPREADS = ("mean", "mu", "loc"), ("std", "sigma", "scale", "sd", "stddev")
_SIDE = re.compile(r"(?:.*[-_])?(?P<side>lo|hi)-(?P<coverage>\d+(?:\.\d+)?)", re.IGNORECASE)
_LEVEL = re.compile(r"(?P<prefix>q|p|quantile|percentile)?[ _-]?(?P<number>\d*\.?\d+)(?P<percent>%?)", re.IGNORECASE)


def from_mapping(obj: Any) -> Distribution | None:
    """A dict {level: column} of quantiles, or {"mean": column, "std": column}."""
    if not isinstance(obj, Mapping):
        return None
    if not obj:
        raise ValueError("a dict of quantiles must have at least two levels; it is empty.")
    return _from_columns(list(obj), list(obj.values()))


def from_frame(obj: Any) -> Distribution | None:
    """A pandas, polars or pyarrow table of quantiles, or of means and standard deviations; 0, 1, … are samples."""
    names = column_names(obj)
    if names is None or getattr(obj, "ndim", 2) != 2 or names == list(range(len(names))):
        return None
    columns = [obj.iloc[:, i] for i in range(len(names))] if hasattr(obj, "iloc") else [obj[name] for name in names]
    return _from_columns(names, columns)


def _from_columns(names: list[Any], columns: list[Any]) -> Distribution:
    if len(names) == 2 and {_role(name) for name in names} == {"mean", "std"}:
        roles = dict(zip(map(_role, names), columns, strict=True))
        return Normal(roles["mean"], roles["std"])
    levels = [level_of(name) for name in names]
    strange = [name for name, level in zip(names, levels, strict=True) if level is None]
    if strange:
        shown = ", ".join(repr(name) for name in strange[:4])
        raise TypeError(
            f"columns must be quantile levels (0.1, 'q0.1', 'q10', '10%'), or mean and std; "
            f"{len(strange)} of {len(names)} are neither: {shown}. Select the columns of the forecast first."
        )
    return _quantiles(levels, columns)


def _quantiles(levels: list[Any], columns: list[Any]) -> Distribution:
    lengths = sorted({int(np.size(column)) if np.ndim(column) == 0 else len(column) for column in columns})
    if len(lengths) > 1:
        raise ValueError(f"quantile columns must have one length; got {', '.join(map(str, lengths))}.")
    law = Quantiles(
        np.asarray(levels, dtype=float),
        np.column_stack([np.atleast_1d(to_array(column, "values")) for column in columns]),
    )
    index = index_of(*columns)
    if index is not None:
        object.__setattr__(law, "_index", index)
    return law


class NamesTell(NamedTuple):
    """What the names of columns tell: means and standard deviations, quantile levels, labels of classes."""

    moments: dict[Any, str]
    levels: dict[Any, float]
    labels: dict[Any, str]

    @classmethod
    def of(cls, names: list[Any]) -> NamesTell:
        """Read all names.

        >>> NamesTell.of(["mu", "q10", "AutoARIMA-hi-90", "p_spam", "day"])
        NamesTell(moments={'mu': 'mean'}, levels={'q10': 0.1, 'AutoARIMA-hi-90': 0.95}, labels={'p_spam': 'spam'})
        """
        moments = {name: role for name in names if (role := _role(name)) is not None}
        levels = {name: level for name in names if (level := level_of(name)) is not None}
        labels = {name: label for name in names if isinstance(name, str) and (label := label_in(name)) is not None}
        return cls(moments, levels, labels)


def _role(name: Any) -> str | None:
    text = str(name).lower()
    return "mean" if text in _CENTRES else "std" if text in _SPREADS else None


def level_of(name: Any) -> float | None:
    """Quantile level that a column name stands for, or None.

    >>> [level_of(name) for name in (0.1, "0.1", "q0.1", "q10", "q2.5", "p90", "97.5%", "median", "day", 3)]
    [0.1, 0.1, 0.1, 0.1, 0.025, 0.9, 0.975, 0.5, None, None]
    >>> level_of("AutoARIMA-lo-90"), level_of("AutoARIMA-hi-90")
    (0.05, 0.95)
    """
    if isinstance(name, tuple):  # nested columns, such as (variable, level)
        name = name[-1]
    if isinstance(name, (int, float, np.number)) and not isinstance(name, bool):
        return float(name) if 0 < name < 1 else None
    if str(name).lower() == "median":
        return 0.5
    side = _SIDE.fullmatch(str(name))
    if side is not None:
        half = float(side["coverage"]) / 200
        level = round(0.5 - half if side["side"].lower() == "lo" else 0.5 + half, 12)
        return level if 0 < level < 1 else None
    found = _LEVEL.fullmatch(str(name).strip())
    if found is None:
        return None
    number = float(found["number"])
    percent = bool(found["percent"]) or (bool(found["prefix"]) and (number >= 1 or "." not in found["number"]))
    level = round(number / 100, 12) if percent else number
    return level if 0 < level < 1 else None
