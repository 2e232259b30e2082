"""The calibrator contract, chains and groups."""

from ..distributions.scores import normal_scores
from .base import Calibrator
from .chain import Chain
from .grouped import GroupedCalibrator

__all__ = ["Calibrator", "Chain", "GroupedCalibrator", "normal_scores"]
