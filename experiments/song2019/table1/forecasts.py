"""What a calibrator learns from and what it is judged on: forecasts of one split by one base."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from calibrant import CalibratedRegressor
from calibrant.distributions import Distribution

from ...data import Dataset, Split
from ...real_data.bases import RememberedNormal, RememberedPoint
from ...real_data.bases import bases as real_bases
from ...real_data.protocol import inner_folds
from .net import AdadeltaNet
from .process import CodeProcess

Array = NDArray[np.float64]


class Forecasts(NamedTuple):
    """Out-of-fold forecasts of the training rows, the refitted base's forecasts of the test rows, and the outcomes."""

    old: Distribution
    y_old: Array
    new: Distribution
    y_new: Array


def bases(cache: Path | None) -> dict[str, Any]:
    """Least squares as a point regressor, whose σ is the out-of-fold residual RMS; ridge, forest, Gaussian process."""
    ols = RememberedPoint(make_pipeline(StandardScaler(), LinearRegression()), cache)
    kernel = ConstantKernel() * RBF() + WhiteKernel()
    process = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0)
    others = real_bases(cache)
    return {
        "OLS": ols,
        "ridge": others["ridge"],
        "forest": others["forest"],
        "GPR": RememberedNormal(make_pipeline(StandardScaler(), process), cache),
    }


def paper_base(base: str, seed: int, cache: Path | None, **options: Any) -> Any:
    """A base of table 1; the options are those of the net.

    Net and Gaussian process are those that `experiments.song2019.bases` chose by the paper's uncalibrated numbers.
    """
    chosen = {"NN": lambda: AdadeltaNet(seed=seed, **options), "GPR": CodeProcess}
    return RememberedNormal(chosen[base](), cache) if base in chosen else bases(cache)[base]


def fitted(dataset: Dataset, base: Any, split: Split) -> CalibratedRegressor:
    """Five folds of the training rows, in time order where time matters, then the base fitted on all of them."""
    cv = [tuple(fold) for fold in inner_folds(dataset, split.train)]
    return CalibratedRegressor(base, cv=cv).fit(dataset.X[split.train], dataset.y[split.train])


def cross_fitted(dataset: Dataset, base: Any, split: Split) -> Forecasts:
    """What calibrators that are not to see forecasts of the base's own rows learn from."""
    model = fitted(dataset, base, split)
    new = model.predict_dist(dataset.X[split.test], calibrated=False)
    return Forecasts(model.oof_forecasts_, dataset.y[split.train][model.oof_rows_], new, dataset.y[split.test])
