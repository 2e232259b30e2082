"""Classifiers: decisions that match the real proportions, probabilities that come true."""

from .bayes import bayes_decisions
from .beta import BetaCalibrator
from .binning import BinningCalibrator
from .decisions import DecisionCalibrator
from .dirichlet import DirichletCalibrator
from .estimator import CalibratedClassifier
from .grouped_decisions import GroupedDecisions
from .isotonic import IsotonicCalibrator
from .one_vs_rest import OneVsRestCalibrator
from .platt import PlattCalibrator
from .prior_shift import PriorShiftCalibrator
from .roc import ConcavityRepair
from .smooth_isotonic import SmoothIsotonicCalibrator
from .temperature import TemperatureCalibrator
from .trees import SmoothedTree
from .vector import VectorCalibrator
from .venn_abers import VennAbersCalibrator

__all__ = [
    "BetaCalibrator",
    "BinningCalibrator",
    "CalibratedClassifier",
    "ConcavityRepair",
    "DecisionCalibrator",
    "DirichletCalibrator",
    "GroupedDecisions",
    "IsotonicCalibrator",
    "OneVsRestCalibrator",
    "PlattCalibrator",
    "PriorShiftCalibrator",
    "SmoothIsotonicCalibrator",
    "SmoothedTree",
    "TemperatureCalibrator",
    "VectorCalibrator",
    "VennAbersCalibrator",
    "bayes_decisions",
]
