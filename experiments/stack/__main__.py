"""python -m experiments.stack --data FOLDER: what the stack costs, what it gains on real data, how long it takes.

Time-ordered sets have rolling splits. At most 4 000 rows train and 4 000 test. Without --data only the simulations run.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from sklearn.utils.parallel import Parallel, delayed

from ..data import data_folder, regression_sets
from ..song2019.table1.forecasts import bases
from .sets import HEADER, change, verdict
from .simulated import harmless, overfitted, speed


def main() -> int:
    """Print the tables; the exit status says whether every limit is kept."""
    options = _options()
    kept = []
    for title, table in (
        ("nothing is wrong: rise of the NLL, nats, 20 draws", harmless()),
        ("least squares, 120 rows of 60 features, 10 draws", overfitted()),
        ("time of a fit, CPU seconds", speed()),
    ):
        print(f"\n{title}")
        for holds, line in table:
            kept.append(holds)
            print(f"  {line}{'' if holds else '  BEYOND THE LIMIT'}", flush=True)
    if options.data or "CALIBRANT_DATA" in os.environ:
        kept.append(_real(options))
    print(f"\n{'PASS' if all(kept) else 'FAIL'}  {sum(kept)} of {len(kept)} limits and claims are kept")
    return int(not all(kept))


def _real(options: argparse.Namespace) -> bool:
    folder = data_folder(options.data)
    names = options.sets.split(",") if options.sets else regression_sets(folder)
    tasks = [(name, base) for name in names for base in bases(None)]
    print(f"\nevery regression set, {options.splits} splits\n{HEADER}", flush=True)
    run = Parallel(n_jobs=options.jobs, return_as="generator")
    changes = []
    for result in run(delayed(change)(*task, folder, options.splits, options.cache) for task in tasks):
        changes.append(result)
        print(result.line(), flush=True)
    holds, text = verdict(changes)
    print(f"{'PASS' if holds else 'FAIL'}  {text}")
    return holds


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments.stack", description=__doc__)
    parser.add_argument("--data", type=Path, help="data folder; default: the environment variable CALIBRANT_DATA")
    parser.add_argument("--splits", type=int, default=5, help="random or rolling splits of each set")
    parser.add_argument("--sets", help="names, comma separated; default: every regression set")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="processes")
    parser.add_argument("--cache", type=Path, help="folder that remembers the base models' predictions")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
