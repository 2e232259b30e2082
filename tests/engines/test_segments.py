"""Where forecasts are wrong, in results and on the page."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import calibrant
from calibrant import Normal, QuantileCalibrator, find_segments, metrics
from calibrant.engines import analyse
from calibrant.report.page import Page

EVIL = "<script>alert('x')</script>"


@pytest.fixture(scope="module")
def found():
    """Forecasts too narrow where a category with an odd name meets large numbers."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"region": rng.choice([EVIL, "south"], 2000), "price": rng.uniform(0, 20, 2000)})
    mean = rng.normal(size=2000)
    y = mean + np.where((X["region"] == EVIL) & (X["price"] > 10), 2.5, 1.0) * rng.normal(size=2000)
    return analyse(Normal(mean, 1.0), y, candidates={"quantile": QuantileCalibrator()}, X=X)


def test_before_and_after(found):
    (one,) = found.segments
    assert EVIL in one.name and "price > " in one.name and "times too narrow" in one.fault_before
    law, after = found.stages["none"], found.stages["quantile"]
    again = find_segments(found.y, law, found.features)
    (rows,) = again.measured_in(found.features)
    assert one.name == again[0].name and one.rows == len(rows) and one.share == pytest.approx(len(rows) / 1000)
    assert one.before.value == pytest.approx(metrics.coverage(found.y[rows], law[rows], coverage=0.9))
    assert one.after.value == pytest.approx(metrics.coverage(found.y[rows], after[rows], coverage=0.9))
    assert one.before.value < one.after.value < 0.9  # one map for all mends a part
    told = json.loads(found.to_json())["segments"][0]
    assert told["name"] == one.name and told["before"][0] == pytest.approx(one.before.value)


def test_on_the_page(found):
    section = Page(found)._segments()
    assert "<script>" not in section and "times too narrow" in section and "<svg" in section
    assert "in 90 % intervals, before" in section and "in 90 % intervals, after" in section


def test_nothing_wrong_and_no_features():
    rng = np.random.default_rng(0)
    mean, noise = rng.normal(size=(2, 400))
    options = {"candidates": {"quantile": QuantileCalibrator()}}
    plain = analyse(Normal(mean, 1.0), mean + noise, **options)
    assert plain.segments == [] and Page(plain)._segments() == ""
    beside = analyse(Normal(mean, 1.0), mean + noise, X=rng.normal(size=(400, 2)), **options)
    assert beside.segments == [] and "No segment of the features" in Page(beside)._segments()


def test_classes_and_points():
    rng = np.random.default_rng(1)
    X, p = rng.choice(["north", "south"], (1000, 1)), rng.beta(2, 2, 1000)
    y = rng.random(1000) < np.where(X[:, 0] == "south", 0.5 * p, p)
    result = calibrant.report(p, y, X=X, candidates="quick")
    (one,) = result.segments
    assert one.name == "x0 = south" and "points too high" in one.fault_before
    assert one.before.value < one.after.value < 0 and "came more often, before" in Page(result)._segments()
    points = rng.normal(size=1000)
    y = points + np.where(X[:, 0] == "south", 2.0, 0.5) * rng.normal(size=1000)
    page = Page(calibrant.report(points, y, X=X, candidates="quick"))._segments()
    assert "in 90 % intervals, after" in page and "in 90 % intervals, before" not in page
