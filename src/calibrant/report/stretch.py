"""Which rows pictures along an axis show, one by one or in blocks, and what to say about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines.result import Result

MOST_IN_FAN = 240  # rows; more could not be told apart
BLOCKS = 40  # of more rows
MOST_IN_BLOCKS = 1600  # rows that blocks are made of
FEWEST_IN_BLOCK = 20


@dataclass(frozen=True, eq=False)
class Stretch:
    """The rows that fans show, where they stand, in how many blocks, and what to say about it."""

    rows: NDArray[np.intp]
    places: NDArray[Any]
    label: str
    caption: str
    blocks: int | None = None

    @classmethod
    def all_of(cls, result: Result) -> Stretch:
        """Rows along the axis, where it is one, else by predicted median; many of them in blocks."""
        n, axis = len(result.y), _axis(result)
        order = np.argsort(result.stages[result.before].median() if axis is None else axis, kind="stable")
        rows = order[spread(n, MOST_IN_BLOCKS)] if n > MOST_IN_FAN else order
        places = np.arange(len(rows)) if axis is None else axis[rows]
        which = f"{len(rows):,} of {n:,} rows" if len(rows) < n else f"all {n:,} rows"
        label, by = ("Rows, by predicted median", " by predicted median") if axis is None else ("", "")
        if n <= MOST_IN_FAN and _all_different(places):
            return cls(rows, places, label, f"{which}{by}")
        blocks = max(1, min(BLOCKS, n // FEWEST_IN_BLOCK))
        mean = f"in {blocks} blocks of {len(rows) / blocks:.0f} consecutive rows, of which the mean is drawn"
        return cls(rows, places, label, f"{which}{by} {mean}", blocks)

    @classmethod
    def last_of(cls, result: Result) -> Stretch | None:
        """The last rows along the axis, if it tells more rows apart than can be seen one by one."""
        axis = _axis(result)
        if axis is None or len(axis) <= MOST_IN_FAN or not _all_different(axis):
            return None
        rows = np.argsort(axis, kind="stable")[-MOST_IN_FAN:]
        return cls(rows, axis[rows], "", f"the last {len(rows)} rows one by one")


def _axis(result: Result) -> NDArray[Any] | None:
    """Numbers or dates, none missing, not all the same."""
    axis = result.axis
    if axis is None or axis.dtype.kind not in "iufM":
        return None
    missing = np.isnat(axis) if axis.dtype.kind == "M" else np.isnan(axis)
    return None if missing.any() or len(np.unique(axis)) == 1 else axis


def _all_different(places: NDArray[Any]) -> bool:
    return len(np.unique(places)) == len(places)


def spread(n: int, most: int) -> NDArray[np.intp]:
    """At most so many of n places, evenly spread."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.intp))
