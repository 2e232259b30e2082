from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from calibrant import Normal, metrics
from calibrant.displays import PointCalibrationDisplay
from calibrant.regression.points.calibrator import PointCalibrator


@pytest.fixture
def case(rng):
    predicted = rng.uniform(1, 9, 500)
    return 1 + predicted + np.sin(predicted) + rng.normal(0, 0.3, 500), predicted


@pytest.mark.parametrize("method", ["local", "linear", "isotonic", "ratio"])
def test_the_curve_is_the_calibrators(method, case) -> None:
    y, predicted = case
    display = PointCalibrationDisplay.from_predictions(y, predicted, method=method)
    expected = PointCalibrator(method).fit(predicted, y).transform(display.curve_predicted)
    np.testing.assert_allclose(display.curve_real, expected)
    assert display.curve_predicted[0] == predicted.min() and display.curve_predicted[-1] == predicted.max()
    assert display.mean_error == pytest.approx(metrics.mean_error(y, predicted))
    assert display.relative_mse == pytest.approx(metrics.relative_mse(y, predicted))
    assert display.standard_error == pytest.approx(np.std(y - predicted, ddof=1) / np.sqrt(500))


def test_calibration_moves_the_curve_to_the_diagonal(case) -> None:
    y, predicted = case
    before = PointCalibrationDisplay.from_predictions(y, predicted)
    after = PointCalibrationDisplay.from_predictions(y, PointCalibrator("local").fit(predicted, y).transform(predicted))
    inner = slice(10, -10)
    assert np.abs(after.curve_real - after.curve_predicted)[inner].max() < 0.3
    assert np.abs(before.curve_real - before.curve_predicted)[inner].max() > 1.5
    assert after.mean_error == pytest.approx(0, abs=1e-9)


def test_weights_are_frequencies_and_laws_have_means(case, rng) -> None:
    (y, predicted), w = case, rng.integers(0, 3, 500)
    weighted = PointCalibrationDisplay.from_predictions(y, Normal(predicted, 2.0), sample_weight=w)
    repeated = PointCalibrationDisplay.from_predictions(np.repeat(y, w), np.repeat(predicted, w))
    np.testing.assert_allclose(weighted.curve_real, repeated.curve_real)
    assert weighted.mean_error == pytest.approx(repeated.mean_error)
    assert weighted.standard_error == pytest.approx(repeated.standard_error)


def test_many_rows_are_thinned_the_same_way_every_time(rng) -> None:
    predicted, w = rng.normal(size=10_000), rng.integers(0, 2, 10_000)
    y = predicted + rng.normal(size=10_000)
    for weight in (None, w):
        first, again = (PointCalibrationDisplay.from_predictions(y, predicted, sample_weight=weight) for _ in range(2))
        assert len(first.real) == 2000
        np.testing.assert_array_equal(first.real, again.real)
        pairs = set(zip(predicted.tolist(), y.tolist(), strict=True))
        assert set(zip(first.predicted.tolist(), first.real.tolist(), strict=True)) <= pairs


def test_plot_draws_what_was_computed(case) -> None:
    y, predicted = case
    display = PointCalibrationDisplay.from_predictions(y, predicted, name="before").plot()
    curve = np.column_stack([display.curve_predicted, display.curve_real])
    np.testing.assert_array_equal(display.line_.get_xydata(), curve)
    np.testing.assert_array_equal(display.points_.get_offsets(), np.column_stack([predicted, y]))
    assert display.diagonal_ is not None and display.diagonal_.get_slope() == 1
    label = display.ax_.get_legend().get_texts()[0].get_text()
    assert label == f"before: mean error {display.mean_error:.3g} ± {display.standard_error:.2g}"
    after = PointCalibrationDisplay.from_predictions(y, predicted + 1).plot(ax=display.ax_, name="after", linestyle=":")
    assert after.diagonal_ is None and after.line_.get_linestyle() == ":"
    assert after.line_.get_color() != display.line_.get_color() and len(display.ax_.collections) == 2


def test_from_estimator(case) -> None:
    y, predicted = case
    model = LinearRegression().fit(predicted[:, None], y)
    display = PointCalibrationDisplay.from_estimator(model, predicted[:, None], y, method="linear")
    np.testing.assert_allclose(display.curve_real, display.curve_predicted)
    assert display.name == "LinearRegression"


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="`method` must be one of 'linear', .*'inverse'; got 'cubic'"):
        PointCalibrationDisplay.from_predictions([1.0], [1.0], method="cubic")
    with pytest.raises(ValueError, match="`y_true` must have one entry per forecast; got 1 for 2"):
        PointCalibrationDisplay.from_predictions([1.0], [1.0, 2.0])
