from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

from calibrant import Normal, Poisson, metrics
from calibrant.displays import CalibrationCurveDisplay

Y = [-1.0, 0.0, 3.0, 0.1]
LAW = Normal([0.0] * 4, 1.0)


def test_the_curve_is_the_ecdf_of_the_pit_values() -> None:
    display = CalibrationCurveDisplay.from_predictions(Y, LAW)
    p = np.sort(LAW.cdf(np.array(Y)))
    np.testing.assert_allclose(display.levels, [0, p[0], p[0], p[1], p[1], p[2], p[2], p[3], p[3], 1])
    np.testing.assert_allclose(display.observed, [0, 0, 0.25, 0.25, 0.5, 0.5, 0.75, 0.75, 1, 1])
    assert display.error == metrics.calibration_error(Y, LAW)
    assert display.floor == pytest.approx(1.65 / 4)


def test_perfect_forecasters_stay_in_the_band_as_often_as_promised(rng: np.random.Generator) -> None:
    draws, n, inside = 2000, 60, 0
    for _ in range(draws):
        mean = rng.normal(size=n)
        display = CalibrationCurveDisplay.from_predictions(mean + 2 * rng.normal(size=n), Normal(mean, 2.0))
        inside += _is_inside(display)
    assert inside / draws == pytest.approx(0.95, abs=0.015)  # 3 standard errors


def test_overconfident_forecasters_leave_the_band(rng: np.random.Generator) -> None:
    display = CalibrationCurveDisplay.from_predictions(rng.normal(size=300), Normal(np.zeros(300), 0.5))
    assert not _is_inside(display)
    assert np.interp(0.1, display.levels, display.observed) > np.interp(0.1, display.band_levels, display.band_high)
    assert np.interp(0.9, display.levels, display.observed) < np.interp(0.9, display.band_levels, display.band_low)


def test_many_rows_are_thinned_without_moving_the_curve(rng: np.random.Generator) -> None:
    y, law = rng.normal(size=50_000), Normal(np.zeros(50_000), 1.3)
    display = CalibrationCurveDisplay.from_predictions(y, law)
    assert len(display.levels) < 3000
    grid = np.linspace(0.01, 0.99, 99)
    _, observed = metrics.calibration_curve(y, law, levels=grid)
    np.testing.assert_allclose(np.interp(grid, display.levels, display.observed), observed, atol=5e-4)


def test_weights_are_frequencies() -> None:
    weighted = CalibrationCurveDisplay.from_predictions(Y, LAW, sample_weight=[1, 2, 0, 3])
    rows = [0, 1, 1, 3, 3, 3]
    repeated = CalibrationCurveDisplay.from_predictions(np.array(Y)[rows], LAW[rows])
    grid = np.linspace(0.005, 0.995, 100)
    np.testing.assert_allclose(
        np.interp(grid, weighted.levels, weighted.observed), np.interp(grid, repeated.levels, repeated.observed)
    )
    np.testing.assert_array_equal(weighted.band_high, repeated.band_high)
    assert weighted.error == pytest.approx(repeated.error) and weighted.floor == pytest.approx(repeated.floor)


def test_atoms_count_with_the_share_of_their_interval() -> None:
    display = CalibrationCurveDisplay.from_predictions([0, 0], Poisson([1.0, 1.0]))
    observed = np.interp([0.1, 0.3, 0.5], display.levels, display.observed)
    np.testing.assert_allclose(observed, [0.1 * np.e, 0.3 * np.e, 1.0])  # P(Y = 0) = 1/e


def test_plot_draws_what_was_computed() -> None:
    display = CalibrationCurveDisplay.from_predictions(Y, LAW, name="ridge")
    assert display.plot() is display
    np.testing.assert_array_equal(display.line_.get_xydata(), np.column_stack([display.levels, display.observed]))
    assert display.diagonal_ is not None and display.band_ is not None
    corners = display.band_.get_paths()[0].vertices
    assert corners[:, 1].max() == 1 and display.band_high[3] in corners[:, 1] and display.band_low[3] in corners[:, 1]
    assert display.figure_ is display.ax_.figure
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == [
        "95 % of perfect forecasters, n = 4",
        f"ridge: error {display.error:.3f}, floor {display.floor:.3f}",
    ]


def test_two_curves_share_diagonal_and_band() -> None:
    first = CalibrationCurveDisplay.from_predictions(Y, LAW).plot(name="before")
    second = CalibrationCurveDisplay.from_predictions(Y, Normal([0.0] * 4, 2.0)).plot(ax=first.ax_, linestyle="--")
    assert second.ax_ is first.ax_ and second.diagonal_ is None and second.band_ is None
    assert first.line_.get_color() != second.line_.get_color() and second.line_.get_linestyle() == "--"
    assert len(first.ax_.lines) == 3 and len(first.ax_.collections) == 1
    third = CalibrationCurveDisplay.from_predictions(Y[1:], LAW[1:]).plot(ax=first.ax_)  # another n, another band
    assert third.diagonal_ is None and third.band_ is not None and len(first.ax_.collections) == 2


def test_given_axes_are_used_and_no_figure_is_made() -> None:
    figure, axes = plt.subplots(1, 2)
    before = plt.get_fignums()
    display = CalibrationCurveDisplay.from_predictions(Y, LAW).plot(ax=axes[1])
    assert display.ax_ is axes[1] and display.figure_ is figure and not axes[0].lines
    assert plt.get_fignums() == before and plt.gca() is axes[1]


def test_from_estimator(forecaster: Any) -> None:
    X = np.column_stack([np.zeros(4), np.ones(4)])
    display = CalibrationCurveDisplay.from_estimator(forecaster, X, Y, coverage=0.9)
    assert display.error == metrics.calibration_error(Y, LAW)
    assert display.name == "Forecaster" and display.coverage == 0.9
    with pytest.raises(TypeError, match=r"`model` must have predict_dist; object does not. Wrap it: Calibrated"):
        CalibrationCurveDisplay.from_estimator(object(), X, Y)


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="`y_true` must have one entry per forecast; got 3 for 4 forecasts"):
        CalibrationCurveDisplay.from_predictions(Y[:3], LAW)
    with pytest.raises(ValueError, match="`coverage` must be strictly between 0 and 1.*Percent"):
        CalibrationCurveDisplay.from_predictions(Y, LAW, coverage=95)


def _is_inside(display: CalibrationCurveDisplay) -> bool:
    low = np.interp(display.levels, display.band_levels, display.band_low)
    high = np.interp(display.levels, display.band_levels, display.band_high)
    return bool(np.all((low <= display.observed + 1e-12) & (display.observed <= high + 1e-12)))
