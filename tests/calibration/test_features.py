"""Features travel beside forecasts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import LinearRegression

from calibrant import (
    BoostedCalibrator,
    CalibratedClassifier,
    CalibratedRegressor,
    Chain,
    GroupedCalibrator,
    Normal,
    PlattCalibrator,
    QuantileCalibrator,
    ScaleCalibrator,
    load,
    save,
)
from calibrant.calibration import RegressionCalibrator
from calibrant.calibration.contract import Takes, takes_of
from calibrant.calibration.feature_table import FeatureTable, features_of

N = 300


class Spying(RegressionCalibrator):
    """Keeps the features that it is given; its forecasts are as wide as the first column says."""

    takes = Takes().also("X", needs=True)

    def fit(self, forecasts, y, *, X=None, sample_weight=None):
        self.seen_, self.n_rows_ = X, len(y)
        assert len(X) == len(forecasts) == len(y)
        return self

    def transform(self, forecasts, *, X=None):
        column = X.iloc[:, 0] if hasattr(X, "iloc") else np.asarray(X)[:, 0]
        return Normal(forecasts.median(), np.asarray(column, dtype=float))

    def _fit(self, forecasts, y, weights):
        raise NotImplementedError

    def _transform(self, forecasts):
        raise NotImplementedError


@pytest.fixture
def rows(rng):
    frame = pd.DataFrame({"width": rng.uniform(1, 2, N), "region": rng.choice(["a", "b"], N)})
    mu = rng.normal(size=N)
    return frame, Normal(mu, 1.0), mu + rng.normal(size=N)


def test_chains_hand_features_on(rows):
    X, law, y = rows
    chain = Chain([ScaleCalibrator(), Spying()])
    assert takes_of(chain).needs == {"X"}
    with pytest.warns(UserWarning, match="1 of 300 rows have no outcome"):
        chain.fit(law, np.where(np.arange(N) == 3, np.nan, y), X=X)
    assert chain.calibrators_[1].seen_.equals(X.drop(index=3))
    assert np.array_equal(chain.transform(law, X=X).scale, X["width"])


def test_groups_hand_features_on(rows):
    X, law, y = rows
    grouped = GroupedCalibrator(Spying()).fit(law, y, groups=X["region"], X=X)
    assert takes_of(grouped).needs == {"X", "groups"}
    assert grouped.common_.seen_ is X
    of_a = grouped.calibrators_["a"].seen_
    assert of_a.iloc[: (X["region"] == "a").sum()].equals(X[X["region"] == "a"])
    order = np.random.default_rng(0).permutation(N)
    made = grouped.transform(law[order], groups=X["region"].iloc[order], X=X.iloc[order])
    assert np.array_equal(made.std(), X["width"].iloc[order])


@pytest.mark.parametrize("ensemble", [False, True])
@pytest.mark.parametrize("kind", [lambda X: X, lambda X: X[["width"]].to_numpy(), pl.DataFrame])
def test_the_regressor_hands_over_its_rows_as_they_are(rows, kind, ensemble):
    X, _, y = rows
    given = kind(X[["width"]])
    model = CalibratedRegressor(LinearRegression(), Spying(), ensemble=ensemble, cv=3).fit(given, y)
    assert all(type(each.seen_) is type(given) for each in model.calibrators_)
    assert sum(len(each.seen_) for each in model.calibrators_) == N
    width = X["width"].to_numpy()[:7]
    assert model.predict_dist(given[:7]).std() == pytest.approx(width, rel=1e-3 if not ensemble else 0.2)


class Columns(BaseEstimator):
    """A calibrator of classes that gives back the features."""

    takes = Takes(("scores",), frozenset({"X"}))

    def fit(self, scores, y, *, sample_weight=None, X=None):
        self.n_rows_ = len(X)
        return self

    def transform(self, scores, *, X=None):
        return np.column_stack([1 - X[:, 0], X[:, 0]])


def test_the_classifier_too(rng):
    X = rng.uniform(0, 1, (90, 2))
    y = (rng.uniform(size=90) < X[:, 0]).astype(int)
    model = CalibratedClassifier(calibrator=Columns(), cv=3).fit(X, y)
    assert np.allclose(model.predict_proba(X)[:, 1], X[:, 0])


def test_who_takes_none_is_given_none(rows):
    X, law, y = rows
    for calibrator, who in (
        (Chain([ScaleCalibrator(), QuantileCalibrator()]), "the chain"),
        (GroupedCalibrator(ScaleCalibrator()), "ScaleCalibrator"),
    ):
        beside = {"groups": X["region"]} if "groups" in takes_of(calibrator).needs else {}
        with pytest.raises(ValueError, match=f"`X` was given, but {who} takes no features"):
            calibrator.fit(law, y, X=X, **beside)
        calibrator.fit(law, y, **beside)
        with pytest.raises(ValueError, match="takes no features"):
            calibrator.transform(law, X=X, **beside)
    labels = (y > 0).astype(int)
    assert CalibratedClassifier(calibrator=PlattCalibrator()).fit(X[["width"]], labels).predict_proba(
        X[["width"]]
    ).shape == (N, 2)


def test_boosted_behind_a_regressor(rng, tmp_path):
    pytest.importorskip("lightgbm")
    frame = pd.DataFrame({"size": rng.normal(size=500), "kind": rng.integers(0, 3, 500)})
    y = frame["size"] + np.where(frame["kind"] == 1, 3.0, 0.3) * rng.normal(size=500)
    model = CalibratedRegressor(ExtraTreesRegressor(20, random_state=0), BoostedCalibrator(60), cv=3).fit(frame, y)
    std = model.predict_dist(frame).std()
    assert model.calibrator_.table_.names == ("size", "kind")
    assert np.median(std[frame["kind"] == 1]) > 3 * np.median(std[frame["kind"] != 1])
    save(model.calibrator_, tmp_path / "a.calibrant")
    again = load(tmp_path / "a.calibrant").transform(model.predict_dist(frame, calibrated=False), X=frame)
    assert np.array_equal(again.std(), std)


def test_boosted_by_groups_and_in_chains(rng, tmp_path):
    pytest.importorskip("lightgbm")
    x, shop = rng.normal(size=600), np.repeat(["a", "b"], 300)
    y = rng.normal(np.where(shop == "a", 2.0, 0.0), np.where(x > 0, 3.0, 1.0))
    law, X = Normal(np.zeros(600), 1.0), x[:, None]
    for calibrator, beside in (
        (GroupedCalibrator(BoostedCalibrator(40)), {"groups": shop, "X": X}),
        (Chain([GroupedCalibrator(ScaleCalibrator()), BoostedCalibrator(40)]), {"groups": shop, "X": X}),
    ):
        calibrator.fit(law, y, **beside)
        save(calibrator, tmp_path / "a.calibrant")
        before, after = (each.transform(law, **beside).std() for each in (calibrator, load(tmp_path / "a.calibrant")))
        assert np.array_equal(before, after) and before[x > 0.2].mean() > 1.5 * before[x < -0.2].mean()


# ---- the table ----
def test_rows_of_any_table():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0]}, index=[7, 8, 9])
    assert features_of(None, slice(None)) is None and features_of(frame, slice(None)) is frame
    assert features_of(frame, slice(1, 3))["a"].tolist() == [2, 3]
    assert features_of(frame, np.array([True, False, True]))["a"].tolist() == [1, 3]
    assert features_of([[1], [2], [3]], np.array([2, 0])) == [[3], [1]]
    assert features_of(pl.DataFrame(frame), np.array([False, True, False]))["a"].to_list() == [2.0]


def test_categories_by_hand():
    frame = pd.DataFrame(
        {
            "number": pd.array([1, None, 3], dtype="Int64"),
            "text": ["b", None, "a"],
            "code": pd.Categorical([20, 10, None]),
            "flag": [True, False, True],
            "gone": pd.Series([None, None, None], dtype=object),
        }
    )
    table = FeatureTable.learn(frame, 3)
    assert table.sizes.tolist() == [0, 2, 2, 0, 0]
    nan = np.nan
    found = [[1, 1, 1, 1, nan], [nan, nan, 0, 0, nan], [3, 0, nan, 1, nan]]
    assert np.array_equal(table(frame, 3), found, equal_nan=True)
    assert np.isnan(table(frame.assign(gone="new"), 3)[:, 4]).all()
    assert FeatureTable.learn(frame.set_axis(["a", "b", "c", "d", "a"], axis=1), 3).names is None


def test_tables_without_names(rng):
    values = rng.normal(size=(4, 2))
    table = FeatureTable.learn(pd.DataFrame(values), 4)
    assert table.names is None and np.array_equal(table(values.astype(np.float32), 4), values.astype(np.float32))
    assert np.array_equal(table(values.tolist(), 4), values)
    from scipy.sparse import csr_array

    assert np.array_equal(table(csr_array(values), 4), values)
