"""Point predictions in one table."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant import Normal, PointCalibrator, metrics


@pytest.fixture
def case(rng):
    point = rng.uniform(1, 9, 500)
    return 1 + 1.5 * point + rng.normal(0, 0.3, 500), point


def test_values_are_those_of_the_measures(case):
    y, point = case
    overall = metrics.point_summary(y, point).overall
    expected = {
        "mean_error": metrics.mean_error(y, point),
        "standard_error": np.std(point - y, ddof=1) / np.sqrt(500),
        "mean_ratio": metrics.mean_ratio(y, point),
        "mae": metrics.mae(y, point),
        "rmse": np.sqrt(metrics.mse(y, point)),
        "relative_mse": metrics.relative_mse(y, point),
    }
    assert list(overall) == list(expected)
    assert dict(overall) == pytest.approx(expected, rel=1e-10)


def test_deciles_by_hand(case):
    y, point = case
    table = metrics.point_summary(y, point).along[""]
    assert list(table) == [str(k) for k in range(1, 11)]
    for k, mine in enumerate(np.array_split(np.argsort(point), 10)):
        line = table[str(k + 1)]
        assert line["rows"] == 50
        assert line["mean_predicted"] == pytest.approx(point[mine].mean())
        assert line["mean_actual"] == pytest.approx(y[mine].mean())
        assert line["mean_error"] == pytest.approx((point - y)[mine].mean())
        assert line["standard_error"] == pytest.approx((point - y)[mine].std(ddof=1) / np.sqrt(50))
        assert line["mean_ratio"] == pytest.approx((point / y)[mine].mean())
        assert line["mae"] == pytest.approx(np.abs(point - y)[mine].mean())


def test_along_the_outcomes(case):
    y, point = case
    table = metrics.point_summary(y, {"as it is": point}, by="actual", n_bins=5)
    assert "as it is, along the outcomes" in str(table).splitlines() and table.by == "actual"
    assert "along the outcomes" in str(metrics.point_summary(y, point, by="actual"))
    for k, mine in enumerate(np.array_split(np.argsort(y), 5)):
        assert table.along["as it is"][str(k + 1)]["mean_actual"] == pytest.approx(y[mine].mean())
        assert table.along["as it is"][str(k + 1)]["mean_error"] == pytest.approx((point - y)[mine].mean())
    with pytest.raises(ValueError, match="`by` must be one of 'predicted', 'actual'; got 'y'"):
        metrics.point_summary(y, point, by="y")


def test_each_reading_of_calibration_is_right_along_its_own_side(rng):
    """Predictions of E(y | x) have no error along themselves, those of "inverse" none along the outcomes."""
    signal = rng.normal(10, 2, 40_000)
    y = signal + rng.normal(0, 2, 40_000)
    lines = {by: metrics.point_summary(y, signal, by=by).along[""] for by in ("predicted", "actual")}
    own, other = ([line["mean_error"] for line in lines[by].values()] for by in lines)
    assert np.abs(own).max() < 0.12 and other[0] > 2 and other[-1] < -2 and np.all(np.diff(other) < 0)
    inverse = PointCalibrator("inverse").fit(signal, y).transform(signal)
    along = metrics.point_summary(y, inverse, by="actual").along[""]
    assert np.abs([line["mean_error"] for line in along.values()]).max() < 0.15


def test_before_and_after_side_by_side(case):
    y, point = case
    table = metrics.point_summary(y, {"before": point, "after": Normal(1 + 1.5 * point, 2.0)}, n_bins=4)
    assert table.overall["mean_error"]["before"] == pytest.approx(metrics.mean_error(y, point))
    assert abs(table.overall["mean_error"]["after"]) < 3 * table.overall["standard_error"]["after"]
    errors = [line["mean_error"] for line in table.along["before"].values()]
    assert np.all(np.diff(errors) < 0) and len(errors) == 4
    text = str(table).splitlines()
    assert text[0].split() == ["before", "after"] and text[8] == "before, along its predictions"
    assert repr(table) == str(table)


def test_weights_are_frequencies(case, rng):
    (y, point), w = case, rng.integers(0, 4, 500)
    weighted = metrics.point_summary(y, point.round(1), sample_weight=w)
    repeated = metrics.point_summary(np.repeat(y, w), np.repeat(point.round(1), w))
    assert dict(weighted.overall) == pytest.approx(dict(repeated.overall), rel=1e-9)
    for label, line in weighted.along[""].items():
        assert line == pytest.approx(repeated.along[""][label], rel=1e-9)


def test_what_cannot_be_computed_is_missing_with_the_reason():
    table = metrics.point_summary([0.0, 0.0, 2.0], [1.0, 1.0, 3.0], n_bins=2)
    assert np.isnan(table.overall["mean_ratio"]) and "away from 0" in table.overall.notes["mean_ratio"]
    assert table.along[""]["2"]["mean_ratio"] == 1.5 and np.isnan(table.along[""]["1"]["mean_ratio"])
    assert np.isnan(table.along[""]["2"]["standard_error"])  # of one row
    assert "mean_ratio: `y_true` must be away from 0" in str(table)
    assert np.isnan(metrics.point_summary([1.0], [2.0]).overall["relative_mse"])


def test_bad_input():
    with pytest.raises(ValueError, match="`n_bins` must be a whole number of at least 1; got 0"):
        metrics.point_summary([1.0], [1.0], n_bins=0)
    with pytest.raises(ValueError, match="`y_pred` must have at least one model"):
        metrics.point_summary([1.0], {})
    with pytest.raises(ValueError, match="`y_true` must have one entry per forecast; got 2 for 1"):
        metrics.point_summary([1.0, 2.0], {"a": [1.0]})
