from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

from calibrant import Normal, StudentT
from calibrant.displays.sharpness import POINTS, SharpnessDisplay


def test_shares_and_mean_by_hand() -> None:
    display = SharpnessDisplay.from_forecasts(Normal(np.zeros(4), [4.0, 1.0, 2.0, 1.0]))
    np.testing.assert_allclose(display.std, [1, 1, 2, 4])
    np.testing.assert_allclose(display.share, [0.25, 0.5, 0.75, 1])
    assert display.mean == 2.0


def test_weights_are_frequencies() -> None:
    law, weights = Normal(np.zeros(3), [1.0, 2.0, 5.0]), [2, 1, 0]
    weighted = SharpnessDisplay.from_forecasts(law, sample_weight=weights)
    np.testing.assert_allclose(weighted.std, [1, 2])
    np.testing.assert_allclose(weighted.share, [2 / 3, 1])
    assert weighted.mean == pytest.approx(4 / 3)


def test_infinite_ones_are_left_out() -> None:
    law = StudentT(df=[1.5, 4.0], loc=[0.0, 0.0], scale=[1.0, 1.0])
    assert SharpnessDisplay.from_forecasts(law).std.tolist() == pytest.approx([np.sqrt(2.0)])
    with pytest.raises(ValueError, match="finite standard deviations; none of 1 forecasts"):
        SharpnessDisplay.from_forecasts(law[:1])


def test_a_long_table_is_thinned_and_keeps_its_ends(rng: np.random.Generator) -> None:
    std = rng.gamma(2.0, size=10_000)
    display = SharpnessDisplay.from_forecasts(Normal(np.zeros(10_000), std))
    assert len(display.std) == POINTS
    assert (display.std[0], display.std[-1]) == (std.min(), std.max())
    exact = np.searchsorted(np.sort(std), display.std, side="right") / len(std)
    np.testing.assert_allclose(display.share, exact)


def test_plot_draws_what_was_computed() -> None:
    _, ax = plt.subplots()
    display = SharpnessDisplay.from_forecasts(Normal(np.zeros(2), [1.0, 3.0]), name="mine").plot(ax=ax)
    assert display.ax_ is ax
    np.testing.assert_allclose(display.line_.get_xdata(), [1, 1, 3])
    np.testing.assert_allclose(display.line_.get_ydata(), [0, 0.5, 1])
    np.testing.assert_allclose(display.dot_.get_xydata(), [[2.0, 0.75]])
    assert display.line_.get_label() == "mine: mean 2"
    other = SharpnessDisplay.from_forecasts(Normal([0.0], 2.0)).plot(ax=ax)
    assert other.line_.get_color() != display.line_.get_color()


def test_from_estimator(forecaster: Any) -> None:
    display = SharpnessDisplay.from_estimator(forecaster, np.array([[0.0, 1.0], [1.0, 2.0]]))
    assert (display.name, display.mean) == ("Forecaster", 1.5)


def test_widths_of_intervals_take_the_place_of_infinite_spreads() -> None:
    law = StudentT(df=np.full(3, 1.0), loc=np.zeros(3), scale=np.array([3.0, 1.0, 2.0]))
    display = SharpnessDisplay.from_forecasts(law, coverage=0.5)
    np.testing.assert_allclose(display.std, [2.0, 4.0, 6.0])  # quartiles of Cauchy's law are -1 and 1
    assert display.mean == pytest.approx(4.0) and display.plot().ax_.get_xlabel() == "Predicted width of 50 % intervals"
    with pytest.raises(ValueError, match="`coverage` must be strictly between 0 and 1"):
        SharpnessDisplay.from_forecasts(law, coverage=50)
