from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

from calibrant import Normal, Poisson
from calibrant.displays import PITDisplay

Y = [-1.0, 0.2, 3.0, 0.1]  # PIT .16, .58, .999, .54
LAW = Normal([0.0] * 4, 1.0)


def test_heights_by_hand() -> None:
    display = PITDisplay.from_predictions(Y, LAW, n_bins=5)
    np.testing.assert_allclose(display.edges, [0, 0.2, 0.4, 0.6, 0.8, 1])
    np.testing.assert_allclose(display.density, [1.25, 0, 2.5, 0, 1.25])


def test_impossible_outcomes_are_in_the_end_bins() -> None:
    display = PITDisplay.from_predictions([-1e9, 1e9], Normal([0.0, 0.0], 1.0), n_bins=2)
    np.testing.assert_allclose(display.density, [1, 1])


def test_weights_are_frequencies() -> None:
    weighted = PITDisplay.from_predictions(Y, LAW, n_bins=5, sample_weight=[3, 0, 0, 1])
    np.testing.assert_allclose(weighted.density, [3.75, 0, 1.25, 0, 0])
    assert weighted.band == PITDisplay.from_predictions(Y, LAW, n_bins=5).band  # four rows both times


def test_atoms_are_spread_over_their_interval() -> None:
    display = PITDisplay.from_predictions([0, 0], Poisson([1.0, 1.0]))
    last = 10 * (1 - 0.3 * np.e)  # P(Y = 0) = 1/e
    np.testing.assert_allclose(display.density, [np.e, np.e, np.e, last, 0, 0, 0, 0, 0, 0], atol=1e-12)


def test_calibrated_counts_are_flat(rng: np.random.Generator) -> None:
    rate = rng.gamma(2.0, 1.5, size=20_000)
    display = PITDisplay.from_predictions(rng.poisson(rate), Poisson(rate))
    assert np.all((display.band[0] <= display.density) & (display.density <= display.band[1]))


def test_too_narrow_intervals_make_a_valley(rng: np.random.Generator) -> None:
    display = PITDisplay.from_predictions(rng.normal(size=500), Normal(np.zeros(500), 0.5))
    assert display.density[0] > display.band[1] and display.density[-1] > display.band[1]
    assert display.density[5] < display.band[0]


def test_plot_draws_what_was_computed() -> None:
    display = PITDisplay.from_predictions(Y, LAW, n_bins=5, name="ridge", coverage=0.9)
    assert display.plot(color="k") is display
    assert [bar.get_height() for bar in display.bars_] == pytest.approx(display.density)
    assert [bar.get_x() for bar in display.bars_] == pytest.approx(display.edges[:-1])
    assert list(display.uniform_.get_ydata()) == [1, 1]
    box = display.band_.get_bbox()
    assert (box.y0, box.y1) == pytest.approx(display.band)
    assert display.bars_[0].get_facecolor()[:3] == (0, 0, 0)
    assert display.ax_.get_title() == "ridge"
    assert display.ax_.get_legend().get_texts()[0].get_text() == "90 % of perfect forecasters"


def test_given_axes_are_used_and_no_figure_is_made() -> None:
    figure, ax = plt.subplots()
    display = PITDisplay.from_predictions(Y, LAW).plot(ax=ax, name="other")
    assert display.ax_ is ax and display.figure_ is figure and ax.get_title() == "other"
    assert plt.get_fignums() == [figure.number]


def test_from_estimator(forecaster: Any) -> None:
    X = np.column_stack([np.zeros(4), np.ones(4)])
    display = PITDisplay.from_estimator(forecaster, X, Y, n_bins=5)
    np.testing.assert_allclose(display.density, [1.25, 0, 2.5, 0, 1.25])
    assert display.name == "Forecaster"
    with pytest.raises(TypeError, match="object does not"):
        PITDisplay.from_estimator(object(), X, Y)


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="`n_bins` must be a whole number of at least 1; got 0."):
        PITDisplay.from_predictions(Y, LAW, n_bins=0)
    with pytest.raises(ValueError, match="`y_true` must be finite; 1 of 4 values is not, first y_true\\[2\\] = nan"):
        PITDisplay.from_predictions([0.0, 1.0, np.nan, 1.0], LAW)
