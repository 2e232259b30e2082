"""Coverage in the segments where forecasts are wrong."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant import Normal, find_segments, metrics
from calibrant.displays import SegmentDisplay


def shop(rng, rows=2000):
    X = np.column_stack([rng.choice(["north", "south"], rows), rng.choice(list("abcd"), rows)])
    mean = rng.normal(size=rows)
    south = X[:, 0] == "south"
    return X, mean, south, mean + np.where(south, 2.0, 1.0) * rng.normal(size=rows)


def test_before_and_after(rng):
    X, mean, south, y = shop(rng)
    laws = {"before": Normal(mean, 1.0), "after": Normal(mean, np.where(south, 2.0, 1.0))}
    display = SegmentDisplay.from_predictions(y, laws, X).plot()
    assert display.names == ["x0 = south"] and "times too narrow" in display.faults[0]
    (rows,) = find_segments(y, laws["before"], X).measured_in(X)
    for side, law in laws.items():
        value, low, high = display.sides[side][0]
        assert value == pytest.approx(metrics.coverage(y[rows], law[rows], coverage=0.9)) and low < value < high
    assert display.sides["before"][0, 2] < 0.9 < display.sides["after"][0, 2]
    assert set(display.dots_) == {"before", "after"} and display.goal_.get_xdata()[0] == 0.9
    assert display.ax_.get_yticklabels()[0].get_text() == f"x0 = south\n{display.faults[0]}"


def test_weights_and_rows_without_outcome(rng):
    X, mean, _, y = shop(rng)
    weight = rng.integers(0, 3, len(y)).astype(float)
    y[weight == 0] = np.nan
    with pytest.warns(UserWarning, match="rows have no outcome"):
        display = SegmentDisplay.from_predictions(y, Normal(mean, 1.0), X, sample_weight=weight, name="ridge")
    assert display.names == ["x0 = south"] and 0.5 < display.sides["ridge"][0, 0] < 0.7


def test_classes(rng):
    X, _, south, _ = shop(rng)
    p = rng.beta(2, 2, len(X))
    y = rng.random(len(X)) < np.where(south, 0.5 * p, p)
    display = SegmentDisplay.from_predictions(y, p, X).plot(name="forest")
    assert display.goal == 0.0 and display.label == "Came more often than forecast"
    assert display.sides["forecasts"][0, 0] == pytest.approx(-0.25, abs=0.05)
    assert display.ax_.get_title(loc="left") == "forest"


def test_nothing_wrong(rng):
    X, mean, _, _ = shop(rng)
    display = SegmentDisplay.from_predictions(mean + rng.normal(size=len(X)), Normal(mean, 1.0), X).plot()
    assert repr(display) == "<SegmentDisplay: no segment>" and display.names == []
