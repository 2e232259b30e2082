"""Calibration by a Gaussian-process classifier."""

from .calibrator import GPCCalibrator

__all__ = ["GPCCalibrator"]
