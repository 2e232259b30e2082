"""Frames of statsforecast and mlforecast: what `cross_validation` and `forecast` give, calibrated."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

from calibrant import FrameCalibrator, as_distribution

SERIES, DAYS, AHEAD = 60, 60, 3


@pytest.fixture
def walks(rng):
    """Random walks whose steps are twice as long from day 30 on, which a model of the whole past is slow to see."""
    steps = rng.normal(size=(SERIES, DAYS)) * np.where(np.arange(DAYS) < 30, 1.0, 2.0)
    return pd.DataFrame(
        {
            "unique_id": np.repeat([f"s{i:02}" for i in range(SERIES)], DAYS),
            "ds": np.tile(pd.date_range("2024-01-01", periods=DAYS), SERIES),
            "y": np.cumsum(steps, axis=1).ravel(),
        }
    )


def held(frame, y, name: str) -> float:
    return float(np.mean((frame[f"{name}-lo-80"].to_numpy() <= y) & (y <= frame[f"{name}-hi-80"].to_numpy())))


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_statsforecast(walks, kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        statsforecast = pytest.importorskip("statsforecast")
        from statsforecast.models import HistoricAverage, Naive
    last = walks["ds"] > walks["ds"].max() - pd.Timedelta(days=AHEAD)
    past, y = walks[~last], walks["y"][last].to_numpy()
    given = past if kind == "pandas" else pl.from_pandas(past)
    model = statsforecast.StatsForecast([Naive(), HistoricAverage()], freq="D" if kind == "pandas" else "1d")
    options = {"df": given, "h": AHEAD, "level": [80]}
    seen, new = model.cross_validation(**options, n_windows=6, step_size=AHEAD), model.forecast(**options)
    assert type(new).__module__.startswith(kind)
    out = FrameCalibrator().fit(seen).transform(new)
    assert type(out) is type(new) and list(out.columns) == list(new.columns)
    assert held(new, y, "Naive") < 0.72 and abs(held(out, y, "Naive") - 0.8) < 0.1
    assert abs(held(out, y, "HistoricAverage") - 0.8) < 0.15  # errors of neighbouring days go together
    widths = (out["Naive-hi-80"] - out["Naive-lo-80"]).to_numpy().reshape(SERIES, AHEAD).mean(axis=0)
    np.testing.assert_allclose(widths / widths[0], np.sqrt([1, 2, 3]), rtol=0.12)  # of a random walk
    law = as_distribution(new[["unique_id", "ds", "Naive", "Naive-lo-80", "Naive-hi-80"]])
    np.testing.assert_allclose(law.quantiles([0.1, 0.9])[:, 0], new["Naive-lo-80"])
    half = (new["Naive-hi-80"] - new["Naive"]).to_numpy() / stats.norm.ppf(0.9)
    np.testing.assert_allclose(law.std(), half, rtol=1e-3)


def test_mlforecast(walks):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mlforecast = pytest.importorskip("mlforecast")
        from mlforecast.utils import PredictionIntervals
    from sklearn.linear_model import LinearRegression

    last = walks["ds"] > walks["ds"].max() - pd.Timedelta(days=AHEAD)
    past, y = walks[~last], walks["y"][last].to_numpy()
    model = mlforecast.MLForecast({"ols": LinearRegression()}, freq="D", lags=[1, 2])
    seen = model.cross_validation(past, h=AHEAD, n_windows=6, step_size=AHEAD)
    new = model.fit(past).predict(AHEAD)
    assert [name for name in new.columns if name.startswith("ols")] == ["ols"]
    out = FrameCalibrator(coverages=[0.8]).fit(seen).transform(new)
    np.testing.assert_array_equal(out["ols"], new["ols"])
    assert abs(held(out, y, "ols") - 0.8) < 0.1
    stated = PredictionIntervals(n_windows=2, h=AHEAD)
    seen = model.cross_validation(past, h=AHEAD, n_windows=6, step_size=AHEAD, prediction_intervals=stated, level=[80])
    new = model.fit(past, prediction_intervals=stated).predict(AHEAD, level=[80])
    out = FrameCalibrator().fit(seen).transform(new)
    assert list(out.columns) == list(new.columns) and not np.allclose(out["ols-hi-80"], new["ols-hi-80"])
    assert abs(held(out, y, "ols") - 0.8) < 0.1
