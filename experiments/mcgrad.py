"""python -m experiments.mcgrad --data FOLDER: class probabilities put right with the features beside them.

Scores as they are, beta calibration, MCGrad (Tax et al. 2026; where it is installed: pip install mcgrad) and
`BoostedClassCalibrator`, which see the same features. A split trains the base model on 40 % of the rows, calibrates on
30 % and tests on 30 %. The multicalibration error is MCGrad's own: the largest cumulative difference over segments of
up to three features, in standard errors. Cover types are class 2 against the rest, which MCGrad can do, and all seven,
beside the Dirichlet map.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from calibrant import BetaCalibrator, BoostedClassCalibrator, DirichletCalibrator, metrics

from .cells import RESULTS, Cells, claim, write_result
from .data import data_folder, frame_of, load

SETS = ("adult", "german_credit", "spambase", "covtype_15k, class 2", "covtype_15k")
QUICK = ("german_credit", "spambase")
BASES: dict[str, Any] = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "naive Bayes": GaussianNB(),
    "boosting": HistGradientBoostingClassifier(max_iter=60, random_state=0),
}
TRAIN, CALIBRATE = 0.4, 0.3
LEAST = 1e-12  # of a probability, in all log losses
SLACK = 0.002  # nats above beta calibration that are allowed
OURS, PEER = "boosted", "mcgrad"
MEASURES = {
    "log_loss": "log loss",
    "brier": "Brier score",
    "mce_sigma": "multicalibration error, standard errors",
    "fit_s": "CPU seconds of the fit",
}
Cell = dict[str, float]
Means = dict[tuple[str, str], dict[str, Cell]]


class Rows(NamedTuple):
    """Probabilities, labels and features of some rows."""

    p: NDArray[np.float64]
    y: NDArray[np.intp]
    X: pd.DataFrame


def main() -> int:
    """Write the tables and print the verdict; the exit status says whether all claims hold."""
    options = _options()
    try:
        folder = data_folder(options.data)
    except FileNotFoundError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    names = QUICK if options.quick else SETS
    tasks = {
        f"{name} / {base} / {way} / {split}": (name, base, way, split, folder)
        for split in range(1 if options.quick else options.splits)
        for name in names
        for base in BASES
        for way in _ways(name)
    }
    cells = Cells(options.out / ("quick.cells.json" if options.quick else "mcgrad.cells.json"))
    for key in cells.run(tasks, cell, options.jobs):
        print(f"{key}: {cells.done[key]['log_loss']:.4f}", flush=True)
    means: Means = {}
    for name, base, way, *_ in tasks.values():
        found = cells.some(key for key in tasks if key.startswith(f"{name} / {base} / {way} / "))
        means.setdefault((name, base), {})[way] = averaged(found)
    lines = verdict(means)
    if not options.quick:
        result = {"cells": [{"set": n, "base": b, "means": m} for (n, b), m in means.items()], "verdict": lines}
        write_result(options.out, "mcgrad", result, _markdown(means, lines))
    print("\n".join(lines))
    return int(any(line.startswith("FAIL") for line in lines))


def cell(name: str, base: str, way: str, split: int, folder: Path) -> Cell:
    """Measures of one way on the test rows of one split."""
    known, new = _rows(name, base, split, folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _measures(*_calibrated(way, known, new), new)


def _ways(name: str) -> list[str]:
    if name == "covtype_15k":
        return ["none", "beta", "dirichlet", OURS]
    return ["none", "beta", *([PEER] if find_spec("mcgrad") else []), OURS]


def _rows(name: str, base: str, split: int, folder: Path) -> tuple[Rows, Rows]:
    """Rows to calibrate on and to test on, forecast by a model that has seen neither."""
    file, _, one = name.partition(", class ")
    data, X = load(file, folder), frame_of(file, folder)
    X = X.set_axis([f"x{place}" for place in range(X.shape[1])], axis=1)  # MCGrad refuses some names
    y = (data.y == int(one) - 1).astype(np.intp) if one else data.y
    order = np.random.default_rng(split).permutation(len(y))
    train, rest, test = np.split(order, np.round(np.cumsum([TRAIN, CALIBRATE]) * len(y)).astype(int))
    model = clone(BASES[base]).fit(data.X[train], y[train])
    both = (Rows(model.predict_proba(data.X[rows]), y[rows], X.iloc[rows]) for rows in (rest, test))
    return next(both), next(both)


def _calibrated(way: str, rows: Rows, new: Rows) -> tuple[NDArray[np.float64], float]:
    """Probabilities (n, K) of new rows, and the CPU seconds of the fit."""
    if way == "none":
        return new.p, 0.0
    start = time.process_time()
    if way == PEER:
        model = _mcgrad(rows)
        spent = time.process_time() - start
        p = model.predict(_table(new), "p", *_columns(new.X))
        return np.column_stack([1 - p, p]), spent
    if way == OURS:
        boosted = BoostedClassCalibrator().fit(rows.p, rows.y, X=rows.X)
        spent = time.process_time() - start
        return boosted.transform(new.p, X=new.X), spent
    plain = {"beta": BetaCalibrator, "dirichlet": DirichletCalibrator}[way]().fit(rows.p, rows.y)
    spent = time.process_time() - start
    return plain.transform(new.p), spent


def _mcgrad(rows: Rows) -> Any:
    from mcgrad.methods import MCGrad

    texts, numbers = _columns(rows.X)
    return MCGrad().fit(
        _table(rows), "p", "y", categorical_feature_column_names=texts, numerical_feature_column_names=numbers
    )


def _table(rows: Rows) -> pd.DataFrame:
    """Features, the probability of the second class and the label; MCGrad wants texts for categories."""
    texts, _ = _columns(rows.X)
    return rows.X.astype(dict.fromkeys(texts, str)).assign(p=rows.p[:, 1], y=rows.y).reset_index(drop=True)


def _columns(X: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Names of the categories and of the numbers."""
    texts = [str(name) for name in X if isinstance(X[name].dtype, pd.CategoricalDtype)]
    return texts, [str(name) for name in X if name not in texts]


def _measures(p: NDArray[np.float64], spent: float, new: Rows) -> dict[str, float]:
    p = np.maximum(p, LEAST)
    p = p / p.sum(axis=1, keepdims=True)
    found = {"log_loss": metrics.log_loss(new.y, p), "brier": metrics.brier_score(new.y, p), "fit_s": spent}
    if p.shape[1] == 2 and find_spec("mcgrad"):
        found["mce_sigma"] = _multicalibration_error(p[:, 1], new)
    return {name: float(value) for name, value in found.items() if np.isfinite(value)}


def _multicalibration_error(p: NDArray[np.float64], new: Rows) -> float:
    from mcgrad.metrics import MulticalibrationError

    texts, numbers = _columns(new.X)
    table = _table(new).assign(p=p)
    return float(
        MulticalibrationError(
            table, "y", "p", categorical_segment_columns=texts, numerical_segment_columns=numbers
        ).mce_sigma
    )


def averaged(cells: list[Cell]) -> Cell:
    """Means over splits of every measure, of those in which it is finite.

    >>> averaged([{"log_loss": 1.0}, {"log_loss": 3.0, "mce_sigma": 5.0}])
    {'log_loss': 2.0, 'mce_sigma': 5.0}
    """
    measures = dict.fromkeys(m for cell in cells for m in cell)
    return {m: float(np.mean([cell[m] for cell in cells if m in cell])) for m in measures}


def verdict(means: Means) -> list[str]:
    """Whether ours is better than each of the others, set by set."""
    lines = []
    beside = {key: ways for key, ways in means.items() if PEER in ways}
    if beside:
        lost = [key for key, ways in beside.items() if not _loss(ways, OURS) < _loss(ways, PEER)]
        lines.append(claim(not lost, f"log loss below MCGrad's on {_of(beside, lost)}"))
        ours, peers = (np.mean([ways[way]["mce_sigma"] for ways in beside.values()]) for way in (OURS, PEER))
        lines.append(claim(ours <= peers, f"multicalibration error {ours:.2f} on average, MCGrad's {peers:.2f}"))
        spent, others = (np.mean([ways[way]["fit_s"] for ways in beside.values()]) for way in (OURS, PEER))
        lines.append(f"      CPU seconds a fit: {spent:.1f} on average, MCGrad's {others:.1f}")
    else:
        lines.append("      MCGrad is not installed (pip install mcgrad): not beside it")
    for way, told in {"beta": "beta calibration", "none": "the scores as they are", "dirichlet": "Dirichlet"}.items():
        there = {key: ways for key, ways in means.items() if way in ways}
        lost = [key for key, ways in there.items() if not _loss(ways, OURS) <= _loss(ways, way) + SLACK]
        if there:
            lines.append(claim(not lost, f"log loss at most {SLACK} above that of {told} on {_of(there, lost)}"))
    return lines


def _loss(ways: dict[str, Cell], way: str) -> float:
    return ways[way]["log_loss"]


def _of(there: dict[tuple[str, str], Any], lost: list[tuple[str, str]]) -> str:
    but = f"; not on {', '.join(' / '.join(key) for key in lost)}" if lost else ""
    return f"{len(there) - len(lost)} of {len(there)} sets and bases{but}"


def _markdown(means: Means, lines: list[str]) -> Iterator[str]:
    yield "# Class probabilities and the features beside them\n"
    for measure, words in MEASURES.items():
        ways = ["none", "beta", "dirichlet", PEER, OURS]
        yield f"\n## {words}\n"
        yield f"| set | base | {' | '.join(ways)} |"
        yield f"|---|---|{'---|' * len(ways)}"
        digits = 2 if measure in ("fit_s", "mce_sigma") else 4
        for (name, base), found in means.items():
            row = [found.get(way, {}).get(measure) for way in ways]
            if any(value is not None for value in row):
                told = ("" if value is None else f"{value:.{digits}f}" for value in row)
                yield f"| {name} | {base} | {' | '.join(told)} |"
    yield "\n## Verdict\n"
    yield from (f"    {line}" for line in lines)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments.mcgrad", description=__doc__)
    parser.add_argument("--data", type=Path, help="data folder; default: the environment variable CALIBRANT_DATA")
    parser.add_argument("--out", type=Path, default=RESULTS / "mcgrad", help="folder of the results")
    parser.add_argument("--splits", type=int, default=5, help="random splits of each set")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="processes")
    parser.add_argument("--quick", action="store_true", help="two sets, one split, nothing written but cells")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
