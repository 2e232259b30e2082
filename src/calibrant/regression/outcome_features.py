"""Increasing features of an outcome and its prediction: by name, by somebody's functions, or several together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._checks import Array, complain
from ..distributions.featured import Combined, Difference, Feature, Given, LogRatio, Ratio

NAMED: dict[str, Feature] = {"difference": Difference(), "ratio": Ratio(), "log ratio": LogRatio()}
FUNCTIONS = "functions"  # what functions of others have become in a file
_CLOSE = 1e-6


def parts_of(feature: Any) -> dict[Any, float]:
    """Names and pairs of functions that a feature is made of, with their weights; one has weight 1."""
    if isinstance(feature, str) and feature == FUNCTIONS:
        raise ValueError(
            "`feature` is made of functions that the file does not hold. Give them again: "
            "set_params(feature=(forward, inverse))."
        )
    if isinstance(feature, str) or _is_pair(feature):
        weights: dict[Any, float] = {feature: 1.0}
    elif isinstance(feature, Mapping):
        weights = dict(feature)
    elif isinstance(feature, (list, tuple)) and feature:
        weights = dict.fromkeys(feature, 1.0)
    else:
        weights = {}
    if not weights or not all(part in NAMED if isinstance(part, str) else _is_pair(part) for part in weights):
        listed = ", ".join(repr(name) for name in NAMED)
        raise ValueError(
            f"`feature` must be one of {listed}, a pair of functions (forward, inverse), or several of these; "
            f"got {feature!r}."
        )
    for part, weight in weights.items():
        if not 0 < weight < np.inf:
            raise ValueError(f"`feature` must have positive weights; that of {part!r} is {weight!r}.")
    return weights


def feature_of(part: Any) -> Any:
    """The feature of a name or of a pair of functions."""
    return NAMED[part] if isinstance(part, str) else Given(*part)


def combined(parts: Mapping[Any, float], scales: Array | None = None) -> Any:
    """One feature, or the sum of several with their weights, each in units of its scale."""
    if len(parts) == 1:
        return feature_of(next(iter(parts)))
    units = np.ones(len(parts)) if scales is None else scales
    factors = np.array(list(parts.values())) / sum(parts.values()) / units
    return Combined(tuple(feature_of(part) for part in parts), tuple(factors.tolist()))


def check_points(parts: Mapping[Any, float], points: Array) -> None:
    """Raise if a prediction cannot be divided by."""
    if any(isinstance(part, str) and part != "difference" for part in parts):
        complain("forecasts", "positive for ratios", points, ~(points > 0), "Use feature='difference'.")


def checked_values(parts: Mapping[Any, float], y: Array, points: Array) -> list[Array]:
    """The values of each part; raise where y has none, and for functions that are not each other's inverse."""
    check_points(parts, points)
    if "log ratio" in parts:
        complain("y", "positive for log ratios", y, ~(y > 0), "Use feature='ratio'.")
    values = []
    for part in parts:
        feature = feature_of(part)
        value = feature(y, points)
        if part != "difference":
            complain("y", "where the feature is finite", y, ~np.isfinite(value))
        if isinstance(feature, Given):
            _check_given(feature, value, y, points)
        values.append(np.asarray(value))
    return values


def _check_given(feature: Given, value: Array, y: Array, points: Array) -> None:
    back = feature.inverse(value, points)
    size = np.abs(y) + np.abs(points) + np.std(y)
    hint = "The second function must be the inverse of the first in y."
    complain("y", "found again from its feature", y, ~(np.abs(back - y) <= _CLOSE * size), hint)
    spread = float(np.std(value)) or 1.0
    above = feature.inverse(value + 0.01 * spread, points)
    complain("y", "where the feature increases", y, above <= back, "A feature must increase with y.")


def has_functions(feature: Any) -> bool:
    """Whether a feature has functions of others, which no file holds."""
    parts = [feature] if isinstance(feature, str) or _is_pair(feature) else list(feature)
    return any(_is_pair(part) for part in parts)


def _is_pair(part: Any) -> bool:
    return isinstance(part, tuple) and len(part) == 2 and all(callable(function) for function in part)
