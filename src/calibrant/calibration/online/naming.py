"""What tells rows apart: group and horizon, name, time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._checks import Array, complain, to_array
from ...adapters.places import times_of
from ..labels import Labels, labels_of
from .memory import Hashes, hashes_of

FARTHEST = 1000  # horizon


class Named(NamedTuple):
    """Pairs of group and horizon, hashes of names, times; None where they were not given."""

    keys: Labels | None
    hashes: Hashes | None
    times: Array | None

    @classmethod
    def of(cls, rows: int, groups: Any, horizon: Any, ids: Any, time: Any) -> Named:
        """From what was given beside so many rows."""
        hashes = None if ids is None else hashes_of(ids, rows)
        return cls(keys_of(rows, groups, horizon), hashes, None if time is None else times_of(time, rows)[0])


def keys_of(rows: int, groups: Any, horizon: Any) -> Labels | None:
    """Pairs of group and horizon, or None where neither is given."""
    if groups is None and horizon is None:
        return None
    labels = [None] * rows if groups is None else labels_of(groups, rows).tolist()
    steps = [None] * rows if horizon is None else _steps(horizon, rows)
    keys = np.empty(rows, dtype=object)
    keys[:] = list(zip(labels, steps, strict=True))
    return keys


def _steps(horizon: Any, rows: int) -> list[int]:
    numbers = to_array(horizon, "horizon")
    if numbers.shape not in ((), (rows,)):
        raise ValueError(f"`horizon` must be a number or ({rows},) for {rows} forecasts; got shape {numbers.shape}.")
    with np.errstate(invalid="ignore"):
        whole = (numbers >= 1) & (numbers <= FARTHEST) & (numbers % 1 == 0)
    complain("horizon", f"whole numbers from 1 to {FARTHEST}", numbers, ~whole)
    return [int(number) for number in np.broadcast_to(numbers, (rows,))]
