"""The entries of a job one after another, each in a process of its library, and who is ahead."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from ..forked import SECONDS, Found
from .job import OURS, Job

ERRORS, SHARE, RIGHT = 2.0, 1e-4, 1e-6  # standard errors, part of the peer's loss, error of a measure
FAR = 5  # times the limit


class Stable:
    """One process for each library, started when first asked."""

    def __init__(self) -> None:
        self.workers: dict[str, subprocess.Popen[str]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for worker in self.workers.values():
            worker.communicate()

    def ask(self, who: str, job: Job, rows: int, path: Path) -> Found:
        """What the library's process answers."""
        worker = self.workers.get(who)
        if worker is None or worker.poll() is not None:
            command = [sys.executable, "-m", "benchmarks.peers.worker", who]
            worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.workers[who] = worker
        if worker.stdin is None or worker.stdout is None:
            raise RuntimeError(f"{who} has no pipes.")
        try:
            worker.stdin.write(f"{job.name}\t{rows}\t{path}\n")
            worker.stdin.flush()
        except BrokenPipeError:
            return {"failed": "could not be started"}
        line = worker.stdout.readline()
        return dict(json.loads(line)) if line else {"failed": "not installed, or does not import"}


def race(stable: Stable, job: Job) -> Iterator[Found]:
    """A record for each size and entry; those of peers say whether calibrant is ahead."""
    before: dict[str, Found] = {}
    for rows in job.sizes:
        for found in _at_one_size(stable, job, rows, before):
            before[found["who"]] = found
            yield found


def _at_one_size(stable: Stable, job: Job, rows: int, before: dict[str, Found]) -> Iterator[Found]:
    with tempfile.TemporaryDirectory() as folder:
        ours: Found = {}
        for number, who in enumerate(sorted(job.entries, key=lambda who: who != OURS)):
            path = Path(folder) / f"{number}.npy"
            answer = hopeless(before.get(who), rows) or stable.ask(who, job, rows, path)
            found = {"job": job.name, "rows": rows, "who": who} | answer
            found["each"] = np.load(path) if path.exists() else None
            if who == OURS:
                ours = found
            else:
                found |= verdict(ours, found, exact=job.quality.exact)
            yield {key: value for key, value in found.items() if key != "each"}


def hopeless(fewer: Found | None, rows: int) -> Found | None:
    """What stops an entry before it starts: with as many seconds a row as with fewer rows, five minutes or more."""
    if fewer is None or "failed" in fewer:
        return None
    if "stopped" in fewer or fewer["seconds"] * rows / fewer["rows"] >= FAR * SECONDS:
        return {"stopped": f"over {SECONDS} s, by its seconds a row with fewer rows"}
    return None


def verdict(ours: Found, theirs: Found, *, exact: bool) -> Found:
    """Whether calibrant is ahead, and in what it is not; ahead is None where nothing can be compared."""
    if "failed" in theirs:
        return {"ahead": None}
    if "seconds" not in ours:
        return {"ahead": False, "behind_in": "failed"}
    if "stopped" in theirs:
        return {"ahead": True}
    slower = ours["seconds"] > theirs["seconds"]
    worse = _wrong(ours, theirs) if exact else _worse(ours["each"], theirs["each"])
    behind = [word for word, holds in (("slower", slower), ("worse", worse)) if holds]
    return {"ahead": not behind, **({"behind_in": " and ".join(behind)} if behind else {})}


def _wrong(ours: Found, theirs: Found) -> bool:
    return not ours["quality"] <= max(theirs["quality"] if np.isfinite(theirs["quality"]) else np.inf, RIGHT)


def _worse(ours: np.ndarray, theirs: np.ndarray) -> bool:
    """By more than two standard errors of the difference of the same rows, and by more than a ten-thousandth."""
    if not (np.isfinite(ours.mean()) and np.isfinite(theirs.mean())):
        return not np.isfinite(ours.mean())
    gap = ours - theirs
    error = gap.std(ddof=1) / np.sqrt(len(gap))
    return not gap.mean() <= max(ERRORS * error, SHARE * abs(theirs.mean()))
