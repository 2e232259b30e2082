"""CPU seconds, best of five, in one process and one thread."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


def cpu_seconds(task: Callable[[], Any], repeats: int = 5) -> float:
    """Best CPU time of a task over several runs."""
    best = float("inf")
    for _ in range(repeats):
        gc.collect()
        start = time.process_time()
        task()
        best = min(best, time.process_time() - start)
    return best


@dataclass
class Line:
    """One task: seconds, the floor it is measured against, and the ratio that is promised."""

    task: str
    seconds: float
    floor: str
    floor_seconds: float
    promised: float | None = None

    @property
    def ratio(self) -> float:
        return self.seconds / self.floor_seconds

    @property
    def missed(self) -> bool:
        return self.promised is not None and self.ratio > self.promised

    def __str__(self) -> str:
        return (
            f"{self.task:66s} {self.seconds * 1e3:10.1f} ms {self.ratio:9.3g} x {self.floor:22s} "
            f"{_verdict(self.promised, self.missed)}"
        )


@dataclass
class Measure:
    """One number that is no ratio of times, such as a loss or plain seconds, and the most that is promised."""

    task: str
    value: float
    unit: str
    promised: float | None = None

    @property
    def missed(self) -> bool:
        return self.promised is not None and not self.value <= self.promised

    def __str__(self) -> str:
        return f"{self.task:66s} {self.value:10.4g} {self.unit:36s} {_verdict(self.promised, self.missed)}"


@dataclass
class Note:
    """A line of words."""

    task: str
    missed: bool = False

    def __str__(self) -> str:
        return self.task


def _verdict(promised: float | None, missed: bool) -> str:
    return "" if promised is None else f"<= {promised:g}  {'MISSED' if missed else 'ok'}"
