"""Pictures of forecasts and their calibration. matplotlib is imported when a picture is drawn, not before."""

from __future__ import annotations

from .beta_parameters import BetaParametersDisplay
from .calibration_curve import CalibrationCurveDisplay
from .calibration_map import CalibrationMapDisplay
from .class_map import ClassMapDisplay
from .conditional_coverage import ConditionalCoverageDisplay
from .confusion import ConfusionDisplay
from .density import DensityDisplay
from .drift import DriftDisplay
from .fan import FanDisplay
from .group_coverage import GroupCoverageDisplay
from .marginal_calibration import MarginalCalibrationDisplay
from .pareto import ParetoDisplay
from .pit import PITDisplay
from .points.murphy import MurphyDisplay
from .points.point_calibration import PointCalibrationDisplay
from .points.rec import RECDisplay
from .reliability import ReliabilityDisplay
from .roc import ROCDisplay
from .segments import SegmentDisplay
from .sharpness import SharpnessDisplay
from .single_forecast import SingleForecastDisplay
from .threshold_map import ThresholdMapDisplay
from .threshold_reliability import ThresholdReliabilityDisplay

__all__ = [
    "BetaParametersDisplay",
    "CalibrationCurveDisplay",
    "CalibrationMapDisplay",
    "ClassMapDisplay",
    "ConditionalCoverageDisplay",
    "ConfusionDisplay",
    "DensityDisplay",
    "DriftDisplay",
    "FanDisplay",
    "GroupCoverageDisplay",
    "MarginalCalibrationDisplay",
    "MurphyDisplay",
    "PITDisplay",
    "ParetoDisplay",
    "PointCalibrationDisplay",
    "RECDisplay",
    "ROCDisplay",
    "ReliabilityDisplay",
    "SegmentDisplay",
    "SharpnessDisplay",
    "SingleForecastDisplay",
    "ThresholdMapDisplay",
    "ThresholdReliabilityDisplay",
]
