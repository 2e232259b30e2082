from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from scipy import stats
from sklearn import config_context
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import ARDRegression, BayesianRidge, LinearRegression, QuantileRegressor, Ridge, SGDRegressor
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    RepeatedKFold,
    TimeSeriesSplit,
    cross_val_predict,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from calibrant import (
    CalibratedRegressor,
    Chain,
    DensityCalibrator,
    FlowCalibrator,
    GPBetaCalibrator,
    GPCCalibrator,
    GroupedCalibrator,
    Mixture,
    Normal,
    QuantileCalibrator,
    Quantiles,
    Recalibrated,
    ResidualCalibrator,
    ScaleCalibrator,
    StackCalibrator,
    Truncated,
)
from calibrant.calibration.same_rows import SameRowsWarning
from calibrant.maps import AffineMap
from calibrant.regression.levels import QuantileModels, level_parameters
from calibrant.regression.reading import Reading, detect, prepare
from calibrant.regression.scale import root_mean_square

MAPS = ("ecdf", "isotonic", "step", "beta", "kde")
CALIBRATORS = [
    *(QuantileCalibrator(map=name) for name in MAPS),
    ResidualCalibrator(),
    ScaleCalibrator(),
    ScaleCalibrator("coverage"),
    ScaleCalibrator("bins", n_bins=3),
    Chain([ScaleCalibrator(), QuantileCalibrator()]),
]
CONDITIONAL = [  # small ones: these checks are of the estimator around them
    DensityCalibrator(n_thresholds=4),
    GPCCalibrator(4, n_basis=5, n_grid=64),
    GPBetaCalibrator(4, hyperparameters="fixed"),
    FlowCalibrator(4, penalty=4.0),
    StackCalibrator([ScaleCalibrator()]),
]


@parametrize_with_checks(
    [
        CalibratedRegressor(),
        CalibratedRegressor(ensemble=True, cv=3),
        CalibratedRegressor(LinearRegression(), cv=2),
        *(CalibratedRegressor(calibrator=calibrator, cv=2) for calibrator in CALIBRATORS),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# grouped calibrators want to know the groups, with which these checks do not come
@pytest.mark.filterwarnings(r"ignore:\d+ rows are too few .*; only the quantile map is used:UserWarning")
@pytest.mark.filterwarnings(r"ignore:only \d+ rows to learn from .* stay close to what they were:UserWarning")
@pytest.mark.filterwarnings(r"ignore:too few rows to learn from. \d+; :UserWarning")
@pytest.mark.usefixtures("laws_only")
@parametrize_with_checks([CalibratedRegressor(calibrator=calibrator, cv=2) for calibrator in CONDITIONAL])
def test_scikit_learn_checks_of_conditional_calibrators(estimator, check):
    check(estimator)


class Overconfident(RegressorMixin, BaseEstimator):
    """Knows the mean x, and states a deviation of `sigma`."""

    def __init__(self, sigma=1.0):
        self.sigma = sigma

    def fit(self, X, y):
        self.n_rows_ = len(y)
        return self

    def predict(self, X, return_std=False):
        mean = np.asarray(X)[:, 0].astype(float)
        return (mean, np.full(len(mean), self.sigma)) if return_std else mean


class Remembers(RegressorMixin, BaseEstimator):
    """Keeps the rows it was trained on, whose numbers are in the first column."""

    def fit(self, X, y, sample_weight=None):
        self.rows_ = np.asarray(X)[:, 0].astype(int)
        self.weights_ = sample_weight
        return self

    def predict(self, X):
        rows = np.asarray(X)[:, 0].astype(int)
        if np.isin(rows, self.rows_).any():
            raise RuntimeError("forecasts a training row")
        return np.zeros(len(rows))


def line(rng, n, *, noise=1.0):
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] + noise * rng.normal(size=n)


# ---- calibration ----
@pytest.mark.parametrize("ensemble", [False, True])
@pytest.mark.parametrize("factor", [0.25, 3.0])
def test_wrong_sigma_is_put_right(rng, factor, ensemble):
    X, y = line(rng, 2000)
    X_new, y_new = line(rng, 20000)
    model = CalibratedRegressor(Overconfident(factor), ensemble=ensemble).fit(X, y)
    low, high = model.predict_interval(X_new, coverage=0.9).T
    before = model.predict_dist(X_new, calibrated=False).interval(0.9)
    assert abs(np.mean((y_new >= before[:, 0]) & (y_new <= before[:, 1])) - 0.9) > 0.09
    assert abs(np.mean((y_new >= low) & (y_new <= high)) - 0.9) < 0.015
    np.testing.assert_allclose(model.predict_var(X_new[:50]), 1.0, rtol=0.12)
    np.testing.assert_allclose(model.predict(X_new[:50]), X_new[:50, 0], atol=0.1)


def test_overfitting_base_is_covered_by_cross_fitting_and_not_by_same_rows(rng):
    X, y = line(rng, 3000)
    X_new, y_new = line(rng, 4000)
    forest = RandomForestRegressor(8, random_state=0)

    def covered(model):
        low, high = model.predict_interval(X_new, 0.9).T
        return np.mean((y_new >= low) & (y_new <= high))

    assert abs(covered(CalibratedRegressor(forest).fit(X, y)) - 0.9) < 0.03
    with pytest.warns(SameRowsWarning, match="cv='same'"):
        same = CalibratedRegressor(forest, cv="same").fit(X, y)
    assert covered(same) < 0.7


def test_refitted_model_and_out_of_fold_forecasts_by_hand(rng):
    X, y = line(rng, 60)
    model = CalibratedRegressor(Ridge(), cv=KFold(4, shuffle=True, random_state=0)).fit(X, y)
    expected = cross_val_predict(Ridge(), X, y, cv=KFold(4, shuffle=True, random_state=0))
    np.testing.assert_array_equal(model.oof_rows_, np.arange(60))
    np.testing.assert_allclose(model.oof_forecasts_.mean(), expected)
    sigma = np.sqrt(np.mean((y - expected) ** 2))
    assert model.sigma_ == pytest.approx(sigma, rel=1e-12)
    np.testing.assert_allclose(model.oof_forecasts_.std(), sigma)
    np.testing.assert_allclose(model.estimator_.coef_, Ridge().fit(X, y).coef_)
    law = Normal(Ridge().fit(X, y).predict(X), sigma)
    expected = QuantileCalibrator().fit(Normal(expected, sigma), y).transform(law)
    np.testing.assert_allclose(model.predict_quantiles(X, [0.1, 0.7]), expected.quantiles([0.1, 0.7]), rtol=1e-10)
    np.testing.assert_allclose(model.predict_dist(X, calibrated=False).std(), sigma)


def test_ensemble_is_the_average_of_the_folds_distribution_functions(rng):
    X, y = line(rng, 90)
    X_new, grid = rng.normal(size=(7, 2)), np.linspace(-3, 3, 13)[None, :]
    model = CalibratedRegressor(cv=3, ensemble=True).fit(X, y)
    parts, base = [], []
    for train, test in KFold(3).split(X):
        fold = BayesianRidge().fit(X[train], y[train])
        calibrator = QuantileCalibrator().fit(Normal(*fold.predict(X[test], return_std=True)), y[test])
        base.append(Normal(*fold.predict(X_new, return_std=True)))
        parts.append(calibrator.transform(base[-1]))
    law = model.predict_dist(X_new)
    assert isinstance(law, Mixture) and len(model.estimators_) == len(model.calibrators_) == 3
    np.testing.assert_allclose(law.cdf(grid), np.mean([part.cdf(grid) for part in parts], axis=0), rtol=1e-9)
    np.testing.assert_allclose(
        model.predict(X_new), np.mean([part.mean() for part in parts], axis=0), rtol=1e-8, atol=1e-8
    )
    raw = model.predict_dist(X_new, calibrated=False)
    np.testing.assert_allclose(raw.cdf(grid), np.mean([part.cdf(grid) for part in base], axis=0), rtol=1e-9)
    assert not hasattr(model, "estimator_") and not hasattr(model, "calibrator_")


def test_refitting_forgets_the_parts_of_an_earlier_fit(rng):
    X, y = line(rng, 40)
    model = CalibratedRegressor(Ridge()).fit(X, y)
    assert hasattr(model, "sigma_") and hasattr(model, "estimator_")
    model.set_params(estimator=BayesianRidge(), ensemble=True).fit(X, y)
    assert not hasattr(model, "sigma_") and not hasattr(model, "estimator_")


# ---- splits ----
def test_no_row_is_forecast_by_a_model_that_saw_it(rng):
    X = np.column_stack([np.arange(40.0), rng.normal(size=40)])
    y = rng.normal(size=40)
    for cv in (4, KFold(5, shuffle=True, random_state=1), RepeatedKFold(n_splits=4, n_repeats=2, random_state=0)):
        CalibratedRegressor(Remembers(), cv=cv).fit(X, y)
    with pytest.warns(SameRowsWarning), pytest.raises(RuntimeError, match="training row"):
        CalibratedRegressor(Remembers(), cv="same").fit(X, y)


@pytest.mark.parametrize("cv", [4, GroupKFold(4), LeaveOneGroupOut()])
def test_groups_are_kept_apart(rng, cv):
    X = np.column_stack([np.arange(40.0), rng.normal(size=40)])
    groups = np.repeat(np.arange(8), 5)[rng.permutation(40)]
    model = CalibratedRegressor(Remembers(), cv=cv, ensemble=True).fit(X, rng.normal(size=40), groups=groups)
    assert len(model.estimators_) == (8 if isinstance(cv, LeaveOneGroupOut) else 4)
    for fold in model.estimators_:
        assert not set(groups[fold.rows_]) & set(np.delete(groups, fold.rows_))


def test_time_series_splits_use_the_past_only(rng):
    X = np.column_stack([np.arange(60.0), rng.normal(size=60)])
    y = rng.normal(size=60)
    model = CalibratedRegressor(Remembers(), cv=TimeSeriesSplit(5), ensemble=True).fit(X, y)
    assert [fold.rows_.max() for fold in model.estimators_] == [9, 19, 29, 39, 49]
    single = CalibratedRegressor(Remembers(), cv=TimeSeriesSplit(5)).fit(X, y)
    np.testing.assert_array_equal(single.oof_rows_, np.arange(10, 60))
    assert single.calibrator_.n_rows_ == 50 and len(single.estimator_.rows_) == 60


def test_splits_may_come_from_a_generator_or_overlap(rng):
    X, y = line(rng, 40)
    splits = list(KFold(4).split(X))
    expected = CalibratedRegressor(cv=splits).fit(X, y).predict(X)
    np.testing.assert_array_equal(CalibratedRegressor(cv=iter(splits)).fit(X, y).predict(X), expected)
    with parallel_config(backend="threading"):
        np.testing.assert_array_equal(CalibratedRegressor(cv=4, n_jobs=2).fit(X, y).predict(X), expected)
    with config_context(enable_metadata_routing=True):
        np.testing.assert_array_equal(CalibratedRegressor(cv=iter(splits)).fit(X, y).predict(X), expected)
    with pytest.warns(SameRowsWarning, match="5 rows to forecast"):
        CalibratedRegressor(cv=[(np.arange(30), np.arange(25, 40))]).fit(X, y)


# ---- frozen models ----
def test_frozen_model_is_not_refitted(rng):
    X, y = line(rng, 300)
    base = BayesianRidge().fit(X[:100], y[:100])
    coef = base.coef_.copy()
    model = CalibratedRegressor(FrozenEstimator(base)).fit(X[100:], y[100:])
    np.testing.assert_array_equal(base.coef_, coef)
    assert model.forecast_kind_ == "return_std" and model.calibrator_.n_rows_ == 200
    law = Normal(*base.predict(X[100:], return_std=True))
    expected = QuantileCalibrator().fit(law, y[100:]).transform(law)
    np.testing.assert_allclose(model.predict(X[100:]), expected.mean())


def test_frozen_weights_are_repetitions(rng):
    X, y = line(rng, 120)
    weights = rng.integers(0, 4, size=80)
    base = FrozenEstimator(Ridge().fit(X[:40], y[:40]))
    rows = np.repeat(np.arange(40, 120), weights)
    for calibrator in (QuantileCalibrator(), *CALIBRATORS):
        weighted = CalibratedRegressor(base, calibrator).fit(X[40:], y[40:], sample_weight=weights)
        repeated = CalibratedRegressor(base, calibrator).fit(X[rows], y[rows])
        assert weighted.sigma_ == pytest.approx(repeated.sigma_, rel=1e-12)
        got, expected = weighted.predict_dist(X[:9]), repeated.predict_dist(X[:9])
        np.testing.assert_allclose(got.quantiles([0.1, 0.5, 0.95]), expected.quantiles([0.1, 0.5, 0.95]), rtol=1e-8)


def test_frozen_model_fitted_on_the_same_rows_warns(rng):
    X, y = line(rng, 50)
    with pytest.warns(SameRowsWarning, match="100% of the rows"):
        CalibratedRegressor(FrozenEstimator(KNeighborsRegressor().fit(X, y))).fit(X, y)
    exact = FrozenEstimator(LinearRegression().fit(X, X[:, 0]))
    with pytest.warns(SameRowsWarning, match="hits every outcome"):
        CalibratedRegressor(exact).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="`ensemble=True` needs splits"):
        CalibratedRegressor(exact, ensemble=True).fit(X, y)
    with pytest.raises(TypeError, match="a frozen estimator is not fitted and takes no flavour"):
        CalibratedRegressor(exact).fit(X, y, flavour=1)
    with pytest.raises(NotFittedError):
        CalibratedRegressor(FrozenEstimator(BayesianRidge())).fit(X, y)


# ---- reading the base ----
@pytest.mark.parametrize(
    ("estimator", "kind"),
    [
        (BayesianRidge(), "return_std"),
        (ARDRegression(), "return_std"),
        (GaussianProcessRegressor(RBF() + WhiteKernel(), n_restarts_optimizer=0), "return_std"),
        (make_pipeline(StandardScaler(), BayesianRidge()), "return_std"),
        (make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), BayesianRidge())), "return_std"),
        (make_pipeline(BayesianRidge()), "return_std"),
        (GridSearchCV(BayesianRidge(), {"tol": [1e-2, 1e-3]}, cv=2), "return_std"),
        (make_pipeline(StandardScaler(), GridSearchCV(BayesianRidge(), {"tol": [1e-3]}, cv=2)), "return_std"),
        (TransformedTargetRegressor(BayesianRidge(), transformer=StandardScaler()), "point"),
        (KNeighborsRegressor(), "point"),
        (CalibratedRegressor(cv=2), "predict_dist"),
    ],
)
def test_kinds_of_forecast(rng, estimator, kind):
    X, y = line(rng, 60)
    model = CalibratedRegressor(estimator, cv=3).fit(X, y)
    assert model.forecast_kind_ == kind == detect(estimator)
    law = model.predict_dist(X)
    assert len(law) == 60 and np.all(np.isfinite(law.logpdf(y)))
    np.testing.assert_allclose(law.mean(), model.predict(X))
    assert model.score(X, y) > 0.2


def test_standard_deviations_come_through_pipelines_and_searches(rng):
    X, y = 10 * rng.normal(size=(60, 2)), rng.normal(size=60)
    pipe = make_pipeline(StandardScaler(), BayesianRidge())
    mean, std = pipe.fit(X, y).predict(X, return_std=True)
    search = GridSearchCV(pipe, {"bayesianridge__tol": [1e-3]}, cv=2).fit(X, y)
    for base in (pipe, FrozenEstimator(pipe), search, FrozenEstimator(search)):
        law = Reading("return_std")(base, X)
        np.testing.assert_allclose(law.mean(), mean)
        np.testing.assert_allclose(law.std(), std)
    with config_context(enable_metadata_routing=True):
        np.testing.assert_allclose(Reading("return_std")(pipe, X).std(), std)


def test_point_method_ignores_what_else_the_model_can_say(rng):
    X, y = line(rng, 60)
    model = CalibratedRegressor(BayesianRidge(), method="point").fit(X, y)
    assert model.forecast_kind_ == "point"
    assert np.ptp(model.predict_dist(X, calibrated=False).std()) == 0


def test_predict_dist_of_any_kind(rng):
    class Frozen(Overconfident):
        def predict_dist(self, X):
            return stats.norm(np.asarray(X)[:, 0], 2.0)

    class Pairs(Overconfident):
        def predict_dist(self, X):
            return np.asarray(X)[:, 0], np.full(len(X), 2.0)

    X, y = line(rng, 80)
    for base in (Frozen(), Pairs()):
        model = CalibratedRegressor(base).fit(X, y)
        assert model.forecast_kind_ == "predict_dist"
        np.testing.assert_allclose(model.predict_dist(X, calibrated=False).std(), 2.0)


def test_ngboost(rng):
    ngboost = pytest.importorskip("ngboost")
    X, y = line(rng, 120)
    base = ngboost.NGBRegressor(n_estimators=15, verbose=False, random_state=0)
    model = CalibratedRegressor(base, cv=3).fit(X, y)
    assert model.forecast_kind_ == "pred_dist"
    base.fit(X, y)
    raw = base.pred_dist(X)
    np.testing.assert_allclose(model.predict_dist(X, calibrated=False).mean(), raw.params["loc"])
    np.testing.assert_allclose(model.predict_dist(X, calibrated=False).std(), raw.params["scale"])
    low, high = model.predict_interval(X, 0.9).T
    assert np.mean((y >= low) & (y <= high)) > 0.85


# ---- quantile regressors ----
@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        (QuantileRegressor(), {"quantile": 0.3}),
        (HistGradientBoostingRegressor(), {"loss": "quantile", "quantile": 0.3}),
        (GradientBoostingRegressor(), {"loss": "quantile", "alpha": 0.3}),
        (make_pipeline(StandardScaler(), QuantileRegressor()), {"quantileregressor__quantile": 0.3}),
        (TransformedTargetRegressor(QuantileRegressor()), {"regressor__quantile": 0.3}),
        (GridSearchCV(QuantileRegressor(), {"alpha": [0.1]}), {"estimator__quantile": 0.3}),
        (SGDRegressor(), None),
        (Ridge(), None),
        (make_pipeline(StandardScaler(), "passthrough"), None),
        (FrozenEstimator(QuantileRegressor()), None),
    ],
)
def test_level_parameters(estimator, expected):
    assert level_parameters(estimator, 0.3) == expected


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ({"objective": "quantile"}, {"objective": "quantile", "alpha": 0.3}),
        ({"objective": "reg:quantileerror"}, {"objective": "reg:quantileerror", "quantile_alpha": 0.3}),
        ({"quantile_alpha": None}, {"objective": "reg:quantileerror", "quantile_alpha": 0.3}),
        ({"loss_function": "Quantile:alpha=0.5"}, {"loss_function": "Quantile:alpha=0.3"}),
        ({"loss": "quantile", "alpha": 0.5}, {"loss": "quantile", "alpha": 0.3}),
        ({"objective": "reg:squarederror", "alpha": 1.0}, None),
    ],
)
def test_level_parameters_by_name(names, expected):
    class Foreign:
        def get_params(self, deep=True):
            return names

    assert level_parameters(Foreign(), 0.3) == expected


@pytest.mark.parametrize(
    "estimator",
    [
        GradientBoostingRegressor(n_estimators=25, random_state=0),
        HistGradientBoostingRegressor(max_iter=25, min_samples_leaf=30),
        make_pipeline(StandardScaler(), QuantileRegressor(alpha=0)),
    ],
)
def test_quantile_regressors(rng, estimator):
    X, y = line(rng, 1000)
    X_new, y_new = line(rng, 4000)
    model = CalibratedRegressor(estimator, levels=[0.9, 0.1, 0.5], cv=2).fit(X, y)
    assert model.forecast_kind_ == "quantiles" and isinstance(model.estimator_, QuantileModels)
    raw = model.predict_dist(X_new, calibrated=False)
    assert isinstance(raw, Quantiles)
    np.testing.assert_array_equal(raw.levels, [0.1, 0.5, 0.9])
    median = clone(estimator).set_params(**level_parameters(estimator, 0.5)).fit(X, y).predict(X_new)
    np.testing.assert_allclose(model.estimator_.predict(X_new)[:, 1], median)
    np.testing.assert_allclose(raw.values, np.sort(model.estimator_.predict(X_new)), atol=0.02)
    low, high = model.predict_interval(X_new, 0.9).T
    assert abs(np.mean((y_new >= low) & (y_new <= high)) - 0.9) < 0.03


def test_quantile_ensemble(rng):
    X, y = line(rng, 150)
    model = CalibratedRegressor(QuantileRegressor(alpha=0), levels=[0.25, 0.5, 0.75], cv=3, ensemble=True).fit(X, y)
    assert isinstance(model.predict_dist(X), Mixture) and np.all(np.diff(model.predict_quantiles(X)) > 0)


def test_models_that_predict_all_levels_at_once(rng):
    class Columns(Overconfident):
        def predict(self, X):
            return np.asarray(X)[:, [0]] + np.array([2.0, 0.0, -1.0])  # crossing

    class Forest(Overconfident):
        def predict(self, X, quantiles=None):
            return np.asarray(X)[:, [0]] + stats.norm.ppf(quantiles)

    X, y = line(rng, 80)
    model = CalibratedRegressor(Columns(), levels=[0.1, 0.5, 0.9]).fit(X, y)
    np.testing.assert_allclose(model.predict_dist(X, calibrated=False).values, X[:, [0]] + np.array([-1.0, 0.0, 2.0]))
    frozen = FrozenEstimator(Columns().fit(X, y))
    assert CalibratedRegressor(frozen, levels=[0.1, 0.5, 0.9]).fit(X, y).forecast_kind_ == "quantiles"
    law = CalibratedRegressor(Forest(), levels=[0.1, 0.5, 0.9]).fit(X, y).predict_dist(X, calibrated=False)
    np.testing.assert_allclose(law.cdf(X[:, 0]), 0.5)


def test_coinciding_quantiles_are_moved_apart(rng):
    class Flat(Overconfident):
        def predict(self, X):
            return np.column_stack([np.zeros(len(X)), np.where(np.asarray(X)[:, 0] > 0, 0.0, 1.0), np.ones(len(X))])

    class Constant(Overconfident):
        def predict(self, X):
            return np.full((len(X), 3), 2.0)

    X, y = line(rng, 60)
    law = CalibratedRegressor(Flat(), levels=[0.1, 0.5, 0.9]).fit(X, y).predict_dist(X, calibrated=False)
    assert not law.has_atoms and np.all(np.isfinite(law.logpdf(np.zeros(60))))
    np.testing.assert_allclose(law.values[X[:, 0] > 0], [[-0.005, 0.0, 1.005]] * int((X[:, 0] > 0).sum()), atol=1e-9)
    assert np.all(np.diff(CalibratedRegressor(Constant(), levels=[0.1, 0.5, 0.9]).fit(X, y).predict_quantiles(X)) > 0)


# ---- weights, groups and routing ----
def test_weights_reach_base_and_calibrator(rng):
    X = np.column_stack([np.arange(20.0), rng.normal(size=20)])
    y, weights = rng.normal(size=20), rng.integers(1, 5, size=20).astype(float)
    for base in (Remembers(), make_pipeline(FunctionTransformer(), Remembers())):
        model = CalibratedRegressor(base, cv=4, ensemble=True).fit(X, y, sample_weight=weights)
        for fold in model.estimators_:
            inner = fold if isinstance(fold, Remembers) else fold[-1]
            np.testing.assert_array_equal(inner.weights_, weights[inner.rows_])
        assert model.sigma_ == pytest.approx(np.sqrt(np.average(y**2, weights=weights)), rel=1e-12)
    with pytest.warns(UserWarning, match="KNeighborsRegressor takes no sample_weight"):
        CalibratedRegressor(KNeighborsRegressor()).fit(X, y, sample_weight=weights)


def test_weights_and_groups_with_metadata_routing(rng):
    X = np.column_stack([np.arange(24.0), rng.normal(size=24)])
    y, weights, groups = rng.normal(size=24), rng.integers(1, 5, size=24).astype(float), np.repeat(np.arange(8), 3)
    with config_context(enable_metadata_routing=True):
        base = Remembers().set_fit_request(sample_weight=True)
        model = CalibratedRegressor(base, cv=GroupKFold(4), ensemble=True)
        model.fit(X, y, sample_weight=weights, groups=groups)
        for fold in model.estimators_:
            np.testing.assert_array_equal(fold.weights_, weights[fold.rows_])
            assert not set(groups[fold.rows_]) & set(np.delete(groups, fold.rows_))
        unweighted = CalibratedRegressor(Remembers().set_fit_request(sample_weight=False), cv=4, ensemble=True)
        unweighted.fit(X, y, sample_weight=weights)
        assert unweighted.estimators_[0].weights_ is None
        assert unweighted.sigma_ == pytest.approx(np.sqrt(np.average(y**2, weights=weights)), rel=1e-12)
        outer = CalibratedRegressor(BayesianRidge().set_fit_request(sample_weight=True))
        outer.set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        scores = cross_val_score(outer, X, y, params={"sample_weight": weights}, cv=2)
        assert np.all(np.isfinite(scores))
        assert "splitter" in str(model.get_metadata_routing())


def test_grouped_calibrator(rng):
    groups = np.repeat(["calm", "wild"], 2000)
    X = rng.normal(size=(4000, 1))
    y = X[:, 0] + rng.normal(size=4000) * np.where(groups == "calm", 0.5, 2.0)
    model = CalibratedRegressor(Overconfident(), GroupedCalibrator(QuantileCalibrator())).fit(X, y, groups=groups)
    std = np.sqrt(model.predict_var(np.zeros((2, 1)), groups=["calm", "wild"]))
    np.testing.assert_allclose(std, [0.5, 2.0], rtol=0.15)
    widths = np.diff(model.predict_interval(np.zeros((2, 1)), groups=["calm", "wild"]))
    assert widths[1] > 3 * widths[0]
    with pytest.raises(ValueError, match="`groups` must be given"):
        model.predict(X)
    with pytest.raises(ValueError, match="with calibrated=False there is none"):
        model.predict_dist(X, calibrated=False, groups=groups)
    with pytest.raises(ValueError, match="neither the splits nor QuantileCalibrator take groups"):
        CalibratedRegressor(cv=KFold(3)).fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="QuantileCalibrator takes none"):
        CalibratedRegressor().fit(X, y).predict(X, groups=groups)


# ---- inputs ----
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"estimator": BayesianRidge}, "`estimator` must be a regressor with a predict method"),
        ({"estimator": 3}, "`estimator` must be a regressor with a predict method; got 3"),
        ({"method": "pred_dist"}, "method='pred_dist' needs a model with pred_dist; BayesianRidge has none"),
        ({"estimator": GradientBoostingRegressor(), "levels": [0.5, 0.5]}, "`levels` must have at least two different"),
        ({"cv": "twice"}, "`cv` must be an int, a splitter, an iterable of splits or 'same'; got 'twice'"),
        ({"cv": [([0, 1, 2], [3, 40])]}, "`rows of cv` must be between 0 and 19; 1 of 2 values is not, first .* = 40"),
    ],
)
def test_settings_that_cannot_be(settings, message, rng):
    with pytest.raises((TypeError, ValueError), match=message):
        CalibratedRegressor(**settings).fit(rng.normal(size=(20, 2)), rng.normal(size=20))


def test_outcomes_with_gradients(rng):
    torch = pytest.importorskip("torch")
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    model = CalibratedRegressor().fit(X, torch.tensor(y, requires_grad=True))
    np.testing.assert_array_equal(model.predict(X), CalibratedRegressor().fit(X, y).predict(X))


@pytest.mark.parametrize("wrap", [lambda law: Recalibrated(law, AffineMap()), Truncated, lambda law: Mixture([law])])
def test_index_of_laws_made_of_laws(wrap, rng):
    class Own(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            return self

        def predict_dist(self, X):
            return wrap(Normal(np.zeros(len(X)), 1.0))

    X = pd.DataFrame(rng.normal(size=(30, 1)), columns=["x"], index=[f"r{i}" for i in range(30)])
    model = CalibratedRegressor(Own(), ScaleCalibrator(), cv=3).fit(X, rng.normal(size=30))
    for calibrated in (False, True):
        assert model.predict_dist(X, calibrated=calibrated)[3:5].to_frame([0.5]).index.tolist() == ["r3", "r4"]


def test_pandas_index_is_kept(rng):
    X, y = line(rng, 60)
    frame = pd.DataFrame(X, columns=["a", "b"], index=[f"row{i}" for i in range(60)])
    for ensemble in (False, True):
        model = CalibratedRegressor(ensemble=ensemble, cv=3).fit(frame, pd.Series(y, index=frame.index))
        assert list(model.predict_dist(frame).to_frame().index) == list(frame.index)
        assert list(model.feature_names_in_) == ["a", "b"] and model.n_features_in_ == 2
    assert list(model.oof_forecasts_.index) == list(frame.index)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a"]])


@pytest.mark.parametrize("convert", [np.asarray, np.ndarray.tolist, pd.DataFrame, pl.DataFrame])
def test_containers_give_the_same(rng, convert):
    X, y = line(rng, 40)
    expected = CalibratedRegressor().fit(X, y).predict(X)
    kept = X.copy(), y.copy()
    X_in = convert(X)
    if hasattr(X_in, "columns"):
        X_in.columns = ["a", "b"]
    y_in = pl.Series(y) if isinstance(X_in, pl.DataFrame) else y.tolist()
    np.testing.assert_allclose(CalibratedRegressor().fit(X_in, y_in).predict(X_in), expected)
    np.testing.assert_array_equal(kept[0], X)
    np.testing.assert_array_equal(kept[1], y)


def test_other_inputs(rng):
    X, y = line(rng, 60)
    low = CalibratedRegressor().fit(X.astype(np.float32), y.astype(np.float32)).predict(X.astype(np.float32))
    np.testing.assert_allclose(low, CalibratedRegressor().fit(X, y).predict(X), rtol=1e-4, atol=1e-4)
    wide = np.zeros((120, 4))
    wide[::2, ::2] = X
    strided = wide[::2, ::2]
    strided.setflags(write=False)
    np.testing.assert_allclose(
        CalibratedRegressor().fit(strided, y).predict(strided), CalibratedRegressor().fit(X, y).predict(X)
    )
    texts = [f"{a:.3f} {b:.3f}" for a, b in X]
    parse = FunctionTransformer(lambda rows: np.array([row.split() for row in rows], dtype=float))
    np.testing.assert_allclose(
        CalibratedRegressor(make_pipeline(parse, Ridge())).fit(texts, y).predict(texts),
        CalibratedRegressor(Ridge()).fit(X.round(3), y).predict(X.round(3)),
    )


@pytest.mark.parametrize(
    ("base", "scale"),
    [*((LinearRegression(), scale) for scale in (1e-300, 1e-150, 1e100)), (KNeighborsRegressor(), 1e300)],
)
def test_units_do_not_matter(rng, base, scale):
    X, y = line(rng, 60)
    expected = CalibratedRegressor(base).fit(X, y).predict_quantiles(X)
    got = CalibratedRegressor(base).fit(X, scale * y).predict_quantiles(X)
    np.testing.assert_allclose(got / scale, expected, rtol=1e-6, atol=1e-6)


def test_equal_outcomes(rng):
    X = rng.normal(size=(30, 2))
    for value in (0.0, 5.0):
        for base in (LinearRegression(), KNeighborsRegressor()):
            model = CalibratedRegressor(base).fit(X, np.full(30, value))
            np.testing.assert_allclose(model.predict(X), value, atol=1e-6)
            np.testing.assert_allclose(model.predict_interval(X), value, atol=1e-6)


def test_equal_predictions(rng):
    y = rng.normal(size=50)
    model = CalibratedRegressor(cv=2).fit(np.zeros((50, 1)), y)
    assert np.ptp(model.predict(np.zeros((5, 1)))) == 0
    assert model.predict_interval(np.zeros((1, 1))).shape == (1, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "std"}, "`method` must be one of 'auto', 'predict_dist'"),
        ({"levels": [0.1, 1.5]}, "`levels` must be strictly between 0 and 1"),
        ({"levels": [0.1, 0.9]}, "`levels` needs a quantile regressor: BayesianRidge has no parameter"),
        ({"method": "quantiles"}, "method='quantiles' needs `levels`"),
        ({"method": "point", "levels": [0.1, 0.9]}, "method='point' takes no `levels`"),
        ({"cv": "prefit"}, "`cv` must be an int, a splitter, an iterable of splits or 'same'; got 'prefit'"),
        ({"cv": 50}, "greater than the number of samples"),
    ],
)
def test_bad_parameters(rng, change, message):
    X, y = line(rng, 20)
    with pytest.raises(ValueError, match=message):
        CalibratedRegressor(**change).fit(X, y)


def test_bad_input(rng):
    X, y = line(rng, 20)
    y[3] = np.inf
    with pytest.raises(ValueError, match=r"`y` must be finite; 1 of 20 values is not, first y\[3\] = inf"):
        CalibratedRegressor().fit(X, y)
    y[3] = 0.0
    with pytest.raises(TypeError, match="`calibrator` must have fit and transform"):
        CalibratedRegressor(calibrator="isotonic").fit(X, y)
    with pytest.raises(TypeError, match="`estimator` must be a regressor with a predict method"):
        CalibratedRegressor(StandardScaler()).fit(X, y)
    with pytest.raises(NotFittedError):
        CalibratedRegressor().predict_dist(X)
    with pytest.raises(ValueError, match="n_samples=1"):
        CalibratedRegressor().fit(X[:1], y[:1])
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        CalibratedRegressor().fit(X, y).predict_interval(X, coverage=90)

    class Lost(Overconfident):
        def predict(self, X, return_std=False):
            return np.zeros(len(X)), np.full(len(X), np.nan)

    with pytest.raises(ValueError, match="`std` must be non-negative; 4 of 4 values are not"):
        CalibratedRegressor(Lost()).fit(X, y)


def test_two_rows():
    model = CalibratedRegressor(cv=2).fit([[0.0], [1.0]], [0.0, 1.0])
    assert np.all(np.isfinite(model.predict_interval([[0.5]])))


# ---- scikit-learn's company ----
def test_parameters_and_clones(rng):
    model = CalibratedRegressor(Ridge(), QuantileCalibrator("ecdf"), cv=3)
    assert model.get_params()["estimator__alpha"] == 1.0 and model.get_params()["calibrator__map"] == "ecdf"
    copy = clone(model.set_params(estimator__alpha=2.0))
    assert copy.estimator.alpha == 2.0 and copy.calibrator is not model.calibrator and copy.cv == 3
    X, y = line(rng, 60)
    search = GridSearchCV(model, {"calibrator__map": ["ecdf", "spline"], "estimator__alpha": [1.0]}, cv=2).fit(X, y)
    assert search.best_estimator_.predict(X).shape == (60,)


def test_floor_and_sigma():
    _, reading = prepare(Ridge(), "auto", None, np.array([0.0, 2.0, 4.0]))
    assert reading.floor == pytest.approx(1e-9 * np.sqrt(8 / 3))
    known, law = reading.with_sigma(Normal([0.0, 0.0], 1.0), np.array([3.0, 4.0]), np.array([1.0, 3.0]))
    assert known.sigma == pytest.approx(np.sqrt((9 + 3 * 16) / 4))
    np.testing.assert_allclose(law.std(), known.sigma)
    assert root_mean_square(np.array([3e200, 4e200]), None) == pytest.approx(np.sqrt(12.5) * 1e200)
    assert root_mean_square(np.zeros(2), None) == 0.0
