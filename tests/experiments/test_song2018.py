"""Figure 6 of Song et al. (2018) on scikit-learn's diabetes data."""

from __future__ import annotations

import json

import numpy as np
import pytest

from experiments.cells import read_result
from experiments.song2018 import __main__ as command
from experiments.song2018 import again, ours
from experiments.song2018.protocol import PUBLISHED
from experiments.song2018.table import NONE, STACK, Pair, page, verdict


def _cell(none=-3.0, **gains):
    out = {name: [none + gains.get(name.replace(", ", "_"), -0.1)] * 2 for name in (*PUBLISHED, STACK)}
    return {NONE: [none, none], **out}


def _pair(name="diabetes", base="OLS", **gains):
    return Pair.of(name, base, (8, 16), [_cell(-3.0, **gains), _cell(-3.2, **gains)])


def test_the_quick_run_gains_over_the_uncalibrated_fold(tmp_path):
    command.main(["--quick", "--jobs", "1", "--out", str(tmp_path)])
    cells = json.loads((tmp_path / "figure6-quick.cells.json").read_text())
    assert list(cells) == ["diabetes/OLS/8,16/0/0/published", "diabetes/OLS/8,16/0/0/ours"]
    scores = {name: values for cell in cells.values() for name, values in cell.items()}
    at_16 = {name: values[1] for name, values in scores.items()}
    assert all(at_16[name] > at_16[NONE] + 0.02 for name in ("e-logistic", "e-beta", STACK))
    assert scores[STACK][0] == scores[STACK][1] and scores["GPC"][1] > scores["GPC"][0]


def test_finished_folds_are_kept_and_told_with_their_number(tmp_path, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(command, "cell", lambda *task: asked.append(task[2]) or _cell(-3.0 - task[2][1]))
    given = ["--sets", "diabetes", "--bases", "OLS", "--thresholds", "8,16", "--jobs", "1", "--out", str(tmp_path)]
    command.main([*given, "--repeats", "1", "--folds", "2"])
    command.main([*given, "--repeats", "2", "--folds", "2"])
    command.main([*given, "--done"])
    assert asked == [place for place in ((0, 0), (0, 1), (1, 0), (1, 1)) for _ in ("published", "ours")]
    [row] = read_result(tmp_path, "figure6")["rows"]
    assert row["folds"] == 4 and row[NONE]["mean"] == [-3.5, -3.5]
    assert row[NONE]["error"] == pytest.approx([np.std([0, 1, 0, 1], ddof=1) / 2] * 2)
    assert "diabetes x OLS: 4 folds" in (tmp_path / "figure6.md").read_text()
    assert (tmp_path / "figure6.png").read_bytes()[1:4] == b"PNG"


@pytest.mark.parametrize(
    ("gains", "told"),
    [
        ({"GPC": 0.1, "ours_stack": 0.2}, ["PASS", "PASS"]),
        ({"GPC": 0.1, "ours_stack": 0.05}, ["PASS", "FAIL"]),
        ({"ours_stack": 0.05}, ["FAIL", "PASS"]),
    ],
)
def test_what_the_claims_ask(gains, told):
    pairs = [_pair(GPC=0.3, ours_stack=0.4), _pair("concrete", **gains)]
    lines = list(verdict(pairs))
    assert [line[:4] for line in lines[2:4]] == told
    assert lines[4].endswith("beats 10 of 12" if told[1] == "FAIL" else "beats 12 of 12")


def test_eight_thresholds_are_not_asked_to_help():
    cell = _cell(ours_stack=0.5)
    cell["e-beta"] = [-4.0, -2.9]
    lines = list(verdict([Pair.of("diabetes", "OLS", (8, 16), [cell])]))
    assert [line[:4] for line in lines[1:3]] == ["PASS", "PASS"]


def test_one_fold_has_no_standard_error():
    pair = Pair.of("diabetes", "OLS", (8, 16), [_cell()])
    assert pair.summary()[NONE] == {"mean": [-3.0, -3.0], "error": [None, None]}
    assert "| uncalibrated | -3.000 ± – | -3.000 ± – |" in "\n".join(page([pair]))


def test_fresh_folds_are_told_with_both_links(tmp_path, monkeypatch):
    asked = []

    def cell(*task):
        asked.append((task[2], task[4]))
        return _cell(ours_stack=0.3, GPC=0.2) | {"GPC, probit": [-3.1, -2.75]}

    monkeypatch.setattr(command, "cell", cell)
    given = ["--sets", "diabetes", "--bases", "OLS,BRR", "--thresholds", "8,16", "--jobs", "1", "--out", str(tmp_path)]
    parts = [word for part in again.PARTS for word in ("--part", part)]
    assert command.main([*given, *parts, "--first", "10", "--repeats", "1", "--folds", "1"]) == 0
    assert sorted(asked) == sorted(((10, 0), part) for part in again.PARTS for _ in range(2))
    result = read_result(tmp_path, "again")
    assert "16 GPC, probit +0.250" in result["claims"][0]
    assert [line["faithful"] for line in result["headlines"]] == ["1 of 1, least +0.250", "2 of 2, least +0.250"]
    assert [line["best"] for line in result["headlines"]] == ["1 of 1, least +0.050", "2 of 2, least +0.050"]
    assert [line["reached"] for line in result["headlines"]] == ["yes", "yes"]
    assert not (tmp_path / "figure6.md").exists()


def test_sets_may_hold_where_a_pair_does_not():
    pairs = [_pair(base="OLS", GPC=0.3, ours_stack=0.4), _pair(base="GPR", GPC=-0.01, ours_stack=0.05)]
    assert [line["reached"] for line in again.headlines(pairs)] == ["yes", "**no**"]
    assert again.headlines(pairs)[1]["faithful"] == "1 of 2, least -0.010"


@pytest.mark.parametrize("gain", [0.1, -0.1, -0.4])
@pytest.mark.parametrize("lead", [0.3, -0.3])
def test_the_scoreboard_says_what_the_claims_say(gain, lead):
    pairs = [_pair(base="OLS", GPC=0.3, ours_stack=0.5), _pair(base="GPR", GPC=gain, ours_stack=gain + lead)]
    claims = [line.startswith("PASS") for line in verdict(pairs) if line.startswith(("PASS", "FAIL"))]
    by_pair, by_set = all(claims[:2]), all(claims[2:])
    assert [line["reached"] == "yes" for line in again.headlines(pairs)] == [by_set, by_pair]


def _of_ours(name="diabetes", stack=0.5, **gains):
    out = {f"ours, {key}": [-3.0 - 0.1, -3.0 + gain] for key, gain in gains.items()}
    return Pair.of(name, "OLS", (8, 16), [{NONE: [-3.0, -3.0], STACK: [-3.0 + stack] * 2, **out}])


@pytest.mark.parametrize(
    ("pairs", "told", "alone"),
    [
        ([{"GPC": 0.1, "beta": 0.2}, {"GPC": 0.3, "beta": -0.1}], ["PASS", "PASS"], "ours, GPC"),
        ([{"GPC": 0.1, "beta": -0.2}, {"GPC": -0.3, "beta": 0.1}], ["PASS", "PASS"], "none"),
        ([{"GPC": 0.1, "beta": 0.2}, {"GPC": -0.3, "beta": 0.0}], ["FAIL", "PASS"], "none"),
        ([{"GPC": 0.1, "beta": 0.2}, {"GPC": 0.6, "beta": 0.2}], ["PASS", "FAIL"], "ours, e-beta and ours, GPC"),
    ],
)
def test_what_is_claimed_of_ours(pairs, told, alone):
    made = [_of_ours(name, GPC=g["GPC"], **{"e-beta": g["beta"]}) for name, g in zip("ab", pairs, strict=True)]
    lines = list(ours.verdict(made))
    assert [line[:4] for line in lines if line[:4].strip()] == told * 2  # pair by pair, and of sets: a pair each
    assert f"      by itself on all: {alone}" in lines


def test_folds_of_ours_are_told_in_a_table_of_their_own(tmp_path, monkeypatch, capsys):
    cells = {"ours": {STACK: [-2.0, -2.0]}, "defaults": {"ours, e-beta": [-3.0, -2.5], "ours, GPC": [-3.5, -2.9]}}
    monkeypatch.setattr(command, "cell", lambda *task: {NONE: [-3.0, -3.0], **cells[task[4]]})
    given = ["--sets", "diabetes", "--bases", "OLS", "--thresholds", "8,16", "--jobs", "1", "--out", str(tmp_path)]
    code = command.main([*given, "--repeats", "1", "--folds", "2", "--part", "ours", "--part", "defaults"])
    assert code == 0 and not (tmp_path / "figure6.json").exists()
    assert read_result(tmp_path, "ours")["rows"][0]["folds"] == 2
    assert "16 ours, e-beta +0.500" in capsys.readouterr().out


def test_headlines_of_ours_tell_the_least():
    pairs = [_of_ours("a", GPC=0.1, **{"e-beta": 0.2}), _of_ours("b", stack=0.05, GPC=0.3, **{"e-beta": -0.1})]
    told = [(line["best"], line["reached"]) for line in ours.headlines(pairs)]
    assert told == [("2 of 2 pairs, least +0.200", "yes"), ("1 of 2 pairs, least -0.250", "**no**")]
