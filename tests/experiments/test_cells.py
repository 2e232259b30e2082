"""Experiments that go on where they stopped, and tables that say what made them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from experiments.cells import Cells, _without_folders, read_result, write_result
from experiments.kuleshov2018 import table1
from experiments.kuleshov2018.table1_verdict import (
    LEVELS_ERROR,
    MODELS,
    PAPER,
    SETS,
    headlines,
    limit,
    summary,
    verdict,
)


def double(number: int) -> dict[str, int]:
    if number < 0:
        raise ValueError("no number")
    return {"twice": 2 * number}


def test_finished_cells_are_not_run_again(tmp_path):
    cells = Cells(tmp_path / "new" / "some.cells.json")
    with pytest.raises(ValueError, match="no number"):
        list(cells.run({"a": (1,), "b": (2,), "c": (-1,)}, double))
    again = Cells(cells.path)
    assert again.done == {"a": {"twice": 2}, "b": {"twice": 4}}
    assert list(again.run({"a": (-1,), "b": (-1,), "c": (3,)}, double)) == ["c"]
    assert Cells(cells.path).some(["c", "a"]) == [{"twice": 6}, {"twice": 2}]


def test_results_say_what_made_them(tmp_path):
    paths = write_result(tmp_path, "table", {"rows": [1]}, ["| a |"])
    found = read_result(tmp_path, "table")
    assert found["rows"] == [1] and found["made"]["command"].startswith("python -m")
    assert found["made"]["commit"] in paths[1].read_text() and read_result(tmp_path, "other") is None
    assert list(_without_folders(["--data", "/a/b", "--jobs", "2"])) == ["--data", "FOLDER", "--jobs", "2"]


def cell(before: float, after: float) -> dict:
    ways = {"none": before, "paper": after, "isotonic": after, "ours": after}
    measures = {"mape": 0.1, "covered": 0.9}
    return {"n_test": 100, "n_cal": 300} | {way: {"calibration": value, **measures} for way, value in ways.items()}


def test_claims_of_table_1():
    rows = [summary(name, model, [cell(0.2, 0.02), cell(0.1, 0.01)]) for model in MODELS for name in SETS]
    assert rows[0]["none"]["calibration"] == pytest.approx(0.15)
    assert rows[0]["none"]["error"] == pytest.approx(0.05)  # half the distance of two
    assert rows[0]["floor"] == pytest.approx(1.65 * (1 / 100 + 1 / 300))
    assert [line[:4] for line in verdict(rows)] == ["PASS", "PASS", "    ", "    ", "PASS"]
    worse = [summary(name, model, [cell(0.1, 0.3)] * 2) for model in MODELS for name in SETS]
    assert [line[:4] for line in verdict(worse)] == ["FAIL", "FAIL", "    ", "    ", "FAIL"]
    assert limit(rows[0]) == PAPER["ridge"]["auto_mpg"][2] and limit(rows[3]) == pytest.approx(2 * rows[3]["floor"])
    assert sum(p * (1 - p) for p in np.linspace(0, 1, 11)) == pytest.approx(LEVELS_ERROR)
    assert len(headlines(rows)) == len(MODELS)
    assert len(headlines([row for row in rows if row["model"] == "dropout"])) == 1  # the others were not run


@pytest.mark.filterwarnings("ignore")
def test_recalibration_of_bayesian_ridge_and_nets(tmp_path, capsys):
    pytest.importorskip("torch")
    assert table1.main(["--quick", "--jobs", "1", "--out", str(tmp_path)]) in (0, 1)
    told = capsys.readouterr().out
    assert "PASS  dropout net: recalibrated error below uncalibrated on 1 of 1 sets" in told
    done = json.loads((tmp_path / "table1-quick.cells.json").read_text())
    assert set(done) == {f"diabetes/{model}/{split}" for model in ("ridge", "dropout") for split in range(2)}
    assert np.mean([done[f"diabetes/dropout/{k}"]["ours"]["covered"] for k in range(2)]) == pytest.approx(0.9, abs=0.06)
    table1.main(["--quick", "--jobs", "1", "--out", str(tmp_path)])
    assert "diabetes/ridge: 0" not in capsys.readouterr().out
