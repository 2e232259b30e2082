"""The calibrator contract, chains and groups."""

from ..distributions.scores import normal_scores
from .base import Calibrator, RegressionCalibrator
from .chain import Chain
from .grouped import GroupedCalibrator
from .online import OnlineCalibrator
from .summarised import SummarisedCalibrator

__all__ = [
    "Calibrator",
    "Chain",
    "GroupedCalibrator",
    "OnlineCalibrator",
    "RegressionCalibrator",
    "SummarisedCalibrator",
    "normal_scores",
]
