"""Scorers in scikit-learn's cross-validation and searches."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import BayesianRidge, LinearRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate

from calibrant import CalibratedRegressor, QuantileCalibrator, ScaleCalibrator, metrics
from calibrant.metrics.scorers import coverage_scorer, crps_scorer, law_scorer, nll_scorer

MODEL = CalibratedRegressor(LinearRegression(), QuantileCalibrator(), cv=2)


@pytest.fixture
def data(rng):
    X = rng.normal(size=(120, 2))
    return X, X[:, 0] + rng.normal(size=120)


def test_scores_are_those_of_the_measures(data):
    X, y = data
    scoring = {
        "crps": crps_scorer,
        "nll": nll_scorer,
        "coverage": coverage_scorer(0.8),
        "interval": law_scorer(metrics.interval_score, coverage=0.8),
    }
    got = cross_validate(MODEL, X, y, scoring=scoring, cv=KFold(3))
    for k, (train, test) in enumerate(KFold(3).split(X)):
        law = clone(MODEL).fit(X[train], y[train]).predict_dist(X[test])
        assert got["test_crps"][k] == pytest.approx(-metrics.crps(y[test], law), rel=1e-12)
        assert got["test_nll"][k] == pytest.approx(-metrics.nll(y[test], law), rel=1e-12)
        assert got["test_coverage"][k] == metrics.coverage(y[test], law, coverage=0.8)
        expected = -metrics.interval_score(y[test], law, coverage=0.8)
        assert got["test_interval"][k] == pytest.approx(expected, rel=1e-12)
    single = cross_val_score(MODEL, X, y, scoring=crps_scorer, cv=KFold(3))
    np.testing.assert_array_equal(single, got["test_crps"])


def test_searches_choose_the_better_law(data):
    X, y = data
    grid = {"calibrator": [ScaleCalibrator("coverage", coverage=0.05), ScaleCalibrator()]}
    search = GridSearchCV(MODEL, grid, scoring=crps_scorer, cv=2).fit(X, y)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    assert search.score(X, y) == pytest.approx(-metrics.crps(y, search.best_estimator_.predict_dist(X)))


def test_weights_are_passed_on(data):
    X, y = data
    model, weights = MODEL.fit(X, y), np.arange(120.0)
    expected = -metrics.crps(y, model.predict_dist(X), sample_weight=weights)
    assert crps_scorer(model, X, y, sample_weight=weights) == expected != crps_scorer(model, X, y)
    with config_context(enable_metadata_routing=True):
        scorer = law_scorer(metrics.crps).set_score_request(sample_weight=True)
        base = BayesianRidge().set_fit_request(sample_weight=False)
        routed = CalibratedRegressor(base, cv=2).set_fit_request(sample_weight=False)
        parts = {"cv": KFold(2), "params": {"sample_weight": weights}}
        got = cross_validate(routed, X, y, scoring={"crps": scorer}, **parts)["test_crps"]
        train, test = next(KFold(2).split(X))
        law = clone(routed).fit(X[train], y[train]).predict_dist(X[test])
        assert got[0] == pytest.approx(-metrics.crps(y[test], law, sample_weight=weights[test]), rel=1e-12)


def test_scorers_are_copied_and_pickled(data):
    X, y = data
    model = MODEL.fit(X, y)
    for scorer in (crps_scorer, coverage_scorer(0.5)):
        assert clone(scorer)(model, X, y) == pickle.loads(pickle.dumps(scorer))(model, X, y) == scorer(model, X, y)


def test_models_without_laws_are_told(data):
    X, y = data
    with pytest.raises(TypeError, match=r"must have predict_dist; LinearRegression does not. Wrap it"):
        crps_scorer(LinearRegression().fit(X, y), X, y)
