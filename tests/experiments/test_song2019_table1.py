"""Table 1 of Song et al. (2019) on scikit-learn's diabetes data."""

from __future__ import annotations

import json

import numpy as np
import pytest

from experiments.cells import Cells, read_result
from experiments.data import Dataset
from experiments.real_data.protocol import thinned_splits
from experiments.song2019.table1 import __main__ as command
from experiments.song2019.table1.cell import CROSS, OURS, PUBLISHED
from experiments.song2019.table1.pair import Pair
from experiments.song2019.table1.table import page


def _cell(shift=0.0):
    scores = {"NLL": 5.0 + shift, "MSE": 3000.0, "pinball": 1800.0}
    return {name: dict(scores) for name in ("none", *PUBLISHED, CROSS, *OURS)}


def test_the_quick_run_mends_least_squares_and_is_kept(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(command.QUICK, "splits", 1)
    command.main(["--quick", "--jobs", "1", "--out", str(tmp_path)])
    cells = json.loads((tmp_path / "table1-quick.cells.json").read_text())
    assert list(cells) == [f"diabetes/OLS/0/{part}" for part in ("published", "ours")]
    whole = Cells(tmp_path / "table1-quick.cells.json").whole("diabetes/OLS", ("published", "ours"))
    nll = {name: np.mean([cell[name]["NLL"] for cell in whole]) for name in whole[0]}
    assert nll["isotonic"] > nll["none"] + 0.2  # its density is rough, as in the paper
    assert all(nll[name] < nll["none"] - 0.02 for name in ("GPB 8", "GPB 64", CROSS, "GP-Beta", "flow", "stack"))
    assert "0 of 1 pairs" not in capsys.readouterr().out
    assert not list(tmp_path.glob("table1.*"))


def test_finished_cells_are_not_run_again_and_can_be_told_by_themselves(tmp_path, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(command, "cell", lambda *task: asked.append(task[:4]) or _cell(task[2]))
    given = ["--sets", "diabetes", "--jobs", "1", "--out", str(tmp_path)]
    command.main([*given, "--bases", "OLS,GPR", "--splits", "2"])
    parts = [(split, base, part) for part in ("published", "ours") for split in (0, 1) for base in ("OLS", "GPR")]
    assert asked == [("diabetes", base, split, part) for split, base, part in parts]
    command.main([*given, "--bases", "OLS", "--splits", "3", "--part", "ours"])
    command.main([*given, "--bases", "OLS", "--splits", "3"])
    assert asked[8:] == [("diabetes", "OLS", 2, "ours"), ("diabetes", "OLS", 2, "published")]
    command.main([*given, "--done", "--splits", "10"])
    assert len(asked) == 10
    result = read_result(tmp_path, "table1")
    assert [(row["base"], row["splits"]) for row in result["rows"]] == [("OLS", 3), ("GPR", 2)]
    assert result["rows"][0]["mean and error"]["none"]["NLL"] == pytest.approx([6.0, 1 / np.sqrt(3)])
    assert "| diabetes | 3 | 5.370 | 5.780 | 5.340 | 6.000 ± 0.577 |" in (tmp_path / "table1.md").read_text()


def test_pairs_that_are_not_run_keep_their_row_and_the_commit_that_made_it(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "cell", lambda *task: _cell(task[2]))
    given = ["--sets", "diabetes", "--splits", "2", "--jobs", "1", "--out", str(tmp_path)]
    command.main([*given, "--bases", "OLS,ridge"])
    path = tmp_path / "table1.json"
    before = json.loads(path.read_text())
    before["made"]["commit"] = "abc1234"
    del before["rows"][1]["paired error of NLL"]
    path.write_text(json.dumps(before))
    (tmp_path / "table1.cells.json").unlink()
    command.main([*given, "--bases", "NN"])
    ols, ridge, net_ = read_result(tmp_path, "table1")["rows"]
    assert ols == before["rows"][0] | {"commit": "abc1234"} and ridge["commit"] == "abc1234" and "commit" not in net_
    assert ols["paired error of NLL"]["stack"] == 0 and ridge["paired error of NLL"]["stack"] is None
    text = (tmp_path / "table1.md").read_text()
    assert "Made at abc1234: diabetes x OLS, diabetes x ridge." in text
    assert text.count("| diabetes | 2 | 5.370 | 5.780 | 5.340 | 5.500 ± 0.500 |") == 1


def test_without_a_data_folder_it_says_so(monkeypatch, capsys):
    monkeypatch.delenv("CALIBRANT_DATA", raising=False)
    assert command.main([]) == 2
    assert "Pass --data FOLDER" in capsys.readouterr().err


def test_figures_that_are_there_are_left_alone(tmp_path, capsys):
    for name in ("figure1.png", "figure2.png"):
        (tmp_path / name).write_bytes(b"drawn")
    command.main(["--done", "--figures", str(tmp_path), "--out", str(tmp_path)])
    assert [path.read_bytes() for path in sorted(tmp_path.glob("*.png"))] == [b"drawn"] * 2
    assert "no cell is finished" in capsys.readouterr().out


def test_a_pair_that_the_paper_does_not_have_is_told_without_its_numbers():
    pairs = [Pair.of("diabetes", "OLS", [_cell()] * 2), Pair.of("kin8nm", "GPR", [_cell()] * 2)]
    assert "| kin8nm | 2 | – | – | – | 5.000 ± 0.000 |" in "\n".join(page(pairs))


def test_rows_of_a_set_are_thinned_to_what_a_base_can_bear():
    rng = np.random.default_rng(0)
    large = Dataset("large", "regression", rng.normal(size=(2000, 1)), rng.normal(size=2000), ("x",))
    [split] = thinned_splits(large, 1, most=(750, None))
    assert (len(split.train), len(split.test)) == (750, 500) and not set(split.train) & set(split.test)
