"""Pipelines, searches and cross-validation of scikit-learn, by laws."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import BayesianRidge, LinearRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from calibrant import CalibratedRegressor, QuantileCalibrator, ScaleCalibrator, metrics
from calibrant.adapters.predicted import predicted_law
from calibrant.displays import MurphyDisplay, PITDisplay
from calibrant.metrics.scorers import coverage_scorer, crps_scorer, nll_scorer


@pytest.fixture
def data(rng):
    X = 100.0 + 50.0 * rng.normal(size=(120, 2))
    return X, X[:, 0] / 50 + rng.normal(size=120)


def test_laws_of_the_last_step_of_a_pipeline(data):
    X, y = data
    scaler, model = StandardScaler().fit(X), CalibratedRegressor(BayesianRidge(), cv=2)
    outside = make_pipeline(StandardScaler(), model).fit(X, y)
    expected = CalibratedRegressor(BayesianRidge(), cv=2).fit(scaler.transform(X), y).predict_dist(scaler.transform(X))
    for given in (
        outside,
        FrozenEstimator(outside),
        make_pipeline(make_column_transformer(("passthrough", [0, 1])), outside),
    ):
        law = predicted_law(given.fit(X, y), X)
        np.testing.assert_allclose(law.quantiles([0.05, 0.5, 0.95]), expected.quantiles([0.05, 0.5, 0.95]), rtol=1e-9)
    inside = CalibratedRegressor(make_pipeline(StandardScaler(), BayesianRidge()), cv=2).fit(X, y)
    assert inside.forecast_kind_ == "return_std"
    np.testing.assert_allclose(inside.predict(X), expected.mean(), rtol=1e-2)
    assert PITDisplay.from_estimator(outside, X, y).name == "Pipeline"
    assert len(MurphyDisplay.from_estimator(outside, X, y).scores) == 1


def test_searches_and_cross_validation_of_pipelines(data):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), CalibratedRegressor(LinearRegression(), cv=2))
    scoring = {"crps": crps_scorer, "nll": nll_scorer, "coverage": coverage_scorer(0.8)}
    got = cross_validate(pipeline, X, y, scoring=scoring, cv=KFold(2), return_estimator=True)
    for k, (_, test) in enumerate(KFold(2).split(X)):
        scaler, model = (step for _, step in got["estimator"][k].steps)
        law = model.predict_dist(scaler.transform(X[test]))
        assert got["test_crps"][k] == -metrics.crps(y[test], law)
        assert got["test_nll"][k] == -metrics.nll(y[test], law)
        assert got["test_coverage"][k] == metrics.coverage(y[test], law, coverage=0.8)
    poor, good = ScaleCalibrator("coverage", coverage=0.05), QuantileCalibrator()
    search = GridSearchCV(pipeline, {"calibratedregressor__calibrator": [poor, good]}, scoring=nll_scorer, cv=2).fit(
        X, y
    )
    assert search.best_index_ == int(np.argmax(search.cv_results_["mean_test_score"]))
    assert search.score(X, y) == -metrics.nll(y, predicted_law(search, X))


def test_pipelines_of_points_are_told(data):
    X, y = data
    model = make_pipeline(StandardScaler(), LinearRegression()).fit(X, y)
    with pytest.raises(TypeError, match=r"must have predict_dist; Pipeline does not. Wrap it: CalibratedRegressor"):
        crps_scorer(model, X, y)
