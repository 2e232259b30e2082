"""python -m experiments.uci --data FOLDER [--quick] [--jobs N]: the standard splits for probabilistic regression.

Sets of Hernández-Lobato and Adams (2015), five splits each; ridge, forest, extra trees, gradient boosting and a deep
ensemble as they come, calibrated by the default map, by the stack, by trees on the features, and by both. Beside them
NGBoost and XGBDistribution, which boost the laws themselves, with the settings of their paper and documentation:
held-out rows say how many rounds, of XGBDistribution also which of two depths and two rates, and all rows are learned
from again. Calibrators learn from out-of-fold forecasts of the training rows, 8 000 at most. Outcomes that are whole
numbers are judged by the mass of half a unit on each side. A model is left out with a line where its package is missing
or some of its splits are; a finished cell is kept, and so are rows of the table that is there where no cell is.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

from ..cells import RESULTS, Cells, read_result, write_result
from ..data import VARIABLE
from .cell import BASES, PEERS, cell, is_here
from .sets import BUNDLED, sets_in, split_folder
from .verdict import page, summary, verdict

SPLITS, TREES = 5, 200
QUICK = {"sets": BUNDLED, "models": "ridge", "splits": 1}


def main(argv: Sequence[str] | None = None) -> int:
    """Run what is not done, print and write the table; the exit status says whether every claim holds."""
    options = _options(argv)
    try:
        folder = None if options.quick else split_folder(_given(options.data))
    except FileNotFoundError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sets = options.sets.split(",") if options.sets else sets_in(folder or Path())
    models = options.models.split(",")
    here = [model for model in models if is_here(model)]
    cells = Cells(options.out / f"uci{'-quick' if options.quick else ''}.cells.json")
    numbers = product(range(options.splits), here, sets)
    tasks = {f"{name}/{model}/{split}": (folder, name, model, split, TREES) for split, model, name in numbers}
    for name in cells.run({} if options.done else tasks, cell, options.jobs):
        print(name, flush=True)
    rows = _rows(cells.done, sets, models, options.splits, _written(options))
    claims = list(verdict(rows))
    told = {row[key] for row in rows for key in ("model", "set")}
    text = [*page(rows, options.splits, [name for name in (*models, *sets) if name not in told]), "", *claims]
    text[-len(claims) :] = [f"- {each}" for each in claims] if claims else [""]
    text += [""] + [f"Made at {commit}: {', '.join(what)}." for commit, what in _earlier(rows).items()]
    print("", *text, sep="\n")
    if not options.quick:
        write_result(options.out, "uci", {"splits": options.splits, "rows": rows, "claims": claims}, text)
    return int(any(each.startswith("FAIL") for each in claims))


def _rows(
    done: dict[str, Any], sets: Sequence[str], models: Sequence[str], splits: int, written: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Summaries of the pairs of which all splits are there; of the others what was written before."""
    rows = []
    for name, model in product(sets, models):
        names = [f"{name}/{model}/{split}" for split in range(splits)]
        if all(each in done for each in names):
            rows += summary(name, model, [done[each] for each in names])
        else:
            rows += [row for row in written if (row["set"], row["model"], row["splits"]) == (name, model, splits)]
    return rows


def _earlier(rows: Sequence[dict[str, Any]]) -> dict[str, list[str]]:
    """Which pairs of a set and a model earlier commits made."""
    made: dict[str, dict[str, None]] = {}
    for row in rows:
        if "commit" in row:
            made.setdefault(row["commit"], {})[f"{row['set']} x {row['model']}"] = None
    return {commit: list(pairs) for commit, pairs in made.items()}


def _written(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Rows of the table that is there, with the commit that made them."""
    before = None if options.quick else read_result(options.out, "uci")
    return [] if before is None else [{"commit": before["made"]["commit"], **row} for row in before["rows"]]


def _given(folder: Path | None) -> Path:
    chosen = folder or os.environ.get(VARIABLE)
    if not chosen:
        raise FileNotFoundError(f"No data folder given. Pass --data FOLDER or set {VARIABLE}.")
    return Path(chosen)


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments.uci", description=__doc__)
    parser.add_argument("--data", type=Path, help=f"folder of the sets; default: the environment variable {VARIABLE}")
    parser.add_argument("--quick", action="store_true", help=f"some seconds: {QUICK}; needs no data folder")
    parser.add_argument("--sets", help="names, comma separated; default: every set of the folder")
    parser.add_argument("--models", default=",".join([*BASES, *PEERS]), help="comma separated; default: all")
    parser.add_argument("--splits", type=int, default=SPLITS, help="of each set, five at most")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--done", action="store_true", help="run nothing, tell what is done")
    parser.add_argument("--out", type=Path, default=RESULTS / "uci", help="folder for cells and table")
    options = parser.parse_args(argv)
    if options.quick:
        vars(options).update(QUICK)
    return options


if __name__ == "__main__":
    sys.exit(main())
