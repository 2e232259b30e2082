"""Calibrators of predictive distributions, and the estimator that uses them."""

from .estimator import CalibratedRegressor
from .quantile import QuantileCalibrator
from .residual import ResidualCalibrator
from .scale import ScaleCalibrator

__all__ = ["CalibratedRegressor", "QuantileCalibrator", "ResidualCalibrator", "ScaleCalibrator"]
