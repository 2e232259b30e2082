"""One split of one set with one base: every measure of every method."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant import GPBetaCalibrator, QuantileCalibrator, metrics
from calibrant.calibration import Calibrator
from calibrant.calibration.pit_watch import unwatched
from calibrant.distributions import Distribution

from ...data import load
from ...real_data.protocol import MAX_TRAIN, thinned_splits
from ..toy.table import CALIBRATORS
from .forecasts import fitted, paper_base

Array = NDArray[np.float64]
NONE, INDUCING = "none", (8, 16, 32, 64)
MOST_OF = {"GPR": (750, 250), "NN": (MAX_TRAIN, None)}  # rows to train and to test on; other bases have all
ALL = (None, None)


def _published(points: int) -> Calibrator:
    return GPBetaCalibrator(points, kernel="embedding", inducing="learned", base_map=None)


# as published: they learn from the base's forecasts of the rows it was trained on
PUBLISHED: dict[str, Callable[[], Calibrator]] = {
    "isotonic": lambda: QuantileCalibrator("isotonic", ranks="T"),
    **{f"GPB {points}": lambda points=points: _published(points) for points in INDUCING},  # type: ignore[misc]
}
GP_BETAS = tuple(name for name in PUBLISHED if name != "isotonic")
CROSS = "GPB 32 cf"  # as published, but from cross-fitted forecasts, as ours learn
OURS = tuple(CALIBRATORS)  # with their defaults
PARTS = ("published", "ours")


def cell(
    name: str, base: str, number: int, part: str, folder: Path | None, cache: Path | None, small: dict[str, Any]
) -> dict[str, dict[str, float]]:
    """Measures of the test rows by method, of the published ones or of ours; `small` are options of a net."""
    dataset = load(name, folder)
    split = list(thinned_splits(dataset, number + 1, most=MOST_OF.get(base, ALL)))[number]
    X, y, X_new, y_new = dataset.X[split.train], dataset.y[split.train], dataset.X[split.test], dataset.y[split.test]
    with unwatched(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of length scales at their bounds; the table shows what becomes of PIT values
        model = fitted(dataset, paper_base(base, number, cache, **small), split)
        new, same = (model.predict_dist(rows, calibrated=False) for rows in (X_new, X))
        old, y_old = model.oof_forecasts_, y[model.oof_rows_]
        cross: dict[str, Callable[[], Calibrator]] = (
            {CROSS: PUBLISHED["GPB 32"]} if part == "published" else CALIBRATORS
        )
        learned = {key: make().fit(same, y) for key, make in PUBLISHED.items()} if part == "published" else {}
        learned |= {key: make().fit(old, y_old) for key, make in cross.items()}
        laws = {NONE: new, **{key: calibrator.transform(new) for key, calibrator in learned.items()}}
        return {key: measure(y_new, law) for key, law in laws.items()}


def measure(y: Array, law: Distribution) -> dict[str, float]:
    """Mean NLL, MSE of the means, and the pinball loss as the paper has it: summed over rows, mean of 19 levels."""
    return {
        "NLL": float(metrics.nll(y, law)),
        "MSE": float(metrics.mse(y, law)),
        "pinball": float(metrics.pinball_loss(y, law) * len(y)),
    }
