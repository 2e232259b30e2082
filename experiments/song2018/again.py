"""Figure 6 once more, on folds that nobody had seen when this was written, with GPC's two links.

The paper gives GPC "logistic function or probit function" as a link and does not say which was run. Repetitions from
the tenth on are told here, five of them: twenty-five folds a pair. The claims are those of `table`, made before any of
these folds was run:

- of whole sets, in the mean of the three bases: with 16 thresholds or more one of the paper's methods beats none on all
  five; the stack beats each of them with any number of thresholds;
- pair by pair, which asks for more: the same on each of the fifteen.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..scoreboard import headline
from .protocol import WANTED
from .table import ENOUGH, NONE, STACK, Pair

PARTS = (*WANTED, "probit")


def headlines(pairs: Sequence[Pair]) -> list[dict[str, str]]:
    """Two lines of the scoreboard: whole sets, and pairs."""
    sets = [[pair for pair in pairs if pair.set == name] for name in dict.fromkeys(pair.set for pair in pairs)]
    return [_line("sets, mean of the bases", sets), _line("pairs", [[pair] for pair in pairs])]


def _line(what: str, groups: Sequence[Sequence[Pair]]) -> dict[str, str]:
    over, ahead = [_gained(group) for group in groups], [_ahead(group) for group in groups]
    beaten, led = (
        f"{sum(gain > 0 for gain in gains)} of {len(groups)}, least {min(gains):+.3f}" for gains in (over, ahead)
    )
    return headline(
        f"figure 6, fresh folds: {what} where one of its methods gains over none from {ENOUGH} thresholds on, and the "
        "stack over all of them",
        "all",
        beaten,
        led,
        min(over) > 0 and min(ahead) > 0,
    )


def _gained(pairs: Sequence[Pair]) -> float:
    """The least gain, over the numbers of thresholds that are enough, of the method that is best there."""
    places = [at for at, count in enumerate(pairs[0].counts) if count >= ENOUGH]
    return min(max(_mean(pairs, name, NONE, at) for name in pairs[0].papers) for at in places)


def _ahead(pairs: Sequence[Pair]) -> float:
    """The stack's gain over the method and number of thresholds that are best."""
    places = range(len(pairs[0].counts))
    return min(_mean(pairs, STACK, name, at) for name in pairs[0].papers for at in places)


def _mean(pairs: Sequence[Pair], name: str, over: str, at: int) -> float:
    return float(np.mean([pair.gain(name, over, at)[0] for pair in pairs]))
