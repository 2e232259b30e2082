"""Which calibrators of normal forecasts have one map for all rows, so that they can be written in a few numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._checks import Array
from ..calibration import Chain
from ..distributions import Distribution, Normal, Recalibrated
from ..maps import AffineMap, Map
from ..regression import QuantileCalibrator, ResidualCalibrator, ScaleCalibrator
from ..select import AutoCalibrator
from ..select.none import NoCalibrator

LEVELS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)


def shared_maps(calibrator: Any) -> list[Map]:
    """The maps of normal scores that a calibrator applies to every row, first to last."""
    maps: list[Map] = []
    for step in _steps(calibrator):
        if isinstance(step, ResidualCalibrator) and not all(isinstance(map, AffineMap) for map in maps):
            maps = [_standardised(maps)]
        maps += _own_maps(step)
    return maps


def _steps(calibrator: Any) -> list[Any]:
    """Fitted calibrators one after another, of chains and choices those that they hold."""
    if isinstance(calibrator, type) or not hasattr(calibrator, "transform"):
        raise TypeError(f"`calibrator` must be a fitted calibrator of this library; got {calibrator!r}.")
    check_is_fitted(calibrator)
    if isinstance(calibrator, Chain):
        return [part for step in calibrator.calibrators_ for part in _steps(step)]
    if isinstance(calibrator, AutoCalibrator):
        return [] if isinstance(calibrator.calibrator_, NoCalibrator) else _steps(calibrator.calibrator_)
    return [calibrator]


def _own_maps(calibrator: Any) -> list[Map]:
    if isinstance(calibrator, QuantileCalibrator):
        return [calibrator.map_]
    if isinstance(calibrator, ScaleCalibrator) and calibrator.method != "bins":
        return [AffineMap(slope=1 / calibrator.factor_)]
    if isinstance(calibrator, ResidualCalibrator) and calibrator.has_unit_ and calibrator.feature == "difference":
        return [AffineMap(slope=1 / calibrator.scale_), calibrator.calibrator_.map_]
    kind = type(calibrator).__name__
    raise TypeError(
        f"a {kind} cannot be exported as it was fitted: only calibrators of normal forecasts with one map for all rows "
        "can, that is QuantileCalibrator, ScaleCalibrator('nll' or 'coverage'), ResidualCalibrator and chains of these."
    )


def _standardised(maps: list[Map]) -> AffineMap:
    """What is left of a law that residuals are taken of: its median and its standard deviation."""
    law: Distribution = Normal(np.zeros(1), np.ones(1))
    for map in maps:
        law = Recalibrated(law, map)
    centre, spread = float(law.median()[0]), float(law.std()[0])
    return AffineMap(-centre / spread, 1 / spread)


def standard_quantiles(calibrator: Any, levels: Array) -> Array:
    """Calibrated quantiles of a standard normal forecast, (1, L): of others they are mean + std times these."""
    return np.asarray(calibrator.transform(Normal(np.zeros(1), np.ones(1))).quantiles(levels))
