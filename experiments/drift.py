"""python -m experiments.drift [--runs 200]: how often calm runs raise an alarm, how soon and how well changes are told.

Calm runs have 10 000 rows of calibrated forecasts: normal laws, the same in eight groups, counts, and probabilities of
an event. Changes come after 1 000 or 3 000 calm rows: outcomes spread 1.5 times as wide as forecast, or are 0.3 of
their predicted standard deviation above. A run whose first alarm comes before the change counts as never noticed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from calibrant import DriftMonitor, Normal, Poisson
from experiments.cells import claim

LEVEL, ROWS, AFTER = 0.05, 10_000, 3_000
GROUPS, SHOPS = 8, np.arange(ROWS) % 8
STARTS = (1_000, 3_000)
BATCH, SINGLE = 1e5, 1e3  # rows a CPU second
Draw = Callable[[np.random.Generator], DriftMonitor]


class Change(NamedTuple):
    """What happens to normal scores, and within how many rows it should be noticed and the date be right."""

    name: str
    change: Callable[[np.ndarray], np.ndarray]
    noticed: int
    named: int


CHANGES = (
    Change("outcomes 1.5 times as wide", lambda z: 1.5 * z, 150, 60),
    Change("outcomes 0.3 σ higher", lambda z: z + 0.3, 300, 150),
)


def calm_laws(rng: np.random.Generator) -> DriftMonitor:
    mu, sigma = rng.normal(0, 5, ROWS), np.exp(rng.normal(0, 1, ROWS))
    return DriftMonitor(LEVEL).update(Normal(mu, sigma), rng.normal(mu, sigma))


def calm_groups(rng: np.random.Generator) -> DriftMonitor:
    return DriftMonitor(LEVEL).update(Normal(np.zeros(ROWS), 1.0), rng.normal(size=ROWS), groups=SHOPS)


def calm_counts(rng: np.random.Generator) -> DriftMonitor:
    rate = np.exp(rng.normal(0.7, 1, ROWS))
    return DriftMonitor(LEVEL).update(Poisson(rate), rng.poisson(rate))


def calm_events(rng: np.random.Generator) -> DriftMonitor:
    p = rng.beta(0.5, 1.5, ROWS)
    return DriftMonitor(LEVEL, task="classification").update(p, (rng.random(ROWS) < p).astype(int))


def calm_days(rng: np.random.Generator) -> DriftMonitor:
    """Eight shops a day whose errors have a correlation of 0.8, which the monitor is told."""
    days = np.arange(ROWS) // GROUPS
    y = np.sqrt(0.8) * rng.normal(size=ROWS)[days] + np.sqrt(0.2) * rng.normal(size=ROWS)
    monitor = DriftMonitor(LEVEL, same_time="dependent")
    return monitor.update(Normal(np.zeros(ROWS), 1.0), y, groups=SHOPS, time=days)


CALM: dict[str, Draw] = {
    "normal laws": calm_laws,
    "eight groups": calm_groups,
    "counts": calm_counts,
    "events": calm_events,
    "eight dependent shops a day": calm_days,
}


def noticed(change: Change, start: int, seed: int) -> tuple[float, float]:
    """Rows until the first alarm, and by how many its date is off."""
    z = np.random.default_rng([start, seed]).normal(size=start + AFTER)
    z[start:] = change.change(z[start:])
    alarms = DriftMonitor(LEVEL).update(Normal(np.zeros(len(z)), 1.0), z).alarms_
    if not alarms or alarms[0].step <= start:
        return np.inf, np.inf
    return alarms[0].step - start, abs(alarms[0].since - start)


def speeds(rows: int = 400_000, single: int = 2_000) -> tuple[float, float]:
    """Rows a CPU second, in batches of 50 000 and one by one."""
    y = np.random.default_rng(0).normal(size=rows)
    law, monitor = Normal(np.zeros(rows), 1.0), DriftMonitor(LEVEL)
    begun = time.process_time()
    for at in range(0, rows, 50_000):
        monitor.update(law[at : at + 50_000], y[at : at + 50_000])
    batch, begun = rows / (time.process_time() - begun), time.process_time()
    for at in range(single):
        monitor.update(law[at : at + 1], y[at : at + 1])
    return batch, single / (time.process_time() - begun)


def verdict(runs: int) -> Iterator[str]:
    """A line for each claim."""
    for place, (name, draw) in enumerate(CALM.items()):
        alarms = sum(bool(draw(np.random.default_rng([place, seed])).alarms_) for seed in range(runs))
        text = f"{name}: {alarms} of {runs} calm runs of {ROWS} rows raise an alarm at level {LEVEL:g}"
        yield claim(alarms <= LEVEL * runs, text)
    for change in CHANGES:
        for start in STARTS:
            delays, off = np.array([noticed(change, start, seed) for seed in range(runs)]).T
            text = f"{change.name} after {start} rows: noticed"
            missed = f"({np.isinf(delays).sum()} of {runs} never, or before)"
            yield claim(np.median(delays) <= change.noticed, f"{text} within {np.median(delays):g} rows {missed}")
            yield claim(np.median(off) <= change.named, f"{text}, and the date named within {np.median(off):g} rows")
    batch, single = speeds()
    yield claim(batch >= BATCH, f"{batch:.2g} rows a CPU second in batches")
    yield claim(single >= SINGLE, f"{single:.2g} rows a CPU second one by one")


def main() -> int:
    """Print the claims; the exit status says whether all hold."""
    parser = argparse.ArgumentParser(prog="python -m experiments.drift", description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    lines = []
    for line in verdict(parser.parse_args().runs):
        print(line, flush=True)
        lines.append(line)
    return int(any(line.startswith("FAIL") for line in lines))


if __name__ == "__main__":
    raise SystemExit(main())
