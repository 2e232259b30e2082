"""What holds for every picture."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import calibrant.displays as rooms
from calibrant import Normal
from calibrant.displays._base import Display

KINDS = [getattr(rooms, name) for name in rooms.__all__]
N = 5000
X = np.linspace(-2, 2, N)
Y = X + np.cos(np.arange(N) ** 2)
LAW = Normal(X, 1.0)
P = 1 / (1 + np.exp(-X))
LABELS = np.where(Y > 0, "yes", "no")
CURVE = np.column_stack([X, X, X])

EXAMPLES: dict[str, tuple[Display, str]] = {
    "BetaParameters": (
        rooms.BetaParametersDisplay(x=X, mean=CURVE, std=CURVE, inducing=(X[:8], CURVE[:8])),
        "a, b, c of 5000 forecasts, 8 inducing points",
    ),
    "CalibrationCurve": (
        rooms.CalibrationCurveDisplay.from_predictions(Y, LAW, name="ridge"),
        "error 0.022, floor 0.000",
    ),
    "CalibrationMap": (rooms.CalibrationMapDisplay.from_forecasts(LAW, LAW), "one line for all forecasts"),
    "ClassMap": (rooms.ClassMapDisplay.from_forecasts(P, P), "900 rows, 1 of the classes drawn"),
    "ConditionalCoverage": (
        rooms.ConditionalCoverageDisplay.from_predictions(Y, LAW, n_bins=5),
        "5 bins, off by at most forecasts ",
    ),
    "Confusion": (
        rooms.ConfusionDisplay.from_predictions(LABELS, LABELS),
        "2 classes, before: accuracy 1.000",
    ),
    "Density": (rooms.DensityDisplay.from_predictions(Y, LAW, x=X), "pdf at 400 places and 256 levels"),
    "Drift": (
        rooms.DriftDisplay.from_predictions(Y, LAW, level=0.01),
        "5000 rows, ",
    ),
    "Fan": (rooms.FanDisplay.from_predictions(None, LAW), "5000 forecasts, 90 %, 80 %, 50 %"),
    "GroupCoverage": (
        rooms.GroupCoverageDisplay.from_predictions(Y, LAW, groups=np.arange(N) % 50),
        "40 of 50 groups, furthest off ",
    ),
    "MarginalCalibration": (
        rooms.MarginalCalibrationDisplay.from_predictions(Y, LAW, points=9),
        "largest difference 0.026",
    ),
    "Murphy": (rooms.MurphyDisplay.from_predictions(Y, {"x": X, "0": 0 * X}), "squared error x 0.4903, 0 1.824"),
    "PIT": (rooms.PITDisplay.from_predictions(Y, LAW, n_bins=4), "4 bars from 0.965 to 1.03"),
    "Pareto": (rooms.ParetoDisplay.from_measures(["a", "b"], [1.0, 2.0], [1.0, 2.0]), "2 methods, on the front a"),
    "PointCalibration": (rooms.PointCalibrationDisplay.from_predictions(Y, X), "mean error "),
    "REC": (rooms.RECDisplay.from_predictions(Y, X), "mean absolute error 0.6277"),
    "ROC": (rooms.ROCDisplay.from_predictions(LABELS, P), "area 0.940, hull 0.941"),
    "Reliability": (rooms.ReliabilityDisplay.from_predictions(LABELS, P), "error 0.129, floor 0.014"),
    "Segment": (
        rooms.SegmentDisplay.from_predictions(Y, LAW, X[:, None]),
        "1 segment, first all rows: ",
    ),
    "Sharpness": (rooms.SharpnessDisplay.from_forecasts(LAW), "mean 1"),
    "SingleForecast": (
        rooms.SingleForecastDisplay.from_predictions(Y, {"base": LAW}, row=3),
        "pdf of row 3 by base",
    ),
    "ThresholdMap": (
        rooms.ThresholdMapDisplay(q=P, t=X, values=P, pairs=(X, P, P)),
        "5000 probabilities, 5000 thresholds, 5000 pairs",
    ),
    "ThresholdReliability": (
        rooms.ThresholdReliabilityDisplay.from_predictions(Y, LAW),
        "16 thresholds from -2.17 to 2.16, 8 bins",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_outcomes_come_first(kind: Any) -> None:
    if hasattr(kind, "from_predictions"):
        first, second = list(inspect.signature(kind.from_predictions).parameters.values())[:2]
        assert first.name == "y_true" and first.default is inspect.Parameter.empty
        assert second.name in {"dist", "dists", "y_pred", "y_proba", "y_score", "before"}
        assert second.default is inspect.Parameter.empty
    else:
        assert hasattr(kind, "from_forecasts") or hasattr(kind, "from_calibrator")


@pytest.mark.parametrize("kind", KINDS)
def test_looks(kind: Any) -> None:
    display, words = EXAMPLES[kind.__name__.removesuffix("Display")]
    name = f" {display.name!r}" if display.name else ""
    assert repr(display).startswith(f"<{kind.__name__}{name}: {words}")
    assert len(repr(display)) < 120 and "array" not in repr(display)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_drawn_is_kept(kind: Any) -> None:
    display, _ = EXAMPLES[kind.__name__.removesuffix("Display")]
    assert isinstance(display, Display) and display == display  # arrays are not compared
    drawn = [each.name for each in fields(display) if each.name.endswith("_")]
    assert {"ax_", "figure_"} <= set(drawn) and not any(hasattr(display, name) for name in drawn)
