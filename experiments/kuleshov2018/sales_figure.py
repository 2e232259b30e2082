"""Figures 3 and 6 of Kuleshov et al. (2018): bands of one store before and after, and calibration curves of all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from calibrant.displays import CalibrationCurveDisplay, FanDisplay
from calibrant.distributions import Distribution

from .retail import Sales

DAYS = 90  # of the test that are shown
TITLES = {"none": "before", "weekly": "after"}


def draw(path: Path, sales: Sales, y: Any, ways: dict[str, Distribution]) -> None:
    """Write the figure of the first series: its first test days each way, and the curves of all series."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    n = len(sales.values)
    figure = Figure(figsize=(11, 6), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(2, 2, width_ratios=(3, 2))
    rows = np.arange(0, min(DAYS * n, len(y)), n)
    days = np.asarray(sales.days[sales.test : sales.test + len(rows)])
    for place, (way, law) in enumerate(ways.items()):
        title = f"store {sales.store[0]}, item {sales.item[0]}: {TITLES[way]}"
        fan = FanDisplay.from_predictions(y[rows], law[rows], x=days, coverages=(0.5, 0.9), name=title)
        fan.plot(ax=figure.add_subplot(grid[place, 0]))
        judged = np.flatnonzero(np.isfinite(y))
        curve = CalibrationCurveDisplay.from_predictions(y[judged], law[judged], name=TITLES[way])
        curve.plot(ax=figure.add_subplot(grid[place, 1]))
    figure.savefig(path, dpi=70)
