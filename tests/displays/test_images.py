"""Every picture beside one that was looked at, without letters, which differ between versions of fonts.

``CALIBRANT_NEW_IMAGES=1 pytest tests/displays/test_images.py`` draws them anew; look at them before they are kept.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.testing.compare import compare_images
from matplotlib.text import Text

import calibrant.displays as rooms
from calibrant import Normal
from calibrant.displays.class_map import ClassMapDisplay
from calibrant.displays.pareto import ParetoDisplay
from calibrant.displays.sharpness import SharpnessDisplay

IMAGES = Path(__file__).parent / "images"
TOLERANCE = 4.0  # root mean square of the difference of 8-bit colours
N = 120
X = np.linspace(-2, 2, N)
Y = X + np.cos(np.arange(N) ** 2) + 0.2  # no random numbers, which other versions may draw otherwise
NARROW = Normal(X, 0.4 + 0.1 * X**2)
WIDE = Normal(X + 0.2, 1.0)
P = 1 / (1 + np.exp(-3 * X))
LABELS = np.where(np.cos(1.0 + np.arange(N) ** 2) < X, "yes", "no")
CURVE = np.column_stack([1 + 0.3 * np.sin(X), 1 + 0.2 * X, 0.5 * X])

PICTURES: dict[str, Callable[[Any], Any]] = {
    "beta_parameters": lambda ax: rooms.BetaParametersDisplay(
        x=X, mean=CURVE, std=0.1 + 0.02 * CURVE**2, inducing=(X[::20], CURVE[::20])
    ).plot(ax=ax),
    "calibration_curve": lambda ax: [
        rooms.CalibrationCurveDisplay.from_predictions(Y, law).plot(ax=ax) for law in (NARROW, WIDE)
    ],
    "calibration_map": lambda ax: rooms.CalibrationMapDisplay.from_forecasts(NARROW, WIDE, rows=4).plot(ax=ax),
    "class_map": lambda ax: ClassMapDisplay.from_forecasts(P, 0.1 + 0.7 * P**2).plot(ax=ax),
    "conditional_coverage": lambda ax: rooms.ConditionalCoverageDisplay.from_predictions(
        Y, {"narrow": NARROW, "wide": WIDE}, x="width", n_bins=4
    ).plot(ax=ax),
    "confusion": lambda ax: rooms.ConfusionDisplay.from_predictions(LABELS, np.where(P > 0.6, "yes", "no")).plot(ax=ax),
    "density": lambda ax: rooms.DensityDisplay.from_predictions(Y, WIDE, x=X).plot(ax=ax),
    "drift": lambda ax: rooms.DriftDisplay.from_predictions(Y, NARROW, time=X).plot(ax=ax),
    "fan": lambda ax: rooms.FanDisplay.from_predictions(Y, NARROW, x=X).plot(ax=ax),
    "group_coverage": lambda ax: rooms.GroupCoverageDisplay.from_predictions(
        Y, {"narrow": NARROW, "wide": WIDE}, groups=np.arange(N) % 5
    ).plot(ax=ax),
    "marginal_calibration": lambda ax: rooms.MarginalCalibrationDisplay.from_predictions(Y, NARROW).plot(ax=ax),
    "murphy": lambda ax: rooms.MurphyDisplay.from_predictions(Y, {"wide": WIDE, "flat": 0 * X}).plot(ax=ax),
    "pareto": lambda ax: ParetoDisplay.from_measures(
        list("abcde"),
        [1, 2, 3, 3.5, 99],
        [9, 4, 5, 0.3, 20],
        loss_interval=[[v - 0.3, v + 0.3] for v in (1, 2, 3, 3.5, 99)],
        calibration_interval=[[6, 12], [3, 5], [4, 6], [0.2, 0.4], [18, 22]],
    ).plot(ax=ax),
    "pit": lambda ax: rooms.PITDisplay.from_predictions(Y, NARROW).plot(ax=ax),
    "point_calibration": lambda ax: rooms.PointCalibrationDisplay.from_predictions(Y, 0.5 * X).plot(ax=ax),
    "rec": lambda ax: [rooms.RECDisplay.from_predictions(Y, points).plot(ax=ax) for points in (0.5 * X, X)],
    "reliability": lambda ax: rooms.ReliabilityDisplay.from_predictions(LABELS, P).plot(ax=ax),
    "roc": lambda ax: rooms.ROCDisplay.from_predictions(LABELS, P, threshold=0.5).plot(ax=ax),
    "segment": lambda ax: rooms.SegmentDisplay(
        names=["region = north and price > 12.5", "age is missing"],
        faults=["1.9 times too narrow", "0.4 σ too low"],
        sides={
            "before": np.array([[0.6, 0.55, 0.65], [0.83, 0.8, 0.87]]),
            "after": np.array([[0.88, 0.84, 0.92], [0.9, 0.87, 0.93]]),
        },
    ).plot(ax=ax),
    "sharpness": lambda ax: [SharpnessDisplay.from_forecasts(law).plot(ax=ax) for law in (NARROW, WIDE)],
    "single_forecast": lambda ax: rooms.SingleForecastDisplay.from_predictions(
        Y, {"narrow": NARROW, "wide": WIDE}, row=50
    ).plot(ax=ax),
    "threshold_map": lambda ax: rooms.ThresholdMapDisplay(
        q=P, t=X, values=np.outer(P, P), pairs=(X, P, (Y > 0).astype(float))
    ).plot(ax=ax),
    "threshold_reliability": lambda ax: rooms.ThresholdReliabilityDisplay.from_predictions(
        Y, NARROW, thresholds=4, n_bins=5
    ).plot(ax=ax),
}


def drawn(name: str, path: Path, flip: bool = False) -> Path:
    """The picture without letters."""
    with mpl.rc_context({"figure.dpi": 72, "savefig.dpi": 72}):
        figure = Figure(figsize=(3.2, 3.2))
        ax = figure.add_axes((0.1, 0.3, 0.8, 0.65))
        PICTURES[name](ax)
        for each in figure.findobj(Text):
            each.set_alpha(0)
        for axes in figure.axes:
            axes.tick_params(which="both", labelleft=False, labelright=False, labelbottom=False)
        if flip:
            ax.invert_yaxis()
        figure.savefig(path / f"{name}.png", metadata={"Software": None})
    return path / f"{name}.png"


def test_no_picture_is_missing() -> None:
    kinds = {kind.removesuffix("Display") for kind in rooms.__all__} | {"ClassMap", "Pareto", "Sharpness"}
    assert {name.replace("_", "") for name in PICTURES} == {kind.lower() for kind in kinds}


@pytest.mark.parametrize("name", PICTURES)
def test_picture(name: str, tmp_path: Path) -> None:
    if os.environ.get("CALIBRANT_NEW_IMAGES"):
        IMAGES.mkdir(exist_ok=True)
        drawn(name, IMAGES)
    assert compare_images(str(IMAGES / f"{name}.png"), str(drawn(name, tmp_path)), TOLERANCE) is None


@pytest.mark.parametrize("name", PICTURES)
def test_the_comparison_sees_a_picture_upside_down(name: str, tmp_path: Path) -> None:
    assert compare_images(str(IMAGES / f"{name}.png"), str(drawn(name, tmp_path, flip=True)), TOLERANCE)
