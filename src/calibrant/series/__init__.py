"""Long frames of time-series forecasts, as statsforecast, mlforecast and neuralforecast make them."""

from .calibrator import FrameCalibrator

__all__ = ["FrameCalibrator"]
