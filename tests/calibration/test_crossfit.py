from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from sklearn import config_context
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import DataConversionWarning
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import BayesianRidge, LinearRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_info, threadpool_limits

from calibrant import CalibratedRegressor
from calibrant.adapters.nested import descend, innermost, takes, weight_name
from calibrant.calibration.crossfit import (
    Fold,
    Sample,
    apply_calibrator,
    cross_fit,
    fit_calibrators,
    fit_on,
    groups_to_split,
    make_splitter,
    pooled,
    split_rows,
)
from calibrant.calibration.routing import route, uses_groups
from calibrant.calibration.same_rows import SameRowsWarning, warn_if_seen
from calibrant.calibration.threads import one_thread


class Plain:
    """Takes no groups."""

    def fit(self, forecasts, y, *, sample_weight=None):
        self.seen = (forecasts, y, sample_weight)
        return self

    def transform(self, forecasts):
        return forecasts + 1

    def __sklearn_clone__(self):
        return type(self)()


class Grouped(Plain):
    def fit(self, forecasts, y, *, groups=None, sample_weight=None):
        self.groups = groups
        return super().fit(forecasts, y, sample_weight=sample_weight)

    def transform(self, forecasts, *, groups=None):
        return forecasts + groups


def points(model, X):
    return model.predict(X)


def joined(parts):
    return np.concatenate(parts)


@pytest.fixture
def sample(rng):
    X = rng.normal(size=(30, 2))
    return Sample.of(X, X @ [1.0, 2.0] + rng.normal(size=30))


# ---- the sample ----
def test_sample_takes_frames_and_series(rng):
    X = pd.DataFrame(rng.normal(size=(4, 2)), columns=["a", "b"], index=list("wxyz"))
    made = Sample.of(X, pd.Series([1, 2, 3, 4]), pl.Series([1.0, 0.0, 2.0, 1.0]), pd.Series(list("aabb")))
    assert made.X is X
    assert made.y.dtype == np.float64
    assert made.weights.tolist() == [1, 0, 2, 1] and made.groups.tolist() == list("aabb")
    assert made.weights_of(np.array([2, 0])).tolist() == [2, 1]


def test_sample_warns_of_a_column():
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        assert Sample.of([[0.0]] * 3, [[1.0], [2.0], [3.0]]).y.shape == (3,)


@pytest.mark.parametrize(
    ("y", "weights", "message"),
    [
        (None, None, "requires y to be passed, but the target y is None"),
        ([1.0, np.nan, 3.0], None, r"`y` must be finite; 1 of 3 values is not, first y\[1\] = nan"),
        ([1.0, 2.0], None, "inconsistent numbers of samples"),
        (np.ones((3, 2)), None, r"`y` must be 1-dimensional; got shape \(3, 2\)"),
        ([1.0, 2.0, 3.0], [1.0, -1.0, 1.0], r"`sample_weight` must be non-negative; 1 of 3"),
    ],
)
def test_sample_refuses(y, weights, message):
    with pytest.raises(ValueError, match=message):
        Sample.of(np.zeros((3, 1)), y, weights)


# ---- splits ----
def test_splitters():
    y = np.arange(10.0)
    assert isinstance(make_splitter(None, y), KFold) and make_splitter(None, y).get_n_splits() == 5
    assert make_splitter(3, y).get_n_splits() == 3
    assert isinstance(make_splitter(3, y, groups=np.arange(10)), GroupKFold)
    own = ShuffleSplit(2)
    assert make_splitter(own, y) is own
    with pytest.raises(ValueError, match="`cv` must be an int, a splitter, .* or 'same'; got 'prefit'"):
        make_splitter("prefit", y)


def test_who_gets_groups():
    labels = np.array([0, 0, 1, 1])
    assert groups_to_split(5, None, Plain()) is None
    assert groups_to_split(5, labels, Plain()) is labels
    assert groups_to_split(5, labels, Grouped()) is None
    assert groups_to_split(LeaveOneGroupOut(), labels, Grouped()) is labels
    assert groups_to_split(KFold(2), labels, Grouped()) is None
    for cv in (KFold(2), [(np.array([0]), np.array([1]))], ()):
        with pytest.raises(ValueError, match="`groups` were given, but neither the splits nor Plain take groups"):
            groups_to_split(cv, labels, Plain())


def test_own_splitters_use_groups_if_they_have_them():
    class WithGroups:
        def split(self, X, y=None, groups=None): ...

    class Without:
        def split(self, X, y=None): ...

    assert uses_groups(WithGroups()) and not uses_groups(Without()) and not uses_groups(TimeSeriesSplit())


def test_splits_by_mask_and_by_number(sample):
    mask = np.arange(30) < 20
    found = split_rows(make_splitter([(mask, ~mask), (np.arange(5), [7, 6]), (np.arange(5), [])], sample.y), sample, {})
    assert len(found) == 2
    np.testing.assert_array_equal(found[0][1], np.arange(20, 30))
    np.testing.assert_array_equal(found[1][1], [7, 6])


def test_negative_rows_count_from_the_end(sample):
    def split(train, test):
        return split_rows(make_splitter([(train, test)], sample.y), sample, {})

    ((train, test),) = split([-29, 2], [-30, -1])
    assert (train.tolist(), test.tolist()) == ([1, 2], [0, 29])
    with pytest.warns(SameRowsWarning, match="1 rows to forecast are also training rows"):
        split([0, 1], [-30, 5])
    for wrong in (-31, 30):
        with pytest.raises(ValueError, match=f"`rows of cv` must be between 0 and 29; 1 of 2 .* = {wrong}"):
            split([0, 1], [5, wrong])


def test_overlapping_split_warns(sample):
    with pytest.warns(SameRowsWarning, match="2 rows to forecast are also training rows"):
        split_rows(make_splitter([(np.arange(10), np.arange(8, 20))], sample.y), sample, {})
    with pytest.raises(ValueError, match="`cv` must give at least one split"):
        split_rows(make_splitter([], sample.y), sample, {})


# ---- cross-fitting ----
def test_every_row_is_forecast_by_a_model_that_has_not_seen_it(sample):
    splits = split_rows(KFold(5, shuffle=True, random_state=3), sample, {})
    rows, forecasts, weights = pooled(cross_fit(Ridge(), sample, splits, points, {}), sample, joined)
    np.testing.assert_array_equal(rows, np.arange(30))
    assert weights is None
    for train, test in splits:
        np.testing.assert_allclose(
            forecasts[test], Ridge().fit(sample.X[train], sample.y[train]).predict(sample.X[test])
        )


def test_jobs_do_not_change_the_result(sample):
    splits = split_rows(KFold(3), sample, {})
    one = cross_fit(RandomForestRegressor(5, random_state=0), sample, splits, points, {})
    with parallel_config(backend="threading"):
        two = cross_fit(RandomForestRegressor(5, random_state=0), sample, splits, points, {}, n_jobs=2)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a.forecasts, b.forecasts)


def test_rows_forecast_several_times_share_their_weight(sample):
    splits = split_rows(RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), sample, {})
    rows, forecasts, weights = pooled(cross_fit(Ridge(), sample, splits, points, {}), sample, joined)
    np.testing.assert_array_equal(rows, np.repeat(np.arange(30), 2))
    assert len(forecasts) == 60 and np.all(weights == 0.5)
    weighted = Sample.of(sample.X, sample.y, np.arange(1.0, 31.0))
    folds = [Fold(None, np.array([2, 0]), np.array([20.0, 0.0])), Fold(None, np.array([2]), np.array([21.0]))]
    rows, forecasts, weights = pooled(folds, weighted, joined)
    assert rows.tolist() == [0, 2, 2] and forecasts.tolist() == [0.0, 20.0, 21.0] and weights.tolist() == [1, 1.5, 1.5]


def test_parameters_are_sliced_with_the_rows(rng):
    X, y = rng.normal(size=(8, 1)), rng.normal(size=8)
    w = np.array([1.0, 2, 3, 4, 0, 0, 1, 1])
    rows = np.array([0, 1, 2, 3])
    sample = Sample.of(X, y)
    expected = LinearRegression().fit(X[:4], y[:4], sample_weight=w[:4]).coef_
    for given in (w, w.tolist(), pd.Series(w)):
        np.testing.assert_allclose(fit_on(LinearRegression(), sample, {"sample_weight": given}, rows).coef_, expected)

    class Records(Ridge):
        def fit(self, X, y, note=None, table=None, weight=None):
            self.seen_ = (note, table, weight)
            return super().fit(X, y)

    extra = {"note": "eight888", "table": {"a": 1}, "weight": 2.0}
    assert fit_on(Records(), sample, extra, rows).seen_ == ("eight888", {"a": 1}, 2.0)


# ---- calibrators ----
def test_calibrators_get_rows_weights_and_groups():
    sample = Sample.of(np.zeros((4, 1)), np.arange(4.0), [1.0, 2.0, 3.0, 4.0], ["a", "a", "b", "b"])
    rows = np.array([3, 1])
    (plain,) = fit_calibrators(Plain(), [(np.zeros(2), rows, sample.weights_of(rows))], sample)
    assert plain.seen[1].tolist() == [3.0, 1.0] and plain.seen[2].tolist() == [4.0, 2.0]
    (grouped,) = fit_calibrators(Grouped(), [(np.zeros(2), rows, None)], sample)
    assert grouped.groups.tolist() == ["b", "a"]
    assert apply_calibrator(plain, np.zeros(2)).tolist() == [1, 1]
    assert apply_calibrator(grouped, np.zeros(2), np.array([5, 6])).tolist() == [5, 6]
    with pytest.raises(ValueError, match="`groups` were given, but Plain takes none"):
        apply_calibrator(plain, np.zeros(2), [1, 2])


# ---- inside other models ----
def test_innermost_and_weights_inside_other_models(rng):
    pipe = make_pipeline(StandardScaler(), BayesianRidge())
    search = GridSearchCV(pipe, {"bayesianridge__tol": [1e-3]}, cv=2)
    assert isinstance(innermost(FrozenEstimator(search)), BayesianRidge)
    assert weight_name(BayesianRidge()) == "sample_weight"
    assert weight_name(pipe) == weight_name(search) == "bayesianridge__sample_weight"
    assert weight_name(make_pipeline(StandardScaler(), pipe)) == "pipeline__bayesianridge__sample_weight"
    assert weight_name(TransformedTargetRegressor(Ridge())) == "sample_weight"
    assert weight_name(KNeighborsRegressor()) is None and weight_name(make_pipeline(KNeighborsRegressor())) is None
    X, y = 5 + rng.normal(size=(20, 2)), rng.normal(size=20)
    model, seen = descend(FrozenEstimator(search.fit(X, y)), X)
    assert isinstance(model, BayesianRidge)
    np.testing.assert_allclose(seen, StandardScaler().fit_transform(X))
    np.testing.assert_allclose(model.predict(seen), search.predict(X))
    assert takes(model.predict, "return_std") and not takes(None, "x") and not takes(zip, "return_std")


# ---- routing ----
def test_weights_that_the_model_cannot_take_go_nowhere():
    groups = np.arange(30) % 3
    with pytest.warns(UserWarning, match="KNeighborsRegressor takes no sample_weight"):
        routed = route(None, KNeighborsRegressor(), GroupKFold(3), {"sample_weight": np.ones(30), "depth": 2}, groups)
    assert routed.base == {"depth": 2}
    assert list(routed.split) == ["groups"] and routed.split["groups"] is groups


def test_fits_use_one_thread_of_blas():
    with threadpool_limits(limits=2, user_api="blas"), one_thread():
        assert {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"} == {1}


def test_routing_by_name():
    w = np.ones(3)
    assert route(None, Ridge(), None, {"sample_weight": None}).base == {}
    pipe = make_pipeline(StandardScaler(), Ridge())
    given = {"sample_weight": w, "standardscaler__sample_weight": w}
    routed = route(None, pipe, GroupKFold(), given, np.arange(3))
    assert set(routed.base) == {"ridge__sample_weight", "standardscaler__sample_weight"}
    assert set(routed.split) == {"groups"}
    with pytest.warns(UserWarning, match="KNeighborsRegressor takes no sample_weight"):
        assert route(None, KNeighborsRegressor(), None, {"sample_weight": w}).base == {}


def test_routing_by_request():
    w, owner = np.ones(3), Ridge()
    with config_context(enable_metadata_routing=True):
        asked = Ridge().set_fit_request(sample_weight=True)
        routed = route(owner, asked, GroupKFold(), {"sample_weight": w}, np.arange(3))
        assert routed.base["sample_weight"] is w and set(routed.split) == {"groups"}
        silent = Ridge().set_fit_request(sample_weight=False)
        assert route(owner, silent, KFold(), {"sample_weight": w}).base == {}
        with pytest.raises(TypeError, match="unexpected argument"):
            route(owner, silent, None, {"flavour": 1})


# ---- rows seen before ----
def test_models_that_hold_their_training_rows_are_found_out(rng):
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    for model in (
        KNeighborsRegressor(),
        GaussianProcessRegressor(alpha=0.1),
        make_pipeline(StandardScaler(), KNeighborsRegressor()),
    ):
        frozen = FrozenEstimator(model.fit(X[:20], y[:20]))
        with pytest.warns(SameRowsWarning, match="100% of the rows are among those that the model holds"):
            warn_if_seen(frozen, X[:20], hits_all=False)
        warn_if_seen(frozen, X[20:], hits_all=False)
    with pytest.warns(SameRowsWarning, match="it hits every outcome"):
        warn_if_seen(LinearRegression(), X, hits_all=True)
    exact = FrozenEstimator(LinearRegression().fit(X, X[:, 0]))
    with pytest.warns(SameRowsWarning, match="it hits every outcome"):
        CalibratedRegressor(exact).fit(X, X[:, 0] + 1e-9 * rng.normal(size=40))
    CalibratedRegressor(exact).fit(X, X[:, 0] + 0.01 * rng.normal(size=40))
