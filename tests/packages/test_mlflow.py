"""Calibrators in MLflow: logged, loaded and served, without pickle."""

from __future__ import annotations

import io
import json
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

from calibrant import FrameCalibrator, Normal, PlattCalibrator, QuantileCalibrator, save

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    mlflow = pytest.importorskip("mlflow")
pytestmark = pytest.mark.filterwarnings("ignore")  # theirs


@pytest.fixture
def models():
    from calibrant.engines import mlflow as models

    return models


@pytest.fixture
def tracked(tmp_path):
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'runs.db'}")
    mlflow.create_experiment("calibrators", artifact_location=str(tmp_path / "artifacts"))
    mlflow.set_experiment("calibrators")


@pytest.fixture
def fitted(rng):
    mean = rng.normal(size=300)
    frame = pd.DataFrame({"mean": mean, "std": 1.0}, index=np.arange(300) + 5)
    return QuantileCalibrator().fit(Normal(mean, 1.0), mean + 2 * rng.normal(size=300)), frame


def test_logged_loaded_and_served(models, tracked, fitted, monkeypatch):
    from mlflow.pyfunc import scoring_server

    calibrator, frame = fitted
    with mlflow.start_run():
        info = models.log_model(calibrator, "shop", input_example=frame.head(2), model_config={"coverage": [0.9]})
    assert info.signature.inputs.input_names() == ["mean", "std"]
    assert info.signature.outputs.input_names() == ["lo-90", "hi-90"]
    monkeypatch.setattr(pickle, "load", None)
    monkeypatch.setattr(pickle, "loads", None)
    served = mlflow.pyfunc.load_model(info.model_uri)
    monkeypatch.undo()
    expected = calibrator.transform(frame).interval(0.9)
    got = served.predict(frame)
    assert list(got.columns) == ["lo-90", "hi-90"] and list(got.index) == list(frame.index)
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(models.load_model(info.model_uri).transform(frame).interval(0.9), expected)
    asked = json.dumps({"dataframe_split": frame.to_dict(orient="split")})
    answer = scoring_server.invocations(asked, "application/json", served, served.metadata.get_input_schema())
    told = json.loads(answer.response)["predictions"]
    np.testing.assert_allclose(pd.read_json(io.StringIO(json.dumps(told))), expected, rtol=1e-12)


def test_a_folder_holds_the_file_and_no_pickle(models, fitted, tmp_path):
    calibrator, frame = fitted
    models.save_model(calibrator, tmp_path / "model")
    names = [path.name for path in (tmp_path / "model").rglob("*") if path.is_file()]
    assert "model.calibrant" in names and not [name for name in names if name.endswith((".pkl", ".pickle", ".joblib"))]
    again = mlflow.pyfunc.load_model(str(tmp_path / "model"), model_config={"levels": [0.1, 0.9], "with_mean": True})
    law = calibrator.transform(frame)
    got = again.predict(frame)
    assert list(got.columns) == ["q0.1", "q0.9", "mean_calibrated"]
    np.testing.assert_allclose(got, np.column_stack([law.quantiles([0.1, 0.9]), law.mean()]))


def test_columns_of_a_file_classes_and_frames_of_series(models, fitted, tmp_path, rng):
    calibrator, frame = fitted
    other = frame.rename(columns={"mean": "mu_0", "std": "sd_0"})
    columns = {"kind": "normal", "forecast": ["mu_0", "sd_0"], "target": "y"}
    save(calibrator, tmp_path / "shop.calibrant", metadata={"columns": columns})
    models.save_model(tmp_path / "shop.calibrant", tmp_path / "a")
    models.save_model(calibrator, tmp_path / "b", model_config={"mean": "mu_0", "std": "sd_0"})
    expected = calibrator.transform(frame).quantiles([0.05, 0.25, 0.5, 0.75, 0.95])
    for folder in "ab":
        np.testing.assert_array_equal(mlflow.pyfunc.load_model(str(tmp_path / folder)).predict(other), expected)
    label = rng.integers(0, 2, 300)
    score = pd.DataFrame({"p_1": np.clip(0.5 + 0.2 * (label - 0.5) + 0.1 * rng.normal(size=300), 0.01, 0.99)})
    platt = PlattCalibrator().fit(score["p_1"], label)
    models.save_model(platt, tmp_path / "classes")
    got = mlflow.pyfunc.load_model(str(tmp_path / "classes")).predict(score)
    assert list(got.columns) == ["p_0", "p_1_calibrated"]
    np.testing.assert_allclose(got, platt.transform(score["p_1"]))
    past = pd.DataFrame(
        {"unique_id": "a", "ds": np.arange(200), "cutoff": np.arange(200) - 1, "y": rng.normal(size=200)}
    )
    past = past.assign(**{"M": 0.0, "M-lo-90": -1.0, "M-hi-90": 1.0})
    series = FrameCalibrator().fit(past)
    models.save_model(series, tmp_path / "series")
    new = past.head(3).drop(columns=["y", "cutoff"])
    got = mlflow.pyfunc.load_model(str(tmp_path / "series")).predict(new)
    pd.testing.assert_frame_equal(got, series.transform(new))


def test_what_is_refused_and_why(models, tmp_path):
    with pytest.raises(TypeError, match="must be a fitted calibrator of this library; got 3"):
        models.save_model(3, tmp_path / "model")
