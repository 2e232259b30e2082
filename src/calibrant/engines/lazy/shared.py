"""Calibrators that treat all forecasts alike: one law that is moved and stretched, or maps that all rows share."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...calibration import Chain
from ...distributions import Distribution, Normal
from ...maps import AffineMap, Map
from ...regression import QuantileCalibrator, ResidualCalibrator, ScaleCalibrator
from ...store.shared_maps import shared_maps
from ...tables.columns import Columns


def standard(calibrator: Any, columns: Columns) -> Distribution | None:
    """What becomes of the forecast 0, with spread 1, where all others are this one moved and stretched; else None."""
    if columns.kind == "normal" and moves_along(calibrator):
        law: Distribution = calibrator.transform(Normal([0.0], [1.0]))
        return law
    return calibrator.transform(np.zeros(1)) if columns.kind == "points" and _adds_residuals(calibrator) else None


def moves_along(calibrator: Any) -> bool:
    """Whether a forecast that is moved and stretched is calibrated to the same law, moved and stretched."""
    return _all_are(calibrator, _maps_scores, _adds_residuals)


def maps_of(calibrator: Any, columns: Columns) -> list[Map] | None:
    r"""Maps, first to last, by which rows have the distribution function :math:`\Phi(T(z))`; None where rows differ.

    z is the normal score of the forecast; of points, how far they are from the outcome.
    """
    if columns.kind == "points" and _adds_residuals(calibrator):
        return [AffineMap(slope=1 / calibrator.scale_), calibrator.calibrator_.map_]
    known = (_maps_scores, _adds_residuals) if columns.kind == "normal" else (_maps_scores,)
    return shared_maps(calibrator) if columns.kind in ("normal", "quantiles") and _all_are(calibrator, *known) else None


def _all_are(calibrator: Any, *kinds: Any) -> bool:
    """Whether a calibrator, or each of a chain, is of one of these kinds."""
    if isinstance(calibrator, Chain):
        return all(_all_are(part, *kinds) for part in calibrator.calibrators_)
    return any(is_kind(calibrator) for is_kind in kinds)


def _maps_scores(calibrator: Any) -> bool:
    if type(calibrator) is ScaleCalibrator:
        return not len(calibrator.edges_)
    return type(calibrator) is QuantileCalibrator


def _adds_residuals(calibrator: Any) -> bool:
    return type(calibrator) is ResidualCalibrator and bool(calibrator.feature == "difference")
