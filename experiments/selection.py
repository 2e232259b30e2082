"""python -m experiments.selection --data FOLDER: is what `compare` recommends the best on rows not seen? Ten sets."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.linear_model import BayesianRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.parallel import Parallel, delayed

from calibrant import CalibratedRegressor, compare, metrics
from calibrant.select.candidates import named

from .data import Dataset, Split, data_folder, load, splits

SETS = (
    "diabetes",
    "boston_housing",
    "airfoil_self_noise",
    "concrete",
    "forest_fires",
    "auto_mpg",
    "auto_price",
    "machine_cpu",
    "energy_efficiency",
    "wine_quality_red",
)
CLOSE, WANTED = 0.01, 8  # nats; sets


def main() -> int:
    options = _options()
    try:
        folder = data_folder(options.data)
    except FileNotFoundError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    print(f"{'set':22s}{'none':>9s}{'chosen':>9s}{'best':>9s}{'behind':>9s}{'± s.e.':>9s}  best; chosen how often")
    good = 0
    for name in SETS:
        dataset = load(name, folder)
        work = (delayed(_split)(dataset, split) for split in splits(dataset, options.splits))
        results = Parallel(n_jobs=options.jobs)(work)
        line, holds = _line(name, results)
        good += holds
        print(line, flush=True)
    print(
        f"{'PASS' if good >= WANTED else 'FAIL'}  close to the best on {good} of {len(SETS)} sets ({WANTED} are wanted)"
    )
    return int(good < WANTED)


def _split(dataset: Dataset, split: Split) -> tuple[str, dict[str, float]]:
    """The recommendation from the training rows, and the NLL of every candidate on the test rows."""
    train, test = split
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = CalibratedRegressor(make_pipeline(StandardScaler(), BayesianRidge()), cv=5)
        model.fit(dataset.X[train], dataset.y[train])
        known, y = model.oof_forecasts_, dataset.y[train][model.oof_rows_]
        chosen = compare(known, y).chosen
        new = model.predict_dist(dataset.X[test], calibrated=False)
        laws = {name: item.fit(known, y).transform(new) for name, item in named(None, known).items()}
        return chosen, {name: float(metrics.nll(dataset.y[test], law)) for name, law in laws.items()}


def _line(name: str, results: list[tuple[str, dict[str, float]]]) -> tuple[str, bool]:
    names = list(results[0][1])
    table = np.array([[losses[key] for key in names] for _, losses in results])
    taken = np.array([losses[chosen] for chosen, losses in results])
    best = int(np.argmin(table.mean(axis=0)))
    difference = taken - table[:, best]
    behind, error = difference.mean(), difference.std(ddof=1) / np.sqrt(len(difference))
    means = f"{table[:, 0].mean():9.3f}{taken.mean():9.3f}{table[:, best].mean():9.3f}"
    return f"{name:22s}{means}{behind:9.4f}{error:9.4f}  {names[best]}; {_counts(results)}", behind <= max(CLOSE, error)


def _counts(results: list[tuple[str, dict[str, float]]]) -> str:
    def each() -> Iterator[str]:
        chosen = [name for name, _ in results]
        for name in results[0][1]:
            if name in chosen:
                yield f"{name} {chosen.count(name)}"

    return ", ".join(each())


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments.selection", description=__doc__)
    parser.add_argument("--data", type=Path, help="data folder; default: the environment variable CALIBRANT_DATA")
    parser.add_argument("--splits", type=int, default=20, help="random splits of each set")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="processes")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
