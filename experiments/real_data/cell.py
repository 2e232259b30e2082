"""One cell of the experiment: a set, a base and a split, measured before and after recalibration."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant import CalibratedRegressor, QuantileCalibrator, metrics
from calibrant.distributions.base import Distribution

from ..data import Dataset, Split
from .protocol import inner_folds


def cell(dataset: Dataset, base: Any, split: Split) -> dict[str, Any]:
    """The default calibrator, cross-fitted, on the refitted base's forecasts of the test rows."""
    X, y = dataset.X[split.test], dataset.y[split.test]
    cv = [tuple(fold) for fold in inner_folds(dataset, split.train)]
    model = CalibratedRegressor(base, calibrator=QuantileCalibrator(), cv=cv, ensemble=False)
    model.fit(dataset.X[split.train], dataset.y[split.train])
    sizes = {"n_cal": len(model.oof_rows_), "n_test": len(y)}
    before, after = model.predict_dist(X, calibrated=False), model.predict_dist(X)
    return {**sizes, "before": measure(y, before), "after": measure(y, after)}


def measure(y: NDArray[np.float64], law: Distribution) -> dict[str, float]:
    """The measures of the table."""
    return {
        "nll": float(metrics.nll(y, law)),
        "crps": float(metrics.crps(y, law)),
        "ce": float(metrics.calibration_error(y, law, levels=10)),
        "a2": float(metrics.anderson_darling(y, law)),
        "cov90": float(metrics.coverage(y, law, coverage=0.9)),
    }
