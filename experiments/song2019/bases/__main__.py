"""python -m experiments.song2019.bases --data FOLDER [--quick] [--jobs N]: the bases that the paper's numbers tell of.

Uncalibrated measures of every setting of the net and of the Gaussian process that the paper's text allows, on splits
10, 11 and 12 of the paper's sets, beside what it prints; the rule of the choice is in the package's docstring. No
calibrator is run here. A finished cell is kept: a run that is begun again goes on where it stopped. A setting that is
farther on some sets than another is on all needs no more of them: its distance is told as a bound.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from calibrant.distributions import Normal

from ...cells import Cells, write_result
from ...data import BUNDLED, load
from ...real_data.protocol import thinned_splits
from ..table1.cell import MOST_OF, measure
from ..table1.options import chosen_pairs, folder_of, parser
from ..table1.paper import BASES, PAPER
from .settings import INPUTS, MODELS, noise

FIRST, LEAST = 10, 0.01
ROWS = {"NN": ("N learned from", "N forecast"), "GPR": ("",)}
QUICK = {"sets": BUNDLED, "bases": "GPR", "splits": 1}
TITLE = "# Song et al. (2019), table 1: uncalibrated bases, medians of three splits that are not in the table\n"
NOTE = "Distances are means over the sets of |ln(ours / printed)|; ≥ is a bound, of a setting not run on all of them."
Table = dict[str, dict[str, dict[str, float]]]  # by setting, set and measure


def main(argv: Sequence[str] | None = None) -> int:
    """Run what is not done, print and write the table."""
    options = _options(argv)
    try:
        folder = folder_of(options)
    except FileNotFoundError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    chosen = [(name, base) for name, base in chosen_pairs(options) if base in MODELS]
    splits = range(FIRST, FIRST + options.splits)
    tasks = {
        f"{base}/{inputs}/{model}/{name}/{split}": (base, inputs, model, name, split, folder)
        for split, (name, base) in product(splits, chosen) for model, inputs in product(MODELS[base], INPUTS)
        if not options.setting or f"{inputs}, {model}" in options.setting
    }  # fmt: skip
    cells = Cells(options.out / f"bases{'-quick' if options.quick else ''}.cells.json")
    for count, name in enumerate(cells.run({} if options.done else tasks, cell, options.jobs), 1):
        print(f"{count:4d} {name}", flush=True)
    tables = {base: _table(cells.done, base) for base in MODELS}
    text = [TITLE, NOTE]
    for base, table in tables.items():
        text += _page(base, table) if table else []
    print(*text, sep="\n")
    if not options.quick:
        write_result(options.out, "bases", {"medians": tables, "chosen": _chosen(tables)}, text)
    return 0


def cell(base: str, inputs: str, model: str, name: str, number: int, folder: Path | None) -> dict[str, Any]:
    """Measures of the test rows of one split, by the N of the noise."""
    dataset = load(name, folder)
    split = list(thinned_splits(dataset, number + 1, most=MOST_OF[base]))[number]
    X, y, X_new, y_new = dataset.X[split.train], dataset.y[split.train], dataset.X[split.test], dataset.y[split.test]
    if inputs == "standardised":
        scaler = StandardScaler().fit(X)
        X, X_new = scaler.transform(X), scaler.transform(X_new)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of length scales at their bounds
        fitted = MODELS[base][model](X, y, number).fit(X, y)
        if hasattr(fitted, "predict_dist"):
            law = fitted.predict_dist(X_new)
        else:
            law = Normal(*fitted.predict(X_new, return_std=True))
    added = [0.0, noise(len(y_new)) - noise(len(y))]
    pairs = zip(ROWS[base], added, strict=False)
    return {rows: measure(y_new, Normal(law.mean(), np.sqrt(law.var() + more))) for rows, more in pairs}


def _table(done: dict[str, Any], base: str) -> Table:
    """Medians over the splits that are done."""
    found: dict[str, dict[str, list[dict[str, float]]]] = {}
    for key, cell_ in done.items():
        mine, inputs, model, name, _ = key.split("/")
        for rows in cell_ if mine == base else ():
            setting = ", ".join(part for part in (inputs, model, rows) if part)
            found.setdefault(setting, {}).setdefault(name, []).append(cell_[rows])
    return {
        setting: {name: {m: float(np.median([one[m] for one in many])) for m in many[0]} for name, many in sets.items()}
        for setting, sets in found.items()
    }


def distance(base: str, sets: dict[str, dict[str, float]], measured: str) -> float:
    """Mean over the paper's sets of |ln(ours / printed)|; sets that were not run add nothing, so that it is a bound."""
    ratios = [max(one[measured], LEAST) / PAPER[base][name][measured].base for name, one in sets.items()]
    return float(np.sum(np.abs(np.log(ratios))) / len(PAPER[base]))


def _ranked(base: str, table: Table) -> list[str]:
    """Settings by their distance in NLL, the least first."""
    return sorted(table, key=lambda setting: distance(base, table[setting], "NLL"))


def _chosen(tables: dict[str, Table]) -> dict[str, str | None]:
    """The nearest setting of each base; None where it was not run on all sets, and another may be nearer."""
    nearest = {base: _ranked(base, table)[0] for base, table in tables.items() if table}
    return {base: first if len(tables[base][first]) == len(PAPER[base]) else None for base, first in nearest.items()}


def _page(base: str, table: Table) -> Iterator[str]:
    """Markdown: a line a setting, the nearest first."""
    names = list(PAPER[base])
    yield f"\n## {BASES[base]}: NLL / MSE\n"
    yield f"| setting | distance of NLL | of MSE | {' | '.join(names)} |"
    yield "|---" + "|---:" * (len(names) + 2) + "|"
    printed = {name: {m: each.base for m, each in PAPER[base][name].items()} for name in names}
    for setting, sets in {"printed": printed, **{key: table[key] for key in _ranked(base, table)}}.items():
        bound = "" if len(sets) == len(names) else "≥ "
        away = [f"{bound}{distance(base, sets, m):.3f}" for m in ("NLL", "MSE")]
        each = [f"{sets[n]['NLL']:.2f} / {sets[n]['MSE']:.4g}" if n in sets else "–" for n in names]
        yield f"| {' | '.join([setting, *away, *each])} |"


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    asked = parser("bases", __doc__, QUICK)
    asked.add_argument("--setting", action="append", help='"raw, Adadelta 1" say, and more of them; default: all')
    asked.set_defaults(splits=3)
    options = asked.parse_args(argv)
    if options.quick:
        vars(options).update(QUICK)
    return options


if __name__ == "__main__":
    sys.exit(main())
