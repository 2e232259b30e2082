"""Classifiers: decisions that match the real proportions, probabilities that come true."""

from .bayes.beta import BetaDensitiesCalibrator
from .bayes.binning import BayesianBinningCalibrator
from .bayes.decisions import bayes_decisions
from .bayes.kernel import KernelDensitiesCalibrator
from .beta import BetaCalibrator
from .binning import BinningCalibrator
from .boosted.calibrator import BoostedClassCalibrator
from .conformal_sets import ConformalSets
from .decisions import DecisionCalibrator
from .dirichlet import DirichletCalibrator
from .estimator import CalibratedClassifier
from .grouped_decisions import GroupedDecisions
from .isotonic import IsotonicCalibrator
from .platt import PlattCalibrator
from .prior_shift import PriorShiftCalibrator
from .reductions.ecoc import ECOCCalibrator
from .reductions.multilabel import MultilabelCalibrator
from .reductions.one_vs_rest import OneVsRestCalibrator
from .reductions.pairwise import PairwiseCalibrator
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
    "BoostedClassCalibrator",
    "CalibratedClassifier",
    "ConcavityRepair",
    "ConformalSets",
    "DecisionCalibrator",
    "DirichletCalibrator",
    "ECOCCalibrator",
    "GroupedDecisions",
    "IsotonicCalibrator",
    "KernelDensitiesCalibrator",
    "MultilabelCalibrator",
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
