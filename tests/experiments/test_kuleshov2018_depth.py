import json

import numpy as np
import pytest

from calibrant import Normal, QuantileCalibrator, metrics
from experiments.kuleshov2018 import depth as experiment
from experiments.kuleshov2018.depth import Pixels, Settings, averaged, compared, judged, learn, page, verdict


def overconfident(rng, n):
    depth = rng.gamma(4.0, 1.0, n).astype(np.float32)
    mean = depth + rng.normal(0, 0.6, n).astype(np.float32)
    return Pixels(mean, np.full(n, 0.2, np.float32), depth)


def test_a_row_tells_what_test_pixels_say():
    truth, law = np.array([0.0, 1.0, 3.0]), Normal(np.zeros(3), 1.0)
    row = judged("none", "-", truth, law)
    assert row.covered == pytest.approx(2 / 3)
    assert row.rmse == pytest.approx(np.sqrt(10 / 3))
    assert row.nll == metrics.nll(truth, law) and row.calibration_error == metrics.calibration_error(truth, law)


def test_maps_learned_in_parts_are_those_of_all_pixels(rng, monkeypatch):
    pixels = overconfident(rng, 5000)
    whole = QuantileCalibrator().fit(pixels.law, pixels.depth)
    monkeypatch.setattr(experiment, "AT_ONCE", 700)
    parts = QuantileCalibrator()
    learn(parts, pixels)
    assert parts.n_rows_ == 5000
    z = np.linspace(-4, 4, 30)
    np.testing.assert_allclose(parts.map_(z), whole.map_(z), atol=1e-6)


def test_every_map_at_least_halves_the_error_of_overconfident_pixels(rng):
    rows, _ = compared({name: overconfident(rng, 20_000) for name in ("train", "held", "test")})
    assert [(row.map, row.learned_from) for row in rows[::2]] == [
        ("none", "-"),
        ("isotonic", "other images"),
        ("spline", "other images"),
    ]
    assert all(row.calibration_error < 0.1 * rows[0].calibration_error for row in rows[1:])
    assert all(abs(row.covered - 0.9) < 0.01 and row.pixels == 20_000 for row in rows[1:])


def test_the_experiment_runs_and_writes_what_it_found(tmp_path, monkeypatch, capsys):
    pytest.importorskip("torch")
    few = {"stem": 4, "growth": 3, "layers": 1, "halvings": 1, "max_epochs": 2, "n_passes": 2}
    monkeypatch.setattr(experiment, "QUICK", Settings(8, 4, 4, (12, 16), few))
    failed = experiment.main(["--quick", "--out", str(tmp_path / "new")])
    result = json.loads((tmp_path / "new" / "depth.json").read_text())
    assert len(result["rows"]) == 5 and result["rows"][1]["pixels"] == 8 * 12 * 16
    text = (tmp_path / "new" / "depth.md").read_text()
    assert text.startswith(page(result)) and page(result) in capsys.readouterr().out
    assert "0.0550 -> 0.0241" in text and f"at {result['made']['commit']}." in text
    assert failed == any(claim.startswith("FAIL") for claim in result["claims"])


@pytest.mark.parametrize(("after", "net", "held"), [(0.04, 1e6, ["PASS"] * 3), (0.06, 1e8, ["FAIL"] * 3)])
def test_claims_of_depth(after, net, held):
    errors = {("none", "-"): 0.1, ("isotonic", "training images"): after, ("isotonic", "other images"): after}
    errors |= {("spline", "other images"): 0.01}
    rows = [{"map": m, "learned_from": source, "calibration_error": e} for (m, source), e in errors.items()]
    found = list(verdict({"rows": rows, "pixels_a_second": {"map": 2e7, "net": net}}))
    assert [claim[:4] for claim in found if not claim.startswith(" ")] == held


def test_seeds_are_averaged():
    row = {"map": "none", "learned_from": "-", "calibration_error": 0.1, "pixels": 5, "fit_seconds": None}
    one = {"rows": [row], "seconds": {"training": 1.0}, "pixels_a_second": {"net": 2.0}, "epochs": 3}
    two = {"rows": [row | {"calibration_error": 0.3}], "seconds": {"training": 3.0}, "pixels_a_second": {"net": 4.0}}
    found = averaged([one, two | {"epochs": 5}])
    assert found["rows"] == [row | {"calibration_error": pytest.approx(0.2), "by_seed": [0.1, 0.3]}]
    assert (found["seconds"], found["pixels_a_second"], found["epochs"]) == ({"training": 2.0}, {"net": 3.0}, 4.0)
