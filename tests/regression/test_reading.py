"""How the output of regressors is read: quantile losses, means with variances."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, QuantileRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from calibrant import CalibratedRegressor
from calibrant.regression.levels import quantile_level

BOOSTED = GradientBoostingRegressor(loss="quantile", alpha=0.8, n_estimators=5)


@pytest.mark.parametrize(
    ("estimator", "level"),
    [
        (BOOSTED, 0.8),
        (GradientBoostingRegressor(alpha=0.8), None),
        (HistGradientBoostingRegressor(loss="quantile", quantile=0.2), 0.2),
        (HistGradientBoostingRegressor(), None),
        (QuantileRegressor(quantile=0.1), 0.1),
        (make_pipeline(StandardScaler(), BOOSTED), 0.8),
        (TransformedTargetRegressor(BOOSTED), 0.8),
        (GridSearchCV(BOOSTED, {"n_estimators": [5]}), 0.8),
        (FrozenEstimator(make_pipeline(StandardScaler(), BOOSTED)), 0.8),
        (LinearRegression(), None),
    ],
)
def test_the_level_that_a_model_is_set_to(estimator, level):
    assert quantile_level(estimator) == level


@pytest.mark.parametrize(
    ("names", "level"),
    [
        ({"objective": "quantile", "alpha": 0.7}, 0.7),  # LightGBM
        ({"objective": "quantile"}, 0.9),
        ({"objective": None, "reg_alpha": 0.0}, None),
        ({"objective": "reg:quantileerror", "quantile_alpha": 0.95}, 0.95),  # XGBoost
        ({"objective": "reg:squarederror", "quantile_alpha": None}, None),
        ({"loss_function": "Quantile:alpha=0.95"}, "0.95"),  # CatBoost
        ({"loss_function": "Quantile"}, 0.5),
        ({"loss_function": "RMSE"}, None),
    ],
)
def test_the_level_by_name(names, level):
    class Foreign:
        def get_params(self, deep=True):
            return names

    assert quantile_level(Foreign()) == level


def test_a_quantile_is_not_read_as_a_point(rng):
    X = rng.normal(size=(60, 1))
    y = X[:, 0] + rng.normal(size=60)
    for base in (BOOSTED, make_pipeline(StandardScaler(), BOOSTED), QuantileRegressor(quantile=0.9)):
        with pytest.raises(ValueError, match=r"is set to forecast the quantile at level .*levels=\[0.05, 0.5, 0.95\]"):
            CalibratedRegressor(base, cv=2).fit(X, y)
    assert CalibratedRegressor(BOOSTED, cv=2, levels=[0.1, 0.5, 0.9]).fit(X, y).forecast_kind_ == "quantiles"
    assert CalibratedRegressor(BOOSTED, cv=2, method="point").fit(X, y).forecast_kind_ == "point"
    assert CalibratedRegressor(QuantileRegressor(), cv=2).fit(X, y).forecast_kind_ == "point"  # a median is one


class Uncertain(RegressorMixin, BaseEstimator):
    """A regressor like CatBoost's: means and variances in two columns."""

    def __init__(self, loss_function="RMSEWithUncertainty"):
        self.loss_function = loss_function

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.column_stack([np.asarray(X)[:, 0], np.full(len(X), 4.0)])


def test_means_and_variances(rng):
    X = rng.normal(size=(60, 1))
    y = X[:, 0] + 2 * rng.normal(size=60)
    model = CalibratedRegressor(Uncertain(), cv=2).fit(X, y)
    assert model.forecast_kind_ == "mean_variance"
    raw = model.predict_dist(X, calibrated=False)
    np.testing.assert_array_equal(raw.mean(), X[:, 0])
    np.testing.assert_array_equal(raw.std(), 2.0)
    told = CalibratedRegressor(Uncertain("RMSE"), cv=2, method="mean_variance").fit(X, y)
    assert told.forecast_kind_ == "mean_variance"
    with pytest.raises(ValueError, match="must be 1-dimensional|mean and variance"):
        CalibratedRegressor(Uncertain("RMSE"), cv=2).fit(X, y)
    with pytest.raises(ValueError, match=r"must be \(n, 2\), mean and variance; got shape \(30,\)"):
        CalibratedRegressor(LinearRegression(), cv=2, method="mean_variance").fit(X, y)


def test_catboost_with_uncertainty(rng):
    catboost = pytest.importorskip("catboost")
    X = rng.normal(size=(200, 1))
    y = X[:, 0] + rng.normal(size=200)
    settings = {"iterations": 20, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
    base = catboost.CatBoostRegressor(loss_function="RMSEWithUncertainty", **settings)
    model = CalibratedRegressor(base, cv=2).fit(X, y)
    assert model.forecast_kind_ == "mean_variance"
    raw = model.predict_dist(X, calibrated=False)
    np.testing.assert_allclose(np.column_stack([raw.mean(), raw.var()]), model.estimator_.predict(X), rtol=1e-12)
    with pytest.raises(ValueError, match="quantile at level 0.9"):
        CalibratedRegressor(catboost.CatBoostRegressor(loss_function="Quantile:alpha=0.9"), cv=2).fit(X, y)


def test_lightgbm_with_a_quantile_loss(rng):
    lightgbm = pytest.importorskip("lightgbm")
    X = rng.normal(size=(60, 1))
    with pytest.raises(ValueError, match="LGBMRegressor is set to forecast the quantile at level 0.2"):
        CalibratedRegressor(lightgbm.LGBMRegressor(objective="quantile", alpha=0.2), cv=2).fit(X, X[:, 0])
