"""A trial in rounds: candidates that take long leave it once they have fallen behind."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import Array
from .candidates import ranks_of
from .comparison import Comparison
from .trial import FEWEST, Trial

ROUNDS = 5
CLEAR = 2.0  # standard errors


def raced(trial: Trial, candidates: Mapping[str, Any], costly: Collection[str]) -> Comparison:
    """The losses of candidates, those of some costly ones on the first rounds only.

    The splits are taken in five rounds. Of the costly ones leave, after each by which 20 rows were forecast: those more
    than two standard errors behind the best so far; from the second round on those behind a simpler one; after the
    third round all but the better half, after the fourth all but the better quarter. Once a single one is left, and all
    others that run are more than two standard errors behind it, the trial is over.

    The loss of one that left is that of the best, plus the difference of the two on the rows that both forecast.
    """
    race = _Race(trial, tuple(candidates), ranks_of(candidates, candidates))
    running = dict(candidates)
    for number, part in enumerate(_rounds(trial), 1):
        race.run(part, running, alone=len(candidates) <= 2)
        standing = race.standing()
        gone = leaving(standing, costly, number) if race.tells else set()
        running = {name: item for name, item in running.items() if name in standing.names and name not in gone}
        if race.tells and settled(standing, costly, running):
            break
    return race.result()


def leaving(standing: Comparison, costly: Collection[str], number: int) -> set[str]:
    """Which of the costly ones leave after a round.

    >>> losses, errors = np.array([1.0, 0.9, 0.94, 0.8]), np.full(4, 0.06)
    >>> table = Comparison(("none", "a", "b", "c"), losses, errors, ranks=(0, 2, 3, 3))
    >>> sorted(leaving(table, "abc", 1)), sorted(leaving(table, "abc", 3))
    (['b'], ['b'])
    """
    clear = _clearly_behind(standing)
    order = sorted(range(len(standing.names)), key=lambda i: (standing.loss[i], i))
    rivals = [i for i in order if standing.names[i] in costly]
    most = ceil(len(costly) / 2 ** max(number - 2, 0))
    gone = {i for i in rivals if clear[i]} | set(rivals[most:])
    if number > 1:
        gone |= {i for i in rivals if any(_is_ahead(standing, j, i) for j in order)}
    return {standing.names[i] for i in gone}


def settled(standing: Comparison, costly: Collection[str], running: Collection[str]) -> bool:
    """Whether a single costly one is left and all others that run are clearly behind it."""
    clear = dict(zip(standing.names, _clearly_behind(standing), strict=True))
    left = [name for name in running if name in costly]
    return left == [standing.best] and all(clear[name] for name in running if name != standing.best)


def _clearly_behind(standing: Comparison) -> NDArray[np.bool_]:
    return np.asarray(standing.loss > standing.loss.min() + CLEAR * np.nan_to_num(standing.error))


def _is_ahead(standing: Comparison, one: int, other: int) -> bool:
    """Whether one is both simpler and better."""
    return bool(standing.loss[one] < standing.loss[other] and standing.ranks[one] < standing.ranks[other])


@dataclass(eq=False)
class _Race:
    """Losses so far, of some candidates of the first rows only."""

    trial: Trial
    names: tuple[str, ...]
    ranks: tuple[int, ...]
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
