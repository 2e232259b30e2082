"""python -m experiments.song2018 --data FOLDER [--quick] [--jobs N]: Song et al. (2018), figure 6.

Ten times five folds of each set, three base models in each, calibrated and averaged; log likelihood against the number
of thresholds for the paper's methods as published and for ours; the stack, which has no thresholds, is one number.
Claims: with 16 thresholds or more one of the paper's methods (picked on these folds) is better than none, on every set
and base; the stack is better than each of them at any number of thresholds; and both of whole sets, in the mean of the
three bases. ``--part ours --part defaults --first 23 --repeats 8`` asks the same of those methods as calibrant has them
by default (`ours`), of folds that nobody had seen when it was first asked; ``--part published --part probit
--part ours --first 10 --repeats 5`` once more of folds that nobody had seen when it was asked, GPC with both links
(`again`). A finished fold is kept: a run that is begun again goes on where it stopped.
Differs from the paper in: thresholds of GPC are over the targets of its own fold, and its laws are made monotone;
features are standardised; forest fires are on the log scale.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

from ..cells import RESULTS, Cells, write_result
from ..data import BUNDLED, data_folder
from . import again, ours
from .protocol import BASES, OUTER, PARTS, REPEATS, SETS, THRESHOLDS, WANTED
from .table import Pair, cell, headlines, page, verdict

QUICK = {"sets": BUNDLED, "bases": "OLS", "thresholds": "8,16", "repeats": 1, "folds": 1}


class Table(NamedTuple):
    """What is told of folds that have these parts: a page, claims about it, and lines of the scoreboard."""

    name: str
    parts: Sequence[str]
    methods: str
    verdict: Callable[[Sequence[Pair]], Iterator[str]]
    headlines: Callable[[Sequence[Pair]], list[dict[str, str]]]


TABLES = (
    Table("figure6", WANTED, "", verdict, headlines),
    Table("again", again.PARTS, " on fresh folds, GPC with both links", verdict, again.headlines),
    Table("ours", ours.PARTS, " with the defaults of calibrant", ours.verdict, ours.headlines),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run what is not done, print and write the table; the exit status says whether every claim holds."""
    options = _options(argv)
    try:
        folder = None if options.sets == BUNDLED or options.done else data_folder(options.data)
    except FileNotFoundError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if options.figures:
        from .figures import write

        print(*write(options.figures), sep="\n", flush=True)
    counts = tuple(int(count) for count in options.thresholds.split(","))
    chosen = list(product(options.sets.split(","), options.bases.split(",")))
    tasks = {
        f"{name}/{base}/{options.thresholds}/{repeat}/{fold}/{part}": (name, base, (repeat, fold), counts, part, folder)
        for repeat in range(options.first, options.first + options.repeats) for fold in range(options.folds)
        for name, base in chosen for part in options.part or WANTED
    }  # fmt: skip
    cells = Cells(options.out / f"figure6{'-quick' if options.quick else ''}.cells.json")
    for count, name in enumerate(cells.run({} if options.done else tasks, cell, options.jobs), 1):
        print(f"{count:4d} {name}", flush=True)
    asked = set(options.part or WANTED)
    told = [table for table in TABLES if asked == set(table.parts)]
    told = told or [table for table in TABLES if asked <= set(table.parts)] or TABLES
    return max([_told(table, list(_pairs(cells, chosen, counts, table, options)), options) for table in told])


def _pairs(
    cells: Cells, chosen: Sequence[tuple[str, str]], counts: tuple[int, ...], table: Table, options: argparse.Namespace
) -> Iterator[Pair]:
    """The pairs of which some folds have all parts of a table."""
    for name, base in chosen:
        folds = cells.whole(f"{name}/{base}/{options.thresholds}", table.parts)
        if folds:
            yield Pair.of(name, base, counts, folds)


def _told(table: Table, pairs: Sequence[Pair], options: argparse.Namespace) -> int:
    """Print and write what the finished folds say, and draw it."""
    claims = list(table.verdict(pairs)) if pairs else ["      no fold is finished"]
    text = [*page(pairs, table.methods), "", *(f"- {claim}" for claim in claims)]
    print("", *text, sep="\n")
    if pairs and not options.quick:
        from .figure6 import draw

        result = {"rows": [pair.summary() for pair in pairs], "claims": claims, "headlines": table.headlines(pairs)}
        write_result(options.out, table.name, result, text)
        draw(pairs).savefig(options.out / f"{table.name}.png", dpi=60)
    return int(any(claim.startswith("FAIL") for claim in claims))


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments.song2018", description=__doc__)
    parser.add_argument("--data", type=Path, help="data folder; default: the environment variable CALIBRANT_DATA")
    parser.add_argument("--quick", action="store_true", help=f"half a minute: {QUICK}; needs no data folder")
    parser.add_argument("--sets", default=",".join(SETS), help="names, comma separated; default: the paper's five")
    parser.add_argument("--bases", default=",".join(BASES), help="comma separated; default: all three")
    parser.add_argument("--thresholds", default=",".join(map(str, THRESHOLDS)), help="numbers, comma separated")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="repetitions of the five folds")
    parser.add_argument("--first", type=int, default=0, help="number of the first repetition")
    parser.add_argument("--folds", type=int, default=OUTER, help="folds of each that are run")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="processes")
    parser.add_argument("--out", type=Path, default=RESULTS / "song2018", help="folder for folds, table and figure 6")
    parser.add_argument("--part", action="append", choices=PARTS, help=f"methods that are run; default: {WANTED}")
    parser.add_argument("--done", action="store_true", help="run nothing: the table of the finished folds")
    parser.add_argument("--figures", type=Path, help="folder for figures 3, 4 and 5 on the toy set")
    options = parser.parse_args(argv)
    if options.quick:
        vars(options).update(QUICK)
    return options


if __name__ == "__main__":
    sys.exit(main())
