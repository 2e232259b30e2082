"""What one process takes beside an older copy of the package, task by task, each on the same arrays in one run.

``python -m benchmarks floor --old DIR`` takes the older copy from a working tree, such as that of
``git worktree add DIR 4b00cd0``, on which the promises were made.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .timing import Note

HERE = Path(__file__).resolve().parents[1]
SAME = 1e-8


@dataclass(frozen=True)
class Repair:
    """A task, the words for it, how many times as fast it is to be, and how far results may differ."""

    task: str
    words: str
    least: float | None = None
    same: float | None = SAME
    rows: int | None = None  # for rows a CPU second
    rate: float | None = None  # the fewest of these


REPAIRS = (
    Repair("moments GP-Beta", "mean + std + CRPS of GP-Beta", 10),
    Repair("moments stack", "mean + std + CRPS of the stack", 6),
    Repair("moments flow", "mean + std + CRPS of flow"),
    Repair("moments density", "mean + std + CRPS of density"),
    Repair("moments GPC", "mean + std + CRPS of GPC, whose laws are others by now", same=None),
    Repair("crps spline", "CRPS of a spline map, 1e5 rows", 20),
    Repair("crps beta", "CRPS of a beta map, 1e5 rows", 20),
    Repair("crps isotonic", "CRPS of an isotonic map, 1e5 rows", 20),
    Repair("crps ecdf", "CRPS of an ECDF map, 1e5 rows"),
    Repair("first crps spline", "  the first of a spline map, tables made"),
    Repair("first crps beta", "  the first of a beta map, tables made"),
    Repair("first crps isotonic", "  the first of an isotonic map, tables made"),
    Repair("bootstrap", "bootstrap interval of CRPS, 200 resamples", 6),
    Repair("variance", "variance of per-row laws"),
    Repair("truncated", "mean + std + CRPS of truncated normals", 200),
    Repair("student", "five quantiles of Student t laws, one df", 20),
    Repair("density fit", "density fit, 1e3 rows; cdf of new rows", 1.8),
    Repair("fit Vector", "vector scaling, 1e6 x 3, whose logs are normalised again by now", same=None),
    Repair("fit Dirichlet", "Dirichlet map, 1e6 x 3", same=1e-4),
    Repair("quantiles Poisson", "five quantiles of Poisson laws"),
    Repair("quantiles NegBin", "five quantiles of negative binomial laws"),
    Repair("quantiles Gamma", "five quantiles of gamma laws"),
    Repair("ecdf", "cdf of an ECDF map with 1e7 knots", same=2e-5),
    Repair("interval stack", "intervals of the stack"),
    Repair("transform GPC", "transform of GPC, whose laws are others by now", same=None),
    Repair("forecast GP-Beta", "transform + five quantiles, GP-Beta", rows=20_000, rate=1e5),
    Repair("forecast stack", "transform + five quantiles, stack", rows=20_000, rate=1e5),
    Repair("forecast flow", "transform + five quantiles, flow", rows=20_000, rate=1e5),
    Repair("forecast density", "transform + five quantiles, density", rows=20_000, rate=1e5),
    Repair("forecast GPC", "transform + five quantiles, GPC", same=None, rows=20_000, rate=1e5),
    Repair("decisions 1e5", "decision thresholds, 1e5 rows", rows=100_000),
    Repair("decisions 1e6", "decision thresholds, 1e6 rows", rows=1_000_000),
)


@dataclass(frozen=True)
class Found:
    """Seconds of both copies and the largest difference of results, relative to the result or to 1."""

    repair: Repair
    before: float
    after: float
    apart: float

    @property
    def ratio(self) -> float:
        return self.before / self.after

    @property
    def rate(self) -> float:
        return (self.repair.rows or 0) / self.after

    @property
    def missed(self) -> bool:
        wanted = self.repair
        slow = wanted.least is not None and self.ratio < wanted.least
        few = wanted.rate is not None and self.rate < wanted.rate
        return slow or few or (wanted.same is not None and not self.apart <= wanted.same)

    def __str__(self) -> str:
        wanted = self.repair
        rate = f"{self.rate:9.3g} rows/s" if wanted.rows else ""
        promises = [f">= {wanted.least:g} x"] if wanted.least else []
        promises += [f">= {wanted.rate:g} rows/s"] if wanted.rate else []
        promises += [f"within {wanted.same:g}"] if wanted.same else []
        verdict = "MISSED" if self.missed else "ok"
        return (
            f"{wanted.words:56s} {self.before * 1e3:9.1f} -> {self.after * 1e3:9.1f} ms {self.ratio:8.3g} x"
            f"  apart {self.apart:8.1e} {rate:16s} {', '.join(promises):40s} {verdict}"
        )


def lines(old: str | None = None, only: str = "") -> Iterator[Found | Note]:
    """One line a task; those whose name begins with ``only``."""
    if old is None:
        yield Note("floor: needs --old DIR, a working tree of an older commit (git worktree add DIR 4b00cd0)")
        return
    for repair in REPAIRS:
        if repair.task.startswith(only):
            yield _found(repair, Path(old).resolve())


def _found(repair: Repair, old: Path) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        seconds, results = zip(*(_run(repair.task, Path(folder), side) for side in (old, HERE)), strict=True)
    before, after = results
    apart = np.nan if before.shape != after.shape else np.abs(after - before) / np.maximum(1.0, np.abs(before))
    return Found(repair, *seconds, float(np.max(apart)))


def _run(task: str, folder: Path, tree: Path) -> tuple[float, np.ndarray]:
    """CPU seconds and results of one copy, in a process of its own."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tree / "src"), str(HERE)])}
    command = [sys.executable, "-m", "benchmarks.floor_tasks", task, str(folder), "side"]
    subprocess.run(command, env=environment, cwd=folder, check=True)
    with np.load(folder / "side.npz") as found:
        if not Path(str(found["place"])).is_relative_to(tree):
            raise RuntimeError(f"{tree} was asked for, {found['place']} was run.")
        return float(found["seconds"]), found["result"]
