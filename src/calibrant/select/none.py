"""Forecasts as they are: what every calibrator competes with."""

from __future__ import annotations

from typing import Any

from ..adapters.class_scores import ClassScores
from ..calibration import Calibrator
from ..calibration.contract import Takes
from ..classification.base import CLIP, clipped


class NoCalibrator(Calibrator):
    """Leaves forecasts as they are."""

    takes = Takes(("distributions", "scores"))

    def fit(self, forecasts: Any, y: Any, *, sample_weight: Any = None) -> NoCalibrator:
        """Nothing to learn."""
        self.n_rows_ = len(y)
        return self

    def transform(self, forecasts: Any) -> Any:
        """The probabilities that scores stand for, none exactly 0 or 1, or the distributions themselves."""
        return clipped(forecasts.probabilities(), CLIP) if isinstance(forecasts, ClassScores) else forecasts

    def _check_forecasts(self) -> None:
        """What leaves forecasts as they are makes forecasts."""
