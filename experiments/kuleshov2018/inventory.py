"""python -m experiments.kuleshov2018.inventory --data FOLDER [--quick] [--jobs N] [--out FOLDER]: orders (§4.5).

Agents order goods that spoil in five days, three weekdays, in packs of 12, by dynamic programming over 14 days that is
planned anew on each order day. Demand is the sales of the test months; no forecast has seen its day or a later one. The
models of demand: the recurrent net of the sales (dropout 0.5) as it comes; the same, recalibrated by maps of each lead
that were learned once, from the half year before the test; by these maps, learned again every four weeks from all
forecasts of that lead whose day has passed, of which the claim speaks; concrete dropout and a deep ensemble on rows of
lags, as they come, taken as normal. Prices, costs and packs are the paper's for all series, however little they sell.
Agents are not told on which days a store is closed. A series counts once in each test span; the shelf is empty at
first, and worth nothing at last.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant import metrics
from calibrant.decisions import PerishableInventory
from calibrant.distributions import Distribution, Ensemble, Normal

from ..cells import RESULTS, Cells, write_result
from ..data import data_folder
from .inventory_verdict import NONE, ONCE, OURS, headlines, page, verdict
from .lagged import asked, rows, training_rows
from .past_only import Issued, learned_again, learned_once
from .retail import MADE, SPANS, Sales, read
from .sales import NET, SETS
from .sales import SMALL as SMALL_GRU

Array = NDArray[np.float64]
HORIZON = 14
EVERY = 28  # mornings after which maps are learned again
STATES, MORE_STATES = 10_000, 30_000
TOLD = (1, 7, 14)  # leads whose coverage is told
MLP: dict[str, Any] = {"batch_size": 256, "max_epochs": 60, "patience": 10, "random_state": 0}
SMALL: dict[str, Any] = {"hidden": (24, 24), "max_epochs": 8}  # the nets of a quick run
ByLead = list[Distribution]  # each from the first test morning on, all series of a morning together


def main(argv: Sequence[str] | None = None) -> int:
    """Run what is not done, print and write the tables; the exit status says whether the claims hold."""
    options = _options(argv)
    try:
        folder = None if options.quick else data_folder(options.data)
    except FileNotFoundError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sets = (MADE,) if options.quick else SETS
    tasks = {f"{name}/{span}": (name, span, options.quick, folder) for name in sets for span in range(len(SPANS[name]))}
    cells = Cells(options.out / f"inventory{'-quick' if options.quick else ''}.cells.json")
    for count, name in enumerate(cells.run(tasks, cell, options.jobs), 1):
        print(f"{count:4d} {name}", flush=True)
    found = {name: cells.done[name] for name in tasks}
    claims = list(verdict(found))
    text = [*page(found), "", *(f"- {claim}" for claim in claims)]
    print("", *text, sep="\n")
    if not options.quick:
        write_result(options.out, "inventory", {"cells": found, "claims": claims, "headlines": headlines(found)}, text)
    return int(any(claim.startswith("FAIL") for claim in claims))


def cell(name: str, span: int, quick: bool, folder: Path | None) -> dict[str, Any]:
    """Reward of each series with each agent in one test span, and how good the forecasts of some leads are."""
    sales = read(name, span, folder)
    kept = np.flatnonzero(sales.open_enough(sales.test))
    models = demand_models(sales, kept, quick)
    out: dict[str, Any] = {
        "series": [f"{sales.store[s]}/{sales.item[s]}" for s in kept],
        "demand": [float(total) for total in np.nansum(sales.values[kept, sales.test :], axis=1)],
        "agents": {agent: earned(sales, kept, laws, STATES) for agent, laws in models.items()},
    }
    finer = (NONE, OURS) if span == 0 else ()
    out["more_states"] = {agent: earned(sales, kept, models[agent], MORE_STATES)["profit"] for agent in finer}
    return out | {"leads": {agent: told(sales, kept, laws) for agent, laws in models.items()}}


def demand_models(sales: Sales, kept: Any, quick: bool) -> dict[str, ByLead]:
    """Forecasts of each agent by lead, from the first morning of the test on."""
    from calibrant.forecasters import ConcreteDropoutMLP, DeepEnsemble, DropoutGRU

    small, small_gru = (SMALL, SMALL_GRU) if quick else ({}, {})
    start, n = sales.test - sales.tail, len(kept)
    gru = DropoutGRU(**NET | {"dropout": 0.5} | small_gru)
    issued = paths_ahead(gru.fit(sales.values[:, : sales.tail], sales.known[:, : sales.tail]), sales, kept)
    models: dict[str, ByLead] = {
        NONE: [each.law[start * n :] for each in issued],
        ONCE: [learned_once(each, start) for each in issued],
        OURS: [learned_again(each, start, EVERY) for each in issued],
    }
    X, y = training_rows(sales)
    for agent, net in (("concrete", ConcreteDropoutMLP), ("ensemble", DeepEnsemble)):
        models[agent] = rows_ahead(net(**MLP | small).fit(X, y), sales, kept)
    return models


def paths_ahead(model: Any, sales: Sales, kept: Any) -> list[Issued]:
    """Forecasts of the next 14 days, or until the last, made every morning of tail and test, by lead."""
    last, samples = len(sales.days), list[Array]()
    for morning in range(sales.tail, last):
        ahead = min(HORIZON, last - morning)
        path = model.paths(sales.values[kept, :morning], sales.known[kept, : morning + ahead], ahead)
        samples.append(path.transpose(2, 0, 1))
    grown = np.stack([sales.open_enough(morning)[kept] for morning in range(sales.tail, last)])
    out = []
    for lead in range(1, HORIZON + 1):
        drawn = np.concatenate([path[lead - 1] for path in samples[: len(samples) - lead + 1]])
        y = sales.values[kept, sales.tail + lead - 1 :].T
        out.append(Issued(Ensemble(drawn), np.where(grown[: len(y)], y, np.nan), lead))
    return out


def rows_ahead(model: Any, sales: Sales, kept: Any) -> ByLead:
    """Forecasts of a net that reads rows, made every morning of the test, by lead."""
    out: ByLead = []
    for lead in range(1, HORIZON + 1):
        X, size = rows(sales, asked(kept, np.arange(sales.test, len(sales.days) - lead + 1), [lead]))
        law = model.predict_dist(X)
        out.append(Normal(law.mean() * size, law.std() * size))
    return out


def earned(sales: Sales, kept: Any, laws: ByLead, max_states: int) -> dict[str, list[float]]:
    """Sums by series of what an agent earns, sells, loses and throws away in the test."""
    shop = PerishableInventory(horizon=HORIZON, max_states=max_states)
    actual = np.nan_to_num(sales.values[kept, sales.test :])
    policy = shop.rolling(newest(laws, len(kept)), first_weekday=int(sales.days[sales.test].dayofweek))
    ledger = shop.simulate(policy, actual)
    return {
        name: [float(value) for value in getattr(ledger, name).sum(axis=1)]
        for name in ("profit", "ordered", "sold", "lost", "wasted")
    }


def newest(laws: ByLead, n: int) -> Callable[[int], list[Distribution]]:
    """The forecasts of a morning, one batch of n series a day, until the last day."""
    return lambda morning: [law[morning * n : (morning + 1) * n] for law in laws if len(law) > morning * n]


def told(sales: Sales, kept: Any, laws: ByLead) -> dict[str, dict[str, float]]:
    """Coverage of 90 % bands, calibration error, and bias of the medians over the mean sales, of some leads."""
    out = {}
    for lead in TOLD:
        y = sales.values[kept, sales.test + lead - 1 :].T.ravel()
        good = np.flatnonzero(np.isfinite(y))
        law, unit = laws[lead - 1][good], np.nanmean(sales.values[kept, sales.test :], axis=1)[good % len(kept)]
        out[str(lead)] = {
            "covered": float(metrics.coverage(y[good], law, coverage=0.9)),
            "calibration": float(metrics.calibration_error(y[good], law, levels=10)),
            "bias": float(np.mean((law.median() - y[good]) / unit)),
        }
    return out


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments.kuleshov2018.inventory", description=__doc__)
    parser.add_argument("--data", type=Path, help="data folder; default: the environment variable CALIBRANT_DATA")
    parser.add_argument("--quick", action="store_true", help="some seconds: a small made panel; needs no data folder")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="processes")
    parser.add_argument("--out", type=Path, default=RESULTS / "kuleshov2018", help="folder of results")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
