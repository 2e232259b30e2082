"""python -m experiments.real_data --data FOLDER: the table of the default calibrator on real data, and its verdict."""

from __future__ import annotations

import argparse
import csv
import os
import sys
from pathlib import Path

from sklearn.utils.parallel import Parallel, delayed

from ..data import BLOCK, data_folder, load, regression_sets, unsplit_time_series
from .bases import bases
from .cell import cell
from .protocol import thinned_splits
from .table import Pair, lines, verdict


def main() -> int:
    """Run the experiment and print the table; the exit status says whether every claim holds."""
    options = _options()
    try:
        folder = data_folder(options.data)
    except FileNotFoundError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    names = options.sets.split(",") if options.sets else regression_sets(folder)
    tasks = [(name, base) for name in names for base in bases(None)]
    jobs = Parallel(n_jobs=options.jobs)
    common = (folder, options.splits, options.block, options.cache)
    pairs = jobs(delayed(run)(name, base, *common) for name, base in tasks)
    for line in lines(pairs):
        print(line)
    claims = list(verdict(pairs))
    print("", *claims, sep="\n")
    series = [task for task in tasks if task[0] in unsplit_time_series(folder)]
    if series:
        print("\nShown, not counted: sets in time order, split by time. What drifts is not calibrated by its past.")
        for line in lines(jobs(delayed(run)(name, base, *common, by_time=True) for name, base in series)):
            print(line)
    if options.output:
        _write(options.output, pairs)
    return int(any(claim.startswith("FAIL") for claim in claims))


def run(
    name: str, base: str, folder: Path, n_splits: int, block: float, cache: Path | None, *, by_time: bool = False
) -> Pair:
    """All splits of one set with one base."""
    dataset = load(name, folder, by_time=by_time)
    model = bases(cache)[base]
    cells = [cell(dataset, model, split) for split in thinned_splits(dataset, n_splits, block=block)]
    return Pair.of(name, base, dataset.time_ordered, cells)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments.real_data", description=__doc__)
    parser.add_argument("--data", type=Path, help="data folder; default: the environment variable CALIBRANT_DATA")
    parser.add_argument("--splits", type=int, default=20, help="random or rolling splits of each set")
    parser.add_argument("--block", type=float, default=BLOCK, help="share of the time points in a rolling test block")
    parser.add_argument("--sets", help="names, comma separated; default: every regression set")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="processes")
    parser.add_argument("--cache", type=Path, help="folder that remembers the base models' predictions")
    parser.add_argument("--output", type=Path, help="write the table as CSV too")
    return parser.parse_args()


def _write(path: Path, pairs: list[Pair]) -> None:
    with path.open("w", newline="", encoding="utf8") as file:
        writer = csv.DictWriter(file, list(pairs[0].record()))
        writer.writeheader()
        writer.writerows(pair.record() for pair in pairs)


if __name__ == "__main__":
    sys.exit(main())
