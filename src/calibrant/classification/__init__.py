"""Classifiers: decisions that match the real proportions, probabilities that come true."""

from .bayes import bayes_decisions
from .bayesian_binning import BayesianBinningCalibrator
from .beta import BetaCalibrator
from .beta_densities import BetaDensitiesCalibrator
from .binning import BinningCalibrator
from .decisions import DecisionCalibrator
from .dirichlet import DirichletCalibrator
from .ecoc import ECOCCalibrator
from .estimator import CalibratedClassifier
from .grouped_decisions import GroupedDecisions
from .isotonic import IsotonicCalibrator
from .kernel_densities import KernelDensitiesCalibrator
from .one_vs_rest import OneVsRestCalibrator
from .pairwise import PairwiseCalibrator
from .platt import PlattCalibrator
from .prior_shift import PriorShiftCalibrator
from .roc import ConcavityRepair
from .smooth_isotonic import SmoothIsotonicCalibrator
from .temperature import TemperatureCalibrator
from .trees import SmoothedTree
from .vector import VectorCalibrator
from .venn_abers import VennAbersCalibrator

__all__ = [
    "BayesianBinningCalibrator",
    "BetaCalibrator",
    "BetaDensitiesCalibrator",
    "BinningCalibrator",
    "CalibratedClassifier",
    "ConcavityRepair",
    "DecisionCalibrator",
    "DirichletCalibrator",
    "ECOCCalibrator",
    "GroupedDecisions",
    "IsotonicCalibrator",
    "KernelDensitiesCalibrator",
    "OneVsRestCalibrator",
    "PairwiseCalibrator",
    "PlattCalibrator",
    "PriorShiftCalibrator",
    "SmoothIsotonicCalibrator",
    "SmoothedTree",
    "TemperatureCalibrator",
    "VectorCalibrator",
    "VennAbersCalibrator",
    "bayes_decisions",
]
