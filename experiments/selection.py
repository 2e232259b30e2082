"""python -m experiments.selection --data FOLDER: is what `AutoCalibrator` chooses the best on rows not seen? Ten sets.

Beside the best single method stands always taking `StackCalibrator`, in nats and in CPU time.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import BayesianRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.parallel import Parallel, delayed

from calibrant import AutoCalibrator, CalibratedRegressor, StackCalibrator, metrics
from calibrant.select.candidates import named

from .cells import claim
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
STACK, BEHIND, LONGEST = "stack", 0.005, 10.0  # nats that the choice may lose to the stack; times that it may take


class Tried(NamedTuple):
    """The choice from the training rows, the NLL of every candidate on the test rows, and CPU seconds."""

    chosen: str
    losses: dict[str, float]
    seconds: tuple[float, float]  # of the choice, of the stack

    @property
    def taken(self) -> float:
        return self.losses[self.chosen]


def main() -> int:
    options = _options()
    try:
        folder = data_folder(options.data)
    except FileNotFoundError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    head = ("none", "stack", "chosen", "best", "behind", "± s.e.", "CPU/stack")
    print(f"{'set':22s}" + "".join(f"{name:>10s}" for name in head) + "  best; chosen how often")
    good, every = 0, []
    for name in SETS:
        dataset = load(name, folder)
        work = (delayed(_split)(dataset, split) for split in splits(dataset, options.splits))
        results = Parallel(n_jobs=options.jobs)(work)
        line, holds = _line(name, results)
        good += holds
        every.append(results)
        print(line, flush=True)
    claims = list(_verdict(good, every))
    print("", *claims, sep="\n")
    return int(any(line.startswith("FAIL") for line in claims))


def _verdict(good: int, every: list[list[Tried]]) -> Iterator[str]:
    yield claim(good >= WANTED, f"close to the best on {good} of {len(SETS)} sets ({WANTED} are wanted)")
    lost = [np.mean([each.taken - each.losses[STACK] for each in results]) for results in every]
    text = (
        f"{np.mean(lost):+.4f} nats on average beside always the stack (at most {BEHIND:g}), worst set {max(lost):+.4f}"
    )
    yield claim(np.mean(lost) <= BEHIND, text)
    slowest = max(_times(results) for results in every)
    whole = _times([each for results in every for each in results])
    yield claim(slowest < LONGEST, f"{whole:.1f} times the stack's CPU time, {slowest:.1f} on the slowest set")


def _times(results: list[Tried]) -> float:
    return float(np.divide(*np.sum([each.seconds for each in results], axis=0)))


def _split(dataset: Dataset, split: Split) -> Tried:
    train, test = split
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = CalibratedRegressor(make_pipeline(StandardScaler(), BayesianRidge()), cv=5)
        model.fit(dataset.X[train], dataset.y[train])
        known, y = model.oof_forecasts_, dataset.y[train][model.oof_rows_]
        start = time.process_time()
        chosen = AutoCalibrator().fit(known, y).best_
        middle = time.process_time()
        stack = StackCalibrator().fit(known, y)
        seconds = (middle - start, time.process_time() - middle)
        new = model.predict_dist(dataset.X[test], calibrated=False)
        fitted = {name: item.fit(known, y) for name, item in named(None, known).items() if name != STACK}
        laws = {name: item.transform(new) for name, item in {**fitted, STACK: stack}.items()}
        return Tried(chosen, {name: float(metrics.nll(dataset.y[test], law)) for name, law in laws.items()}, seconds)


def _line(name: str, results: list[Tried]) -> tuple[str, bool]:
    names = list(results[0].losses)
    table = np.array([[each.losses[key] for key in names] for each in results])
    taken = np.array([each.taken for each in results])
    best = int(np.argmin(table.mean(axis=0)))
    difference = taken - table[:, best]
    behind, error = difference.mean(), difference.std(ddof=1) / np.sqrt(len(difference))
    means = [table[:, 0].mean(), table[:, names.index(STACK)].mean(), taken.mean(), table[:, best].mean()]
    numbers = "".join(f"{value:10.3f}" for value in means) + f"{behind:10.4f}{error:10.4f}{_times(results):10.1f}"
    return f"{name:22s}{numbers}  {names[best]}; {_counts(results)}", bool(behind <= max(CLOSE, error))


def _counts(results: list[Tried]) -> str:
    chosen = [each.chosen for each in results]
    return ", ".join(f"{name} {chosen.count(name)}" for name in results[0].losses if name in chosen)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments.selection", description=__doc__)
    parser.add_argument("--data", type=Path, help="data folder; default: the environment variable CALIBRANT_DATA")
    parser.add_argument("--splits", type=int, default=20, help="random splits of each set")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="processes")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
