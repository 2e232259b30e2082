"""python -m experiments.kuleshov2018.table1 --data FOLDER [--quick] [--jobs N]: Kuleshov et al., table 1.

Eight sets, a quarter of the rows to test on, twenty random splits; Bayesian ridge regression, a dropout net, concrete
dropout and a deep ensemble, before and after recalibration. The paper does not say which sets it took: "auto" is
auto_imports (193 rows; the smallest of the paper's has 194), "cpu" machine_cpu (6 features, the paper's fewest), "bank"
bank8fm, "wine" the red ones. Recalibrated three ways: as in the paper (isotonic regression on the rows that the model
was trained on), isotonic regression on cross-fitted forecasts, and the default map on these. A finished cell is kept.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.linear_model import BayesianRidge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from calibrant import Normal, QuantileCalibrator, metrics
from calibrant.distributions import Distribution, concatenate

from ..cells import RESULTS, Cells, write_result
from ..data import Dataset, Split, data_folder, load, splits
from .table1_verdict import MODELS, SETS, headlines, page, summary, verdict

Array = NDArray[np.float64]
FOLDS, SPLITS = 5, 20
ISOTONIC = {"map": "isotonic", "ranks": "T"}
QUICK = {"sets": "diabetes", "models": "ridge,dropout", "splits": 2}
SMALL = {"hidden": (32, 32), "max_epochs": 30}  # the nets of a quick run


def main(argv: Sequence[str] | None = None) -> int:
    """Run what is not done, print and write the table; the exit status says whether every claim holds."""
    options = _options(argv)
    try:
        folder = None if options.sets == QUICK["sets"] else data_folder(options.data)
    except FileNotFoundError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sets, models = options.sets.split(","), options.models.split(",")
    cells = Cells(options.out / f"table1{'-quick' if options.quick else ''}.cells.json")
    settings = (SMALL if options.quick else {}) | {"device": options.device}
    at_once = options.splits if options.device != "cpu" else 1
    for name, model, first in product(sets, models, range(0, options.splits, at_once)):
        numbers = range(first, min(first + at_once, options.splits))
        missing = [number for number in numbers if f"{name}/{model}/{number}" not in cells.done]
        if missing:
            found = judged_splits(load(name, folder), model, missing, settings, options.jobs)
            cells.keep({f"{name}/{model}/{number}": each for number, each in zip(missing, found, strict=True)})
            print(f"{name}/{model}: {', '.join(map(str, missing))}", flush=True)
    rows = [
        summary(name, model, cells.some(f"{name}/{model}/{split}" for split in range(options.splits)))
        for model in models
        for name in sets
    ]
    claims = list(verdict(rows))
    text = [*page(rows, options.splits), "", *(f"- {claim}" for claim in claims)]
    print("", *text, sep="\n")
    if not options.quick:
        result = {"splits": options.splits, "rows": rows, "claims": claims, "headlines": headlines(rows)}
        write_result(options.out, "table1", result, text)
    return int(any(claim.startswith("FAIL") for claim in claims))


def judged_splits(dataset: Dataset, model: str, numbers: Sequence[int], settings: Any, jobs: int) -> list[Any]:
    """Some splits of one set with one model; nets of all of them are trained at once."""
    wanted = set(numbers)
    every = [split for number, split in enumerate(splits(dataset, max(numbers) + 1)) if number in wanted]
    parts = [rows for split in every for rows in (split.train, *folds(split))]
    seeds = [number for number in numbers for _ in range(1 + FOLDS)]
    fitted = fit_all(model, dataset, parts, seeds, settings)
    forecasts = [read(dataset, split, fitted[k * (1 + FOLDS) : (k + 1) * (1 + FOLDS)]) for k, split in enumerate(every)]
    return list(Parallel(n_jobs=jobs)(delayed(judged)(each) for each in forecasts))


def folds(split: Split) -> list[NDArray[np.intp]]:
    """Rows that the model of each fold is trained on."""
    return [split.train[seen] for seen, _ in KFold(FOLDS).split(split.train)]


def fit_all(model: str, dataset: Dataset, parts: Sequence[Any], seeds: Sequence[int], settings: Any) -> list[Any]:
    """A model fitted to each part of the rows.

    The noise of the dropout net follows from the number of rows; here it is that of all training rows in the folds too,
    so that what is learned from the folds is true of the model of all rows.
    """
    X, y = dataset.X, dataset.y
    if model == "ridge":
        return [make_pipeline(StandardScaler(), BayesianRidge()).fit(X[rows], y[rows]) for rows in parts]
    from calibrant import ConcreteDropoutMLP, DeepEnsemble, DropoutMLP
    from calibrant.forecasters import fit_together

    kinds: dict[str, Any] = {"dropout": DropoutMLP, "concrete": ConcreteDropoutMLP, "ensemble": DeepEnsemble}
    net = kinds[model](**settings)
    if model == "dropout":
        trained = (1 - net.validation_fraction) * max(map(len, parts))
        net.set_params(precision=net.length_scale**2 * (1 - net.dropout) / (2 * trained * net.weight_decay))
    return fit_together(net, X, y, parts, random_states=seeds)


class Forecasts(NamedTuple):
    """Of the rows a model was trained on, of each by a model that had not seen it, and of new rows; and outcomes."""

    same: Distribution
    y_same: Array
    old: Distribution
    y_old: Array
    new: Distribution
    y_new: Array


def read(dataset: Dataset, split: Split, models: Sequence[Any]) -> Forecasts:
    """Forecasts by the model of all training rows and those of the folds."""
    held = [split.train[rows] for _, rows in KFold(FOLDS).split(split.train)]
    old = concatenate([law(model, dataset.X[rows]) for model, rows in zip(models[1:], held, strict=True)])
    same, new = (law(models[0], dataset.X[rows]) for rows in split)
    order = np.concatenate(held)
    return Forecasts(same, dataset.y[split.train], old, dataset.y[order], new, dataset.y[split.test])


def law(model: Any, X: Array) -> Distribution:
    """What a model forecasts."""
    made: Distribution = (
        model.predict_dist(X) if hasattr(model, "predict_dist") else Normal(*model.predict(X, return_std=True))
    )
    return made


def judged(forecasts: Forecasts) -> dict[str, Any]:
    """Measures of the test rows: as they come, and recalibrated each way."""
    same, y_same, old, y_old, new, y_new = forecasts
    recalibrated = {
        "paper": QuantileCalibrator(**ISOTONIC).fit(same, y_same),
        "isotonic": QuantileCalibrator(**ISOTONIC).fit(old, y_old),
        "ours": QuantileCalibrator().fit(old, y_old),
    }
    out: dict[str, Any] = {"n_test": len(y_new), "n_cal": len(y_old), "none": measures(y_new, new)}
    return out | {name: measures(y_new, each.transform(new)) for name, each in recalibrated.items()}


def measures(y: Array, law: Distribution) -> dict[str, float]:
    """Calibration error over ten levels, MAPE of the medians, and the share inside 90 % intervals."""
    near_zero = np.abs(y) < 1e-9
    return {
        "calibration": float(metrics.calibration_error(y, law, levels=10)),
        "mape": float(np.mean(np.abs(law.median() - y)[~near_zero] / np.abs(y[~near_zero]))),
        "covered": float(metrics.coverage(y, law, coverage=0.9)),
    }


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments.kuleshov2018.table1", description=__doc__)
    parser.add_argument("--data", type=Path, help="data folder; default: the environment variable CALIBRANT_DATA")
    parser.add_argument("--quick", action="store_true", help=f"some seconds: {QUICK}, small nets; needs no data folder")
    parser.add_argument("--sets", default=",".join(SETS), help="names, comma separated; default: the paper's eight")
    parser.add_argument("--models", default=",".join(MODELS), help="comma separated; default: all four")
    parser.add_argument("--splits", type=int, default=SPLITS, help="random splits of each set")
    parser.add_argument("--device", default="cpu", help="of the nets; elsewhere than on the cpu all splits at once")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="processes")
    parser.add_argument("--out", type=Path, default=RESULTS / "kuleshov2018", help="folder for cells and table")
    options = parser.parse_args(argv)
    if options.quick:
        vars(options).update(QUICK)
    return options


if __name__ == "__main__":
    sys.exit(main())
