"""The value of one rank, without sorting."""

from __future__ import annotations

import math

import numpy as np

from .._checks import Array

_FEW, _POWER, _SURE = 4096, 0.65, 3.0  # values; of their number, for a sample; its standard deviations


def at_rank(values: Array, place: int) -> float:
    """What ``np.sort(values)[place]`` is: a sample tells nearly where, and only what lies there is looked at closer.

    >>> at_rank(np.array([3.0, 1.0, 2.0]), 1)
    2.0
    """
    n = len(values)
    if n < _FEW:
        return float(np.partition(values, place)[place])
    low, high = _bracket(np.sort(values[:: int(n / n**_POWER)]), place / n)
    near = values.compress((values >= low) & (values <= high))
    rest = place - int(np.count_nonzero(values < low))
    if not 0 <= rest < len(near):
        return float(np.partition(values, place)[place])
    near.partition(rest)
    return float(near[rest])


def _bracket(sample: Array, share: float) -> tuple[float, float]:
    """Values of a sorted sample between which a quantile of what it was drawn from nearly always lies."""
    middle = int(share * len(sample))
    gap = 2 + int(_SURE * math.sqrt(len(sample) * share * (1 - share)))
    low = sample[middle - gap] if middle >= gap else -math.inf
    return low, sample[middle + gap] if middle + gap < len(sample) else math.inf
