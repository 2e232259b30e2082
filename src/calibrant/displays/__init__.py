"""Pictures of forecasts and their calibration. matplotlib is imported when a picture is drawn, not before."""

from __future__ import annotations

from .beta_parameters import BetaParametersDisplay
from .calibration_curve import CalibrationCurveDisplay
from .calibration_map import CalibrationMapDisplay
from .confusion import ConfusionDisplay
from .density import DensityDisplay
from .fan import FanDisplay
from .pit import PITDisplay
from .point_calibration import PointCalibrationDisplay
from .reliability import ReliabilityDisplay
from .roc import ROCDisplay
from .threshold_map import ThresholdMapDisplay
from .threshold_reliability import ThresholdReliabilityDisplay

__all__ = [
    "BetaParametersDisplay",
    "CalibrationCurveDisplay",
    "CalibrationMapDisplay",
    "ConfusionDisplay",
    "DensityDisplay",
    "FanDisplay",
    "PITDisplay",
    "PointCalibrationDisplay",
    "ROCDisplay",
    "ReliabilityDisplay",
    "ThresholdMapDisplay",
    "ThresholdReliabilityDisplay",
]
