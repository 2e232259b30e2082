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
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import BayesianRidge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from calibrant import CalibratedRegressor, QuantileCalibrator, metrics
from calibrant.distributions import Distribution

from ..cells import RESULTS, Cells, write_result
from ..data import Dataset, Split, data_folder, load, splits
from .table1_verdict import MODELS, SETS, page, summary, verdict

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
    small = SMALL if options.quick else {}
    tasks = {
        f"{name}/{model}/{split}": (name, model, split, folder, small)
        for split in range(options.splits) for name in sets for model in models
    }  # fmt: skip
    cells = Cells(options.out / f"table1{'-quick' if options.quick else ''}.cells.json")
    for count, name in enumerate(cells.run(tasks, cell, options.jobs), 1):
        print(f"{count:4d} {name}", flush=True)
    rows = [
        summary(name, model, cells.some(f"{name}/{model}/{split}" for split in range(options.splits)))
        for model in models
        for name in sets
    ]
    claims = list(verdict(rows))
    text = [*page(rows, options.splits), "", *(f"- {claim}" for claim in claims)]
    print("", *text, sep="\n")
    if not options.quick:
        write_result(options.out, "table1", {"splits": options.splits, "rows": rows, "claims": claims}, text)
    return int(any(claim.startswith("FAIL") for claim in claims))


def cell(name: str, model: str, number: int, folder: Path | None, small: dict[str, Any]) -> dict[str, Any]:
    """One split of one set with one model."""
    dataset = load(name, folder)
    split = list(splits(dataset, number + 1))[number]
    return judged(dataset, split, base(model, number, small))


def base(model: str, seed: int, small: dict[str, Any]) -> Any:
    """A model of the table, ready to be fitted."""
    if model == "ridge":
        return make_pipeline(StandardScaler(), BayesianRidge())
    from calibrant import ConcreteDropoutMLP, DeepEnsemble, DropoutMLP

    made: dict[str, Any] = {"dropout": DropoutMLP, "concrete": ConcreteDropoutMLP, "ensemble": DeepEnsemble}
    return made[model](random_state=seed, **small)


def judged(dataset: Dataset, split: Split, model: Any) -> dict[str, Any]:
    """Measures of the test rows: as they come, and recalibrated each way."""
    X, y, X_new, y_new = dataset.X[split.train], dataset.y[split.train], dataset.X[split.test], dataset.y[split.test]
    fitted = CalibratedRegressor(model, cv=KFold(FOLDS)).fit(X, y)
    new, same = (fitted.predict_dist(rows, calibrated=False) for rows in (X_new, X))
    old, y_old = fitted.oof_forecasts_, y[fitted.oof_rows_]
    recalibrated = {
        "paper": QuantileCalibrator(**ISOTONIC).fit(same, y),
        "isotonic": QuantileCalibrator(**ISOTONIC).fit(old, y_old),
        "ours": QuantileCalibrator().fit(old, y_old),
    }
    out: dict[str, Any] = {"n_test": len(y_new), "n_cal": len(y_old), "none": measures(y_new, new)}
    return out | {name: measures(y_new, each.transform(new)) for name, each in recalibrated.items()}


def measures(y: Array, law: Distribution) -> dict[str, float]:
    """Calibration error over ten levels, MAPE of the medians, the share inside 90 % intervals, and the CRPS."""
    near_zero = np.abs(y) < 1e-9
    return {
        "calibration": float(metrics.calibration_error(y, law, levels=10)),
        "mape": float(np.mean(np.abs(law.median() - y)[~near_zero] / np.abs(y[~near_zero]))),
        "covered": float(metrics.coverage(y, law, coverage=0.9)),
        "crps": float(metrics.crps(y, law)),
    }


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments.kuleshov2018.table1", description=__doc__)
    parser.add_argument("--data", type=Path, help="data folder; default: the environment variable CALIBRANT_DATA")
    parser.add_argument("--quick", action="store_true", help=f"some seconds: {QUICK}, small nets; needs no data folder")
    parser.add_argument("--sets", default=",".join(SETS), help="names, comma separated; default: the paper's eight")
    parser.add_argument("--models", default=",".join(MODELS), help="comma separated; default: all four")
    parser.add_argument("--splits", type=int, default=SPLITS, help="random splits of each set")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="processes")
    parser.add_argument("--out", type=Path, default=RESULTS / "kuleshov2018", help="folder for cells and table")
    options = parser.parse_args(argv)
    if options.quick:
        vars(options).update(QUICK)
    return options


if __name__ == "__main__":
    sys.exit(main())
