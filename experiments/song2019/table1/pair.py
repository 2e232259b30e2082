"""One set with one base: measures of each split, or a row of the results that are there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...cells import known
from .cell import NONE
from .paper import MEASURES, PAPER, Printed

Array = NDArray[np.float64]
NOT_PRINTED = dict.fromkeys(MEASURES, Printed(np.nan, np.nan, np.nan))


@dataclass(frozen=True, eq=False)
class Pair:
    """One set with one base: by method, the measures of each split, (splits, measures)."""

    set: str
    base: str
    scores: dict[str, Any]

    @classmethod
    def of(cls, name: str, base: str, cells: Sequence[dict[str, dict[str, float]]]) -> Pair:
        """From the finished cells of the pair."""
        columns = {key: [[cell[key][measure] for measure in MEASURES] for cell in cells] for key in cells[0]}
        return cls(name, base, {key: np.array(rows) for key, rows in columns.items()})

    @property
    def splits(self) -> int:
        """How many there are."""
        return len(self.scores[NONE])

    @property
    def commit(self) -> str | None:
        """Of a pair that was not run again, the code that made it."""
        return None

    def mean(self, name: str) -> Array:
        """Mean scores over the splits."""
        return np.asarray(self.scores[name].mean(axis=0))

    def error(self, name: str) -> Array:
        """Their standard errors."""
        return _error(self.scores[name])

    def rise(self, name: str) -> tuple[float, float]:
        """Mean rise of the NLL over the base's, and its paired standard error."""
        rises = self.scores[name][:, :1] - self.scores[NONE][:, :1]
        return float(rises.mean()), float(_error(rises)[0])

    def best(self, names: Sequence[str]) -> str:
        """The method with the lowest mean NLL."""
        return min((name for name in names if name in self.scores), key=lambda name: float(self.mean(name)[0]))

    @property
    def printed(self) -> dict[str, Printed]:
        """The paper's numbers by measure."""
        return PAPER.get(self.base, {}).get(self.set, NOT_PRINTED)

    @property
    def paper_gain(self) -> float:
        """By how much the paper's best GP-Beta improves the NLL of its base."""
        return round(self.printed["NLL"].base - self.printed["NLL"].gp_beta, 2)

    def reaches(self, name: str) -> bool:
        """Whether the method gains at least as much as the paper's best GP-Beta, within one standard error."""
        rise, error = self.rise(name)
        return bool(-rise + np.nan_to_num(error) >= self.paper_gain)

    def is_as_low(self, name: str) -> bool:
        """Whether the NLL is at or below that of the paper's best GP-Beta, within one standard error."""
        return bool(self.mean(name)[0] - np.nan_to_num(self.error(name)[0]) <= self.printed["NLL"].gp_beta)

    def summary(self) -> dict[str, Any]:
        """For the results file."""
        told = {
            name: {measure: [float(m), known(e)] for measure, m, e in zip(MEASURES, mean, error, strict=True)}
            for name, mean, error in ((name, self.mean(name), self.error(name)) for name in self.scores)
        }
        paired = {name: known(self.rise(name)[1]) for name in self.scores}
        made = {} if self.commit is None else {"commit": self.commit}
        return {
            "set": self.set, "base": self.base, "splits": self.splits, **made, "mean and error": told,
            "paired error of NLL": paired,
        }  # fmt: skip


@dataclass(frozen=True, eq=False)
class KeptPair(Pair):
    """A pair that was not run again: `row` of the results that are there, with the commit that made it.

    Where the row has no paired errors, as rows had none once, no error is allowed for.
    """

    row: dict[str, Any]

    @classmethod
    def of_row(cls, row: dict[str, Any]) -> KeptPair:
        """From the row of a results file."""
        return cls(row["set"], row["base"], row["mean and error"], row)

    @property
    def splits(self) -> int:
        """How many there were."""
        return int(self.row["splits"])

    @property
    def commit(self) -> str | None:
        """The code that made it."""
        return str(self.row["commit"])

    def mean(self, name: str) -> Array:
        """Mean scores over the splits."""
        return np.array([self.scores[name][measure][0] for measure in MEASURES], dtype=np.float64)

    def error(self, name: str) -> Array:
        """Their standard errors."""
        return np.array([self.scores[name][measure][1] for measure in MEASURES], dtype=np.float64)

    def rise(self, name: str) -> tuple[float, float]:
        """Mean rise of the NLL over the base's, and its paired standard error where that is known."""
        error = self.row.get("paired error of NLL", {}).get(name)
        return float(self.mean(name)[0] - self.mean(NONE)[0]), np.nan if error is None else float(error)


def _error(scores: Array) -> Array:
    """Standard errors of means; of a single split there is none."""
    if len(scores) == 1:
        return np.full(scores.shape[1], np.nan)
    return np.asarray(scores.std(axis=0, ddof=1) / np.sqrt(len(scores)))
