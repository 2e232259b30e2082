"""Labels, groups and few rows on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from calibrant import PlattCalibrator, save
from calibrant.cli import main
from tests.common.test_commands import ROWS, _run, classes, laws


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_classes_by_group_with_the_default_method() -> None:
    frame = classes(["yes", "no"])
    frame.to_parquet("c.parquet")
    _run("fit", "c.parquet", "--group", "shop", "-o", "c.calibrant")
    _run("apply", "c.calibrant", "c.parquet", "-o", "d.parquet")
    made = pd.read_parquet("d.parquet")
    p = np.where(made["y"] == "yes", made["p_yes_calibrated"], made["p_no_calibrated"])
    before = np.where(made["y"] == "yes", made["p_yes"], made["p_no"])
    assert -np.log(p).mean() < -np.log(before).mean() - 0.03


@pytest.mark.parametrize("method", ["auto", "platt"])
@pytest.mark.parametrize("column", ["p_yes", "p_no"])
def test_one_column_is_the_class_it_is_named_after(column: str, method: str) -> None:
    frame = classes(["yes", "no"])
    frame[[column, "y"]].to_parquet("one.parquet")
    frame[["p_yes", "p_no", "y"]].to_parquet("two.parquet")
    one, two = (
        json.loads(_run("evaluate", f"{name}.parquet", "--json"))["measures"]["none"] for name in ("one", "two")
    )
    assert one["log_loss"] == pytest.approx(two["log_loss"])
    _run("fit", "one.parquet", "-m", method, "-o", "c.calibrant")
    _run("apply", "c.calibrant", "one.parquet", "-o", "d.parquet")
    made = pd.read_parquet("d.parquet")
    assert np.corrcoef(made[f"{column}_calibrated"], made[column])[0, 1] > 0.9


def test_booleans_and_numbers_are_one() -> None:
    frame = classes(["1", "0"]).rename(columns={"p_1": "p_1"})[["p_1", "y"]]
    expected = None
    for y in (frame["y"] == "1", frame["y"], (frame["y"] == "1").astype(float)):
        frame.assign(y=y).to_parquet("b.parquet")
        found = json.loads(_run("evaluate", "b.parquet", "--json"))["measures"]["none"]["log_loss"]
        expected = found if expected is None else expected
        assert found == pytest.approx(expected)


def test_empty_labels_and_groups_of_text_files() -> None:
    frame = classes(["yes", "no"])
    frame.loc[:8, "y"], frame.loc[9:40, "shop"] = None, None
    frame.to_csv("c.csv", index=False)
    frame.to_parquet("c.parquet")
    text, table = (
        json.loads(_run("evaluate", f"c.{kind}", "--group", "shop", "--json")) for kind in ("csv", "parquet")
    )
    assert any(f"9 of {ROWS} rows have no outcome" in note for note in text["notes"])
    assert [group["name"] for group in text["groups"]] == [group["name"] for group in table["groups"]]
    assert "shop = (missing)" in [group["name"] for group in text["groups"]]
    assert text["measures"]["none"]["log_loss"][0] == pytest.approx(table["measures"]["none"]["log_loss"][0])


def test_what_cannot_be_measured_is_fitted_all_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    pd.DataFrame({"mu": np.zeros(25), "sigma": 1.0, "y": 0.5}).to_parquet("same.parquet")
    assert "25 rows saved" in _run("fit", "same.parquet", "-o", "s.calibrant")


def test_advice_keeps_the_groups_that_were_used() -> None:
    laws().to_parquet("l.parquet")
    found = json.loads(_run("compare", "l.parquet", "--group", "shop", "-m", "scale", "--json"))
    assert found["chosen"] == "scale by group" and "--group shop --method scale" in found["command"]
    alone = json.loads(_run("compare", "l.parquet", "-m", "scale", "--json"))
    assert "--group" not in alone["command"]
    from calibrant.cli.advice import how_to_apply
    from calibrant.tables.columns import Columns

    columns = Columns("normal", ("mu", "sigma"), target="y", group=("shop", "day"))
    assert "--group shop --group day --method auto" in how_to_apply(Path("l.parquet"), columns, "auto")
    assert "--group" not in how_to_apply(Path("l.parquet"), columns, "scale")
    assert how_to_apply(Path("l.parquet"), columns, "none") == ""


def test_one_column_called_probability(capsys: pytest.CaptureFixture[str]) -> None:
    """It is the second label's; a calibrator that was saved in Python knows no more than that."""
    rng = np.random.default_rng(0)
    p = rng.uniform(0.05, 0.95, 200)
    labels = np.where(rng.random(200) < p**2, "won", "lost")
    pd.DataFrame({"probability": p, "label": labels}).to_csv("a.csv", index=False)
    assert main(["fit", "a.csv", "-m", "platt", "-o", "a.calibrant"]) == 0
    assert "`probability` is the probability of 'won' against 'lost'" in capsys.readouterr().err
    save(PlattCalibrator().fit(p, labels), "plain.calibrant")
    for name in ("a", "plain"):
        assert main(["apply", f"{name}.calibrant", "a.csv", "-o", f"{name}.parquet"]) == 0
    one, other = (pd.read_parquet(f"{name}.parquet") for name in ("a", "plain"))
    assert list(one.columns) == ["probability", "label", "p_lost", "p_won"]
    np.testing.assert_allclose(one["p_won"], other["p_won"], rtol=1e-9)
    np.testing.assert_allclose(one["p_won"], PlattCalibrator().fit(p, labels).transform(p)[:, 1], rtol=1e-6)


def test_the_command_to_copy_says_how_to_read_the_table() -> None:
    frame = laws(100).drop(columns=["shop", "w"])
    frame.to_csv("süd.csv.gz", index=False, sep=";", decimal=",", encoding="latin-1")
    options = ["süd.csv.gz", "--decimal", ",", "--encoding", "latin-1", "-m", "scale", "--json"]
    how = json.loads(_run("compare", *options))["command"]
    assert "fit 'süd.csv.gz' --decimal , --encoding latin-1 --mean mu" in how and "-o 'süd.calibrant'" in how
