"""The daily job: update, apply, monitor; run twice, in another order, from any kind of table."""

from __future__ import annotations

import contextlib
import io
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from calibrant import OnlineCalibrator, load
from calibrant.cli import main


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def days(n: int = 150, seed: int = 0) -> pd.DataFrame:
    """Two shops a day, one forecast half as wide as it should be."""
    rng = np.random.default_rng(seed)
    when = pd.date_range("2026-01-01", periods=n).repeat(2)
    shop = np.tile(["north", "south"], n)
    y = rng.normal(0, np.where(shop == "north", 2.0, 1.0))
    return pd.DataFrame({"ds": when, "shop": shop, "mean": 0.0, "std": 1.0, "y": y, "row": np.arange(2 * n)})


def told(*arguments: str, code: int = 0) -> dict:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main([*arguments, "--json"]) == code
    return json.loads(out.getvalue())


def width(state: str = "s.calibrant") -> float:
    days(1).drop(columns="y").to_csv("today.csv", index=False)
    assert main(["apply", state, "today.csv", "--coverage", "0.9", "-o", "out.csv", "--overwrite"]) == 0
    out = pd.read_csv("out.csv")
    return float((out["hi-90"] - out["lo-90"])[0])


@pytest.mark.parametrize("rows", [["--time", "ds"], ["--id", "row"], []])
def test_nothing_is_learned_twice(rows):
    frame = days()
    frame[:200].to_parquet("a.parquet")
    frame[200:].to_parquet("b.parquet")
    assert told("update", "s.calibrant", "a.parquet", "--group", "shop", *rows)["new"] == 200
    before = Path("s.calibrant").read_bytes()
    assert told("update", "s.calibrant", "a.parquet") == {
        "state": "s.calibrant", "new": 0, "repeated": 200, "rows": 200,
    }  # fmt: skip
    assert Path("s.calibrant").read_bytes() == before
    assert told("update", "s.calibrant", "b.parquet")["rows"] == 300
    assert width() == pytest.approx(2 * 1.645 * 2, rel=0.2)
    if rows:
        frame.to_parquet("c.parquet")
        found = told("update", "s.calibrant", "c.parquet")
        assert (found["new"], found["repeated"]) == (0, 300)


def test_update_is_what_the_class_does():
    frame = days()
    frame.to_parquet("a.parquet")
    told("update", "s.calibrant", "a.parquet", "--time", "ds", "--group", "shop")
    cal = OnlineCalibrator().update(
        (frame["mean"], frame["std"]), frame["y"], groups=frame["shop"], time=frame["ds"].to_numpy()
    )
    saved = load("s.calibrant")
    assert saved.common_.named_weights() == cal.common_.named_weights()
    low, high = cal.transform(([0.0], [1.0]), groups=["north"]).interval(0.9)[0]
    assert width() == pytest.approx(high - low, rel=1e-12)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "shuffled"])
def test_any_kind_of_table(kind):
    frame = days(60)
    frame.to_parquet("a.parquet")
    told("update", "plain.calibrant", "a.parquet", "--time", "ds")
    if kind == "csv":
        frame.to_csv("b.csv", index=False)
    elif kind == "jsonl":
        frame.assign(ds=frame["ds"].astype(str)).to_json("b.jsonl", orient="records", lines=True)
    else:
        order = np.lexsort((frame["row"], np.random.default_rng(0).permutation(60).repeat(2)))
        frame.iloc[order].to_parquet("b.parquet")
    name = next(name for name in os.listdir() if name.startswith("b."))
    told("update", "s.calibrant", name, "--time", "ds")
    assert width() == pytest.approx(width("plain.calibrant"), rel=1e-9)


def test_outcomes_that_are_not_known_yet(capsys):
    frame = days(40)
    frame.loc[50:, "y"] = np.nan
    frame.to_parquet("a.parquet")
    assert told("update", "s.calibrant", "a.parquet", "--id", "row")["new"] == 50
    assert "30 of 80 rows have no outcome and are left out" in capsys.readouterr().err
    days(40).to_parquet("a.parquet")
    assert told("update", "s.calibrant", "a.parquet")["new"] == 30


def test_errors(capsys):
    days(30).to_csv("a.csv", index=False)
    assert main(["fit", "a.csv", "-o", "fitted.calibrant"]) == 0
    for arguments, line in {
        ("update", "fitted.calibrant", "a.csv"): "`fitted.calibrant` holds QuantileCalibrator, which learns once",
        ("update", "a.csv", "a.csv"): "a.csv",
        ("update", "s.calibrant", "a.csv", "--time", "when"): "there is no column `when` in `a.csv`",
        ("monitor", "a.csv", "-o", "a.csv"): "a.csv",
        ("monitor", "a.csv", "--level", "2"): "`level` must be",
    }.items():
        capsys.readouterr()
        assert main(list(arguments)) == 2
        assert line in capsys.readouterr().err
    assert not Path("s.calibrant").exists() and len(pd.read_csv("a.csv")) == 60


def test_horizons_of_fit_and_apply():
    frame = days(100).assign(step=np.tile([1, 2], 100))
    frame.to_csv("a.csv", index=False)
    assert main(["fit", "a.csv", "--horizon", "step", "--method", "scale", "-o", "h.calibrant"]) == 0
    assert main(["apply", "h.calibrant", "a.csv", "--coverage", "0.9", "-o", "out.csv"]) == 0
    out = pd.read_csv("out.csv")
    assert out["hi-90"][0] > 1.4 * out["hi-90"][1]


class TestMonitor:
    def test_drift_is_told_with_exit_code_page_and_json(self, capsys):
        frame = days(200)
        frame.to_parquet("a.parquet")
        arguments = ["monitor", "a.parquet", "--time", "ds", "--group", "shop", "-o", "m.html"]
        assert main([*arguments, "--fail-on", "drift"]) == 1
        out = capsys.readouterr().out
        assert out.startswith("Drift: 400 rows of 2 groups, level 0.05.\n") and "too narrow since 2026-01" in out
        found = json.loads(Path("m.json").read_text())
        assert found["drift"] and found["alarms"][0]["since_time"].startswith("2026-01")
        page = Path("m.html").read_text()
        assert "<svg" in page and "too narrow" in page and "http://" not in page.split("<svg")[0]
        assert told(*arguments[:-2])["alarms"] == found["alarms"]  # no page, the same findings

    def test_calm(self):
        frame = days(300)
        frame[frame["shop"] == "south"].to_parquet("a.parquet")
        assert told("monitor", "a.parquet", "--time", "ds", "--fail-on", "drift")["drift"] is False


def test_class_probabilities():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.05, 0.95, 300)
    frame = pd.DataFrame({"p_no": 1 - p, "p_yes": p, "y": np.where(rng.random(300) < p**2, "yes", "no")})
    frame.to_csv("a.csv", index=False)
    assert told("update", "s.calibrant", "a.csv")["new"] == 300
    assert main(["apply", "s.calibrant", "a.csv", "-o", "out.csv"]) == 0
    after = pd.read_csv("out.csv")["p_yes_calibrated"]
    assert abs(after.mean() - (frame["y"] == "yes").mean()) < abs(p.mean() - (frame["y"] == "yes").mean()) / 2
    assert told("monitor", "a.csv")["drift"]


def test_a_report_of_online_calibration(tmp_path, rng):
    y = np.linspace(1, 4, 120) * rng.normal(size=120)
    frame = pd.DataFrame({"day": np.arange(120), "mu": np.zeros(120), "sigma": np.ones(120), "y": y})
    frame.to_csv(tmp_path / "t.csv", index=False)
    call = ["report", str(tmp_path / "t.csv"), "--time", "day", "--method", "online", "--quick"]
    assert main([*call, "-o", str(tmp_path / "r.html")]) == 0
    assert "calibrant update" in (tmp_path / "r.html").read_text(encoding="utf8")
