"""Calibration in a drifting world."""

from .calibrator import OnlineCalibrator

__all__ = ["OnlineCalibrator"]
