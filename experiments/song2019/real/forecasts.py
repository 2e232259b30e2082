"""What a calibrator learns from and what it is judged on: cross-fitted forecasts of one split."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from calibrant import CalibratedRegressor
from calibrant.distributions import Distribution

from ...data import Dataset, Split
from ...real_data.bases import RememberedPoint
from ...real_data.bases import bases as real_bases
from ...real_data.protocol import inner_folds

Array = NDArray[np.float64]


class Forecasts(NamedTuple):
    """Out-of-fold forecasts of the training rows, the refitted base's forecasts of the test rows, and the outcomes."""

    old: Distribution
    y_old: Array
    new: Distribution
    y_new: Array


def bases(cache: Path | None) -> dict[str, Any]:
    """Least squares as a point regressor, whose σ is the out-of-fold residual RMS; Bayesian ridge and forest."""
    ols = RememberedPoint(make_pipeline(StandardScaler(), LinearRegression()), cache)
    others = real_bases(cache)
    return {"OLS": ols, "ridge": others["ridge"], "forest": others["forest"]}


def cross_fitted(dataset: Dataset, base: Any, split: Split) -> Forecasts:
    """Five folds of the training rows, in time order where time matters, then the base fitted on all of them."""
    cv = [tuple(fold) for fold in inner_folds(dataset, split.train)]
    X, y = dataset.X[split.train], dataset.y[split.train]
    model = CalibratedRegressor(base, cv=cv).fit(X, y)
    new = model.predict_dist(dataset.X[split.test], calibrated=False)
    return Forecasts(model.oof_forecasts_, y[model.oof_rows_], new, dataset.y[split.test])
