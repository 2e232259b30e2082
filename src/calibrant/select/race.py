"""A trial in rounds: candidates that take long leave it as soon as they fall behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np

from .._checks import Array
from .candidates import quick_among, ranks_of
from .comparison import Comparison
from .trial import FEWEST, Trial

ROUNDS = 5


def raced(trial: Trial, candidates: Mapping[str, Any]) -> Comparison:
    """The losses of candidates, some of them on the first rounds only.

    The splits are taken in five rounds. Those that are quick run in all. Of the others leave, after each round that
    leaves 20 rows or more behind: those more than one standard error behind the best so far; from the second round on
    those behind a simpler one, and all but the better half, of which the half after the third, and so on. Once a single
    one of them is left, and is ahead of the quick ones by more than one standard error, the trial is over.

    The loss of one that left is that of the best, plus the difference of the two on the rows that both forecast.
    """
    race = _Race(trial, tuple(candidates), ranks_of(candidates, candidates), frozenset(quick_among(candidates)))
    running = dict(candidates)
    for number, part in enumerate(_rounds(trial), 1):
        race.run(part, running, alone=len(candidates) <= 2)
        standing = race.standing()
        gone = leaving(standing, race.quick, number, len(candidates) - len(race.quick)) if race.tells else set()
        running = {name: item for name, item in running.items() if name in standing.names and name not in gone}
        if race.tells and settled(standing, race.quick, set(running)):
            break
    return race.result()


def leaving(standing: Comparison, quick: frozenset[str], number: int, costly: int) -> set[str]:
    """Which of those that are not quick leave after a round, of so many at the start.

    >>> losses, errors = np.array([1.0, 0.9, 0.94, 0.8]), np.full(4, 0.11)
    >>> table = Comparison(("none", "a", "b", "c"), losses, errors, ranks=(0, 2, 3, 3))
    >>> sorted(leaving(table, frozenset({"none"}), 1, 3)), sorted(leaving(table, frozenset({"none"}), 2, 3))
    (['b'], ['b'])
    """
    least, gone = standing.loss.min(), set()
    ordered = sorted(range(len(standing.names)), key=lambda i: (standing.loss[i], i))
    rivals = [i for i in ordered if standing.names[i] not in quick]
    for place, i in enumerate(rivals):
        behind = standing.loss[i] > least + np.nan_to_num(standing.error[i])
        simpler = any(
            standing.loss[j] < standing.loss[i] and standing.ranks[j] < standing.ranks[i] for j in range(len(ordered))
        )
        late = number > 1 and (simpler or place >= ceil(costly / 2 ** (number - 1)))
        if behind or late:
            gone.add(standing.names[i])
    return gone


def settled(standing: Comparison, quick: frozenset[str], running: set[str]) -> bool:
    """Whether a single costly one is left and all quick ones are more than a standard error behind it."""
    left = running - quick
    if len(left) != 1 or standing.best not in left:
        return False
    near = standing.loss <= standing.loss.min() + np.nan_to_num(standing.error)
    return not any(near[i] for i, name in enumerate(standing.names) if name in quick)


@dataclass(eq=False)
class _Race:
    """Losses so far, of some candidates of the first rows only."""

    trial: Trial
    names: tuple[str, ...]
    ranks: tuple[int, ...]
    quick: frozenset[str]
    losses: dict[str, Array] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    rows: dict[int, float] = field(default_factory=dict)  # worth of the first so many, at the end of each round
    weights: Array = field(default_factory=lambda: np.empty(0))

    def run(self, part: Trial, running: Mapping[str, Any], *, alone: bool) -> None:
        """Forecast the rows of a round."""
        found = part.out_of_fold(running, alone=alone)
        for name, made in found.made.items():
            before = self.losses.get(name, np.empty(0))
            self.losses[name] = np.append(before, part.losses(part.evaluated(made)))
        self.left_out |= found.left_out
        for name in found.left_out:
            self.losses.pop(name, None)
        self.weights = np.append(self.weights, part.weights[part.tested])
        so_far = replace(self.trial, splits=self.trial.splits[: self._splits(len(self.weights))])
        self.rows[len(self.weights)] = so_far.n_tested

    def _splits(self, rows: int) -> int:
        """How many splits have so many rows to forecast."""
        return int(np.searchsorted(np.cumsum([len(test) for _, test in self.trial.splits]), rows) + 1)

    @property
    def tells(self) -> bool:
        """Whether there are rows enough to tell candidates apart."""
        return self.rows[len(self.weights)] >= FEWEST

    def standing(self) -> Comparison:
        """Those that forecast all rows so far."""
        names = [name for name in self.names if len(self.losses.get(name, ())) == len(self.weights)]
        table = np.array([self.losses[name] for name in names])
        found = Comparison.of(names, table, self.weights, self.rows[len(self.weights)])
        return replace(found, ranks=tuple(self.ranks[self.names.index(name)] for name in names))

    def result(self) -> Comparison:
        """All of them: who left has the difference from the best on the rows that both forecast."""
        final = self.standing()
        names = tuple(name for name in self.names if name in self.losses)
        loss, error = np.empty(len(names)), np.empty(len(names))
        for i, name in enumerate(names):
            if name in final.names:
                k = final.names.index(name)
                loss[i], error[i] = final.loss[k], final.error[k]
            else:
                behind, error[i] = self._behind(name, final.best)
                loss[i] = final.loss.min() + max(behind, 0.0)
        ranks = tuple(self.ranks[self.names.index(name)] for name in names)
        every = float(self.trial.weights[self.trial.tested].sum())
        tried = tuple(float(self.weights[: len(self.losses[name])].sum()) / every for name in names)
        return Comparison(names, loss, error, left_out=self.left_out, ranks=ranks, tried=tried)

    def _behind(self, name: str, best: str) -> tuple[float, float]:
        """Difference from the best on common rows, and its standard error."""
        mine = self.losses[name]
        n = len(mine)
        pair = Comparison.of((best, name), np.array([self.losses[best][:n], mine]), self.weights[:n], self.rows[n])
        return float(pair.loss[1] - pair.loss[0]), float(pair.error.max())


def _rounds(trial: Trial) -> list[Trial]:
    """The trial of some splits after that of others; of many splits several at a time."""
    ends = np.linspace(0, len(trial.splits), min(ROUNDS, len(trial.splits)) + 1).round().astype(int)
    return [replace(trial, splits=trial.splits[a:b]) for a, b in pairwise(ends)]
