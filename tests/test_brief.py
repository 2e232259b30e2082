"""Results show themselves in a line or a table, never as dumps of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from calibrant import DecisionCalibrator, Normal, QuantileCalibrator, metrics
from calibrant.adapters.class_scores import as_scores

N = 300
X = np.linspace(-2, 2, N)
Y = X + np.cos(np.arange(N) ** 2)
LAW = Normal(X, 1.0)
P = 1 / (1 + np.exp(-X))
LABELS = (Y > 0).astype(int)

RESULTS: dict[str, tuple[Any, str]] = {
    "interval": (metrics.mean_interval(metrics.crps, Y, LAW), "MetricInterval(value=0.4218, low=0.4095, high=0.4342)"),
    "interval of tables": (
        metrics.bootstrap_interval(metrics.confusion, LABELS, LABELS, n_resamples=9),
        "MetricInterval(value=array (2, 2), low=array (2, 2), high=array (2, 2))",
    ),
    "test": (metrics.ks_test(Y, LAW), "TestResult(statistic=0.1587, pvalue=4.592e-07, name='Kolmogorov-Smirnov')"),
    "thresholds": (
        metrics.threshold_reliability(Y, LAW),
        "ThresholdReliability(thresholds=array (16,), forecast=array (16, 8), observed=array (16, 8), ",
    ),
    "brier": (metrics.brier_decomposition(LABELS, P, method="pav"), "BrierDecomposition(brier=0.12"),
    "tolerance": (metrics.error_tolerance(Y, X), "ToleranceCurve(tolerances=array (301,), "),
    "nll": (metrics.nll_decomposition(Y, LAW, LAW), "NLLDecomposition(nll=1.169, calibration_loss=0, "),
    "crps": (metrics.crps_decomposition(Y, LAW), "CRPSDecomposition(crps=0.4219, reliability=0.01706, "),
    "cox": (metrics.cox_calibration(LABELS, P), "CoxCalibration(slope=2."),
    "proportions": (
        metrics.class_proportions(LABELS, LABELS),
        "ClassProportions(classes=[0, 1], actual=[0.5133, 0.4867], predicted=[0.5133, 0.4867])",
    ),
    "scores": (as_scores(P), "ClassScores(values=array (300, 2), kind='probabilities', classes=None)"),
    "map": (QuantileCalibrator().fit(LAW, Y).map_, "SplineMap(knots=array ("),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_line(name: str) -> None:
    result, beginning = RESULTS[name]
    assert repr(result).startswith(beginning)
    assert len(repr(result)) < 200 and "\n" not in repr(result)


@pytest.mark.parametrize(
    "result", [metrics.summary(Y, LAW), metrics.point_summary(Y, LAW), DecisionCalibrator().fit(P, LABELS).report_]
)
def test_a_table(result: Any) -> None:
    assert repr(result) == str(result) and "array" not in repr(result) and len(repr(result)) < 2000
