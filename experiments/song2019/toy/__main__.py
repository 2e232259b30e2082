"""python -m experiments.song2019.toy [--output FOLDER]: the table, modes, and figures 1 and 2 of the paper."""

from __future__ import annotations

import argparse
import warnings
from itertools import chain
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from calibrant import GPBetaCalibrator
from calibrant.displays import BetaParametersDisplay, CalibrationMapDisplay, DensityDisplay

from . import modes
from .table import CALIBRATORS, lines
from .toy import Toy, toy, truth

LEVELS = np.linspace(-8, 26, 256)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.song2019.toy", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("."), help="folder for figure1.png and figure2.png")
    parser.add_argument("--seed", type=int, default=0, help="of the drawn example")
    options = parser.parse_args()
    for line in chain(lines(), [""], modes.lines()):
        print(line, flush=True)
    options.output.mkdir(parents=True, exist_ok=True)
    data, _ = toy(options.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        figure_1(data).savefig(options.output / "figure1.png", dpi=100)
        figure_2(data).savefig(options.output / "figure2.png", dpi=100)
    print(f"Figures: {options.output / 'figure1.png'}, {options.output / 'figure2.png'}")


def figure_1(data: Toy) -> plt.Figure:
    """Densities over x: base, truth and every calibrator."""
    laws = {"base": data.base, "truth": truth(data.x)}
    laws |= {name: make().fit(data.base, data.y).transform(data.base) for name, make in CALIBRATORS.items()}
    figure, axes = plt.subplots(2, 4, figsize=(18, 8), layout="constrained")
    for (name, law), ax in zip(laws.items(), axes.ravel(), strict=True):
        DensityDisplay.from_predictions(data.y, law, x=data.x, levels=LEVELS, name=name).plot(ax)
    return figure


def figure_2(data: Toy) -> plt.Figure:
    """GP-Beta's parameters along the predicted mean, and the maps of some forecasts."""
    calibrator = GPBetaCalibrator().fit(data.base, data.y)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    BetaParametersDisplay.from_calibrator(calibrator, data.base).plot(left)
    CalibrationMapDisplay.from_forecasts(data.base, calibrator.transform(data.base)).plot(right)
    return figure


if __name__ == "__main__":
    main()
