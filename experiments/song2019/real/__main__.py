"""python -m experiments.song2019.real --data FOLDER: Song et al. (2019), table 1, with every calibrator; its verdict.

Three quarters of the rows train, ten random splits; the calibrators learn from five-fold cross-fitted forecasts. The
limit of harm: the mean NLL of no calibrator rises by more than 0.01 or one paired standard error, whichever is larger;
an error beyond 0.05, the mark of a split gone astray, is no excuse.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from calibrant.calibration.pit_watch import unwatched

from ...data import Split, data_folder, load, splits
from ..toy.table import CALIBRATORS
from .forecasts import bases, cross_fitted
from .table import NONE, PAPER, SETS, Array, Pair, lines, measure, verdict


def main() -> int:
    """Run the experiment and print the table; the exit status says whether every claim holds."""
    options = _options()
    try:
        folder = data_folder(options.data)
    except FileNotFoundError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    names = options.sets.split(",") if options.sets else list(SETS)
    chosen = options.bases.split(",") if options.bases else list(PAPER)
    jobs, pairs = Parallel(n_jobs=options.jobs), []
    for name, base in ((name, base) for base in chosen for name in names):
        every = splits(load(name, folder), options.splits)
        scores = jobs(delayed(run)(name, base, split, folder, options.cache) for split in every)
        pairs.append(Pair(name, base, {key: np.array([score[key] for score in scores]) for key in scores[0]}))
        print(*lines(pairs[-1]), sep="\n", flush=True)
    claims = list(verdict(pairs))
    print("", *claims, sep="\n")
    return int(any(claim.startswith("FAIL") for claim in claims))


def run(name: str, base: str, split: Split, folder: Path, cache: Path | None) -> dict[str, Array]:
    """All calibrators on one split."""
    old, y_old, new, y_new = cross_fitted(load(name, folder), bases(cache)[base], split)
    scores = {NONE: measure(y_new, new)}
    with unwatched():  # the table shows what happens to the PIT values
        for key, make in CALIBRATORS.items():
            scores[key] = measure(y_new, make().fit(old, y_old).transform(new))
    return scores


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments.song2019.real", description=__doc__)
    parser.add_argument("--data", type=Path, help="data folder; default: the environment variable CALIBRANT_DATA")
    parser.add_argument("--splits", type=int, default=10, help="random splits of each set")
    parser.add_argument("--sets", help="names, comma separated; default: the six sets of the paper")
    parser.add_argument("--bases", help="OLS, ridge, comma separated; default: both")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="processes")
    parser.add_argument("--cache", type=Path, help="folder that remembers the base models' predictions")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
