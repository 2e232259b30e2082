"""Long frames of forecasts in, the same frames calibrated out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from calibrant import FrameCalibrator, ScaleCalibrator, load, save
from calibrant.series.frames import horizons
from calibrant.series.models import models_in

AHEAD = 12
LEVELS = {"lo-80": -1.2816, "lo-90": -1.6449, "hi-80": 1.2816, "hi-90": 1.6449}


def series(n: int, origins: int, seed: int) -> pd.DataFrame:
    """Random walks, whose naive forecast is stated to be as sure of twelve steps as of one."""
    rng = np.random.default_rng(seed)
    steps = np.cumsum(rng.standard_normal((n, origins, AHEAD)) * np.exp(rng.normal(0, 0.4, n))[:, None, None], axis=2)
    spread = np.exp(rng.normal(0, 0.1, n))
    frame = pd.DataFrame(
        {
            "unique_id": np.repeat([f"s{i}" for i in range(n)], origins * AHEAD),
            "ds": np.tile(np.arange(AHEAD) + 1, n * origins) + np.tile(np.repeat(100 * np.arange(origins), AHEAD), n),
            "cutoff": np.tile(np.repeat(100 * np.arange(origins), AHEAD), n),
            "y": steps.ravel(),
            "Naive": 0.0,
        }
    )
    wide = np.repeat(spread, origins * AHEAD)
    return frame.assign(**{f"Naive-{name}": score * wide for name, score in LEVELS.items()})


def test_coverage_by_horizon_of_a_thousand_series():
    past, later = series(1000, 1, seed=0), series(1000, 1, seed=1)
    made = FrameCalibrator().fit(past).transform(later.drop(columns="cutoff"))
    inside = (later["y"] >= made["Naive-lo-90"]) & (later["y"] <= made["Naive-hi-90"])
    by_step = inside.groupby(np.tile(np.arange(AHEAD), 1000)).mean()
    assert np.abs(by_step - 0.9).max() < 3.5 * np.sqrt(2 * 0.09 / 1000)  # noise of both halves
    before = (later["y"] >= later["Naive-lo-90"]) & (later["y"] <= later["Naive-hi-90"])
    assert before.groupby(np.tile(np.arange(AHEAD), 1000)).mean().iloc[-1] < 0.5
    assert list(made.columns) == [name for name in later.columns if name != "cutoff"]


@pytest.mark.parametrize("kind", ["polars", "pyarrow", "index", "shuffled", "horizon"])
def test_any_kind_of_frame(kind):
    past, later = series(8, 2, seed=2), series(8, 1, seed=3).drop(columns="cutoff")
    plain = FrameCalibrator().fit(past).transform(later)["Naive-hi-90"].to_numpy()
    order = np.random.default_rng(0).permutation(len(later)) if kind == "shuffled" else np.arange(len(later))
    change = {
        "polars": pl.from_pandas,
        "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
        "index": lambda frame: frame.set_index("unique_id"),
        "shuffled": lambda frame: frame.iloc[order if len(frame) == len(later) else slice(None, None, -1)],
        "horizon": lambda frame: frame.assign(horizon=np.tile(np.arange(1, AHEAD + 1), len(frame) // AHEAD)),
    }[kind]
    given = change(later)
    made = FrameCalibrator().fit(change(past)).transform(given)
    assert type(made) is type(given)
    assert np.allclose(np.asarray(made["Naive-hi-90"]), plain[order], rtol=1e-9)
    assert np.allclose(np.asarray(given["Naive-hi-90"]), np.asarray(change(later)["Naive-hi-90"]))  # not touched


def test_point_forecasts_get_intervals():
    past, later = (series(1000, 1, seed).loc[:, "unique_id":"Naive"] for seed in (4, 5))
    made = FrameCalibrator(coverages=(0.8,)).fit(past).transform(later)
    assert list(made.columns[-2:]) == ["Naive-lo-80", "Naive-hi-80"]
    inside = (later["y"] >= made["Naive-lo-80"]) & (later["y"] <= made["Naive-hi-80"])
    assert inside.mean() == pytest.approx(0.8, abs=0.04)
    assert made["Naive-hi-80"].iloc[11] > 2 * made["Naive-hi-80"].iloc[0]


def test_missing_forecasts_stay_missing_and_two_models_are_two():
    past, later = series(40, 1, seed=6), series(40, 1, seed=7)
    past = past.assign(**{"B-lo-90": -9.0, "B-hi-90": 9.0})
    later = later.assign(**{"B-lo-90": -9.0, "B-hi-90": 9.0})
    later.loc[3, "Naive-lo-90"] = np.nan
    past.loc[5, "y"] = np.nan
    made = FrameCalibrator(ScaleCalibrator()).fit(past)
    out = made.transform(later)
    assert list(made.models_) == ["Naive", "B"] and made.n_rows_ == len(past) - 1
    assert np.isnan(out.loc[3, "Naive-lo-90"]) and out.loc[3, "Naive-hi-90"] == later.loc[3, "Naive-hi-90"]
    assert np.isfinite(out["B-lo-90"]).all()
    alone = FrameCalibrator(ScaleCalibrator(), models=["B"]).fit(past).transform(later)
    assert alone["Naive-hi-90"].equals(later["Naive-hi-90"]) and alone["B-hi-90"].equals(out["B-hi-90"])


def test_files(tmp_path):
    past, later = (frame[frame["ds"] < 3] for frame in (series(8, 1, seed=8), series(8, 1, seed=9)))
    made = FrameCalibrator(ScaleCalibrator(), by_series=True).fit(past)
    save(made, tmp_path / "frames.calibrant")
    pd.testing.assert_frame_equal(load(tmp_path / "frames.calibrant").transform(later), made.transform(later))


def test_steps_ahead_by_series_and_origin():
    who, when, begun = ["b", "a", "a", "a", "b"], [20, 11, 10, 11, 10], [0, 0, 0, 5, 0]
    assert horizons(np.array(who), np.array(when), np.array(begun)).tolist() == [2.0, 2.0, 1.0, 1.0, 1.0]


def test_errors():
    past = series(3, 1, seed=0)
    with pytest.raises(TypeError, match="`frame` must be a frame of pandas, polars or pyarrow; got list"):
        FrameCalibrator().fit([1, 2])
    with pytest.raises(ValueError, match="there is no column `unique_id` in the frame. It has"):
        FrameCalibrator().fit(past.drop(columns="unique_id"))
    with pytest.raises(ValueError, match="`models` must be in the frame; `ETS` is not"):
        FrameCalibrator(models=["ETS"]).fit(past)
    with pytest.raises(ValueError, match=r"`A-lo-90` and `A-lo-90.0` are both of level 0.05"):
        models_in(["A-lo-90", "A-lo-90.0", "A-hi-90"])
    with pytest.raises(ValueError, match="`Naive` is a point forecast, and ScaleCalibrator.. needs laws"):
        FrameCalibrator(ScaleCalibrator()).fit(past.loc[:, "unique_id":"Naive"])
