"""python -m experiments.kuleshov2018.sales --data FOLDER [--quick] [--jobs N] [--out FOLDER]: daily sales (§4.4).

A recurrent net with dropout forecasts the next day's sales in each store, from the past four weeks (the paper: four
days), the weekday, the time of the year, promotions and holidays. It is trained on all days until half a year before
the test and not again. Coverage of 90 % bands by store in the test months, four ways: as they come; as the paper did
(isotonic regression on days that the net was trained on); maps of the half year before the test; and these maps learned
anew every week from all days before it, of which the claim speaks: it was chosen before any test day was looked at.
Two nets: the paper's dropout of 0.5, and 0.2, which forecasts the half year before the test better.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant import QuantileCalibrator, metrics
from calibrant.distributions import Distribution, concatenate

from ..cells import RESULTS, Cells, write_result
from ..data import data_folder
from .past_only import Issued, learned_again, learned_once
from .retail import MADE, SPANS, Sales, read
from .sales_figure import draw
from .sales_verdict import by_store, headlines, page, verdict
from .table1 import ISOTONIC, measures

Array = NDArray[np.float64]
SETS = tuple(name for name in SPANS if name != MADE)
RATES = (0.5, 0.2)
NET: dict[str, Any] = {"window": 28, "lags": 7, "random_state": 0}
SMALL: dict[str, Any] = {"hidden": 24, "max_epochs": 10, "n_passes": 40}  # the nets of a quick run
BLOCK = 28  # days after which the size of a series is measured again
YEAR = 364  # days of training that the paper's way learns from


def main(argv: Sequence[str] | None = None) -> int:
    """Run what is not done, print and write the tables; the exit status says whether the claims hold."""
    options = _options(argv)
    try:
        folder = None if options.quick else data_folder(options.data)
    except FileNotFoundError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sets, rates = ((MADE,), RATES[:1]) if options.quick else (SETS, RATES)
    small = SMALL if options.quick else {}
    tasks = {
        f"{name}/{span}/{rate}": (name, span, NET | {"dropout": rate} | small, folder, options.out)
        for name in sets for span in range(len(SPANS[name])) for rate in rates
    }  # fmt: skip
    cells = Cells(options.out / f"sales{'-quick' if options.quick else ''}.cells.json")
    for count, name in enumerate(cells.run(tasks, cell, options.jobs), 1):
        print(f"{count:4d} {name}", flush=True)
    rows = [
        {"rate": rate, **row}
        for rate in rates
        for name in sets
        for row in by_store(name, cells.some(f"{name}/{span}/{rate}" for span in range(len(SPANS[name]))))
    ]
    claims = list(verdict(rows))
    text = [*page(rows), "", *(f"- {claim}" for claim in claims)]
    print("", *text, sep="\n")
    if not options.quick:
        write_result(options.out, "sales", {"rows": rows, "claims": claims, "headlines": headlines(rows)}, text)
    return int(any(claim.startswith("FAIL") for claim in claims))


def cell(name: str, span: int, net: dict[str, Any], folder: Path | None, out: Path) -> dict[str, Any]:
    """Measures by store in one test span, each way."""
    from calibrant.forecasters import DropoutGRU

    sales = read(name, span, folder)
    seen = slice(0, sales.tail)
    model = DropoutGRU(**net).fit(sales.values[:, seen], sales.known[:, seen])
    issued = next_day(model, sales, sales.tail, len(sales.days))
    start, n = sales.test - sales.tail, len(sales.values)
    ways = {
        "none": issued.law[start * n :],
        "paper": _as_the_paper(model, sales, issued.law[start * n :]),
        "tail": learned_once(issued, start),
        "weekly": learned_again(issued, start),
    }
    y, stores = issued.y[start:].ravel(), np.tile(sales.store, len(issued.y) - start)
    out.mkdir(parents=True, exist_ok=True)
    draw(out / f"sales-{name}-{span}-{net['dropout']}.png", sales, y, {way: ways[way] for way in ("none", "weekly")})
    return {str(store): _judged(ways, y, stores == store) for store in np.unique(sales.store)}


def next_day(model: Any, sales: Sales, first: int, last: int) -> Issued:
    """Forecasts of each day from all days before it; the size of a series is measured again after each block."""
    n, laws, outcomes = len(sales.values), list[Distribution](), []
    for begin in range(first, last, BLOCK):
        end = min(begin + BLOCK, last)
        days = end - begin
        law = model.backtest(sales.values[:, :end], sales.known[:, :end], steps=days)
        laws.append(law[np.arange(n * days).reshape(n, days).T.ravel()])
        outcomes.append(np.where(sales.open_enough(begin), sales.values[:, begin:end].T, np.nan))
    return Issued(concatenate(laws), np.concatenate(outcomes))


def _as_the_paper(model: Any, sales: Sales, law: Distribution) -> Distribution:
    """By one isotonic map a store, of the last year that the net was trained on."""
    days = min(YEAR, sales.tail // 2)
    same = next_day(model, sales, sales.tail - days, sales.tail)
    old, y, series = same.known(0, days)
    store = np.tile(sales.store, len(law) // len(sales.store))
    parts, rows = [], []
    for each in np.unique(sales.store):
        own, new = sales.store[series] == each, np.flatnonzero(store == each)
        parts.append(
            QuantileCalibrator(**ISOTONIC).fit(old[own], y[own]).transform(law[new]) if own.any() else law[new]
        )
        rows.append(new)
    return concatenate(parts)[np.argsort(np.concatenate(rows))]


def _judged(ways: dict[str, Distribution], y: Array, here: NDArray[np.bool_]) -> dict[str, Any]:
    """Measures of one store's days on which it was open, each way."""
    rows = np.flatnonzero(here & np.isfinite(y))
    out: dict[str, Any] = {"n": len(rows)}
    if not len(rows):
        return out
    return out | {
        way: measures(y[rows], law[rows]) | {"crps": float(metrics.crps(y[rows], law[rows]))}
        for way, law in ways.items()
    }


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments.kuleshov2018.sales", description=__doc__)
    parser.add_argument("--data", type=Path, help="data folder; default: the environment variable CALIBRANT_DATA")
    parser.add_argument("--quick", action="store_true", help="some seconds: a small made panel; needs no data folder")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="processes")
    parser.add_argument("--out", type=Path, default=RESULTS / "kuleshov2018", help="folder of results")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
