"""The calibrator contract, chains and groups."""

from .base import Calibrator
from .chain import Chain
from .grouped import GroupedCalibrator
from .scores import normal_scores

__all__ = ["Calibrator", "Chain", "GroupedCalibrator", "normal_scores"]
