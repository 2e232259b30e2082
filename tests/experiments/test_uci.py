"""The standard splits, on scikit-learn's diabetes data and on cells made up."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from calibrant import Normal
from experiments.cells import read_result
from experiments.uci import __main__ as command
from experiments.uci.cell import WAYS, is_here, measures
from experiments.uci.sets import Part, part, split_folder
from experiments.uci.verdict import summary, verdict


@pytest.fixture
def folder(tmp_path, rng):
    frame = pd.DataFrame({"x0": rng.normal(size=60), "y": np.arange(60) + 0.5})
    for k in range(5):
        frame[f"test_{k}"] = (np.arange(60) % 5 == k).astype(int)
    (tmp_path / "uci").mkdir()
    frame.to_csv(tmp_path / "uci" / "small.csv.gz", index=False)
    frame[["x0", "y"]].to_csv(tmp_path / "uci" / "unsplit.csv.gz", index=False)
    return tmp_path


def _cell(nll, crps=1.0):
    return {"nll": nll, "crps": crps, "covered": 0.9}


def test_the_quick_run_calibrates_in_every_way_and_is_kept(tmp_path, capsys):
    pytest.importorskip("lightgbm")
    command.main(["--quick", "--out", str(tmp_path)])
    cells = json.loads((tmp_path / "uci-quick.cells.json").read_text())
    assert list(cells) == ["diabetes/ridge/0"] and list(cells["diabetes/ridge/0"]) == list(WAYS)
    assert all(abs(way["nll"] - 5.35) < 0.4 for way in cells["diabetes/ridge/0"].values())
    assert "## diabetes" in capsys.readouterr().out and not list(tmp_path.glob("uci.*"))


def test_splits_are_those_of_the_masks(folder):
    found = part(split_folder(folder), "small", 2)
    assert found.y_new.tolist() == [k + 0.5 for k in range(2, 60, 5)] and len(found.y) == 48
    assert not set(found.y) & set(found.y_new) and found.X.shape == (48, 1) and not found.whole


def test_whole_numbers_are_judged_by_their_mass():
    rows = Part(np.zeros((2, 1)), np.array([1.0, 2.0]), np.zeros((1, 1)), np.array([0.0]))
    assert measures(rows, Normal([0.0], 0.5))["log mass"] == pytest.approx(-np.log(0.6826895))


def test_finished_cells_are_told_and_missing_packages_too(folder, tmp_path, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(command, "is_here", lambda model: model != "net")
    monkeypatch.setattr(command, "cell", lambda *task: asked.append(task[1:4]) or {way: _cell(1.0) for way in WAYS})
    given = ["--data", str(folder), "--models", "ridge,net", "--splits", "2", "--out", str(tmp_path / "out")]
    command.main(given)
    command.main([*given, "--done"])
    assert asked == [("small", "ridge", 0), ("small", "ridge", 1)]
    assert [row["way"] for row in read_result(tmp_path / "out", "uci")["rows"]] == list(WAYS)
    assert "deep ensemble is left out" in capsys.readouterr().out


def test_rows_that_were_written_are_kept_with_their_commit(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "cell", lambda *task: {way: _cell(1.0) for way in WAYS})
    out = tmp_path / "out"
    given = ["--data", str(folder), "--models", "ridge", "--splits", "2", "--out", str(out)]
    command.main(given)
    made = read_result(out, "uci")["made"]["commit"]
    (out / "uci.cells.json").unlink()
    command.main([*given, "--done"])
    rows = read_result(out, "uci")["rows"]
    assert [row["way"] for row in rows] == list(WAYS) and {row["commit"] for row in rows} == {made}
    assert f"Made at {made}: small x ridge." in (out / "uci.md").read_text()


def test_the_verdict():
    def rows(ours, ridge):
        calibrated = {**{way: _cell(2.0) for way in WAYS}, "features": _cell(ours, 0.4), "both": _cell(2.0)}
        mended = {**{way: _cell(3.0) for way in WAYS}, "features": _cell(ridge), "both": _cell(ridge)}
        peers = [row for peer in ("ngboost", "xgbdist") for row in summary("a", peer, [{"none": _cell(1.5, 0.5)}] * 2)]
        return [*summary("a", "extra", [calibrated] * 2), *summary("a", "ridge", [mended] * 2), *peers]

    assert [line[:4] for line in verdict(rows(1.44, 2.9))] == ["PASS"] * 5
    assert [line[:4] for line in verdict(rows(1.46, 3.02))] == ["FAIL", "PASS", "FAIL", "FAIL", "FAIL"]


def test_without_a_data_folder_it_says_so(monkeypatch, capsys, tmp_path):
    monkeypatch.delenv("CALIBRANT_DATA", raising=False)
    assert command.main([]) == 2 and command.main(["--data", str(tmp_path)]) == 2
    assert "Pass --data FOLDER" in capsys.readouterr().err
    assert is_here("ridge")
