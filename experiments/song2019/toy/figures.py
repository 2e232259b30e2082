"""Figures 1 and 2 of the paper, on its example of 360 points."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from calibrant import GPBetaCalibrator
from calibrant.displays import BetaParametersDisplay, CalibrationMapDisplay, DensityDisplay

from .table import CALIBRATORS
from .toy import Toy, toy, truth

LEVELS = np.linspace(-8, 26, 256)


def figure_1(data: Toy) -> Figure:
    """Densities over x: base, truth and every calibrator."""
    laws = {"base": data.base, "truth": truth(data.x)}
    laws |= {name: make().fit(data.base, data.y).transform(data.base) for name, make in CALIBRATORS.items()}
    figure, axes = plt.subplots(2, 4, figsize=(18, 8), layout="constrained")
    for (name, law), ax in zip(laws.items(), axes.ravel(), strict=True):
        DensityDisplay.from_predictions(data.y, law, x=data.x, levels=LEVELS, name=name).plot(ax)
    return figure


def figure_2(data: Toy) -> Figure:
    """GP-Beta's parameters along the predicted mean, and the maps of some forecasts."""
    calibrator = GPBetaCalibrator(base_map=None).fit(data.base, data.y)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    BetaParametersDisplay.from_calibrator(calibrator, data.base).plot(left)
    CalibrationMapDisplay.from_forecasts(data.base, calibrator.transform(data.base)).plot(right)
    return figure


FIGURES: dict[str, Callable[[Toy], Figure]] = {"figure1.png": figure_1, "figure2.png": figure_2}


def write(folder: Path, seed: int = 0, *, anew: bool = False) -> Iterator[str]:
    """Draw and save the figures that are not there, or all of them ``anew``; the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    data, _ = toy(seed)
    for name, draw in FIGURES.items():
        path = folder / name
        if anew or not path.is_file():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                draw(data).savefig(path, dpi=100)
            plt.close("all")
        yield str(path)
