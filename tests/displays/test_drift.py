"""The past of a monitor in three panels."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from calibrant import DriftMonitor, Normal, metrics
from calibrant.displays import DriftDisplay


def test_panels(rng):
    n = 1200
    y, law = rng.normal(0, np.repeat([1.0, 1.8], [800, 400])), Normal(np.zeros(n), 1.0)
    days = np.datetime64("2026-01-01") + np.arange(n)
    monitor = DriftMonitor().update(law, y, time=days)
    display = DriftDisplay.from_monitor(monitor, name="ridge").plot()
    assert "'ridge': 1200 rows, intervals " in repr(display) and len(display.axes_) == 3 == len(display.onsets_)
    assert len(display.coverage) == 40 and display.places[-1] == days[-1] == display.x[-1]
    sizes = np.diff(np.searchsorted(days, display.places, side="right"), prepend=0)
    assert sizes.sum() == n and display.coverage[:, 0] @ sizes / n == pytest.approx(
        metrics.coverage(y, law, coverage=0.9)
    )
    assert (display.coverage[:, 1] <= display.coverage[:, 0]).all() and display.coverage[:20, 0].mean() > 0.87
    assert display.belief[150] == pytest.approx(1, abs=0.1) and 1.5 < display.belief[-1] < 2.3
    assert [line.get_label() for line in display.lines_] == ["all tests", "bias", "width", "tails", "shape"]
    np.testing.assert_allclose(display.lines_[0].get_ydata(), monitor.history_.peaks[: len(display.x), 0] / np.log(10))
    assert (
        display.limit_.get_ydata()[0] == pytest.approx(np.log10(20))
        and display.limit_.get_ydata()[0] < display.ax_.get_ylim()[1]
    )
    assert display.onsets_[0].get_xdata()[0] == monitor.alarms_[0].since_time
    plt.close(display.figure_)


def test_events_and_one_axes(rng):
    p = rng.beta(2, 2, 300)
    y = (rng.random(300) < p).astype(int)
    _, ax = plt.subplots()
    display = DriftDisplay.from_predictions(y, p).plot(ax)
    assert repr(display) == "<DriftDisplay: 300 rows, no drift>" and display.axes_ == [ax] and not display.onsets_
    assert display.x[-1] == 300 and len(display.coverage) == 40
    sizes = np.diff(display.places, prepend=0)
    assert display.coverage[:, 0] @ sizes / 300 == pytest.approx(np.mean(y - p))
    with pytest.raises(ValueError, match="`ax` must be one axes, or 3; got 2."):
        display.plot([ax, ax])
    with pytest.raises(NotFittedError):
        DriftDisplay.from_monitor(DriftMonitor())
    plt.close(display.figure_)
