"""ONNX models against Python."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr

from calibrant import (
    Chain,
    FlowCalibrator,
    GroupedCalibrator,
    Normal,
    PlattCalibrator,
    PointCalibrator,
    QuantileCalibrator,
    ResidualCalibrator,
    ScaleCalibrator,
    StudentT,
)
from calibrant.store.onnx import export_onnx
from calibrant.store.onnx_graph import Graph

from .exported import CALIBRATORS

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

LEVELS = [1e-6, 0.01, 0.25, 0.5, 0.9, 0.999]
every = pytest.mark.parametrize("name", CALIBRATORS)


def rows(n, seed=0, unit=1.0):
    rng = np.random.default_rng(seed)
    mu, sigma = rng.normal(0, 2, n), np.exp(rng.normal(0, 0.5, n))
    return mu * unit, sigma * unit, (mu + 0.3 + 2 * sigma * rng.standard_t(4, n)) * unit


def fitted(name, n=1000, unit=1.0):
    mu, sigma, y = rows(n, 1, unit)
    return CALIBRATORS[name].fit(Normal(mu, sigma), y)


def session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def run(path, **columns):
    return session(path).run(None, columns)


@every
def test_like_python(name, tmp_path):
    calibrator = fitted(name)
    export_onnx(calibrator, tmp_path / "model.onnx", levels=LEVELS, cdf=True)
    mu, sigma, y = rows(100_000)
    quantiles, cdf = run(tmp_path / "model.onnx", mean=mu, std=sigma, y=y)
    assert quantiles.shape == (100_000, 6) and quantiles.dtype == cdf.dtype == np.float64
    law = calibrator.transform(Normal(mu, sigma))
    with np.errstate(invalid="ignore"):
        exact = law.quantiles(LEVELS)
    np.testing.assert_allclose(quantiles, exact, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(cdf, law.cdf(y), rtol=0, atol=1e-13)


@every
def test_far_tails(name, tmp_path):
    calibrator = fitted(name)
    export_onnx(calibrator, tmp_path / "model.onnx", cdf=True)
    away = np.concatenate([[0.0, 5e-324, 1e-300], np.geomspace(1e-9, 1e300, 3000), [np.inf]])
    y = np.concatenate([-away[::-1], away])
    mu, sigma = np.zeros(len(y)), np.ones(len(y))
    cdf = run(tmp_path / "model.onnx", mean=mu, std=sigma, y=y)[1]
    assert np.all(np.diff(cdf) >= -1e-15) and cdf[0] == 0.0
    expected = calibrator.transform(Normal(mu, sigma)).cdf(np.clip(y, -1e290, 1e290))
    np.testing.assert_allclose(cdf, expected, rtol=0, atol=1e-13)
    low = (expected > 1e-200) & (expected < 1e-3)
    np.testing.assert_allclose(cdf[low], expected[low], rtol=1e-9)  # relative, far down the tail


@every
@pytest.mark.parametrize("unit", [1e-150, 1e150])
def test_units(name, unit, tmp_path):
    calibrator = fitted(name, 300, unit)
    export_onnx(calibrator, tmp_path / "model.onnx", levels=LEVELS, cdf=True)
    mu, sigma, y = rows(2000, unit=unit)
    quantiles, cdf = run(tmp_path / "model.onnx", mean=mu, std=sigma, y=y)
    law = calibrator.transform(Normal(mu, sigma))
    np.testing.assert_allclose(quantiles, law.quantiles(LEVELS), rtol=1e-12, atol=1e-12 * unit)
    np.testing.assert_allclose(cdf, law.cdf(y), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["spline", "ecdf", "isotonic", "step"])
def test_on_the_knots_themselves(name, tmp_path):
    """A comparison the wrong way round shows here only."""
    calibrator = QuantileCalibrator(name).fit(Normal(np.zeros(37), 1.0), np.linspace(-3, 4, 37))
    export_onnx(calibrator, tmp_path / "model.onnx", cdf=True)
    knots = calibrator.map_.knots
    y = np.concatenate([knots, np.nextafter(knots, np.inf), np.nextafter(knots, -np.inf), knots + 1e-6, knots - 1e-6])
    cdf = run(tmp_path / "model.onnx", mean=np.zeros(len(y)), std=np.ones(len(y)), y=y)[1]
    expected = calibrator.transform(Normal(np.zeros(len(y)), 1.0)).cdf(y)
    np.testing.assert_allclose(cdf, expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 8])
@pytest.mark.parametrize("name", ["ecdf", "step"])
def test_few_knots(name, n, tmp_path):
    calibrator = QuantileCalibrator(name).fit(Normal(np.zeros(n), 1.0), np.linspace(0.5, 1.0, n))
    export_onnx(calibrator, tmp_path / "model.onnx", levels=0.5, cdf=True)
    y = np.linspace(-2, 2, 401)
    quantiles, cdf = run(tmp_path / "model.onnx", mean=0 * y, std=0 * y + 1, y=y)
    law = calibrator.transform(Normal(0 * y, 1.0))
    np.testing.assert_allclose(cdf, law.cdf(y), rtol=0, atol=1e-14)
    np.testing.assert_allclose(quantiles[:, 0], law.median(), rtol=1e-14)


def test_the_normal_law(tmp_path):
    graph = Graph(onnx)
    for name, value in zip(("low", "high"), graph.normal_both("z"), strict=True):
        graph("Identity", value, name=name)
    for name, value in zip(("log_low", "log_high"), graph.normal_logs("z"), strict=True):
        graph("Identity", value, name=name)
    outputs = {name: ["rows"] for name in ("low", "high", "log_low", "log_high")}
    (tmp_path / "law.onnx").write_bytes(graph.model(["z"], outputs, {}))
    ends = np.array([-np.inf, -1e200, -38.5, -0.67448975, 0.0, 0.67448975, 32**0.5, 40.0, np.inf])
    z = np.concatenate([np.linspace(-37, 37, 200_001), np.nextafter(ends, 0), ends])
    low, high, log_low, log_high = run(tmp_path / "law.onnx", z=z)
    np.testing.assert_allclose(low, ndtr(z), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(high, ndtr(-z), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(log_low, log_ndtr(z), rtol=1e-13, atol=1e-16)
    np.testing.assert_allclose(log_high, log_ndtr(-z), rtol=1e-13, atol=1e-16)


def test_what_the_model_says(tmp_path):
    export_onnx(fitted("quantile, spline"), tmp_path / "no_suffix", levels=[0.1, 0.5])
    assert [item.name for item in tmp_path.iterdir()] == ["no_suffix"]
    model = session(tmp_path / "no_suffix")
    assert [(item.name, item.type, item.shape) for item in model.get_inputs()] == [
        ("mean", "tensor(double)", ["rows"]),
        ("std", "tensor(double)", ["rows"]),
    ]
    assert [(item.name, item.shape) for item in model.get_outputs()] == [("quantiles", ["rows", 2])]
    known = model.get_modelmeta().custom_metadata_map
    assert known["method"] == "QuantileCalibrator" and known["rows"] == "1000" and known["levels"] == "0.1,0.5"
    assert known["library"].startswith("calibrant ")


def test_missing_outcomes_stay_missing(tmp_path):
    for name in ("quantile, spline", "quantile, step", "quantile, isotonic", "quantile, beta"):
        export_onnx(fitted(name), tmp_path / "model", cdf=True)
        cdf = run(tmp_path / "model", mean=np.zeros(2), std=np.ones(2), y=np.array([np.nan, 0.0]))[1]
        assert np.isnan(cdf[0]) and 0 < cdf[1] < 1


def test_fitted_to_heavy_tails(tmp_path):
    mu, sigma, y = rows(500)
    calibrator = QuantileCalibrator().fit(StudentT(mu, sigma, 4.0), y)
    export_onnx(calibrator, tmp_path / "model", levels=LEVELS, cdf=True)
    quantiles, cdf = run(tmp_path / "model", mean=mu, std=sigma, y=y)
    law = calibrator.transform(Normal(mu, sigma))
    np.testing.assert_allclose(quantiles, law.quantiles(LEVELS), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(cdf, law.cdf(y), rtol=0, atol=1e-13)


def test_what_cannot_be_exported(tmp_path):
    mu, sigma, y = rows(100)
    law = Normal(mu, sigma)
    grouped = GroupedCalibrator(QuantileCalibrator()).fit(law, y, groups=np.arange(100) % 2)
    points = ResidualCalibrator().fit(mu, y)
    scores = PlattCalibrator().fit(np.linspace(0.1, 0.9, 100), y > 0)
    others = [ScaleCalibrator("bins", n_bins=2), FlowCalibrator(), PointCalibrator()]
    for calibrator in (grouped, points, scores, *(other.fit(law, y) for other in others)):
        with pytest.raises(
            TypeError, match="cannot be exported as it was fitted: only calibrators of normal forecasts"
        ):
            export_onnx(calibrator, tmp_path / "model")
    inner = Chain([QuantileCalibrator("isotonic"), ScaleCalibrator()]).fit(law, y)
    with pytest.raises(TypeError, match="of a ProbabilityMap cannot be exported but as the last of a chain"):
        export_onnx(inner, tmp_path / "model", cdf=True)
    for wrong in (QuantileCalibrator, "text"):
        with pytest.raises(TypeError, match="must be a fitted calibrator"):
            export_onnx(wrong, tmp_path / "model")
    with pytest.raises(ValueError, match=r"`levels` must be"):
        export_onnx(QuantileCalibrator().fit(law, y), tmp_path / "model", levels=[0.5, 1.0])
    assert not list(tmp_path.iterdir())


def test_without_the_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'calibrant\[onnx\]'"):
        export_onnx(fitted("quantile, spline", 50), tmp_path / "model")


def test_onnx_is_loaded_only_when_needed():
    code = "import sys, calibrant.store.onnx; sys.exit('onnx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
