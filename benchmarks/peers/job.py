"""What is raced: a job, its arrays, who can do it, and what its quality is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

OURS = "calibrant"
Data = SimpleNamespace
Entry = Callable[[Data], Any]


@dataclass(frozen=True)
class Quality:
    """Losses of held-out rows, averaged; or errors of a right value, of which the largest counts. Less is better."""

    name: str
    of: Callable[[Data, Any], np.ndarray]
    exact: bool = False

    def value(self, each: np.ndarray) -> float:
        return float(np.max(each) if self.exact else np.mean(each))


@dataclass(frozen=True)
class Job:
    """The same work for all: ``make(n)`` gives the arrays, entries turn them into a result."""

    name: str
    words: str
    sizes: tuple[int, ...]
    make: Callable[[int], Data]
    quality: Quality
    entries: Mapping[str, Entry]
    floor: str  # of `FLOORS`
    beside: Mapping[str, Callable[[Data, Any], float]] = field(default_factory=dict)

    @property
    def peers(self) -> list[str]:
        return [who for who in self.entries if who != OURS]


def exact(true: Callable[[Data], Any]) -> Quality:
    """The largest error of a result, or of its first rows, against what is right."""

    def error(d: Data, result: Any) -> np.ndarray:
        right = np.atleast_1d(np.asarray(true(d), dtype=np.float64))
        found = np.atleast_1d(np.asarray(result, dtype=np.float64))[: len(right)]
        return np.abs(found - right) / np.maximum(1.0, np.abs(right))

    return Quality("error", error, exact=True)


def _largest(d: Data) -> np.ndarray:
    return next(value for value in vars(d).values() if isinstance(value, np.ndarray))


FLOORS: dict[str, Callable[[Data], Any]] = {  # what cannot be done without: the first array of the job, read or sorted
    "one pass": lambda d: np.exp(_largest(d)),
    "sort": lambda d: np.sort(_largest(d), axis=-1),
}
