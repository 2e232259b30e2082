"""python -m experiments.song2019.table1 --data FOLDER [--quick] [--jobs N]: Song et al. (2019), table 1; its verdict.

Three quarters of the rows train, ten random splits. Isotonic regression and GP-Beta with 8, 16, 32 and 64 inducing
points learn as published, from the base's forecasts of its own training rows; our calibrators, with their defaults,
from five-fold cross-fitted forecasts. Claims: the best of the four gains as much NLL over our base as the paper's best
did over theirs, within one standard error, on 16 of 23 pairs, and the stack, which we recommend, on 20. The limit of
harm: the mean NLL of no calibrator of ours rises by more than 0.01 or one paired standard error, whichever is larger;
an error beyond 0.05, the mark of a split gone astray, is no excuse.

Bases: least squares and Bayesian ridge on all rows; the dropout net on at most 4 000 rows; Gaussian process regression
on 750 rows and 250 to test. Of the last two the paper's text says little. They are what `experiments.song2019.bases`
chose by the paper's uncalibrated NLL, on other splits and before any calibrator was tried on them: inputs and targets
as they are, as in the first author's code, and with it one oddity: the N of the net's noise is the number of rows that
are forecast, so that the rows which the published calibrators learn from have three times the noise of the test rows.
A finished cell is kept: a run that is begun again goes on where it stopped, and pairs of which no cell is there keep
their row of the table that is, with the commit that made it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...cells import Cells, read_result, write_result
from ...data import BUNDLED
from .cell import PARTS, cell
from .options import chosen_pairs, folder_of, parser
from .pair import KeptPair, Pair
from .paper import PAIRS
from .table import headlines, made_before, page, verdict

QUICK = {"sets": BUNDLED, "bases": "OLS", "splits": 2}


def main(argv: Sequence[str] | None = None) -> int:
    """Run what is not done, print and write the table; the exit status says whether every claim holds."""
    options = _options(argv)
    if options.figures:
        from ..toy.figures import write

        print(*write(options.figures), sep="\n", flush=True)
    try:
        folder = folder_of(options)
    except FileNotFoundError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    chosen = chosen_pairs(options)
    tasks = {
        f"{name}/{base}/{split}/{part}": (name, base, split, part, folder, options.cache, {})
        for part in options.part or PARTS for split in range(options.splits) for name, base in chosen
    }  # fmt: skip
    cells = Cells(options.out / f"table1{'-quick' if options.quick else ''}.cells.json")
    for count, name in enumerate(cells.run({} if options.done else tasks, cell, options.jobs), 1):
        print(f"{count:4d} {name}", flush=True)
    return _told(_pairs(cells, options), options)


def _pairs(cells: Cells, options: argparse.Namespace) -> list[Pair]:
    """Of the finished cells; of pairs that have none, what the results that are there say."""
    before = None if options.quick else read_result(options.out, "table1")
    commit = before["made"]["commit"] if before else ""
    kept = {(row["set"], row["base"]): {"commit": commit, **row} for row in (before or {}).get("rows", [])}
    pairs = []
    for name, base in PAIRS:
        found = cells.whole(f"{name}/{base}", PARTS)
        if found:
            pairs.append(Pair.of(name, base, found))
        elif (name, base) in kept:
            pairs.append(KeptPair.of_row(kept[name, base]))
    return pairs


def _told(pairs: Sequence[Pair], options: argparse.Namespace) -> int:
    """Print and write what was found."""
    claims = list(verdict(pairs)) if pairs else ["      no cell is finished"]
    text = [*page(pairs), "", *(f"- {claim}" for claim in claims), *made_before(pairs)]
    print("", *text, sep="\n")
    if not options.quick:
        result: dict[str, Any] = {
            "rows": [pair.summary() for pair in pairs],
            "claims": claims,
            "headlines": headlines(pairs),
        }
        write_result(options.out, "table1", result, text)
    return int(any(claim.startswith("FAIL") for claim in claims))


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    asked = parser("table1", __doc__, QUICK)
    asked.add_argument("--part", action="append", choices=PARTS, help="methods that are run; default: all")
    asked.add_argument("--figures", type=Path, help="folder for figures 1 and 2, where they are missing")
    options = asked.parse_args(argv)
    if options.quick:
        vars(options).update(QUICK)
    return options


if __name__ == "__main__":
    sys.exit(main())
