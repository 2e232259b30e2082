"""The calibrator contract, chains and groups."""

from .base import Calibrator, RegressionCalibrator
from .chain import Chain
from .grouped import GroupedCalibrator
from .scores import normal_scores

__all__ = ["Calibrator", "Chain", "GroupedCalibrator", "RegressionCalibrator", "normal_scores"]
