"""Figures 3, 4 and 5 of the paper, on its toy set: two lines, seen by Bayesian ridge."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from calibrant.calibration.pit_watch import unwatched
from calibrant.displays import (
    CalibrationMapDisplay,
    DensityDisplay,
    SingleForecastDisplay,
    ThresholdReliabilityDisplay,
)
from calibrant.distributions import Distribution

from ..song2019.toy.toy import Toy, toy
from .protocol import DEFAULTS, PUBLISHED, forecast, thresholds

LEVELS = np.linspace(-8, 26, 256)
COUNT = 16  # thresholds
BASE = "base"


def write(folder: Path) -> Iterator[str]:
    """Draw and save the figures; the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    data, fresh = toy(0, fresh=2000)
    laws = calibrated(data, fresh)
    for name, figure in {"figure3": figure_3, "figure4": figure_4, "figure5": figure_5}.items():
        path = folder / f"{name}.png"
        figure(fresh, laws).savefig(path, dpi=100)
        plt.close("all")
        yield str(path)


def calibrated(data: Toy, fresh: Toy) -> dict[str, Distribution]:
    """A base model of two thirds of the rows, and what the methods learn from the last third."""
    fit, held = np.split(np.arange(len(data.y)), [2 * len(data.y) // 3])
    X, rows = data.x[:, None], np.concatenate([data.x[held], fresh.x])[:, None]
    law = forecast("BRR", X[fit], data.y[fit], rows)
    old, new = law[: len(held)], law[len(held) :]
    edges = thresholds(data.y, COUNT)
    with unwatched(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = {
            name: make(edges).fit(old, data.y[held]).transform(new) for name, make in (PUBLISHED | DEFAULTS).items()
        }
    return {BASE: new, **made}


def figure_3(fresh: Toy, laws: dict[str, Distribution]) -> Figure:
    """One forecast on the right: density, marginal calibration map, distribution function."""
    row = int(np.argmin(np.abs(fresh.x - 32)))
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(16, 4.4), layout="constrained")
    SingleForecastDisplay.from_predictions(fresh.y, laws, row=row, levels=LEVELS).plot(left)
    for colour, (name, law) in enumerate(laws.items()):
        if name != BASE:
            display = CalibrationMapDisplay.from_forecasts(laws[BASE], law, rows=[row]).plot(middle, label=name)
            display.lines_[0].set_color(f"C{colour}")
    middle.legend(frameon=False, fontsize="small")
    SingleForecastDisplay.from_predictions(fresh.y, laws, row=row, what="cdf", levels=LEVELS).plot(right)
    return figure


def figure_4(fresh: Toy, laws: dict[str, Distribution]) -> Figure:
    """Densities over x, with the base's mean."""
    figure, axes = plt.subplots(2, 3, figsize=(15, 8), layout="constrained")
    mean = laws[BASE].mean()
    for (name, law), ax in zip(laws.items(), axes.ravel(), strict=True):
        DensityDisplay.from_predictions(None, law, x=fresh.x, levels=LEVELS, mean=mean, name=name).plot(ax)
    return figure


def figure_5(fresh: Toy, laws: dict[str, Distribution]) -> Figure:
    """Reliability at 16 even thresholds, in 8 parts of [0, 1]."""
    figure, axes = plt.subplots(2, 3, figsize=(13, 9), layout="constrained")
    for (name, law), ax in zip(laws.items(), axes.ravel(), strict=True):
        display = ThresholdReliabilityDisplay.from_predictions(
            fresh.y, law, thresholds=COUNT, spaced="even", bins="width", name=name
        )
        display.plot(ax)
    return figure
