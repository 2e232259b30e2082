"""The outcome of a comparison: a table, a front, a recommendation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import Array
from ..metrics.catalogue import FRONT, Measured, label, measures_of

NONE = "none"
SIMPLER = 0.005  # nats that simplicity may cost at most


@dataclass(frozen=True, eq=False)
class Comparison:
    """Calibrators on rows that they had not seen; the loss is in nats, smaller is better.

    Attributes
    ----------
    names : tuple of str
        "none" first, then in the order given.
    loss : ndarray (C,)
        Log score of rows that were not learned from: log loss of classes; minus the log density of distributions, or
        the log mass of outcomes that have one under the forecasts as they are.
    error : ndarray (C,)
        Standard error of the difference from the best one's loss.
    measures : tuple of dict
        By candidate, then by measure: value, standard error and interval.
    left_out : dict
        Candidates that could not be fitted, and why.
    ranks : tuple of int
        How simple each candidate is, the simplest with the least; empty where that is not known.
    tried : tuple of float
        Share of the rows that each candidate forecast; empty where all of them forecast all. The loss of one that did
        not is that of the best, plus the difference of the two on the rows that both forecast.
    """

    names: tuple[str, ...]
    loss: Array
    error: Array
    measures: tuple[dict[str, Measured], ...] = field(default=(), repr=False)
    left_out: dict[str, str] = field(default_factory=dict, repr=False)
    ranks: tuple[int, ...] = field(default=(), repr=False)
    tried: tuple[float, ...] = field(default=(), repr=False)

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        losses: Array,
        weights: Array,
        rows: float,
        measures: tuple[dict[str, Measured], ...] = (),
    ) -> Comparison:
        """From losses (C, n) of the same rows with their weights, worth so many independent rows."""
        shares = weights / weights.sum()
        loss = losses @ shares
        if not np.isnan(loss).all():
            loss[np.isnan(loss)] = np.inf  # forecasts that are no numbers are worse than any
        with np.errstate(invalid="ignore"):  # where a probability of 0 came true the loss is infinite
            difference = losses - losses[np.argmin(loss)]
            spread = np.square(difference - (difference @ shares)[:, None]) @ shares
        return cls(tuple(names), loss, np.sqrt(spread / rows), measures)

    def _check_sound(self) -> None:
        """Raise ValueError if a number is not there for each name; where too few rows were compared all are NaN."""
        if not len(self.names) == len(self.loss) == len(self.error):
            raise ValueError("Comparison must have a loss and an error for each name.")
        if self.ranks and len(self.ranks) != len(self.names):
            raise ValueError("Comparison must have a rank for each name, or none.")
        if self.tried and len(self.tried) != len(self.names):
            raise ValueError("Comparison must have a share of rows for each name, or none.")

    @property
    def notes(self) -> list[str]:
        """One line for each candidate that was left out."""
        return [f"{name} was left out: {reason}" for name, reason in self.left_out.items()]

    @property
    def best(self) -> str:
        """Name of the candidate of least loss."""
        return self.names[int(np.argmin(self.loss))]

    @property
    def chosen(self) -> str:
        """Name of the candidate to take.

        "None" if its loss is within one standard error of the least: change needs a reason. Else the simplest of those
        whose loss is within one standard error of the least and at most 0.005 nats above it: what is more complicated
        has to be better by more than noise or rounding. The standard error is that of the difference of the two on the
        same rows. Where it is not known which is simpler, the one of least loss.
        """
        least, error = self.loss.min(), np.nan_to_num(self.error)
        if self.names[0] == NONE and self.loss[0] <= least + error[0]:
            return NONE
        if not self.ranks or np.isnan(least):
            return self.best
        near = self.loss <= least + np.minimum(error, SIMPLER)
        kept = [i for i, name in enumerate(self.names) if near[i] and name != NONE]
        return self.names[min(kept, key=lambda i: (self.ranks[i], self.loss[i]))]

    @property
    def front(self) -> NDArray[np.bool_]:
        """Which candidates no other beats in both loss and calibration (C,); all False where these are not measured."""
        if not self.measures or any(key not in table for table in self.measures for key in self._objectives):
            return np.zeros(len(self.names), dtype=bool)
        pairs = np.array([[table[key].value for key in self._objectives] for table in self.measures])
        step = pairs[None] - pairs[:, None]
        beaten = np.all(step <= 0, axis=2) & np.any(step < 0, axis=2)
        return np.asarray(~np.any(beaten, axis=1))

    @property
    def _task(self) -> str:
        return "classification" if self.measures and "log_loss" in self.measures[0] else "regression"

    @property
    def _objectives(self) -> tuple[str, str]:
        return FRONT[self._task]

    @property
    def recommendation(self) -> str:
        """Which to take and why, in one sentence."""
        i = int(np.argmin(self.loss))
        if self.chosen == NONE:
            behind = f"{self.best} is only {self.loss[0] - self.loss[i]:.2g} better, within one standard error"
            return f"Leave the forecasts as they are: {behind if i else 'no candidate is better'}."
        k = self.names.index(self.chosen)
        reason = f"its loss of {self.loss[k]:.4g} is the least"
        if k != i:
            near = f"within one standard error and {SIMPLER:g} of the least, that of {self.best}"
            reason = f"its loss of {self.loss[k]:.4g} is {near}, and it is simpler"
        if self.names[0] == NONE:
            reason += f", {self.loss[0] - self.loss[k]:.3g} below that of the forecasts as they are"
        return f"Take {self.chosen}: {reason}."

    def to_frame(self) -> Any:
        """Pandas frame: candidates by measures, with their standard errors."""
        import pandas as pd

        if not self.measures:
            return pd.DataFrame({"loss": self.loss, "error": self.error}, index=list(self.names))
        lines = {}
        for name, table in zip(self.names, self.measures, strict=True):
            values = {key: found.value for key, found in table.items()}
            lines[name] = {**values, **{f"{key}_error": found.error for key, found in table.items()}}
        return pd.DataFrame(lines).T

    def __str__(self) -> str:
        """The most telling measures, best first, with * for the front, and the recommendation."""
        columns = [measure.key for measure in measures_of(self._task, "headline")] if self.measures else []
        lines = [["", "above best", "± s.e.", *(["of rows"] if self.tried else []), *map(label, columns)]]
        above, front = self.loss - self.loss.min(), self.front
        for i in np.argsort(self.loss, kind="stable"):
            found = [self.measures[i].get(key) for key in columns]
            values = ["-" if measured is None else f"{measured.value:.4g}" for measured in found]
            shares = [f"{100 * self.tried[i]:.0f} %"] if self.tried else []
            name = f"{self.names[i]}{'*' if front[i] else ''}"
            lines.append([name, f"{above[i]:.4f}", f"{self.error[i]:.4f}", *shares, *values])
        widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
        text = ["  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in lines]
        both = " and ".join(map(label, self._objectives))
        foot = [f"* no other is better in both {both}"] if front.any() else []
        return "\n".join([*text, *foot, self.recommendation])
