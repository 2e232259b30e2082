"""Pictures of forecasts and their calibration. matplotlib is imported when a picture is drawn, not before."""

from __future__ import annotations

from .calibration_curve import CalibrationCurveDisplay
from .calibration_map import CalibrationMapDisplay
from .density import DensityDisplay
from .fan import FanDisplay
from .pit import PITDisplay
from .threshold_reliability import ThresholdReliabilityDisplay

__all__ = [
    "CalibrationCurveDisplay",
    "CalibrationMapDisplay",
    "DensityDisplay",
    "FanDisplay",
    "PITDisplay",
    "ThresholdReliabilityDisplay",
]
