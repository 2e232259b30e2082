"""python -m experiments.classification --data FOLDER: every calibrator of class probabilities, and a verdict."""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from calibrant import AutoCalibrator, BinningCalibrator, metrics
from calibrant.select.candidates import NoCalibrator, default_candidates
from calibrant.select.comparison import NONE

from ..cells import claim
from ..data import data_folder
from .scores import BASES, Cell, cell, sets

AUTO = "auto"
MEASURES = ("log loss", "Brier", "ECE")
Scores = dict[str, np.ndarray]  # by calibrator: the measures and CPU seconds


def main() -> int:
    options = _options()
    try:
        folder = data_folder(options.data)
    except FileNotFoundError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    names = options.sets.split(",") if options.sets else sets(folder)
    tasks = [(name, base) for name in names for base in BASES]
    results = Parallel(n_jobs=options.jobs)(
        delayed(run)(*task, options.splits, folder, options.cache) for task in tasks
    )
    for (name, base), scores in zip(tasks, results, strict=True):
        print(f"\n{name} x {base}", *lines(scores), sep="\n", flush=True)
    claims = list(verdict(tasks, results))
    print("", *claims, sep="\n")
    return int(any(claim.startswith("FAIL") for claim in claims))


def run(name: str, base: str, splits: int, folder: Path, cache: Path | None) -> Scores:
    """Mean measures over the splits, by calibrator."""
    each = [_scored(cell(name, base, split, folder, cache)) for split in range(splits)]
    return {key: np.mean([scores[key] for scores in each], axis=0) for key in each[0]}


def _scored(data: Cell) -> Scores:
    candidates: dict[str, Any] = {NONE: NoCalibrator()} if data.scores.kind != "margins" else {}
    candidates |= default_candidates(data.scores) | {"binning": BinningCalibrator(), AUTO: AutoCalibrator()}
    return {name: _measures(candidate, data) for name, candidate in candidates.items()}


def _measures(calibrator: Any, data: Cell) -> np.ndarray:
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        p = calibrator.fit(data.scores, data.y).transform(data.new)
    seconds = time.process_time() - start
    with np.errstate(divide="ignore"):
        losses = (metrics.log_loss(data.y_new, p), metrics.brier_score(data.y_new, p), metrics.ece(data.y_new, p))
    return np.array([*losses, seconds])


def lines(scores: Scores) -> Iterator[str]:
    """The table of one set and base, best first."""
    yield f"{'':16s}" + "".join(f"{name:>10s}" for name in (*MEASURES, "CPU s"))
    for name in sorted(scores, key=lambda key: scores[key][0]):
        loss, brier, ece, seconds = scores[name]
        yield f"{name:16s}{loss:10.4f}{brier:10.4f}{ece:10.4f}{seconds:10.2f}"


def verdict(tasks: Sequence[tuple[str, str]], results: Sequence[Scores]) -> Iterator[str]:
    """What the selection promises."""
    single = [{key: value[0] for key, value in scores.items() if key != AUTO} for scores in results]
    auto = np.array([scores[AUTO][0] for scores in results])
    behind = auto - [min(losses.values()) for losses in single]
    yield claim(behind.mean() <= 0.005, f"auto is {behind.mean():.4f} behind the best single method on average")
    harm = auto - [losses.get(NONE, np.inf) for losses in single]
    worst = int(np.argmax(harm))
    where = " x ".join(tasks[worst])
    yield claim(harm.max() <= 0.005, f"auto is at most {harm.max():+.4f} worse than none ({where})")
    unfinished = [scores for scores in results for key, v in scores.items() if key != NONE and not np.isfinite(v).all()]
    yield claim(not unfinished, "every calibrator has a finite log loss everywhere")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments.classification", description=__doc__)
    parser.add_argument("--data", type=Path, help="data folder; default: the environment variable CALIBRANT_DATA")
    parser.add_argument("--splits", type=int, default=3, help="random splits of each set")
    parser.add_argument("--sets", help="names, comma separated; default: every classification set")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="processes")
    parser.add_argument("--cache", type=Path, help="folder that remembers the base models' scores")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
