"""What the experiment beside MCGrad says, from numbers made by hand."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from experiments import mcgrad


def ways(ours, **others):
    losses = {"boosted": ours, "none": 0.5, "beta": 0.4} | others
    return {way: {"log_loss": loss, "mce_sigma": 10 * loss, "fit_s": 1.0} for way, loss in losses.items()}


def test_verdict():
    means = {("a", "x"): ways(0.3, mcgrad=0.35), ("b", "x"): ways(0.4015, mcgrad=0.4), ("c", "x"): ways(0.3)}
    lines = mcgrad.verdict(means)
    assert lines[0] == "FAIL  log loss below MCGrad's on 1 of 2 sets and bases; not on b / x"
    assert lines[1] == "PASS  multicalibration error 3.51 on average, MCGrad's 3.75"
    assert lines[3] == "PASS  log loss at most 0.002 above that of beta calibration on 3 of 3 sets and bases"
    assert len(lines) == 5
    alone = mcgrad.verdict({("a", "x"): ways(0.403)})
    assert "not installed" in alone[0] and alone[1].startswith("FAIL") and alone[2].startswith("PASS")


def test_tables():
    means = {("a", "x"): ways(0.3, mcgrad=0.35)}
    told = "\n".join(mcgrad._markdown(means, ["PASS  all"]))
    assert "| a | x | 0.5000 | 0.4000 |  | 0.3500 | 0.3000 |" in told and "    PASS  all" in told
    assert mcgrad.averaged([{"a": 1.0, "b": 2.0}, {"a": 3.0}]) == {"a": 2.0, "b": 2.0}


@pytest.fixture
def folder(tmp_path, rng):
    """Labels that one feature tells in one of two kinds, in a file like those of the data folder."""
    x, kind = rng.normal(size=300), rng.choice(["a", "b"], 300)
    label = (rng.random(300) < 1 / (1 + np.exp(np.where(kind == "a", -3, 3) * x))).astype(int)
    rows = "".join(f"{a:.3f},{b},{c}\n" for a, b, c in zip(x, kind, label, strict=True))
    with gzip.open(tmp_path / "one.csv.gz", "wt", encoding="utf8") as file:
        file.write("x,kind,label\n" + rows)
    entry = {"name": "one", "file": "one.csv.gz", "task": "classification", "target": "label"}
    told = {"datasets": [{**entry, "categorical_features": ["kind"]}]}
    (tmp_path / "MANIFEST.json").write_text(json.dumps(told), encoding="utf8")
    return tmp_path


def test_cells(folder):
    pytest.importorskip("lightgbm")
    none, ours = (mcgrad.cell("one", "logistic", way, 0, folder) for way in ("none", "boosted"))
    assert none["fit_s"] == 0 < ours["fit_s"] and ours["log_loss"] < none["log_loss"]
    assert mcgrad.cell("one", "logistic", "none", 0, folder)["log_loss"] == none["log_loss"]
    rows, new = mcgrad._rows("one, class 2", "naive Bayes", 0, folder)
    assert len(rows.y) == len(new.y) == 90 and list(rows.X) == ["x0", "x1"]
    assert mcgrad._columns(rows.X) == (["x1"], ["x0"])
