"""The headline says what the numbers say."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import BayesianRidge
from sklearn.model_selection import KFold, cross_val_predict

from calibrant.engines.example import diabetes_forecasts
from calibrant.engines.result import Group
from calibrant.engines.sampling import Sample
from calibrant.engines.verdict import verdict
from calibrant.metrics.catalogue import Measured
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


def test_the_example_is_forecast_by_models_that_have_not_seen_it() -> None:
    found, (X, y) = diabetes_forecasts(), load_diabetes(return_X_y=True)
    expected = cross_val_predict(BayesianRidge(), X, y, cv=KFold(10, shuffle=True, random_state=0))
    np.testing.assert_allclose(found["mu"].to_numpy(), expected, atol=0.0051)  # rounded to two digits
    np.testing.assert_array_equal(found["y"].to_numpy(), y)
    assert 50 < found["sigma"].to_numpy().min() < found["sigma"].to_numpy().max() < 65
    sexes = load_diabetes(scaled=False).data[:, 1]
    assert found["sex"].to_pylist() == [str(int(sex)) for sex in sexes]


def test_the_example_has_three_ages() -> None:
    ages, years = diabetes_forecasts()["age"].to_pylist(), load_diabetes(scaled=False).data[:, 0]
    assert ages.count("under 40") == np.sum(years <= 39) and ages.count("60 and over") == np.sum(years >= 60)
    assert ages.count("40 to 59") == np.sum((years >= 40) & (years <= 59)) > 200


def test_pieces_without_rows_are_counted_as_read() -> None:
    sample = Sample(10)
    empty = TableRows([np.empty(0)], np.empty(0, dtype=np.intp), read=7)
    sample.add(empty)
    assert sample.seen == 0 and sample.read == 7 and not sample._pieces


def test_a_group_without_an_error_is_taken_at_its_word() -> None:
    assert Group("a", 10, {}, {}, harm=0.5).is_worse and not Group("a", 10, {}, {}).is_worse
    assert not Group("a", 10, {}, {}, harm=0.5, harm_error=0.25).is_worse
