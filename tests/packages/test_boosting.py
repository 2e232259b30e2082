"""XGBoost, LightGBM and CatBoost: their forecasts number by number, calibrated."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator

from calibrant import CalibratedRegressor, Quantiles, as_distribution, metrics

LEVELS = [0.1, 0.5, 0.8]  # mirrored ones are others
CATBOOST = {"iterations": 30, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
XGBOOST = {"n_estimators": 20, "n_jobs": 1}


@pytest.fixture
def data(rng):
    X = rng.normal(size=(600, 2))
    return X, X[:, 0] + np.exp(0.3 * X[:, 1]) * rng.normal(size=600)


def holds(model: CalibratedRegressor, X, y) -> None:
    """Of 200 outcomes that were left out, intervals hold as many as they state; 3 deviations are 0.1 with as many."""
    model.fit(X[:-200], y[:-200])
    assert abs(metrics.coverage(y[-200:], model.predict_dist(X[-200:]), coverage=0.8) - 0.8) < 0.1


def same_quantiles(model: CalibratedRegressor, X, levels, values) -> None:
    """The columns of the package, but for rows where they cross or touch."""
    apart = (np.diff(values) > 0.1).all(axis=1)
    assert apart.mean() > 0.8
    raw = model.predict_dist(X, calibrated=False).quantiles(levels)
    np.testing.assert_allclose(raw[apart], values[apart], rtol=1e-9)


def test_xgboost(data):
    xgboost = pytest.importorskip("xgboost")
    X, y = data
    point = xgboost.XGBRegressor(**XGBOOST).fit(X[:200], y[:200])
    model = CalibratedRegressor(FrozenEstimator(point))
    holds(model, X[200:], y[200:])
    assert model.forecast_kind_ == "point"
    np.testing.assert_array_equal(model.predict_dist(X, calibrated=False).median(), point.predict(X))
    several = xgboost.XGBRegressor(**XGBOOST, objective="reg:quantileerror", quantile_alpha=np.array(LEVELS))
    own, told = CalibratedRegressor(several, cv=3), CalibratedRegressor(several, cv=3, levels=[0.2, 0.9])
    for model, levels in ((own, LEVELS), (told, [0.2, 0.9])):
        holds(model, X, y)
        assert model.forecast_kind_ == "quantiles"
        same_quantiles(model, X, levels, model.estimator_.predict(X))
    assert isinstance(own.estimator_, xgboost.XGBRegressor)
    assert [model.get_params()["quantile_alpha"] for model in told.estimator_.models_] == [0.2, 0.9]
    given = as_distribution(dict(zip(LEVELS, own.estimator_.predict(X[:40]).T, strict=True)))
    assert type(given) is Quantiles and given.ppf(0.8)[0] == pytest.approx(own.estimator_.predict(X)[0, 2])


def test_lightgbm(data):
    lightgbm = pytest.importorskip("lightgbm")
    X, y = data
    base = lightgbm.LGBMRegressor(n_estimators=20, verbose=-1, n_jobs=1, random_state=0)
    model = CalibratedRegressor(base, cv=3)
    holds(model, X, y)
    assert model.forecast_kind_ == "point"
    model = CalibratedRegressor(base, cv=3, levels=LEVELS)
    holds(model, X, y)
    assert [each.get_params()["objective"] for each in model.estimator_.models_] == ["quantile"] * 3
    expected = [
        lightgbm.LGBMRegressor(**{**base.get_params(), "objective": "quantile", "alpha": q}).fit(X[:400], y[:400])
        for q in LEVELS
    ]
    same_quantiles(model, X, LEVELS, np.column_stack([each.predict(X) for each in expected]))


def test_catboost(data):
    catboost = pytest.importorskip("catboost")
    X, y = data
    model = CalibratedRegressor(catboost.CatBoostRegressor(loss_function="RMSEWithUncertainty", **CATBOOST), cv=3)
    holds(model, X, y)
    assert model.forecast_kind_ == "mean_variance"
    raw = model.predict_dist(X, calibrated=False)
    np.testing.assert_allclose(np.column_stack([raw.mean(), raw.var()]), model.estimator_.predict(X), rtol=1e-12)
    several = catboost.CatBoostRegressor(loss_function="MultiQuantile:alpha=0.1,0.5,0.8", **CATBOOST)
    model = CalibratedRegressor(several, cv=3)
    holds(model, X, y)
    assert model.forecast_kind_ == "quantiles" and isinstance(model.estimator_, catboost.CatBoostRegressor)
    same_quantiles(model, X, LEVELS, model.estimator_.predict(X))
    point = CalibratedRegressor(catboost.CatBoostRegressor(**CATBOOST), cv=3)
    holds(point, X, y)
    assert point.forecast_kind_ == "point"
