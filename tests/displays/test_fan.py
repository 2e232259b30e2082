from __future__ import annotations

import datetime
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

from calibrant import Normal
from calibrant.displays import FanDisplay

LAW = Normal([1.0, 2.0, 3.0], [1.0, 1.0, 2.0])
Y = [1.5, np.nan, 9.0]


def test_everything_is_sorted_by_x() -> None:
    fan = FanDisplay.from_predictions(Y, LAW, x=[30, 10, 20], coverages=[0.5, 0.9])
    np.testing.assert_array_equal(fan.x, [10, 20, 30])
    np.testing.assert_allclose(fan.median, [2, 3, 1])
    np.testing.assert_array_equal(fan.y_true, [np.nan, 9.0, 1.5])
    np.testing.assert_array_equal(fan.coverages, [0.9, 0.5])
    np.testing.assert_allclose(
        fan.lower[:, 0], np.array([2, 3, 1]) - 1.6448536269514722 * np.array([1, 2, 1]), rtol=1e-6
    )
    np.testing.assert_allclose(
        fan.upper[:, 1], np.array([2, 3, 1]) + 0.6744897501960817 * np.array([1, 2, 1]), rtol=1e-6
    )
    np.testing.assert_allclose(fan.observed, [0.5, 0.5])  # of the two outcomes that are known


def test_shares_inside_by_interval() -> None:
    fan = FanDisplay.from_predictions([0.1, -1.0, 1.5, 5.0], Normal(np.zeros(4), 1.0))
    np.testing.assert_allclose(fan.observed, [0.75, 0.5, 0.25])  # ±1.645, ±1.282, ±0.674


@pytest.mark.parametrize("outcomes", [None, [np.nan] * 3])
def test_outcomes_are_optional(outcomes: list[float] | None) -> None:
    fan = FanDisplay.from_predictions(outcomes, LAW).plot()
    assert fan.observed is None
    np.testing.assert_array_equal(fan.x, [0, 1, 2])
    labels = [text.get_text() for text in fan.ax_.get_legend().get_texts()]
    assert labels[:4] == ["90 %", "80 %", "50 %", "median"]
    assert (fan.dots_ is None) == (outcomes is None)


def test_dates_of_every_kind() -> None:
    import pandas as pd

    days = [datetime.date(2024, 3, 1), datetime.date(2024, 1, 1), datetime.date(2024, 2, 1)]
    expected = np.array(["2024-01-01", "2024-02-01", "2024-03-01"], dtype="datetime64[D]")
    stamps = pd.to_datetime(days)
    for x in (days, np.array(days, dtype="datetime64[D]"), stamps, pd.Series(stamps), stamps.tz_localize("UTC")):
        fan = FanDisplay.from_predictions(Y, LAW, x=x).plot()
        np.testing.assert_array_equal(fan.x, expected)
        np.testing.assert_allclose(fan.median, [2, 3, 1])
        fan.figure_.canvas.draw()


def test_plot_draws_what_was_computed() -> None:
    fan = FanDisplay.from_predictions(Y, LAW, coverages=[0.5, 0.9], name="sales")
    assert fan.plot() is fan
    assert len(fan.bands_) == 2
    for k, band in enumerate(fan.bands_):
        heights = band.get_paths()[0].vertices[:, 1]
        assert heights.min() == pytest.approx(fan.lower[:, k].min())
        assert heights.max() == pytest.approx(fan.upper[:, k].max())
    np.testing.assert_allclose(fan.line_.get_ydata(), fan.median)
    assert fan.dots_ is not None
    np.testing.assert_array_equal(fan.dots_.get_ydata(), Y)
    labels = [text.get_text() for text in fan.ax_.get_legend().get_texts()]
    assert labels == ["90 % (holds 50 %)", "50 % (holds 50 %)", "median", "outcome"]
    assert fan.ax_.get_title(loc="left") == "sales"


def test_given_axes_are_used_and_no_figure_is_made() -> None:
    figure, ax = plt.subplots()
    fan = FanDisplay.from_predictions(None, LAW).plot(ax=ax, name="other", color="k")
    assert fan.ax_ is ax and fan.figure_ is figure and ax.get_title(loc="left") == "other"
    assert plt.get_fignums() == [figure.number]
    assert tuple(fan.bands_[0].get_facecolor()[0][:3]) == (0, 0, 0)


def test_from_estimator(forecaster: Any) -> None:
    X = np.array([[5.0, 1.0], [4.0, 2.0]])
    fan = FanDisplay.from_estimator(forecaster, X, [5.0, 4.0], x=X[:, 0])
    np.testing.assert_allclose(fan.median, [4, 5])
    assert fan.name == "Forecaster"


def test_inputs_stay_as_they_were() -> None:
    x, y = np.array([3.0, 1.0, 2.0]), np.array([1.0, np.nan, 2.0])
    FanDisplay.from_predictions(y, LAW, x=x).plot()
    np.testing.assert_array_equal(x, [3, 1, 2])
    np.testing.assert_array_equal(y, [1, np.nan, 2])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"x": [1, 2]}, ValueError, "`x` must have one entry per forecast; got 2 for 3 forecasts"),
        ({"x": [1, 2, np.nan]}, ValueError, r"`x` must be present; 1 of 3 values is not, first x\[2\] = nan"),
        (
            {"x": [datetime.date(2024, 1, 1), None, None]},
            ValueError,
            r"`x` must be present; 2 of 3 .* first x\[1\] = NaT",
        ),
        ({"x": ["a", "b", "c"]}, TypeError, "`x` must be numbers, dates, or texts such as 2024-01-31; got str"),
        ({"x": np.ones((3, 2))}, ValueError, r"`x` must be 1-dimensional; got shape \(3, 2\)"),
        ({"coverages": [50]}, ValueError, "`coverages` must be strictly between 0 and 1.*Percent"),
        ({"coverages": []}, ValueError, "`coverages` must have at least one"),
        ({"y_true": [1, 2]}, ValueError, "`y_true` must have one entry per forecast"),
        ({"y_true": [1, 2, np.inf]}, ValueError, "`y_true` must be finite or missing; 1 of 3"),
    ],
)
def test_bad_input(options: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        FanDisplay.from_predictions(**{"y_true": None, "dist": LAW} | options)


def test_no_forecasts() -> None:
    with pytest.raises(ValueError, match="`dist` must have at least one row; it is empty"):
        FanDisplay.from_predictions(None, LAW[:0])


def test_blocks_are_means_and_bars_of_calibrated_forecasts_end_where_the_interval_ends(
    rng: np.random.Generator,
) -> None:
    n = 40_000
    loc, scale = rng.normal(size=n), rng.lognormal(size=n)  # forecasts of a block have little in common
    law = Normal(loc, scale)
    fan = FanDisplay.from_predictions(loc + scale * rng.normal(size=n), law, blocks=4)
    parts = np.arange(n).reshape(4, -1)
    np.testing.assert_allclose(fan.median, loc[parts].mean(axis=1))
    np.testing.assert_allclose(fan.upper[:, 0], law.ppf(0.95)[parts].mean(axis=1))
    np.testing.assert_allclose(fan.x, parts.mean(axis=1))
    assert fan.bars is not None and fan.y_true is not None and fan.rows == n
    np.testing.assert_allclose(fan.bars, np.column_stack([fan.lower[:, 0], fan.upper[:, 0]]), atol=0.12)
    np.testing.assert_allclose(fan.y_true, fan.median, atol=0.08)
    np.testing.assert_allclose(fan.observed, [0.9, 0.8, 0.5], atol=0.01)
    drawn = fan.plot().bars_
    assert drawn is not None and len(drawn.get_segments()) == 4
    assert repr(fan).startswith("<FanDisplay: 40000 forecasts")


def test_bars_of_too_narrow_forecasts_are_longer() -> None:
    y = np.linspace(-3.0, 3.0, 101)
    fan = FanDisplay.from_predictions(y, Normal(np.zeros(101), 1.0), blocks=1, coverages=[0.5])
    assert fan.bars is not None
    np.testing.assert_allclose(fan.bars[0], np.quantile(y, [0.25, 0.75]))


@pytest.mark.parametrize("outcomes", [None, [np.nan] * 6])
def test_blocks_without_outcomes(outcomes: list[float] | None) -> None:
    days = np.datetime64("2024-01-01") + np.arange(6)
    fan = FanDisplay.from_predictions(outcomes, Normal(np.arange(6.0), 1.0), x=days, blocks=2)
    np.testing.assert_allclose(fan.median, [1, 4])
    np.testing.assert_array_equal(fan.x, days[[1, 4]])
    fan.plot().figure_.canvas.draw()


def test_more_blocks_than_rows() -> None:
    assert len(FanDisplay.from_predictions(Y, LAW, blocks=50).x) == 3
    with pytest.raises(ValueError, match="`blocks` must be"):
        FanDisplay.from_predictions(Y, LAW, blocks=0)
