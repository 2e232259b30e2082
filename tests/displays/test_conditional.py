"""Pictures of what happens to single forecasts and at single thresholds."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from calibrant import Normal, metrics
from calibrant.displays import (
    CalibrationMapDisplay,
    DensityDisplay,
    SingleForecastDisplay,
    ThresholdMapDisplay,
    ThresholdReliabilityDisplay,
)
from calibrant.regression.gpc import GPCCalibrator

LAW = Normal([0.0, 5.0, 1.0], [1.0, 2.0, 1.0])


def test_map_of_a_wider_law() -> None:
    display = CalibrationMapDisplay.from_forecasts(LAW, Normal(LAW.loc, 2 * LAW.scale), rows=[1])
    z = np.linspace(-3.5, 3.5, 201)
    np.testing.assert_allclose(display.before[0], ndtr(z))
    np.testing.assert_allclose(display.after[0], ndtr(z / 2))
    display.plot(name="wider")
    np.testing.assert_allclose(display.lines_[0].get_xydata(), np.column_stack([ndtr(z), ndtr(z / 2)]))
    assert display.ax_.get_title() == "wider"


def test_map_rows_are_spread_over_the_medians() -> None:
    law = Normal(np.array([3.0, 1.0, 2.0, 5.0, 4.0]), 1.0)
    wider = Normal(law.loc, law.scale * (1 + law.loc))
    assert CalibrationMapDisplay.from_forecasts(law, wider, rows=3).medians.tolist() == [1.0, 3.0, 5.0]
    same = CalibrationMapDisplay.from_forecasts(law, law, rows=3)
    assert same.shared and len(same.rows) == 1
    assert same.plot().lines_[0].get_label() == "all forecasts"
    assert not CalibrationMapDisplay.from_forecasts(law, law, rows=[0, 1]).shared  # asked for by number
    with pytest.raises(ValueError, match="one forecast per forecast before; got 3 for 5"):
        CalibrationMapDisplay.from_forecasts(law, LAW)
    with pytest.raises(ValueError, match="`rows` must be a whole number of at least 1"):
        CalibrationMapDisplay.from_forecasts(law, law, rows=0)


def test_map_of_a_model() -> None:
    class Model:
        def predict_dist(self, X: Any, *, calibrated: bool = True) -> Normal:
            return Normal(X, 2.0 if calibrated else 1.0)

    display = CalibrationMapDisplay.from_estimator(Model(), np.array([0.0, 5.0]), rows=[0])
    np.testing.assert_allclose(display.after[0], ndtr(ndtri(display.before[0]) / 2))
    assert display.name == "Model"


@pytest.mark.parametrize("what", ["pdf", "cdf"])
def test_density_values(what: Any) -> None:
    display = DensityDisplay.from_predictions(
        [0.0, 4.0, 1.0], LAW, x=[2.0, 1.0, 3.0], what=what, levels=[-1.0, 0.0, 4.0]
    )
    assert display.x.tolist() == [1.0, 2.0, 3.0]
    expected = getattr(LAW, what)(np.array([[-1.0, 0.0, 4.0]]))[[1, 0, 2]].T
    np.testing.assert_allclose(display.values, expected)
    _, ax = plt.subplots()
    display.plot(ax=ax)
    assert display.ax_ is ax
    np.testing.assert_allclose(np.asarray(display.mesh_.get_array()).reshape(3, 3), expected)
    assert display.dots_ is not None
    np.testing.assert_allclose(display.dots_.get_offsets(), [[2, 0], [1, 4], [3, 1]])


def test_density_thins_many_rows_and_joins_equal_ones(forecaster: Any) -> None:
    X = np.column_stack([np.arange(1000) // 2, np.ones(1000)]).astype(float)
    display = DensityDisplay.from_estimator(forecaster, X)
    assert display.values.shape == (256, len(display.x)) and len(display.x) <= 400
    assert np.all(np.diff(display.x) > 0) and display.name == "Forecaster"
    with pytest.raises(ValueError, match="`what` must be one of"):
        DensityDisplay.from_predictions(None, LAW, x=[1, 2, 3], what="sf")  # type: ignore[arg-type]


def test_one_column_can_be_drawn() -> None:
    display = DensityDisplay.from_predictions(None, Normal([0.0], 1.0), x=[3.0]).plot()
    assert display.dots_ is None and display.ax_.get_xlim()[0] < 3 < display.ax_.get_xlim()[1]


def test_threshold_lines_draw_the_measure(rng: np.random.Generator) -> None:
    mu = rng.normal(size=400)
    y = mu + rng.normal(size=400)
    display = ThresholdReliabilityDisplay.from_predictions(y, Normal(mu, 1.0), thresholds=[-1.0, 1.0], n_bins=5).plot()
    curve = metrics.threshold_reliability(y, Normal(mu, 1.0), thresholds=[-1.0, 1.0], n_bins=5)
    for line, q, r in zip(display.lines_, curve.forecast, curve.observed, strict=True):
        np.testing.assert_allclose(line.get_xydata(), np.column_stack([q, r]))
    assert list(display.diagonal_.get_xdata()) == [0, 1]


def test_threshold_map_draws_the_classifier_and_its_pairs(rng: np.random.Generator) -> None:
    mu = rng.normal(size=80)
    y = mu + rng.normal(size=80)
    calibrator = GPCCalibrator(8, n_basis=6, n_grid=16).fit(Normal(mu, 1.0), y)
    display = ThresholdMapDisplay.from_calibrator(calibrator, Normal(mu, 1.0), y, name="GPC").plot()
    np.testing.assert_allclose(display.values[3, 7], calibrator.probability(ndtri(display.q[7]), display.t[3]))
    t, _, below = display.pairs
    assert len(t) == 80 * 8
    np.testing.assert_array_equal(below.reshape(80, 8), y[:, None] <= t.reshape(80, 8))
    np.testing.assert_allclose(display.dots_.get_offsets()[:, 0], t)
    assert display.ax_.get_title() == "GPC"


def test_density_with_a_mean() -> None:
    own = DensityDisplay.from_predictions(None, LAW, x=[2.0, 1.0, 3.0], mean=True).plot()
    assert own.line_ is not None and own.means is not None
    np.testing.assert_allclose(own.line_.get_xydata(), np.column_stack([[1.0, 2.0, 3.0], LAW.loc[[1, 0, 2]]]))
    other = DensityDisplay.from_predictions(None, LAW, x=[2.0, 1.0, 3.0], mean=[5.0, 6.0, 7.0])
    assert other.means is not None and other.means.tolist() == [6.0, 5.0, 7.0]
    assert DensityDisplay.from_predictions(None, LAW, x=[2.0, 1.0, 3.0]).plot().line_ is None
    with pytest.raises(ValueError, match="`mean` must have one entry per forecast; got 2 for 3"):
        DensityDisplay.from_predictions(None, LAW, x=[2.0, 1.0, 3.0], mean=[5.0, 6.0])


@pytest.mark.parametrize("what", ["pdf", "cdf"])
def test_single_forecast(what: Any) -> None:
    display = SingleForecastDisplay.from_predictions(
        [0.0, 4.0, 1.0], {"one": LAW, "two": Normal(LAW.loc, 3.0)}, row=1, what=what, levels=[-1.0, 0.0, 4.0]
    ).plot()
    np.testing.assert_allclose(display.curves["two"], getattr(Normal(LAW.loc[1:2], 3.0), what)([[-1.0, 0.0, 4.0]])[0])
    assert [line.get_label() for line in display.lines_] == ["one", "two"]
    assert display.outcome == 4.0 and display.truth_ is not None and display.truth_.get_xdata()[0] == 4.0
    alone = SingleForecastDisplay.from_predictions(None, LAW, name="base").plot()
    assert alone.truth_ is None and list(alone.curves) == ["base"] and len(alone.levels) == 1024
    with pytest.raises(ValueError, match="`row` must be below the number of forecasts; got 3 for 3"):
        SingleForecastDisplay.from_predictions(None, LAW, row=3)


def test_threshold_reliability_as_published() -> None:
    """16 even thresholds and 8 parts of [0, 1] (Song et al. 2018, fig. 5)."""
    y = np.linspace(0.0, 10.0, 200)
    display = ThresholdReliabilityDisplay.from_predictions(y, Normal(y, 2.0), spaced="even", bins="width").plot()
    np.testing.assert_allclose(display.reliability.thresholds, np.linspace(-5, 15, 16))
    assert display.reliability.forecast.shape == (16, 8)
    line = display.lines_[8].get_xydata()
    assert not np.isnan(line).any() and len(line) == 8
