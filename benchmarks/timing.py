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

    def __str__(self) -> str:
        verdict = (
            ""
            if self.promised is None
            else f"<= {self.promised:g}  {'ok' if self.ratio <= self.promised else 'MISSED'}"
        )
        return f"{self.task:66s} {self.seconds * 1e3:10.1f} ms {self.ratio:9.2f} x {self.floor:22s} {verdict}"
