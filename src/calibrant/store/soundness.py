"""Whether what a file held can be a calibrator: numbers in order, and forecasts that are forecasts."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from .._checks import Array
from ..classification.base import ScoreCalibrator
from ..classification.binary import BinaryCalibrator
from ..distributions import Distribution, Normal
from ..links.base import Link
from ..maps import Map
from ..regression import GPBetaCalibrator
from ..select.comparison import Comparison

SORTED = ("knots", "edges", "cumulative", "levels", "thresholds_", "edges_")
_SOME = np.concatenate([[-1e3, -40.0], np.linspace(-6, 6, 25), [40.0, 1e3]])
_MEANS, _SPREADS = (
    np.array([0.0, 0.0, 0.0, 3.0, -3.0, 1e3]),
    np.array([1.0, 1e-9, 1e9, 2.0, 0.5, 10.0]),
)  # of laws tried
_BLOCK = 65_536  # bends looked at together
_SLACK = 1e-9  # of rounding, relative, where numbers must not decrease


def check_parts(item: Any) -> None:
    """Raise ValueError for NaN, unsorted numbers or maps that decrease anywhere in a calibrator."""
    if isinstance(item, dict):
        item = list(item.values())
    if isinstance(item, (list, tuple)):
        for part in item:
            check_parts(part)
        return
    strict = (dataclasses.is_dataclass(item) or isinstance(item, (Map, Link))) and not isinstance(item, Comparison)
    for name, value in getattr(item, "__dict__", {}).items():
        if isinstance(value, (np.ndarray, float)):
            _check_numbers(np.asarray(value), f"{type(item).__name__}.{name}", name in SORTED, strict)
        else:
            check_parts(value)
    if isinstance(item, Map) and item.rows is None:
        _check_map(item)
    if isinstance(item, BinaryCalibrator):
        for curve in getattr(item, "curves_", []):
            _check_curve(curve)
    if isinstance(item, GPBetaCalibrator):
        _check_inducing(item)


def _check_numbers(array: Any, name: str, sorted_: bool, strict: bool) -> None:
    if array.dtype.kind != "f":
        return
    if strict and np.isnan(array).any():
        raise ValueError(f"{name} has NaN.")
    if sorted_ and array.ndim and np.any(array[..., 1:] < array[..., :-1]):
        raise ValueError(f"{name} must not decrease.")


def _check_map(item: Map) -> None:
    """A map must increase: at its bends, close to them, between them and beyond."""
    _check_columns(item)
    bends = item.bends
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        blocks = (_points(bends[start : start + _BLOCK + 1]) for start in range(0, len(bends), _BLOCK))
        rises = _increases(item(_SOME)) and _increases(item.inverse(_SOME))
        if not (rises and all(_increases(item(z)) for z in blocks)):
            raise ValueError(f"{type(item).__name__} must not decrease.")


def _check_curve(curve: Any) -> None:
    """The curve of a class must give probabilities at its knots and between them."""
    _check_columns(curve)
    knots = np.asarray(getattr(curve, "knots", getattr(curve, "edges", np.empty(0))))
    with np.errstate(all="ignore"):
        p = curve(np.concatenate([_SOME, _points(knots)]))
    if not np.all((p >= -_SLACK) & (p <= 1 + _SLACK)):
        raise ValueError(f"{type(curve).__name__} must give probabilities.")


def _check_inducing(item: GPBetaCalibrator) -> None:
    """Inducing points are as many as the file has covariances of; all pairs of them are looked at."""
    m = len(item._inducing)
    if item._posterior.mean.shape != (3, m) or item._posterior.cover.shape != (3 * m, 3 * m):
        raise ValueError(f"GPBetaCalibrator must have a posterior of its {m} inducing points.")


def _check_columns(item: Any) -> None:
    """Arrays of what serves all rows are columns: others would be spread over all pairs of rows."""
    for name, value in vars(item).items():
        if np.ndim(value) > 1:
            raise ValueError(f"{type(item).__name__}.{name} must be 1-dimensional; got shape {np.shape(value)}.")


def _points(bends: Array) -> Array:
    near = [bends, np.nextafter(bends, -np.inf), np.nextafter(bends, np.inf), 0.5 * (bends[1:] + bends[:-1])]
    return np.unique(np.concatenate(near))


def _increases(values: Array) -> bool:
    """Whether there is no NaN and no step down but by rounding."""
    if np.isnan(values).any():
        return False
    before, after = values[..., :-1], values[..., 1:]
    rounding = _SLACK * (1 + np.abs(before))
    return bool(np.all((after >= before) | (np.isfinite(rounding) & (before - after <= rounding))))


def check_forecasts(calibrator: Any) -> None:
    """Raise ValueError if the calibrator cannot make a sound forecast."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if isinstance(calibrator, ScoreCalibrator) or hasattr(calibrator, "classes_"):
            _check_scores(calibrator)
        elif hasattr(calibrator, "common_"):
            for part in (calibrator.common_, *calibrator.calibrators_.values()):
                check_forecasts(part)
        else:
            _check_laws(calibrator)


def _check_laws(calibrator: Any) -> None:
    law = calibrator.transform(_MEANS if _takes_points(calibrator) else Normal(_MEANS, _SPREADS))
    if not isinstance(law, Distribution):
        return
    levels = law.cdf(_MEANS[:, None] + _SPREADS[:, None] * _SOME)
    if not (np.isfinite(levels).all() and _increases(levels) and levels.min() >= 0 and levels.max() <= 1):
        raise ValueError("its forecasts are no distributions.")


def _takes_points(calibrator: Any) -> bool:
    """Whether it was fitted to point predictions, on its own or in a chain."""
    return next((part.has_unit_ is False for part in _residual_parts(calibrator)), False)


def _residual_parts(calibrator: Any) -> Iterator[Any]:
    inner = getattr(calibrator, "calibrators_", None)
    if hasattr(calibrator, "has_unit_"):
        yield calibrator
    elif isinstance(inner, list):
        for step in inner:
            yield from _residual_parts(step)
    elif hasattr(calibrator, "calibrator_"):
        yield from _residual_parts(calibrator.calibrator_)


def _check_scores(calibrator: Any) -> None:
    classes = len(calibrator.classes_)
    kind = getattr(calibrator, "scores_are", "probabilities")
    weights = np.arange(1.0, 5 * classes + 1).reshape(5, classes) % 7 + 0.1
    values = np.vstack([np.eye(2, classes), weights / weights.sum(axis=1, keepdims=True)])
    if kind in ("margins", "logits"):
        values = 8 * values - 4
    if not hasattr(calibrator, "transform"):
        calibrator.predict(values)
        return
    after = np.asarray(calibrator.transform(values))
    if not np.isfinite(after).all() or after.shape not in ((len(values), classes), (len(values),)):
        raise ValueError("its forecasts are no probabilities.")
    if after.ndim == 2 and (after.min() < 0 or np.abs(after.sum(axis=1) - 1).max() > 1e-6):
        raise ValueError("its forecasts are no probabilities.")
