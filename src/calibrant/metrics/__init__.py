"""Measures of predictions: truth first, forecasts second, weights as frequencies.

Scores: :func:`nll`, :func:`crps`, :func:`pinball_loss`, :func:`interval_score`; points: :func:`mae`, :func:`mse`,
:func:`mape`. Calibration: :func:`coverage`, :func:`calibration_error`, :func:`distribution_calibration_error`,
:func:`threshold_reliability`, :func:`ence`, :func:`anderson_darling` and the uniformity tests. :func:`summary`
is one table.
"""

from .decompositions import CRPSDecomposition, NLLDecomposition, crps_decomposition, nll_decomposition
from .distribution_calibration import distribution_calibration_error
from .intervals import coverage
from .moments import knueppel_test
from .pit_values import pit
from .points import mae, mape, mse
from .quantile_calibration import calibration_curve, calibration_error, calibration_floor
from .scores import crps, interval_score, nll, pinball_loss
from .spread import ence, sharpness
from .summary_table import Summary, summary
from .threshold_calibration import ThresholdReliability, threshold_reliability
from .uniformity import TestResult, anderson_darling, anderson_darling_test, cramer_von_mises_test, ks_test

__all__ = [
    "CRPSDecomposition",
    "NLLDecomposition",
    "Summary",
    "TestResult",
    "ThresholdReliability",
    "anderson_darling",
    "anderson_darling_test",
    "calibration_curve",
    "calibration_error",
    "calibration_floor",
    "coverage",
    "cramer_von_mises_test",
    "crps",
    "crps_decomposition",
    "distribution_calibration_error",
    "ence",
    "interval_score",
    "knueppel_test",
    "ks_test",
    "mae",
    "mape",
    "mse",
    "nll",
    "nll_decomposition",
    "pinball_loss",
    "pit",
    "sharpness",
    "summary",
    "threshold_reliability",
]
