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
from calibrant.forecasters import DropoutMLP
from calibrant.forecasters.scaling import Scaling

from ...data import Dataset, Split
from ...real_data.bases import RememberedNormal, RememberedPoint
from ...real_data.bases import bases as real_bases
from ...real_data.protocol import inner_folds

Array = NDArray[np.float64]


class Forecasts(NamedTuple):
    """Out-of-fold forecasts of the training rows, the refitted base's forecasts of the test rows, and the outcomes."""

    old: Distribution
    y_old: Array
    new: Distribution
    y_new: Array


class PaperNet(DropoutMLP):
    """The net of the paper: targets are not standardised, so that τ⁻¹ is in their unit.

    The paper does not say so; its numbers do: an MSE of 1 032 on airfoil noise, of which the target has a variance of
    48, and deviations that are a small part of the residuals wherever the target's unit is small against its spread.
    """

    def _scales(self, X: Array, y: Array, weights: Array) -> tuple[Scaling, Scaling]:
        return Scaling.of(X, weights), Scaling(np.zeros(1), np.ones(1))


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


def net(rows: int, seed: int, **options: Any) -> PaperNet:
    r"""The dropout net for so many training rows, with the same :math:`\tau = \ell^2(1-p)/2N\lambda` in all folds."""
    plain = DropoutMLP()
    precision = plain.length_scale**2 * (1 - plain.dropout) / (2 * rows * plain.weight_decay)
    return PaperNet(precision=precision, random_state=seed, **options)


def fitted(dataset: Dataset, base: Any, split: Split) -> CalibratedRegressor:
    """Five folds of the training rows, in time order where time matters, then the base fitted on all of them."""
    cv = [tuple(fold) for fold in inner_folds(dataset, split.train)]
    return CalibratedRegressor(base, cv=cv).fit(dataset.X[split.train], dataset.y[split.train])


def cross_fitted(dataset: Dataset, base: Any, split: Split) -> Forecasts:
    """What calibrators that are not to see forecasts of the base's own rows learn from."""
    model = fitted(dataset, base, split)
    new = model.predict_dist(dataset.X[split.test], calibrated=False)
    return Forecasts(model.oof_forecasts_, dataset.y[split.train][model.oof_rows_], new, dataset.y[split.test])
