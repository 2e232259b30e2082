"""python -m experiments.rates: the rate of `BoostedClassCalibrator`, chosen on data that no claim is made of.

Sets that come with scikit-learn or are made by it, none of which is in the data folder; base models and splits are
those of `experiments.mcgrad`. The rate is the one with the lowest log loss of test rows on average over sets, bases and
splits; the most rounds are 28 over the rate, so that all can go equally far. Beside it stands the difference from the
best in standard errors over sets and bases, and the CPU seconds of the fit.
"""

from __future__ import annotations

import argparse
import inspect
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from time import process_time

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.base import clone

from calibrant import BoostedClassCalibrator, metrics
from calibrant.calibration.boosting.growing import RATES as LIMITS

from .cells import RESULTS, Cells, claim
from .mcgrad import BASES, CALIBRATE, LEAST, TRAIN

RATES = (0.05, 0.07, 0.1, 0.15)
SMALLEST = LIMITS[0]  # what is taken of few rows where none is given
FARTHEST = 28.0  # rounds times rate
Numbers = NDArray[np.float64]
Labels = NDArray[np.intp]


def _digits(of: Callable[[Labels], NDArray[np.bool_]]) -> tuple[Numbers, Labels]:
    X, y = datasets.load_digits(return_X_y=True)
    return X, of(y).astype(np.intp)


def _made(n: int, d: int, told: int, clusters: int, flip: float) -> tuple[Numbers, Labels]:
    X, y = datasets.make_classification(
        n, d, n_informative=told, n_redundant=0, n_clusters_per_class=clusters, flip_y=flip, random_state=0
    )
    return X, y.astype(np.intp)


def _above(X: Numbers, y: Numbers, noise: float) -> tuple[Numbers, Labels]:
    """Whether an outcome, with some noise, is above its median."""
    y = y + noise * y.std() * np.random.default_rng(0).normal(size=len(y))
    return X, (y > np.median(y)).astype(np.intp)


def _hastie() -> tuple[Numbers, Labels]:
    X, y = datasets.make_hastie_10_2(4000, random_state=0)
    return X, (y > 0).astype(np.intp)


SETS: dict[str, Callable[[], tuple[Numbers, Labels]]] = {
    "breast cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "digits, odd": lambda: _digits(lambda y: y % 2 == 1),
    "digits, eight": lambda: _digits(lambda y: y == 8),
    "diabetes, above the median": lambda: _above(*datasets.load_diabetes(return_X_y=True), 0.0),
    "made, 1000 x 20": lambda: _made(1000, 20, 6, 2, 0.2),
    "made, 3000 x 10": lambda: _made(3000, 10, 5, 2, 0.1),
    "made, 5000 x 30": lambda: _made(5000, 30, 10, 3, 0.05),
    "made, 10000 x 20": lambda: _made(10_000, 20, 12, 4, 0.02),
    "Hastie": _hastie,
    "Friedman 1": lambda: _above(*datasets.make_friedman1(2000, random_state=0), 0.5),
    "Friedman 2": lambda: _above(*datasets.make_friedman2(1000, random_state=0), 0.5),
    "quantiles": lambda: datasets.make_gaussian_quantiles(n_samples=3000, n_features=8, n_classes=2, random_state=0),
}


def main() -> int:
    """Print the table; the exit status says whether the default is the rate that it chooses."""
    parser = argparse.ArgumentParser(prog="python -m experiments.rates", description=__doc__)
    parser.add_argument("--splits", type=int, default=1, help="random splits of each set")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out", type=Path, default=RESULTS / "rates", help="folder of the finished cells")
    options = parser.parse_args()
    cells = Cells(options.out / "rates.cells.json")
    tasks = {
        f"{name} / {base} / {split}": (name, base, split)
        for split in range(options.splits)
        for name in SETS
        for base in BASES
    }
    for key in cells.run(tasks, cell, options.jobs):
        print(key, flush=True)
    kinds = [[f"{name} / {base} / {split}" for split in range(options.splits)] for name in SETS for base in BASES]
    found = np.array([np.mean([list(cell.values()) for cell in cells.some(keys)], axis=0) for keys in kinds])
    lines, best = verdict(found[:, : len(RATES)], found[:, len(RATES) :])
    print("\n".join(lines))
    return int(not best)


def cell(name: str, base: str, split: int) -> dict[str, float]:
    """Log losses of test rows and CPU seconds of the fits, of all rates on one split."""
    X, y = SETS[name]()
    order = np.random.default_rng(split).permutation(len(y))
    train, rest, test = np.split(order, np.round(np.cumsum([TRAIN, CALIBRATE]) * len(y)).astype(int))
    losses, seconds = {}, {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = clone(BASES[base]).fit(X[train], y[train])
        known, new = (model.predict_proba(X[rows]) for rows in (rest, test))
        for rate in RATES:
            start = process_time()
            boosted = BoostedClassCalibrator(round(FARTHEST / rate), rate=rate).fit(known, y[rest], X=X[rest])
            seconds[f"seconds {rate}"] = process_time() - start
            p = np.maximum(boosted.transform(new, X=X[test]), LEAST)
            losses[f"loss {rate}"] = float(metrics.log_loss(y[test], p / p.sum(axis=1, keepdims=True)))
    return losses | seconds


def verdict(losses: Numbers, seconds: Numbers) -> tuple[list[str], bool]:
    """A line a rate and the choice; whether it is the default.

    >>> lines, _ = verdict(np.array([[0.3, 0.2, 0.4, 0.4], [0.3, 0.3, 0.5, 0.6]]), np.ones((2, 4)))
    >>> lines[1]
    'rate 0.07: log loss 0.25000, 0.0 standard errors from the best, 1.00 s'
    """
    best = int(np.argmin(losses.mean(axis=0)))
    more = losses - losses[:, [best]]
    spread = more.std(axis=0, ddof=1) / np.sqrt(len(more))
    errors = more.mean(axis=0) / np.where(spread > 0, spread, 1.0)
    rows = zip(RATES, losses.mean(axis=0), errors, seconds.mean(axis=0), strict=True)
    lines = [f"rate {r}: log loss {m:.5f}, {e:.1f} standard errors from the best, {s:.2f} s" for r, m, e, s in rows]
    rate, rounds = RATES[best], round(FARTHEST / RATES[best])
    default = {k: p.default for k, p in inspect.signature(BoostedClassCalibrator).parameters.items()}
    right = default["rate"] is None and (SMALLEST, default["n_rounds"]) == (rate, rounds)
    return [*lines, claim(right, f"the default is the best of them, {rate} and {rounds} rounds")], right


if __name__ == "__main__":
    sys.exit(main())
