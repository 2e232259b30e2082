"""The calibrator contract, chains, groups, horizons, and what learns as outcomes come."""

from ..distributions.scores import normal_scores
from .base import Calibrator, RegressionCalibrator
from .chain import Chain
from .grouped import GroupedCalibrator
from .horizons import HorizonCalibrator
from .online import OnlineCalibrator
from .summarised import SummarisedCalibrator

__all__ = [
    "Calibrator",
    "Chain",
    "GroupedCalibrator",
    "HorizonCalibrator",
    "OnlineCalibrator",
    "RegressionCalibrator",
    "SummarisedCalibrator",
    "normal_scores",
]
