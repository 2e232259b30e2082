"""The calibrator contract, chains and groups."""

from .base import Calibrator
from .chain import Chain
from .grouped import GroupedCalibrator
from .scores import normal_scores
from .summarised import SummarisedCalibrator

__all__ = ["Calibrator", "Chain", "GroupedCalibrator", "SummarisedCalibrator", "normal_scores"]
