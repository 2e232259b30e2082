"""python -m experiments.cost: what each calibrator costs where nothing is wrong, in nats a row, by simulation.

The truth itself is forecast: laws are normal with many means and widths, points have errors of one width, probabilities
of classes are those that the labels are drawn by. The cost is the rise of the expected log score of fresh rows; of
`PointCalibrator`, that of half the mean squared error over the variance. Beside each cost is the one that the
calibrator's docstring states; a star marks a difference beyond noise.
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from calibrant import DensityCalibrator, FlowCalibrator, Normal, QuantileCalibrator
from calibrant.adapters.class_scores import ClassScores
from calibrant.calibration.contract import fit_with, transform_with
from calibrant.classification import PriorShiftCalibrator
from calibrant.select.candidates import METHODS
from calibrant.select.methods import AUTO, methods_for

ROWS = {100: 100, 300: 60, 1000: 30}  # rows, and draws of so many
SLOW = {"gpc": 10, "stack": 4, AUTO: 10}  # so many times fewer draws
FRESH = 4_000
FEATURES = 5  # that have nothing to do with the outcomes, for calibrators that see some
_STATED = re.compile(r"Cost where nothing is wrong, nats a row \(`experiments\.cost`\): ([^.]*(?:\.\d[^.]*)*)\.")
_COSTS = re.compile(r"(?:0\.\d+(?:, )?){3}")


class Contestant(NamedTuple):
    """A calibrator, what it is given, and what it is called."""

    what: str
    name: str
    calibrator: Any


def main() -> int:
    """Print the table; the exit status says whether docstrings are right."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.cost", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a fifth of the draws")
    parser.add_argument("--only", help="names of calibrators, comma separated")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args()
    only = None if options.only is None else options.only.split(",")
    print(f"{'forecasts':14s}{'calibrator':20s}" + "".join(f"{f'{n} rows':>19s}{'stated':>9s} " for n in ROWS))
    right = []
    for contestant in contestants():
        if only is None or contestant.name in only:
            right.append(_line(contestant, options))
    print(f"{'PASS' if all(right) else 'FAIL'}  docstrings of {sum(right)} of {len(right)} are right")
    return int(not all(right))


def contestants() -> Iterator[Contestant]:
    """Every calibrator of the tables of methods, and some with other parameters."""
    for name, make in methods_for("distributions").items():
        yield Contestant("laws", name, make())
    for map_ in ("ecdf", "isotonic", "beta", "kde"):
        yield Contestant("laws", f"quantile, {map_}", QuantileCalibrator(map_))
    yield Contestant("laws", "density, logistic", DensityCalibrator(binary="logistic"))
    yield Contestant("laws", "flow, penalty 1", FlowCalibrator(penalty=1.0))
    for name, make in methods_for("points").items():
        yield Contestant("points", name, make())
    for name, make in methods_for("scores").items():
        if name not in METHODS["scores"] or METHODS["scores"][name].classes == 2:
            yield Contestant("two classes", name, make())
        yield Contestant("three classes", name, make())
    yield Contestant("two classes", "prior shift", PriorShiftCalibrator())
    yield Contestant("three classes", "prior shift", PriorShiftCalibrator())


def stated(contestant: Contestant) -> list[float] | None:
    """The costs in the docstring, of the kind of forecasts; None for other parameters than the usual ones."""
    if "," in contestant.name:
        return None
    text = " ".join((inspect.getdoc(type(contestant.calibrator)) or "").split())
    said = _STATED.search(text)
    found = _COSTS.findall(said.group(1)) if said else []
    place = {"laws": 0, "points": -1, "two classes": -2, "three classes": -1}[contestant.what]
    if contestant.name == AUTO:
        place = {"laws": 0, "two classes": 1, "three classes": 2}[contestant.what]
    costs = found[place] if len(found) >= (2 if place == -2 else 1) else ""
    return [float(value) for value in costs.rstrip(", ").split(", ")] if costs else []


def _line(contestant: Contestant, options: argparse.Namespace) -> bool:
    """Mean rise of the log score, its standard error and what is stated, for each number of rows."""
    expected, right = stated(contestant), True
    text = f"{contestant.what:14s}{contestant.name:20s}"
    for place, (n, most) in enumerate(ROWS.items()):
        draws = most // SLOW.get(contestant.name, 1) // (5 if options.quick else 1)
        jobs = (delayed(rise)(contestant, n, seed) for seed in range(max(draws, 3)))
        found = np.array(Parallel(n_jobs=options.jobs)(jobs))
        cost, error = found.mean(), found.std(ddof=1) / np.sqrt(len(found))
        text += f"{cost:11.5f} ±{error:.5f}"
        if expected is None:
            text += f"{'':10s}"
            continue
        holds = bool(expected) and abs(cost - expected[place]) <= 3 * error + 0.2 * abs(cost) + 1e-4
        right &= holds
        text += f"{expected[place] if expected else np.nan:9.4f}{' ' if holds else '*'}"
    print(text, flush=True)
    return right


def rise(contestant: Contestant, n: int, seed: int) -> float:
    """How much worse the expected log score of fresh rows is than that of the truth, which was forecast."""
    rng = np.random.default_rng([n, seed])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few rows, marginal calibration
        if contestant.what in ("laws", "points"):
            return _rise_of_laws(contestant, n, rng, seed)
        return _rise_of_classes(contestant, n, rng, seed)


def _rise_of_laws(contestant: Contestant, n: int, rng: np.random.Generator, seed: int) -> float:
    points = contestant.what == "points"
    (known, y), (fresh, outcomes) = (_laws(rng, rows, points) for rows in (n, FRESH))
    old, new = (law.loc if points else law for law in (known, fresh))
    X, X_new = _features(n, seed)
    made = transform_with(fit_with(clone(contestant.calibrator), old, y, X=X), new, X=X_new)
    if not hasattr(made, "logpdf"):
        made = Normal(made, 1.0)
    return float(np.mean(fresh.logpdf(outcomes) - made.logpdf(outcomes)))


def _features(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Features of n rows and of the fresh ones, which tell nothing."""
    known, fresh = (np.random.default_rng([rows, seed]).normal(size=(rows, FEATURES)) for rows in (n, FRESH))
    return known, fresh


def _laws(rng: np.random.Generator, n: int, points: bool) -> tuple[Normal, np.ndarray]:
    mu, noise = rng.normal(0.0, 2.0, n), rng.normal(size=n)
    spread = np.ones(n) if points else np.exp(rng.normal(0.0, 0.4, n))
    return Normal(mu, spread), mu + spread * noise


def _rise_of_classes(contestant: Contestant, n: int, rng: np.random.Generator, seed: int) -> float:
    k = 2 if contestant.what == "two classes" else 3
    p, fresh = (_probabilities(rng, rows, k) for rows in (n, FRESH))
    labels = (p.cumsum(axis=1) < rng.uniform(size=(n, 1))).sum(axis=1)
    X, X_new = _features(n, seed)
    fitted = fit_with(clone(contestant.calibrator), ClassScores(p, classes=np.arange(k)), labels, X=X)
    made = np.asarray(transform_with(fitted, ClassScores(fresh, classes=np.arange(k)), X=X_new))
    with np.errstate(divide="ignore"):
        return float(np.mean(np.sum(fresh * (np.log(fresh) - np.log(made)), axis=1)))


def _probabilities(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    scores = np.exp(rng.normal(0.0, 1.2, (n, k)))
    return np.asarray(scores / scores.sum(axis=1, keepdims=True))


if __name__ == "__main__":
    sys.exit(main())
