"""Calibrators of predictive distributions, and the estimator that uses them."""

from .boosted.calibrator import BoostedCalibrator
from .conformal.calibrator import ConformalCalibrator
from .density import DensityCalibrator
from .estimator import CalibratedRegressor
from .flow import FlowCalibrator
from .gp_beta.calibrator import GPBetaCalibrator
from .gpc import GPCCalibrator
from .points.calibrator import PointCalibrator
from .quantile import QuantileCalibrator
from .residual import ResidualCalibrator
from .scale import ScaleCalibrator
from .stack.calibrator import StackCalibrator

__all__ = [
    "BoostedCalibrator",
    "CalibratedRegressor",
    "ConformalCalibrator",
    "DensityCalibrator",
    "FlowCalibrator",
    "GPBetaCalibrator",
    "GPCCalibrator",
    "PointCalibrator",
    "QuantileCalibrator",
    "ResidualCalibrator",
    "ScaleCalibrator",
    "StackCalibrator",
]
