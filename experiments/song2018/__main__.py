"""python -m experiments.song2018 --data FOLDER [--quick] [--jobs N]: Song et al. (2018), figure 6.

Ten times five folds of each set, three base models in each, calibrated and averaged; log likelihood against the number
of thresholds for the paper's methods as published and for ours. Differs from the paper in: GPC is sparse and learns
from all pairs, and its thresholds are over the targets of its own fold; forest fires are on the log scale.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np
from joblib import Memory
from sklearn.utils.parallel import Parallel, delayed

from ..data import data_folder
from .protocol import BASES, OUTER, REPEATS, SETS, THRESHOLDS
from .table import Pair, cell, lines, verdict

QUICK = {"sets": "boston_housing", "bases": "OLS", "thresholds": "8,32", "repeats": 1, "folds": 2}


def main() -> int:
    """Run the experiment and print the table; the exit status says whether the paper's claim holds."""
    options = _options()
    try:
        folder = data_folder(options.data)
    except FileNotFoundError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if options.figures:
        from .figures import write

        print(*write(options.figures), sep="\n", flush=True)
    counts = tuple(int(count) for count in options.thresholds.split(","))
    places = [(repeat, fold) for repeat in range(options.repeats) for fold in range(options.folds)]
    run = Memory(options.cache, verbose=0).cache(cell)
    jobs, pairs = Parallel(n_jobs=options.jobs), []
    for name, base in ((name, base) for name in options.sets.split(",") for base in options.bases.split(",")):
        scores = jobs(delayed(run)(name, base, place, counts, folder) for place in places)
        pairs.append(Pair(name, base, counts, {key: np.array([score[key] for score in scores]) for key in scores[0]}))
        print(*lines(pairs[-1]), sep="\n", flush=True)
    claims = list(verdict(pairs))
    print("", *claims, sep="\n")
    return int(any(claim.startswith("FAIL") for claim in claims))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments.song2018", description=__doc__)
    parser.add_argument("--data", type=Path, help="data folder; default: the environment variable CALIBRANT_DATA")
    parser.add_argument("--quick", action="store_true", help=f"a minute or two: {QUICK}")
    parser.add_argument("--sets", default=",".join(SETS), help="names, comma separated; default: the paper's five")
    parser.add_argument("--bases", default=",".join(BASES), help="comma separated; default: all three")
    parser.add_argument("--thresholds", default=",".join(map(str, THRESHOLDS)), help="numbers, comma separated")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="repetitions of the five folds")
    parser.add_argument("--folds", type=int, default=OUTER, help="folds of each that are run")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="processes")
    parser.add_argument("--cache", type=Path, help="folder that remembers finished folds")
    parser.add_argument("--figures", type=Path, help="folder for figures 3, 4 and 5 on the toy set")
    options = parser.parse_args()
    if options.quick:
        vars(options).update(QUICK)
    return options


if __name__ == "__main__":
    sys.exit(main())
