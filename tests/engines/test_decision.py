"""What a report decides: severity, action, cost, caveats, checks with their thresholds."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import calibrant
from calibrant import Ensemble, Normal, PlattCalibrator, QuantileCalibrator, ResidualCalibrator, ScaleCalibrator
from calibrant.adapters.class_scores import as_scores
from calibrant.engines import Check, Decision, Result, analyse
from calibrant.engines.checks import Found, _chance_of_drift
from calibrant.engines.deciding import _changed
from calibrant.engines.fingerprint import fingerprint

SCALE = {"scale": ScaleCalibrator()}


def looked(n: int = 1200, spread: float = 1.0, bias: float = 0.0, seed: int = 0, **options) -> Result:
    rng = np.random.default_rng(seed)
    mu = 10 * rng.normal(size=n)
    return analyse(Normal(mu + bias, 1.0), mu + spread * rng.standard_normal(n), candidates=SCALE, cv=3, **options)


def status(result: Result) -> dict[str, str]:
    return {check.key: check.status for check in result.decision.checks}


def test_forecasts_that_are_right() -> None:
    found = looked()
    assert found.decision.severity == "good" and found.decision.worst == "pass"
    assert found.decision.causes == [] == found.decision.caveats and found.decision.cost == ""
    assert found.decision.action == "Use the forecasts as they are."
    assert list(status(found)) == ["rows", "coverage_90", "calibration", "tails", "bias", "conditional", "gain"]


def test_forecasts_that_are_half_as_wide() -> None:
    found = looked(spread=2.0)
    decision = found.decision
    assert decision.severity == "serious" and decision.worst == "fail"
    assert len(decision.causes) == 1 and decision.causes[0].startswith("too narrow by ")
    assert decision.sentence == "Your 90 % intervals contain 57 % of outcomes; after calibration 90 %."
    assert found.verdict.startswith(decision.sentence)
    assert decision.action.startswith("Calibrate with scale. The NLL falls by ")
    assert decision.cost.startswith("90 % intervals get 2.0× wider on average (3.3 → 6.")
    checks = {check.key: check for check in decision.checks}
    share = np.mean(np.abs(found.y - found.stages["none"].median()) <= 1.6448536)
    assert checks["coverage_90"].value == pytest.approx(0.9 - share, abs=1e-9)
    assert checks["coverage_90"].threshold == 0.02 and "(warns beyond 2, fails beyond 5" in checks["coverage_90"].words
    assert f"{100 * checks['calibration'].value:.1f} percentage points" in checks["calibration"].words
    squared = found.measures["none"]["calibration_error"].value
    assert f"(calibration error {squared:.2g})" in checks["calibration"].words
    assert status(found)["bias"] == "pass"
    before, after = (found.measures[name]["nll"].value for name in ("none", "scale"))
    assert checks["gain"].status == "fail" and checks["gain"].value == pytest.approx(before - after) and before > after


def test_minor_faults() -> None:
    found = looked(n=8000, spread=1.12)
    assert found.decision.severity == "minor" and status(found)["coverage_90"] == "warn"


def test_bias() -> None:
    found = looked(bias=0.5)
    assert status(found)["bias"] == "fail" and found.decision.causes[0].endswith("too high")


def test_calibrated_forecasts_pass_nearly_always() -> None:
    results = [looked(n, seed=seed) for n in (150, 1000) for seed in range(25)]
    assert np.mean([result.decision.worst != "pass" for result in results]) <= 0.12  # a dozen checks at about 1 %


def test_few_rows() -> None:
    few = looked(n=60)
    assert status(few)["rows"] == "warn" and few.decision.caveats[0].startswith("Few rows: with 60, less than 100")
    assert few.decision.severity == "good"
    assert status(looked(n=19))["rows"] == "fail"


def test_groups_and_drift() -> None:
    rng = np.random.default_rng(0)
    n = 3000
    group, day = np.array(["calm", "wild"])[rng.integers(2, size=n)], np.arange(n)
    spread = np.where(group == "wild", 1.6, 1.0)
    law = Normal(np.zeros(n), 1.0)
    found = analyse(law, spread * rng.standard_normal(n), candidates=SCALE, groups={"sea": group}, axis=day, cv=3)
    checks = {check.key: check for check in found.decision.checks}
    assert checks["groups"].status == "fail" and "rows of sea = wild" in checks["groups"].words
    assert checks["drift"].status == "pass" and len(found.over_time) == 12
    later = np.where(day < 2000, 1.0, 2.0) * rng.standard_normal(n)
    found = analyse(law, later, candidates=SCALE, axis=day, cv=3)
    assert status(found)["drift"] == "fail"
    assert any("changes with time" in text for text in found.decision.caveats)
    assert any("rows in time are learned from, not measured" in text for text in found.notes)
    first, last = found.over_time[0], found.over_time[-1]
    assert first.before.value == pytest.approx(0.9, abs=0.06) and last.before.value == pytest.approx(0.59, abs=0.09)
    assert first.by == "time" and last.high == n - 1 and first.low == 750  # a quarter is learned from


def test_calm_times_are_called_drift_once_in_a_hundred() -> None:
    rng = np.random.default_rng(0)
    rows = np.full(12, 100.0)
    drawn = (rng.random((3000, 12, 100)) < 0.9).mean(axis=2)
    values = (drawn - drawn.mean(axis=1, keepdims=True)) / 0.3
    found = np.mean([_chance_of_drift(rows, value) < 0.01 for value in values])
    assert 0.002 < found < 0.016


def test_bins_by_what_was_predicted() -> None:
    rng = np.random.default_rng(0)
    mu, scale = rng.normal(size=2000), rng.uniform(0.5, 2.0, 2000)
    real = np.where(mu > 0.84, 2.0, 1.0) * scale  # the upper fifth is twice as restless
    found = analyse(Normal(mu, scale), mu + real * rng.standard_normal(2000), candidates=SCALE, cv=3)
    level = [part for part in found.conditional if part.by == "level"]
    width = [part for part in found.conditional if part.by == "width"]
    assert len(level) == len(width) == 5 and sum(part.rows for part in level) == 2000
    assert level[-1].before.value < 0.65 < 0.87 < min(part.before.value for part in level[:4])
    assert all(a.high <= b.low for a, b in pairwise(level))
    assert status(found)["conditional"] == "fail"
    assert width[0].low == pytest.approx(2 * 1.6448536 * scale.min())


def test_classes() -> None:
    rng = np.random.default_rng(0)
    odds = rng.normal(0, 1.5, 2000)
    y = np.where(rng.random(2000) < 1 / (1 + np.exp(-odds)), "yes", "no")
    p = 1 / (1 + np.exp(-2.5 * odds))
    found = analyse(as_scores(p), y, candidates={"platt": PlattCalibrator()}, cv=3, axis=np.arange(2000))
    decision = found.decision
    assert decision.severity == "serious" and decision.causes[0].startswith("overconfident: log odds 2.")
    assert decision.cost.startswith("the likeliest class is given ") and found.conditional == []
    assert set(status(found)) == {"rows", "calibration", "bias", "drift", "gain"} and status(found)["bias"] == "pass"
    assert max(abs(part.before.value) for part in found.over_time) < 0.12
    for part in found.over_time:
        ends = part.before.value + 1.6448536 * part.before.error * np.array([-1, 1])
        assert [part.before.low, part.before.high] == pytest.approx(ends.tolist())
    right = analyse(as_scores(1 / (1 + np.exp(-odds))), y, candidates={"platt": PlattCalibrator()}, cv=3)
    assert right.decision.severity == "good" and right.chosen == "none" and right.decision.cost == ""


def test_points_have_no_causes() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=300)
    found = analyse(np.zeros(300), y, candidates={"residual": ResidualCalibrator()}, cv=3)
    assert found.decision.causes == [] and "gain" not in status(found)
    assert found.decision.cost.startswith("90 % intervals are 3.")


def test_a_gap_within_its_noise_passes() -> None:
    assert Found(0.08, 0.1, "x").check("k", "l", (0.02, 0.05)) == Check(
        "k", "l", "pass", 0.08, 0.02, "x, which is within its noise (warns beyond 2, fails beyond 5 percentage points)."
    )
    assert Found(0.03, 0.01, "x").check("k", "l", (0.02, 0.05)).status == "warn"
    assert Found(0.01, 0.001, "x").check("k", "l", (0.02, 0.05)).status == "pass"
    assert Decision("good", "", checks=[Found(0.08, 0.01, "x").check("k", "l", (0.02, 0.05))]).worst == "fail"


@pytest.mark.parametrize(
    ("after", "told"), [(10.05, "stay as wide"), (10.15, "wider"), (9.85, "narrower"), (9.95, "stay as wide")]
)
def test_one_percent_of_width_is_nothing(after: float, told: str) -> None:
    assert told in _changed(10.0, after)


def test_fingerprints() -> None:
    one, same, other = looked(n=100), looked(n=100), looked(n=100, seed=1)
    assert one.fingerprint == same.fingerprint != other.fingerprint and len(one.made) == 10
    draws = np.arange(6.0)
    assert fingerprint(Ensemble(draws.reshape(2, 3))) != fingerprint(Ensemble(draws.reshape(3, 2)))
    assert fingerprint([1.0, 2.0]) != fingerprint([2.0, 1.0]) and fingerprint([1.0]) == fingerprint((1.0,))
    assert fingerprint(1.0) != fingerprint(2.0) and fingerprint("1") != fingerprint(1)
    assert fingerprint(np.array(["a", "b"], dtype=object)) != fingerprint(np.array(["ab"], dtype=object))


def test_everything_goes_into_json() -> None:
    found = looked(n=300, spread=2.0, groups=np.arange(300) % 2, axis=np.datetime64("2024-01-01") + np.arange(300))
    plain = json.loads(found.to_json())
    assert plain["decision"]["checks"][0]["key"] == "rows" and plain["decision"]["worst"] == "fail"
    assert plain["worst"][0]["time"].startswith("2024-") and plain["worst"][0]["group"] in ("0", "1")
    assert plain["over_time"][0]["low"] >= 1704067200 and plain["fingerprint"] == found.fingerprint
    broken = replace(found, worst=[replace(found.worst[0], loss_before=np.inf)])
    assert json.loads(broken.to_json())["worst"][0]["loss_before"] is None


# ---- calibrant.report ----
def test_report_in_python(tmp_path, monkeypatch) -> None:
    rng = np.random.default_rng(0)
    mu, noise = rng.normal(size=(2, 200))
    path = tmp_path / "page.html"
    names = [f"row {i}" for i in range(200)]
    found = calibrant.report(Normal(mu, 0.5), mu + noise, path, ids=names, candidates="quick")
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>") and path.stat().st_size > 10_000
    assert json.loads((tmp_path / "page.json").read_text())["chosen"] == found.chosen == "scale"
    assert found.worst[0].id == f"row {found.worst[0].row}" and "quick" in found.notes[-1]
    monkeypatch.setattr("calibrant.report.page.render", lambda result: "new")
    calibrant.report(Normal(mu, 0.5), mu + noise, path, candidates="quick")
    assert path.read_text(encoding="utf-8") == "new"  # an older one is replaced
    (tmp_path / "page.json").write_text('{"mine": 1}')
    with pytest.raises(FileExistsError, match="no report of calibrant's"):
        calibrant.report(Normal(mu, 0.5), mu + noise, path, candidates="quick")
    with pytest.raises(ValueError, match="`ids` must have one entry per forecast; got 2 for 200"):
        calibrant.report(Normal(mu, 0.5), mu + noise, ids=[1, 2])
    with pytest.raises(ValueError, match="`candidates` must be one of 'quick'; got 'slow'"):
        calibrant.report(Normal(mu, 0.5), mu + noise, candidates="slow")


def test_report_reads_what_people_have() -> None:
    rng = np.random.default_rng(0)
    mu, noise = rng.normal(size=(2, 200))
    y = mu + noise
    assert calibrant.report(mu, y, candidates="quick").chosen == "residual"
    assert calibrant.report((mu, np.full(200, 0.5)), y, candidates="quick").task == "regression"
    p = 1 / (1 + np.exp(-mu))
    assert calibrant.report(p, rng.random(200) < p, candidates="quick").task == "classification"
    every = calibrant.report(Normal(mu, 0.5), y, candidates=[QuantileCalibrator()])
    assert list(every.stages) == ["none", "QuantileCalibrator"] and len(every.notes) == 0
