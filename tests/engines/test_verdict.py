"""The headline says what the numbers say."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant.engines.arrow import evaluate
from calibrant.engines.example import shop_forecasts
from calibrant.engines.result import Group
from calibrant.engines.sampling import Sample
from calibrant.engines.verdict import verdict
from calibrant.metrics.catalogue import Measured
from calibrant.tables.columns import Columns
from calibrant.tables.rows import TableRows


def table(**values: float) -> dict[str, Measured]:
    return {key: Measured(value, 0.1, value - 0.1, value + 0.1) for key, value in values.items()}


def test_laws() -> None:
    before, after = table(coverage_90=0.6, nll=2.5), table(coverage_90=0.9, nll=2.25)
    text = verdict("regression", {"none": before, "scale": after}, "scale", [])
    assert text.startswith("Your 90 % intervals contain 60 % of outcomes; after calibration 90 %. The NLL falls by ")
    assert text.endswith("falls by 0.250 nats, to 2.250.")
    same = verdict("regression", {"none": before, "scale": after}, "none", [])
    assert same == "Your 90 % intervals contain 60 % of outcomes; no calibrator makes these forecasts better."
    worse = verdict("regression", {"none": after, "scale": before}, "scale", [])
    assert worse.endswith("The NLL rises by 0.250 nats, to 2.500.")
    points = verdict("regression", {"residual": after}, "residual", [])
    assert points == "After calibration your predictions have 90 % intervals that contain 90 % of outcomes."
    far = verdict("regression", {"none": table(coverage_90=0.1, nll=123456.0), "scale": after}, "scale", [])
    assert "falls by 1.2e+05 nats, to 2.250" in far


def test_classes() -> None:
    before, after = table(ece=0.125, log_loss=0.7), table(ece=0.031, log_loss=0.5)
    text = verdict("classification", {"none": before, "platt": after}, "platt", [])
    assert text == (
        "Your probabilities are off by 12.5 percentage points on average; after calibration by 3.1. "
        "The log loss falls by 0.200 nats, to 0.500."
    )
    same = verdict("classification", {"none": before, "platt": after}, "none", [])
    assert same == "Your probabilities are off by 12.5 percentage points on average; no calibrator makes them better."
    margins = verdict("classification", {"platt": after}, "platt", [])
    assert margins == "After calibration your probabilities are off by 3.1 percentage points on average."


def test_the_example_has_the_faults_that_it_speaks_of() -> None:
    table = shop_forecasts()
    mu, sigma, sales = (table[name].to_numpy() for name in ("mu", "sigma", "sales"))
    shop, day = np.array(table["shop"].to_pylist()), (np.arange(900) // 3)
    z = (sales - mu) / sigma
    calm = (shop != "harbour") & (day < 200)
    assert z[calm].std() == pytest.approx(1.4, abs=0.1) and z[calm].mean() == pytest.approx(0, abs=0.15)
    assert (sales / mu)[shop == "harbour"].mean() == pytest.approx(1.1, abs=0.02)
    late = (shop != "harbour") & (day >= 200)
    assert z[late].std() / z[calm].std() == pytest.approx(1.5, abs=0.2)
    assert table.equals(shop_forecasts())


def test_the_report_finds_what_is_wrong_with_the_example() -> None:
    columns = Columns("normal", ("mu", "sigma"), target="sales", group=("shop",), time="day")
    found = evaluate(shop_forecasts(), columns, candidates="quick")
    before, after = (found.measures[stage]["coverage_90"] for stage in ("none", found.chosen))
    assert before.high < 0.72 and after.value > 0.84 and found.chosen.endswith(" by group")
    assert any(text.startswith("too narrow by 1.") for text in found.decision.causes)
    checks = {check.key: check for check in found.decision.checks}
    assert "shop = harbour" in checks["groups"].words and checks["drift"].status == "fail"
    gone = {group.name: (group.before["coverage_90"].high, group.after["coverage_90"].low) for group in found.groups}
    assert gone["shop = harbour"][0] < gone["shop = harbour"][1]


def test_pieces_without_rows_are_counted_as_read() -> None:
    sample = Sample(10)
    empty = TableRows([np.empty(0)], np.empty(0, dtype=np.intp), read=7)
    sample.add(empty)
    assert sample.seen == 0 and sample.read == 7 and not sample._pieces


def test_a_group_without_an_error_is_taken_at_its_word() -> None:
    assert Group("a", 10, {}, {}, harm=0.5).is_worse and not Group("a", 10, {}, {}).is_worse
    assert not Group("a", 10, {}, {}, harm=0.5, harm_error=0.25).is_worse


def test_the_season_of_the_example() -> None:
    table = shop_forecasts()
    mu, day = table["mu"].to_numpy()[::3], np.arange(300)  # of the first shop, which sells 120 on average
    workday = day % 7 < 5
    np.testing.assert_allclose(mu[workday], (120 + 24 * np.sin(2 * np.pi * day / 365))[workday], atol=0.006)
