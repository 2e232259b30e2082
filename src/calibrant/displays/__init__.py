"""Pictures of forecasts and their calibration. matplotlib is imported when a picture is drawn, not before."""

from __future__ import annotations

from .calibration_curve import CalibrationCurveDisplay
from .fan import FanDisplay
from .pit import PITDisplay

__all__ = ["CalibrationCurveDisplay", "FanDisplay", "PITDisplay"]
