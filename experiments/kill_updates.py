"""Does a daily job lose or repeat a day after kill -9?

``python -m experiments.kill_updates --days 100`` learns day after day with `calibrant update`, kills each run at a
random moment, half of them while they write, and runs the same command again until it comes to its end, and once more.
After every kill the state must be that of the day before or of the day, after every run to the end that of the day, and
at last the same, number for number, as that of a job that was never disturbed. The exit code is 1 if any is not so.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

import calibrant as c
from experiments.kill_writes import arguments, killed, parts, to_its_end, told

ROWS = 400  # a day
SHOPS = ("a", "b")
NEW = c.Normal(np.zeros(2), 1.0)


def made_days(folder: Path, days: int) -> list[Path]:
    """A table for each day; spreads drift."""
    rng, paths = np.random.default_rng(0), []
    for day in range(days):
        mu, sigma = rng.normal(size=ROWS), rng.uniform(0.5, 2, ROWS)
        y = mu + (1 + day / 20) * sigma * rng.standard_normal(ROWS)
        frame = pd.DataFrame({"row": day * ROWS + np.arange(ROWS), "mu": mu, "sigma": sigma, "y": y})
        frame["shop"] = np.array(SHOPS)[rng.integers(0, 2, ROWS)]
        paths.append(folder / f"day{day:03d}.parquet")
        frame.to_parquet(paths[-1])
    return paths


def call(state: Path, table: Path) -> list[str]:
    """The command of a day."""
    return ["update", str(state), str(table), "--mean", "mu", "--std", "sigma", "--target", "y", "--group", "shop",
            "--id", "row"]  # fmt: skip


def known(state: Path) -> int:
    """Rows that a state knows."""
    return int(c.load(state).n_rows_) if state.exists() else 0


def said(state: Path) -> np.ndarray:
    """What it makes of forecasts."""
    law = c.load(state).transform(NEW, groups=list(SHOPS))
    return np.asarray(law.quantiles([0.01, 0.3, 0.5, 0.95]))


def run(days: int, seed: int, folder: Path) -> tuple[Counter[str], list[str]]:
    """What was seen, and what should not have been."""
    tables, rng = made_days(folder, days), np.random.default_rng(seed)
    for name in ("calm", "disturbed"):
        (folder / name).mkdir()
    calm, state = folder / "calm" / "state.calibrant", folder / "disturbed" / "state.calibrant"
    seen: Counter[str] = Counter()
    misses: list[str] = []
    for day, table in enumerate(tables):
        seconds = to_its_end(call(calm, table))
        seen["killed at work"] += killed(call(state, table), state, seconds, rng)
        rows = known(state)
        seen["days that were saved before the kill"] += rows == (day + 1) * ROWS
        misses += [] if rows in (day * ROWS, (day + 1) * ROWS) else [f"day {day}: the state knows {rows} rows"]
        for _ in range(2):
            to_its_end(call(state, table))
            rows = known(state)
            misses += [] if rows == (day + 1) * ROWS else [f"day {day}: after a whole run the state knows {rows} rows"]
        misses += [f"day {day}: {path.name} is still there" for path in parts(state.parent)]
    if not np.array_equal(said(calm), said(state)):
        misses.append("the state is not that of a job that was never disturbed")
    return seen, misses


def main() -> int:
    """Run, print a verdict, return the exit code."""
    asked = arguments(__doc__, "days", 100)
    with tempfile.TemporaryDirectory() as folder:
        return told(f"{asked.times} days", *run(asked.times, asked.seed, Path(folder)))


if __name__ == "__main__":
    sys.exit(main())
