from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from calibrant import Normal, metrics
from calibrant.displays.pareto import ParetoDisplay, pareto_front


def test_front_by_hand() -> None:
    loss = np.array([1.0, 1.2, 1.2, 2.0, 1.0])
    calibration = np.array([5.0, 2.0, 3.0, 1.0, 5.0])
    assert pareto_front(loss, calibration).tolist() == [True, True, False, True, True]  # equal ones do not beat equals


def test_front_against_every_pair(rng: np.random.Generator) -> None:
    pairs = rng.integers(0, 6, size=(40, 2)).astype(float)
    beaten = [any((q <= p).all() and (q < p).any() for q in pairs) for p in pairs]
    assert pareto_front(*pairs.T).tolist() == [not b for b in beaten]


def test_failures_are_not_on_the_front_and_have_no_dot() -> None:
    display = ParetoDisplay.from_measures(["a", "b", "c"], [np.inf, 1.0, np.nan], [0.1, 1.0, 0.1]).plot()
    assert display.front.tolist() == [False, True, False]
    assert [dot is None for dot in display.dots_] == [True, False, True]


def test_measures_of_forecasts(rng: np.random.Generator) -> None:
    y = rng.normal(size=300)
    laws = {"narrow": Normal(np.zeros(300), 0.5), "right": Normal(np.zeros(300), 1.0)}
    display = ParetoDisplay.from_predictions(y, laws)
    assert display.loss.tolist() == [metrics.nll(y, law) for law in laws.values()]
    assert display.calibration.tolist() == [metrics.anderson_darling(y, law) for law in laws.values()]
    assert display.front.tolist() == [False, True]


def test_plot_draws_what_was_computed() -> None:
    _, ax = plt.subplots()
    names, loss, calibration = ["_none", "scale", "stack"], [2.0, 1.5, 1.4], [900.0, 0.8, 0.9]
    display = ParetoDisplay.from_measures(names, loss, calibration, labels=("log loss", "ECE")).plot(ax=ax)
    assert display.ax_ is ax and ax.get_yscale() == "log"
    for dot, x, y in zip(display.dots_, loss, calibration, strict=True):
        assert dot is not None
        np.testing.assert_allclose(dot.get_xydata(), [[x, y]])
    np.testing.assert_allclose(display.line_.get_xydata(), [[1.4, 0.9], [1.5, 0.8]])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["Pareto front", "none", "scale", "stack"]
    assert ax.get_xlabel() == "log loss (smaller: better)" and ax.get_ylabel() == "ECE (smaller: better)"


def test_small_differences_are_drawn_on_a_plain_axis() -> None:
    display = ParetoDisplay.from_measures(["a", "b"], [1.0, 2.0], [2.0, 1.0]).plot()
    assert display.ax_.get_yscale() == "linear"


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match=r"as many as the 2 names; got shapes \(2,\) and \(1,\)"):
        ParetoDisplay.from_measures(["a", "b"], [1.0, 2.0], [1.0])


def test_what_is_far_is_an_arrow_at_the_edge() -> None:
    names, loss = ["none", "a", "b", "c"], [9.0, 1.0, 1.1, 1.2]
    display = ParetoDisplay.from_measures(names, loss, [9.0, 3.0, 2.0, 1.0])
    assert display.far.tolist() == [True, False, False, False]
    display.plot()
    low, high = display.ax_.get_xlim()
    arrow = display.dots_[0]
    assert arrow is not None and arrow.get_marker() == ">" and arrow.get_xdata()[0] == high < 1.3 and low < 1.0
    assert display.ax_.get_legend().get_texts()[1].get_text() == "none (NLL 9)"
    assert not ParetoDisplay.from_measures(["a", "b", "c"], [1.0, 1.0, 9.0], [1.0, 2.0, 3.0]).far.any()


def test_intervals_are_drawn_and_beaten_ones_are_faint() -> None:
    ends = {"loss_interval": [[0.9, 1.1], [1.8, 2.2]], "calibration_interval": [[1.5, 2.5], [np.nan, np.nan]]}
    display = ParetoDisplay.from_measures(["a", "b"], [1.0, 2.0], [2.0, 3.0], **ends).plot()
    drawn = [line.get_xydata().tolist() for line in display.ax_.lines]
    for expected in ([[0.9, 2.0], [1.1, 2.0]], [[1.0, 1.5], [1.0, 2.5]], [[1.8, 3.0], [2.2, 3.0]]):
        assert expected in drawn
    best, beaten = display.dots_
    assert best is not None and beaten is not None and best.get_alpha() == 1.0 and beaten.get_alpha() < 1.0
    assert len(display.ax_.get_legend().get_texts()) == 3
