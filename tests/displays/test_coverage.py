"""Coverage by group and along anything."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from calibrant import Normal, metrics
from calibrant.displays import ConditionalCoverageDisplay, GroupCoverageDisplay

N = 400
NARROW, RIGHT = Normal(np.zeros(N), 0.5), Normal(np.zeros(N), 1.0)


@pytest.fixture
def y(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=N)


def test_shares_of_groups_with_wilsons_interval(y: np.ndarray) -> None:
    groups = np.array(["a", "b", "c", "d"])[np.arange(N) % 4]
    display = GroupCoverageDisplay.from_predictions(y, {"narrow": NARROW, "right": RIGHT}, groups=groups, coverage=0.8)
    for side, law in (("narrow", NARROW), ("right", RIGHT)):
        for name, found in zip(display.names, display.sides[side], strict=True):
            rows = groups == name
            share = metrics.coverage(y[rows], law[rows], coverage=0.8)
            wilson = binomtest(round(share * rows.sum()), int(rows.sum())).proportion_ci(0.9, method="wilson")
            np.testing.assert_allclose(found, [share, wilson.low, wilson.high])
    off = np.abs(display.sides["narrow"][:, 0] - 0.8)
    assert (np.diff(off) <= 0).all()
    assert display.label == "Share of outcomes in 80 % intervals"


def test_only_the_furthest_groups_are_kept(y: np.ndarray) -> None:
    display = GroupCoverageDisplay.from_predictions(y, RIGHT, groups=np.arange(N) % 50, most=7)
    everything = GroupCoverageDisplay.from_predictions(y, RIGHT, groups=np.arange(N) % 50, most=50)
    assert display.names == everything.names[:7] and display.of == 50
    assert display.plot().figure_.get_size_inches()[1] < everything.plot().figure_.get_size_inches()[1]


def test_weights_are_frequencies(y: np.ndarray) -> None:
    groups, weights = np.arange(N) % 3, 1 + np.arange(N) % 2
    again = np.repeat(np.arange(N), weights)
    first = GroupCoverageDisplay.from_predictions(y, RIGHT, groups=groups, sample_weight=weights)
    second = GroupCoverageDisplay.from_predictions(y[again], RIGHT[again], groups=groups[again])
    assert first.names == second.names
    np.testing.assert_allclose(first.sides["forecasts"], second.sides["forecasts"])


def test_groups_are_drawn_as_computed(y: np.ndarray) -> None:
    laws = {"narrow": NARROW, "right": RIGHT}
    display = GroupCoverageDisplay.from_predictions(y, laws, groups=np.arange(N) % 4, name="demand").plot()
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == display.names
    for side, dots in display.dots_.items():
        for dot, (value, low, high) in zip(dots, display.sides[side], strict=True):
            np.testing.assert_allclose(dot.get_xdata(), [low, value, high])
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["narrow", "right", "90 % promised"]
    assert display.goal_.get_xdata()[0] == 0.9 and display.ax_.get_title(loc="left") == "demand"
    top, bottom = display.dots_["narrow"][0].get_ydata()[0], display.dots_["narrow"][-1].get_ydata()[0]
    low, high = sorted(display.ax_.get_ylim())
    assert low < top < bottom < high and display.ax_.yaxis_inverted()


def test_values_without_an_interval() -> None:
    ends = [[0.1, np.nan, np.nan], [np.nan] * 3, [0.3, 0.2, 0.4]]
    display = GroupCoverageDisplay.from_measures(["a", "b", "c"], {"before": ends}, goal=0.0, label="ECE").plot()
    assert display.names == ["c", "a", "b"]
    np.testing.assert_allclose(display.dots_["before"][1].get_xdata(), [0.1, 0.1, 0.1])
    with pytest.raises(ValueError, match="value, low and high end of each of the 2 groups"):
        GroupCoverageDisplay.from_measures(["a", "b"], {"before": ends})


def test_bins_along_numbers_dates_and_forecasts(y: np.ndarray) -> None:
    places = np.arange(N)[::-1]
    days = np.datetime64("2024-01-01") + places
    law = Normal(places / N, 0.5 + places / N)
    for x in (places, days, "level", "width"):
        display = ConditionalCoverageDisplay.from_predictions(y, {"one": law, "two": RIGHT}, x=x, n_bins=4)
        for k, rows in enumerate(np.split(np.arange(N)[::-1], 4)):
            assert display.sides["one"][k, 0] == pytest.approx(metrics.coverage(y[rows], law[rows]))
            assert display.sides["two"][k, 0] == pytest.approx(metrics.coverage(y[rows], RIGHT[rows]))
        display.plot().figure_.canvas.draw()
    display = ConditionalCoverageDisplay.from_predictions(y, law, x=days, n_bins=4).plot()
    assert display.low[0] == days.min() and display.high[-1] == days.max()
    middle = [dot.get_xdata()[0] for dot in display.dots_["forecasts"]]
    expected = (display.low.astype(float) + display.high.astype(float)) / 2
    np.testing.assert_allclose(middle, expected)


def test_bins_of_numbers_stand_side_by_side(y: np.ndarray) -> None:
    display = ConditionalCoverageDisplay.from_predictions(y, RIGHT, x=10.0 ** (np.arange(N) / 40), n_bins=5).plot()
    np.testing.assert_allclose([dot.get_xdata()[0] for dot in display.dots_["forecasts"]], np.arange(5) + 0.5)
    edges = [*display.low, display.high[-1]]
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == [f"{edge:.3g}" for edge in edges]


def test_bad_bins(y: np.ndarray) -> None:
    with pytest.raises(ValueError, match="`x` must be level, width, or one number or date a forecast; got 'time'"):
        ConditionalCoverageDisplay.from_predictions(y, RIGHT, x="time")
    with pytest.raises(ValueError, match="one entry per forecast; got 3"):
        ConditionalCoverageDisplay.from_predictions(y, RIGHT, x=[1, 2, 3])
    with pytest.raises(ValueError, match="`groups` must have one label per forecast"):
        GroupCoverageDisplay.from_predictions(y, RIGHT, groups=["a"])


def test_rows_without_weight_are_as_if_they_were_not_there():
    y, law = np.array([0.0, 9.0, 0.0, 0.0, 9.0]), Normal(np.zeros(5), 1.0)
    display = GroupCoverageDisplay.from_predictions(y, law, groups=list("aabbc"), sample_weight=[0, 1, 1, 1, 0])
    found = dict(zip(display.names, display.sides["forecasts"][:, 0], strict=True))
    assert found["a"] == 0.0 and found["b"] == 1.0 and np.isnan(found["c"]) and display.names[-1] == "c"
    display.plot()
