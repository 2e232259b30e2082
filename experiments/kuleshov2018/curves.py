"""python -m experiments.kuleshov2018.curves --data FOLDER [--quick]: calibration curves, before and after.

One split of each set of table 1 with the paper's two models, as in its figures 3 to 5: the curves of forecasts as they
come, recalibrated as in the paper, and recalibrated by the default map on cross-fitted forecasts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from calibrant import QuantileCalibrator
from calibrant.displays import CalibrationCurveDisplay

from ..cells import RESULTS
from ..data import data_folder, load, splits
from .table1 import FOLDS, ISOTONIC, QUICK, SMALL, fit_all, folds, read
from .table1_verdict import MODELS, OF_THE_PAPER, SETS


def main(argv: Sequence[str] | None = None) -> int:
    """Draw ``curves.png``."""
    parser = argparse.ArgumentParser(prog="python -m experiments.kuleshov2018.curves", description=__doc__)
    parser.add_argument("--data", type=Path, help="data folder; default: the environment variable CALIBRANT_DATA")
    parser.add_argument("--quick", action="store_true", help="a bundled set and small nets")
    parser.add_argument("--out", type=Path, default=RESULTS / "kuleshov2018", help="folder for the picture")
    options = parser.parse_args(argv)
    try:
        folder = None if options.quick else data_folder(options.data)
    except FileNotFoundError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    names = [str(QUICK["sets"])] if options.quick else list(SETS)
    options.out.mkdir(parents=True, exist_ok=True)
    print(drawn(names, folder, SMALL if options.quick else {}, options.out / "curves.png"))
    return 0


def drawn(names: Sequence[str], folder: Path | None, settings: dict[str, Any], path: Path) -> Path:
    """The picture, a column a set and a line a model."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2.2 * len(names) + 0.6, 5), layout="constrained")
    axes = figure.subplots(len(OF_THE_PAPER), len(names), squeeze=False, sharex=True, sharey=True)
    for column, name in enumerate(names):
        dataset = load(name, folder)
        split = next(iter(splits(dataset, 1)))
        for line, model in enumerate(OF_THE_PAPER):
            fitted = fit_all(model, dataset, [split.train, *folds(split)], [0] * (1 + FOLDS), settings)
            same, y_same, old, y_old, new, y_new = read(dataset, split, fitted)
            stages = {
                "as it comes": new,
                "as in the paper": QuantileCalibrator(**ISOTONIC).fit(same, y_same).transform(new),
                "cross-fitted": QuantileCalibrator().fit(old, y_old).transform(new),
            }
            ax = axes[line, column]
            for stage, law in stages.items():
                CalibrationCurveDisplay.from_predictions(y_new, law, name=stage).plot(ax=ax)
            ax.set_title(f"{SETS.get(name, name)}, {MODELS[model]}", fontsize=8)
            ax.set(xlabel="", ylabel="")
            ax.get_legend().remove()
    handles = axes[0, 0].get_legend_handles_labels()[0]
    labels = ["95 % of perfect forecasters", *stages]
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), fontsize=8)
    figure.supxlabel("Nominal level")
    figure.supylabel("Share of outcomes below the quantile")
    figure.savefig(path, dpi=80)
    return path


if __name__ == "__main__":
    sys.exit(main())
