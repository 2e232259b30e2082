"""Measures of predictions: truth first, forecasts second, weights as frequencies.

Scores: :func:`nll`, :func:`crps`, :func:`threshold_weighted_crps`, :func:`dawid_sebastiani`, :func:`pinball_loss`,
:func:`interval_score`, :func:`weighted_interval_score`, of vectors :func:`energy_score`; points: :func:`mae`,
:func:`mse`, :func:`mape`. Calibration: :func:`coverage`, :func:`calibration_error`,
:func:`mean_absolute_calibration_error`, :func:`miscalibration_area`, :func:`adversarial_group_calibration`,
:func:`distribution_calibration_error`, :func:`threshold_reliability`, :func:`marginal_calibration`, :func:`ence`,
:func:`anderson_darling` and the uniformity tests. :func:`summary` is one table. Calibration of points:
:func:`mean_error`, :func:`mean_ratio`, :func:`relative_mse`, :func:`error_tolerance`, :func:`point_summary`.

Class probabilities: :func:`brier_score`, :func:`log_loss`, of ordered classes :func:`ranked_probability_score`; their
calibration: :func:`brier_decomposition`, :func:`calbin`, :func:`calloss`, :func:`ece`, :func:`smooth_ece`, with
:func:`noise_floor` beside them, of whole vectors :func:`kernel_calibration_error`, and tests; :func:`auc`;
:func:`class_summary` is one table. In every segment of the features: :func:`multicalibration_error`, of laws
:func:`distribution_multicalibration_error`.
Labels: :func:`confusion`, :func:`class_proportions`, :func:`accuracy`, :func:`macro_accuracy`, :func:`f_measure`;
sets of them: :func:`set_coverage`, :func:`set_size`.
Intervals around any measure:
:func:`bootstrap_interval`, :func:`mean_interval`. For ``cross_validate``: :mod:`~calibrant.metrics.scorers`.

What scores are made of: :func:`pinball_decomposition`, :func:`expectile_decomposition`,
:func:`log_loss_decomposition`; at every threshold: :func:`murphy_curve`; along a feature: :func:`bias_by_feature`; of
arrays of any shape, with gaps: :func:`score_grid`.
"""

from . import scorers as scorers
from .absolute_calibration import (
    AdversarialGroups,
    adversarial_group_calibration,
    mean_absolute_calibration_error,
    miscalibration_area,
)
from .bias import BiasTable, bias_by_feature
from .bootstrap import MetricInterval, bootstrap_interval, mean_interval
from .class_table import class_summary
from .classes.auc import auc
from .classes.brier import BrierDecomposition, brier_decomposition, brier_score
from .classes.calbin import calbin
from .classes.calloss import calloss
from .classes.ece import ece
from .classes.kernel_calibration import kernel_calibration_error, kernel_calibration_floor, kernel_calibration_test
from .classes.labels import ClassProportions, accuracy, class_proportions, confusion, f_measure, macro_accuracy
from .classes.multicalibration import multicalibration_error
from .classes.noise_floor import noise_floor
from .classes.probabilities import class_sharpness, log_loss
from .classes.ranked import ranked_probability_score
from .classes.sets import set_coverage, set_size
from .classes.smooth_ece import smooth_ece
from .classes.tests import CoxCalibration, cox_calibration, hosmer_lemeshow_test, spiegelhalter_test
from .corp import (
    ScoreDecomposition,
    expectile_decomposition,
    log_loss_decomposition,
    pinball_decomposition,
)
from .decompositions import CRPSDecomposition, NLLDecomposition, crps_decomposition, nll_decomposition
from .distribution_calibration import distribution_calibration_error
from .distribution_multicalibration import distribution_multicalibration_error
from .energy import energy_score
from .grids import score_grid
from .intervals import coverage
from .marginal import MarginalCalibration, marginal_calibration, marginal_calibration_error
from .pit_values import pit
from .points.errors import mae, mape, mean_error, mean_ratio, mse, relative_mse
from .points.murphy import MurphyCurve, murphy_curve
from .points.table import PointSummary, point_summary
from .points.tolerance import ToleranceCurve, error_tolerance
from .quantile_calibration import calibration_curve, calibration_error, calibration_floor
from .scores import (
    crps,
    dawid_sebastiani,
    interval_score,
    nll,
    pinball_loss,
    threshold_weighted_crps,
    weighted_interval_score,
)
from .spread import ence, sharpness
from .summary_table import Summary, summary
from .tests.moments import knueppel_test
from .tests.uniformity import TestResult, anderson_darling, anderson_darling_test, cramer_von_mises_test, ks_test
from .threshold_calibration import ThresholdReliability, threshold_reliability

__all__ = [
    "AdversarialGroups",
    "BiasTable",
    "BrierDecomposition",
    "CRPSDecomposition",
    "ClassProportions",
    "CoxCalibration",
    "MarginalCalibration",
    "MetricInterval",
    "MurphyCurve",
    "NLLDecomposition",
    "PointSummary",
    "ScoreDecomposition",
    "Summary",
    "TestResult",
    "ThresholdReliability",
    "ToleranceCurve",
    "accuracy",
    "adversarial_group_calibration",
    "anderson_darling",
    "anderson_darling_test",
    "auc",
    "bias_by_feature",
    "bootstrap_interval",
    "brier_decomposition",
    "brier_score",
    "calbin",
    "calibration_curve",
    "calibration_error",
    "calibration_floor",
    "calloss",
    "class_proportions",
    "class_sharpness",
    "class_summary",
    "confusion",
    "coverage",
    "cox_calibration",
    "cramer_von_mises_test",
    "crps",
    "crps_decomposition",
    "dawid_sebastiani",
    "distribution_calibration_error",
    "distribution_multicalibration_error",
    "ece",
    "ence",
    "energy_score",
    "error_tolerance",
    "expectile_decomposition",
    "f_measure",
    "hosmer_lemeshow_test",
    "interval_score",
    "kernel_calibration_error",
    "kernel_calibration_floor",
    "kernel_calibration_test",
    "knueppel_test",
    "ks_test",
    "log_loss",
    "log_loss_decomposition",
    "macro_accuracy",
    "mae",
    "mape",
    "marginal_calibration",
    "marginal_calibration_error",
    "mean_absolute_calibration_error",
    "mean_error",
    "mean_interval",
    "mean_ratio",
    "miscalibration_area",
    "mse",
    "multicalibration_error",
    "murphy_curve",
    "nll",
    "nll_decomposition",
    "noise_floor",
    "pinball_decomposition",
    "pinball_loss",
    "pit",
    "point_summary",
    "ranked_probability_score",
    "relative_mse",
    "score_grid",
    "set_coverage",
    "set_size",
    "sharpness",
    "smooth_ece",
    "spiegelhalter_test",
    "summary",
    "threshold_reliability",
    "threshold_weighted_crps",
    "weighted_interval_score",
]
