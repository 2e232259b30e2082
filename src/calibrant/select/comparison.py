"""The outcome of a comparison: a table, a front, a recommendation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import Array

NONE = "none"
FRONT = ("NLL", "A²")  # the two objectives of Carney and Cunningham (2006)
Measured = dict[str, tuple[float, float]]  # value and standard error by measure


@dataclass(frozen=True, eq=False)
class Comparison:
    """Calibrators on rows that they had not seen; the loss is in nats, smaller is better.

    Attributes
    ----------
    names : tuple of str
        "none" first, then in the order given.
    loss : ndarray (C,)
        Mean negative log density (distributions; CRPS where they have atoms) or log loss (classes) of held-out rows.
    error : ndarray (C,)
        Standard error of the difference from the best one's loss.
    measures : tuple of dict
        By candidate: value and standard error of every measure.
    """

    names: tuple[str, ...]
    loss: Array
    error: Array
    measures: tuple[Measured, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, names: Sequence[str], losses: Array, weights: Array, rows: float) -> Comparison:
        """From losses (C, n) of the same rows with their weights, worth so many independent rows."""
        shares = weights / weights.sum()
        loss = losses @ shares
        with np.errstate(invalid="ignore"):  # where a probability of 0 came true the loss is infinite
            difference = losses - losses[np.argmin(loss)]
            spread = np.square(difference - (difference @ shares)[:, None]) @ shares
        return cls(tuple(names), loss, np.sqrt(spread / rows))

    def _check_sound(self) -> None:
        """Raise ValueError if a number is not there for each name; where too few rows were compared all are NaN."""
        if not len(self.names) == len(self.loss) == len(self.error):
            raise ValueError("Comparison must have a loss and an error for each name.")

    @property
    def best(self) -> str:
        """Name of the candidate of least loss."""
        return self.names[int(np.argmin(self.loss))]

    @property
    def chosen(self) -> str:
        """Name of the best candidate; "none" if that is within one standard error of it: change needs a reason."""
        near = self.loss[0] <= self.loss.min() + np.nan_to_num(self.error[0])
        return NONE if self.names[0] == NONE and near else self.best

    @property
    def front(self) -> NDArray[np.bool_]:
        """Which candidates no other beats in both NLL and A² (C,); all False where these are not measured."""
        if not self.measures or any(name not in self.measures[0] for name in FRONT):
            return np.zeros(len(self.names), dtype=bool)
        pairs = np.array([[table[name][0] for name in FRONT] for table in self.measures])
        step = pairs[None] - pairs[:, None]
        beaten = np.all(step <= 0, axis=2) & np.any(step < 0, axis=2)
        return np.asarray(~np.any(beaten, axis=1))

    @property
    def recommendation(self) -> str:
        """Which to take and why, in one sentence."""
        i = int(np.argmin(self.loss))
        if self.chosen == NONE:
            behind = f"{self.best} is only {self.loss[0] - self.loss[i]:.2g} better, within one standard error"
            return f"Leave the forecasts as they are: {behind if i else 'no candidate is better'}."
        reason = f"its loss of {self.loss[i]:.4g} is the least"
        if self.names[0] == NONE:
            reason += f", {self.loss[0] - self.loss[i]:.3g} below that of the forecasts as they are"
        return f"Take {self.chosen}: {reason}."

    def to_frame(self) -> Any:
        """Pandas frame: candidates by measures, with their standard errors."""
        import pandas as pd

        table = {name: {key: value for key, (value, _) in m.items()} for name, m in self._pairs()}
        errors = {name: {f"{key} s.e.": error for key, (_, error) in m.items()} for name, m in self._pairs()}
        return pd.DataFrame({name: {**table[name], **errors[name]} for name in table}).T

    def _pairs(self) -> list[tuple[str, Measured]]:
        return list(zip(self.names, self.measures, strict=True))

    def __str__(self) -> str:
        """The table, best first, with * for the front, and the recommendation."""
        columns = list(self.measures[0]) if self.measures else []
        lines = [["", "above best", "± s.e.", *columns]]
        above, front = self.loss - self.loss.min(), self.front
        for i in np.argsort(self.loss, kind="stable"):
            values = [f"{self.measures[i][name][0]:.4g}" for name in columns]
            lines.append(
                [f"{self.names[i]}{'*' if front[i] else ''}", f"{above[i]:.4f}", f"{self.error[i]:.4f}", *values]
            )
        widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
        text = ["  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in lines]
        foot = ["* no other is better in both NLL and A²"] if front.any() else []
        return "\n".join([*text, *foot, self.recommendation])
