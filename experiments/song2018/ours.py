"""The methods with thresholds as calibrant's defaults have them, and the claims about them, pair by pair.

The paper says that from 16 target values on "there is always a calibrated method giving better estimation than the
uncalibrated models". `table` asks it of the methods as published; here it is asked of the same methods as calibrant
has them by default (but for the number of thresholds), on the same folds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..cells import claim
from .protocol import DEFAULTS
from .table import ENOUGH, NONE, STACK, Pair

OURS = tuple(DEFAULTS)
PARTS_ASKED = ("ours", "defaults")


def verdict(pairs: Sequence[Pair]) -> Iterator[str]:
    """With enough thresholds one of ours beats none on every pair; the stack beats each of ours on every pair."""
    lost, alone = [], set(OURS)
    for pair in pairs:
        places = [at for at, count in enumerate(pair.counts) if count >= ENOUGH]
        best = [max((pair.gain(name, NONE, at), name) for name in OURS) for at in places]
        told = ", ".join(
            f"{pair.counts[at]} {name} {gain:+.3f} ±{error:.3f}"
            for at, ((gain, error), name) in zip(places, best, strict=True)
        )
        yield f"      {pair.set} x {pair.base}: best of ours over {NONE}, by thresholds: {told}".replace(" ±nan", "")
        lost += [f"{pair.set} x {pair.base}"] * any(gain <= 0 for (gain, _), _ in best)
        alone -= {name for name in OURS if any(pair.gain(name, NONE, at)[0] <= 0 for at in places)}
    held, where = len(pairs) - len(lost), f"; not on {', '.join(lost)}" if lost else ""
    text = f"with {ENOUGH} thresholds or more one of ours beats {NONE} throughout on {held} of {len(pairs)} pairs"
    yield claim(not lost, text + where)
    yield f"      by itself on all: {', '.join(sorted(alone)) or 'none'}"
    yield from _stack(pairs)
    numbers = sorted(len(pair.scores[NONE]) for pair in pairs)
    yield f"      from {numbers[0]} to {numbers[-1]} folds a pair; the best of ours are picked on them"


def _stack(pairs: Sequence[Pair]) -> Iterator[str]:
    """Each of ours with the thresholds that suit it best on these folds."""
    behind = []
    for pair in pairs:
        best = [(pair.gain(STACK, name, at), name, count) for name in OURS for at, count in enumerate(pair.counts)]
        (gain, error), name, count = min(best)
        behind += [f"{pair.set} x {pair.base} {gain:+.3f} ±{error:.3f} to {name} with {count}"] * (gain <= 0)
    told = f"; not {'; '.join(behind)}".replace(" ±nan", "") if behind else ""
    text = f"the stack beats each of ours at any number of thresholds on {len(pairs) - len(behind)} of {len(pairs)}"
    yield claim(not behind, f"{text} pairs{told}")


def result(pairs: Sequence[Pair], claims: Sequence[str]) -> dict[str, Any]:
    """For the results file."""
    return {"rows": [pair.summary() for pair in pairs], "claims": list(claims)}
