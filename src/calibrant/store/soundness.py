"""Whether what a file held can be a calibrator: numbers in order, and forecasts that are forecasts."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any

import numpy as np

from ..classification.base import ScoreCalibrator
from ..distributions import Distribution, Normal
from ..links.base import Link
from ..maps import Map

SORTED = ("knots", "edges", "cumulative", "levels", "thresholds_", "edges_")
_SOME = np.linspace(-6, 6, 25)


def check_parts(item: Any) -> None:
    """Raise ValueError for NaN or unsorted numbers anywhere in the maps, links and curves of a calibrator."""
    if isinstance(item, dict):
        item = list(item.values())
    if isinstance(item, (list, tuple)):
        for part in item:
            check_parts(part)
        return
    strict = dataclasses.is_dataclass(item) or isinstance(item, (Map, Link))
    for name, value in getattr(item, "__dict__", {}).items():
        if isinstance(value, (np.ndarray, float)):
            _check_numbers(np.asarray(value), f"{type(item).__name__}.{name}", name in SORTED, strict)
        else:
            check_parts(value)


def _check_numbers(array: Any, name: str, sorted_: bool, strict: bool) -> None:
    if array.dtype.kind != "f":
        return
    if strict and np.isnan(array).any():
        raise ValueError(f"{name} has NaN.")
    if sorted_ and array.ndim and np.any(np.diff(array, axis=-1) < 0):
        raise ValueError(f"{name} must not decrease.")


def check_forecasts(calibrator: Any) -> None:
    """Raise ValueError if the calibrator cannot make a sound forecast."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if isinstance(calibrator, ScoreCalibrator) or hasattr(calibrator, "classes_"):
            _check_scores(calibrator)
        elif not hasattr(calibrator, "common_"):  # grouped ones are checked by their parts
            _check_laws(calibrator)


def _check_laws(calibrator: Any) -> None:
    law = calibrator.transform(np.zeros(1) if _takes_points(calibrator) else Normal(np.zeros(1), np.ones(1)))
    if not isinstance(law, Distribution):
        return
    levels = law.cdf(_SOME[None, :])
    if not (np.isfinite(levels).all() and np.all(np.diff(levels) >= -1e-12)):
        raise ValueError("its forecasts are no distributions.")


def _takes_points(calibrator: Any) -> bool:
    """Whether it was fitted to point predictions, on its own or as the first of a chain."""
    steps = getattr(calibrator, "calibrators_", None)
    first = steps[0] if isinstance(steps, list) and steps else calibrator
    return getattr(first, "has_unit_", True) is False


def _check_scores(calibrator: Any) -> None:
    classes = len(calibrator.classes_)
    kind = getattr(calibrator, "scores_are", "probabilities")
    values = np.full((2, classes), 1 / classes) if kind != "margins" else np.zeros((2, classes))
    if hasattr(calibrator, "transform"):
        after = np.asarray(calibrator.transform(values))
        if after.shape != (2, classes) or not np.isfinite(after).all() or after.min() < 0:
            raise ValueError("its forecasts are no probabilities.")
