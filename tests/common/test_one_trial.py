"""What two commands say of one table they say alike: numbers and choice of `compare` and `report`."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from calibrant import BoostedCalibrator, IsotonicCalibrator, Normal, ScaleCalibrator, metrics
from calibrant.engines import analyse
from calibrant.engines.result import Group
from calibrant.engines.verdict import verdict
from calibrant.metrics.catalogue import Measured
from calibrant.select import compare
from calibrant.select.candidates import METHODS
from calibrant.select.trial import Trial
from tests.common.test_commands import ROWS, _run, classes, laws


def _quantiles(frame: pd.DataFrame) -> pd.DataFrame:
    for level, z in (("q10", -1.2816), ("q50", 0.0), ("q90", 1.2816)):
        frame[level] = frame["mu"] + z * frame["sigma"]
    return frame.drop(columns=["mu", "sigma"])


def _with_a_tie(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(q50=frame["q50"].where(frame.index > 0, frame["q10"]))


def _rounded(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(p_yes=frame["p_yes"].round(1), p_no=1 - frame["p_yes"].round(1))


def _thrice(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([frame] * 3, ignore_index=True)


THREE = ["small", "medium", "large"]
NORMAL, CLASS = ["-m", "scale", "-m", "quantile"], ["-m", "platt", "-m", "isotonic"]
TABLES = {
    "laws": (lambda: laws(), NORMAL),
    "laws, few": (lambda: laws(60), NORMAL),
    "laws, each row three times": (lambda: _thrice(laws(200)), NORMAL),
    "laws, weights": (lambda: laws(), [*NORMAL, "--weight", "w"]),
    "laws, groups": (lambda: laws(), [*NORMAL, "--group", "shop"]),
    "laws, groups and weights": (lambda: laws(), [*NORMAL, "--group", "shop", "--weight", "w"]),
    "laws, time": (lambda: laws().assign(day=np.arange(ROWS) // 7), [*NORMAL, "--time", "day"]),
    "laws, time and groups": (
        lambda: laws().assign(day=np.arange(ROWS) // 7),
        [*NORMAL, "--time", "day", "--group", "shop"],
    ),
    "laws, rounded": (lambda: laws().round(1).assign(sigma=1.0), NORMAL),
    "laws, missing outcomes": (lambda: laws().assign(y=lambda f: f["y"].where(f.index % 5 > 0)), NORMAL),
    "quantiles": (lambda: _quantiles(laws()), NORMAL),
    "quantiles, one row tied": (lambda: _with_a_tie(_quantiles(laws())), NORMAL),
    "quantiles, three times": (lambda: _thrice(_quantiles(laws(150))), NORMAL),
    "laws, features": (lambda: laws(160), ["-m", "scale", "-m", "boosted", "--feature", "shop"]),
    "points": (lambda: laws(), ["--point", "mu", "-m", "residual"]),
    "two classes": (lambda: classes(["yes", "no"]), CLASS),
    "three classes": (lambda: classes(THREE), CLASS),
    "classes, three times": (lambda: _thrice(classes(THREE, 200)), CLASS),
    "classes, few values": (lambda: _rounded(classes(["yes", "no"])), CLASS),
    "classes, groups": (lambda: classes(THREE), [*CLASS, "--group", "shop"]),
    "classes, weights and time": (
        lambda: classes(THREE).assign(w=np.arange(ROWS) % 3 + 1, day=np.arange(ROWS) // 5),
        [*CLASS, "--weight", "w", "--time", "day"],
    ),
    "classes, one without rows": (lambda: classes(THREE).query("y != 'medium'"), CLASS),
}


@pytest.mark.parametrize("name", TABLES)
def test_compare_and_report_agree(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("calibrant.report.page.render", lambda result: "")  # pictures are tried elsewhere
    monkeypatch.setattr("calibrant.metrics.catalogue.RESAMPLES", 10)  # and how good intervals are
    few = replace(METHODS["distributions"]["boosted"], make=partial(BoostedCalibrator, 20, rate=0.15))
    monkeypatch.setitem(METHODS["distributions"], "boosted", few)
    make, options = TABLES[name]
    make().to_parquet("t.parquet")
    compared = json.loads(_run("compare", "t.parquet", "--json", *options))
    reported = json.loads(_run("report", "t.parquet", "--json", "-o", "r.html", *options))
    assert compared["chosen"] == reported["chosen"]
    assert list(compared["measures"]) == list(reported["measures"])
    for stage, table in compared["measures"].items():
        for key, values in table.items():
            assert reported["measures"][stage][key] == pytest.approx(values[:3], nan_ok=True), (stage, key)


def test_copies_of_a_row_are_on_one_side() -> None:
    frame = _thrice(laws(100))
    trial = Trial.of(_normal(frame), frame["y"])
    assert len(trial) == 100 and (trial.weights == 3).all()
    splitter = _FirstRows()
    given = Trial.of(_normal(frame), frame["y"], cv=splitter)
    ((train, test),) = given.splits
    assert len(test) == 30 and len(train) == 300 - 3 * 30
    assert not set(frame["y"].to_numpy()[train]) & set(frame["y"].to_numpy()[test])


def test_scores_with_few_values_are_no_copies() -> None:
    """Eight leaves of a tree: isotonic regression is seen to mend them, as on fresh rows."""
    rng = np.random.default_rng(0)
    leaf = rng.integers(0, 8, 8000)
    y = rng.random(8000) < np.linspace(0.1, 0.8, 8)[leaf]
    said = np.array([0.02, 0.05, 0.1, 0.3, 0.6, 0.85, 0.95, 0.99])[leaf]
    found = compare(said[:4000], y[:4000], {"isotonic": IsotonicCalibrator()})
    fresh = metrics.log_loss(y[4000:], IsotonicCalibrator().fit(said[:4000], y[:4000]).transform(said[4000:]))
    assert found.chosen == "isotonic"
    assert found.loss[1] == pytest.approx(fresh, abs=0.02)


def test_time_is_never_learned_from_later_rows() -> None:
    frame = laws(300).assign(day=np.random.default_rng(0).permutation(300) // 4)
    trial = Trial.of(_normal(frame), frame["y"], time=frame["day"])
    when = np.asarray(trial.time)
    for train, test in trial.splits:
        assert when[train].max() < when[test].min()
        assert not set(train) & set(test)


def test_one_a_group_competes() -> None:
    """One correction for all would widen the shop that was right."""
    frame = laws(3000)
    one = analyse(_normal(frame), frame["y"], candidates={"scale": ScaleCalibrator()})
    both = analyse(_normal(frame), frame["y"], candidates={"scale": ScaleCalibrator()}, groups=frame["shop"])
    assert one.chosen == "scale" and both.chosen == "scale by group"
    assert not any(group.is_worse for group in both.groups)
    loss = dict(zip(both.comparison.names, both.comparison.loss, strict=True))
    assert loss["scale by group"] < loss["scale"] < loss["none"]
    before = {group.name: group.before["coverage_90"].value for group in both.groups}
    after = {group.name: group.after["coverage_90"].value for group in both.groups}
    assert before["north"] < 0.65 and before["south"] == pytest.approx(0.9, abs=0.02)  # not the other way round
    assert all(share == pytest.approx(0.9, abs=0.025) for share in after.values())


def test_the_verdict_names_groups_made_worse() -> None:
    def table(nll: float, coverage: float) -> dict[str, Measured]:
        return {"nll": Measured(nll, 0.1, nll, nll), "coverage_90": Measured(coverage, 0.01, coverage, coverage)}

    measures = {"none": table(3.6, 0.8), "scale": table(3.5, 0.9)}
    groups = [
        Group("north", 100, table(3.63, 0.6), table(3.2, 0.9), -0.43, 0.1),
        Group("south", 100, table(3.57, 0.97), table(3.82, 0.998), 0.25, 0.05),
        Group("west", 100, table(3.57, 0.97), table(3.58, 0.97), 0.01, 0.05),  # noise
    ]
    text = verdict("regression", measures, "scale", groups)
    assert text.endswith("It makes 1 of 3 groups worse: south (NLL 3.570 → 3.820).")


def _normal(frame: pd.DataFrame):

    return Normal(frame["mu"].to_numpy(), frame["sigma"].to_numpy())


class _FirstRows:
    def split(self, X, y=None, groups=None):
        yield np.arange(30, len(X)), np.arange(30)
