"""Features beside forecasts in comparisons."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression

from calibrant import (
    AutoCalibrator,
    BoostedCalibrator,
    CalibratedRegressor,
    Normal,
    PlattCalibrator,
    QuantileCalibrator,
    ScaleCalibrator,
    compare,
    load,
    report,
    save,
)
from calibrant.adapters.class_scores import ClassScores
from calibrant.calibration import RegressionCalibrator
from calibrant.calibration.contract import Takes, takes_of
from calibrant.calibration.feature_table import by_name
from calibrant.distributions.shifted import Shifted
from calibrant.engines import analyse
from calibrant.select.candidates import default_candidates, named
from calibrant.select.methods import method
from calibrant.select.trial import Trial

N = 120


class Moving(RegressionCalibrator):
    """Moves forecasts to where outcomes are in each region; says so if a row comes with the features of another."""

    takes = Takes().also("X", needs=True)

    def fit(self, forecasts, y, *, X=None, sample_weight=None):
        if X is None:
            raise ValueError("`X` must be given.")
        region, twin = self._columns(X, len(y))
        assert np.array_equal(twin, y)
        w = np.ones(len(y)) if sample_weight is None else sample_weight
        off = y - forecasts.median()
        self.moves_ = {name: np.average(off[region == name], weights=w[region == name]) for name in set(region)}
        self.n_rows_ = len(y)
        return self

    def transform(self, forecasts, *, X=None):
        region, _ = self._columns(X, len(forecasts))
        return Shifted(forecasts, np.array([self.moves_.get(name, 0.0) for name in region]))

    def _columns(self, X: Any, rows: int) -> tuple[Any, Any]:
        assert len(X) == rows
        if isinstance(X, (np.ndarray, list)):
            table = np.array(X, dtype=object)
            return table[:, 0].astype(str), table[:, 1].astype(float)
        assert list(getattr(X, "column_names", X.columns)) == ["region", "twin"]  # in the order of their names
        return np.asarray(X["region"]).astype(str), np.asarray(X["twin"]).astype(float)

    def _fit(self, forecasts, y, weights):
        raise NotImplementedError

    def _transform(self, forecasts):
        raise NotImplementedError


@pytest.fixture
def data() -> tuple[Normal, np.ndarray, pd.DataFrame]:
    """Forecasts that are too low in the south, and features, one of which is the outcome itself."""
    rng = np.random.default_rng(0)
    region, mu = rng.choice(np.array(["north", "south"], dtype=object), N), rng.normal(size=N)
    y = mu + rng.normal(size=N) + 3 * (region == "south")
    return Normal(mu, 1.0), y, pd.DataFrame({"twin": y, "region": region})


FRAMES = {
    "pandas": lambda X: X,
    "another order": lambda X: X[["region", "twin"]],
    "another index": lambda X: X.set_axis(np.arange(N)[::-1]),
    "polars": pl.DataFrame,
    "pyarrow": lambda X: pa.Table.from_pandas(X, preserve_index=False),
    "array": lambda X: X[["region", "twin"]].to_numpy(),
    "list": lambda X: X[["region", "twin"]].to_numpy().tolist(),
}


@pytest.mark.parametrize("name", FRAMES)
def test_rows_keep_their_features(name: str, data) -> None:
    law, y, X = data
    expected = compare(law, y, {"scale": ScaleCalibrator(), "moving": Moving()}, X=X)
    assert expected.chosen == "moving" and not expected.left_out
    given = FRAMES[name](X)
    found = compare(law, y, {"scale": ScaleCalibrator(), "moving": Moving()}, X=given)
    assert np.array_equal(found.loss, expected.loss) and found.names == ("none", "scale", "moving")
    order = np.random.default_rng(1).permutation(N)
    rows = given[order] if name not in ("pandas", "another order", "another index", "list", "pyarrow") else None
    rows = given.take(order) if rows is None and name != "list" else rows
    rows = [given[i] for i in order] if rows is None else rows
    moved = compare(law[order], y[order], {"scale": ScaleCalibrator(), "moving": Moving()}, X=rows)
    assert np.allclose(moved.loss, expected.loss, rtol=1e-12)


def test_a_weight_of_two_is_the_row_twice(data, rng) -> None:
    law, y, X = data
    w = rng.integers(0, 4, N)
    rows = np.repeat(np.arange(N), w)
    one = compare(law, y, [Moving()], sample_weight=w, X=X)
    other = compare(law[rows], y[rows], [Moving()], X=X.iloc[rows])
    assert np.allclose(one.loss, other.loss, rtol=1e-12)


def test_rows_without_outcome_or_weight_and_time(data) -> None:
    law, y, X = data
    holes = np.where(np.arange(N) % 5, y, np.nan)
    with pytest.warns(UserWarning, match="24 of 120"):
        one = compare(law, holes, [Moving()], X=X, time=np.arange(N), cv=2)
    kept = np.arange(N) % 5 > 0
    other = compare(law[kept], y[kept], [Moving()], X=X[kept], time=np.arange(N)[kept], cv=2)
    assert np.array_equal(one.loss, other.loss)


def test_rows_that_differ_in_features_only() -> None:
    """They are two rows on one side of a split; equal ones, missing features too, are one row."""
    y = np.repeat(np.arange(30.0), 4)
    X = pd.DataFrame({"a": np.tile([1.0, 2.0, np.nan, np.nan], 30), "b": np.tile(["x", "x", None, None], 30)})
    trial = Trial.of(Normal(y, 1.0), y + 0.5, X=X)
    assert len(trial) == 90 and trial.weights.sum() == 120 and set(trial.weights) == {1.0, 2.0}
    for train, test in trial.splits:
        assert not set(trial.y[train]) & set(trial.y[test])
    assert len(Trial.of(Normal(y, 1.0), y + 0.5)) == 30
    groups = np.tile(["g", "g", "g", "h"], 30)
    assert len(Trial.of(Normal(y, 1.0), y + 0.5, X=X, groups=groups)) == 120


def test_who_competes_with_features(data, monkeypatch) -> None:
    law, y, X = data
    plain = ["quantile", "scale", "density", "gp-beta", "stack"]
    assert list(default_candidates(law)) == plain
    pytest.importorskip("lightgbm")
    assert list(default_candidates(law, features=True)) == [*plain, "boosted"]
    assert "boosted" not in named("quick", law, features=True) and "boosted" in named(None, law, features=True)
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    assert list(default_candidates(law, features=True)) == plain
    with pytest.raises(ValueError, match=r"`X` was given, but none of the candidates takes features. Use Boosted.*pip"):
        compare(law, y, [ScaleCalibrator()], X=X)


def test_bad_features(data) -> None:
    law, y, X = data
    with pytest.raises(ValueError, match="`X` must have one row per forecast; got 119 for 120 forecasts"):
        compare(law, y, [Moving()], X=X[1:])
    with pytest.raises(TypeError, match="unexpected keyword argument 'x'"):
        compare(law, y, [Moving()], x=X)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="`X` must be given"):
        compare(law, y, [Moving()])
    assert "moving" in compare(law, y, {"scale": ScaleCalibrator(), "moving": Moving()}).left_out
    with pytest.raises(TypeError, match="`X` must be numbers, texts or categories; got datetime64"):
        compare(law, y, [Moving()], X=pd.DataFrame({"day": pd.date_range("2026-01-01", periods=N)}))


# ---- the one that chooses ----
def test_auto(data) -> None:
    law, y, X = data
    auto = AutoCalibrator([QuantileCalibrator(), Moving()]).fit(law, y, X=X)
    assert auto.best_ == "Moving" and auto.takes.needs == {"X"}
    turned = auto.transform(law, X=X[["region", "twin"]])
    moves = auto.calibrator_.moves_
    assert np.allclose(turned.median() - law.median(), X["region"].map(moves))
    blind = clone(auto).fit(law, y)
    assert blind.best_ == "QuantileCalibrator" and "X" not in blind.takes.beside
    with pytest.raises(ValueError, match="`X` was given, but fit had none"):
        blind.transform(law, X=X)
    with pytest.raises(ValueError, match="none of the candidates takes features"):
        AutoCalibrator([QuantileCalibrator()]).fit(law, y, X=X)
    with pytest.raises(ValueError, match="none of the candidates takes features"):
        AutoCalibrator([PlattCalibrator()]).fit(np.linspace(0.1, 0.9, N), y > 0, X=X)


def test_auto_says_what_it_takes() -> None:
    assert "X" not in takes_of(AutoCalibrator()).beside  # models hand over only what is asked for
    assert "X" in takes_of(AutoCalibrator(features=True)).beside and not takes_of(AutoCalibrator(features=True)).needs
    assert "X" in takes_of(AutoCalibrator([Moving()])).beside and not takes_of(AutoCalibrator([Moving()])).needs
    assert "X" in takes_of(AutoCalibrator({"m": Moving()}, task="regression")).beside
    assert "X" not in takes_of(AutoCalibrator([ScaleCalibrator()])).beside
    for features in (True, False):
        for kind in ("distributions", "scores"):
            assert ("X" in takes_of(method("auto", kind, features=features)[1]).beside) is features
        assert ("X" in takes_of(method("stack", "distributions", features=features)[1]).beside) is features
    with pytest.raises(ValueError, match="`features` must be"):
        AutoCalibrator(features="all").fit(Normal(np.zeros(30), 1.0), np.arange(30.0))


def test_auto_with_trees_is_saved(tmp_path: Path) -> None:
    pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"region": rng.choice(["north", "south"], 300), "price": rng.uniform(size=300).astype("float32")})
    mu = rng.normal(size=300)
    law, y = Normal(mu, 1.0), mu + rng.normal(size=300) + 4 * (X["region"] == "south")
    candidates = {"scale": ScaleCalibrator(), "boosted": BoostedCalibrator(20, rate=0.15)}
    auto = AutoCalibrator(candidates).fit(law, y, X=X)
    assert auto.best_ == "boosted"
    save(auto, tmp_path / "a.calibrant")
    back: Any = load(tmp_path / "a.calibrant")
    assert np.array_equal(back.transform(law, X=X[["price", "region"]]).median(), auto.transform(law, X=X).median())
    with pytest.raises(ValueError, match="`X` must be given"):
        back.transform(law)


def test_files_of_before_have_no_features(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    law = Normal(np.zeros(60), 1.0)
    auto = AutoCalibrator([ScaleCalibrator()]).fit(law, 3 * rng.normal(size=60))
    del auto.features, auto._has_features
    save(auto, tmp_path / "a.calibrant")
    back: Any = load(tmp_path / "a.calibrant")
    assert back.features is False and np.array_equal(back.transform(law).std(), auto.calibrator_.transform(law).std())
    with pytest.raises(ValueError, match="`X` was given, but fit had none"):
        back.transform(law, X=np.zeros((60, 1)))


def test_models_hand_over_what_is_asked_for(data) -> None:
    _, y, X = data
    numbers = X[["twin"]].assign(region=(X["region"] == "south").astype(float))[["region", "twin"]]
    model = CalibratedRegressor(LinearRegression(), AutoCalibrator([ScaleCalibrator(), Moving()]), cv=2)
    assert model.fit(numbers, y).calibrator_.comparison_.names == ("none", "ScaleCalibrator", "Moving")


# ---- looked at from every side ----
def test_the_result_keeps_the_features_of_its_rows(data) -> None:
    law, y, X = data
    found = analyse(law, y, candidates={"moving": Moving()}, X=X, cv=2)
    assert list(found.features.columns) == ["region", "twin"] and np.array_equal(found.features["twin"], found.y)
    assert found.chosen == "moving" and found.calibrator.moves_["south"] > 2 and not found.notes
    unseen = analyse(law, y, candidates={"scale": ScaleCalibrator()}, X=X, cv=2)
    assert unseen.notes == ["none of the calibrators that were tried uses the features"]
    assert np.array_equal(unseen.features["twin"], unseen.y) and analyse(law, y, candidates="quick").features is None
    labels = np.where(y > 0, "up", "down")
    classes = analyse(*_scores(y, labels), candidates={"platt": PlattCalibrator()}, X=X, cv=2)
    assert np.array_equal(np.where(classes.features["twin"] > 0, "up", "down"), classes.y)
    page = report(law, y, candidates={"moving": Moving()}, X=X, groups=X["region"], time=np.arange(N))
    assert np.array_equal(page.features["twin"], page.y) and len(page.over_time) > 0 and len(page.groups) == 2


def _scores(y: np.ndarray, labels: np.ndarray) -> tuple[Any, np.ndarray]:
    p = 1 / (1 + np.exp(-y / 3))
    return ClassScores(np.column_stack([1 - p, p]), classes=np.array(["down", "up"])), labels


def test_columns_in_the_order_of_their_names() -> None:
    frame = pd.DataFrame({"b": [1, 2], "a": [3, 4]})
    for make in (pd.DataFrame, pl.DataFrame, lambda f: pa.Table.from_pandas(f)):
        made = by_name(make(frame))
        assert list(getattr(made, "column_names", made.columns)) == ["a", "b"]
    numbered, array = frame.set_axis([1, 0], axis=1), frame.to_numpy()
    assert by_name(numbered) is numbered and by_name(array) is array and by_name(None) is None
