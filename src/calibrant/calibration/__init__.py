"""The calibrator contract, chains, groups and horizons."""

from ..distributions.scores import normal_scores
from .base import Calibrator, RegressionCalibrator
from .chain import Chain
from .grouped import GroupedCalibrator
from .horizons import HorizonCalibrator
from .summarised import SummarisedCalibrator

__all__ = [
    "Calibrator",
    "Chain",
    "GroupedCalibrator",
    "HorizonCalibrator",
    "RegressionCalibrator",
    "SummarisedCalibrator",
    "normal_scores",
]
