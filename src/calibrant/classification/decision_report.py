"""Decisions before and after: confusion tables, proportions, accuracies."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._brief import Brief
from .._checks import Array


@dataclass(frozen=True, eq=False, repr=False)
class Confusion(Brief):
    """How many rows of each real class (line) were given each class (column).

    Parameters
    ----------
    classes : array (K,)
        Labels of lines and columns.
    counts : array (K, K)
        Weights of rows.

    Examples
    --------
    >>> table = Confusion(np.array(["a", "b"]), np.array([[60.0, 40.0], [2.0, 23.0]]))
    >>> table.real_proportions, table.predicted_proportions
    (array([0.8, 0.2]), array([0.496, 0.504]))
    >>> print(table)
           a   b
    a     60  40
    b      2  23
    """

    classes: NDArray[Any]
    counts: Array

    @property
    def real_proportions(self) -> Array:
        """Shares of the real classes, (K,)."""
        return np.asarray(self.counts.sum(axis=1) / self.counts.sum())

    @property
    def predicted_proportions(self) -> Array:
        """Shares of the predicted classes, (K,)."""
        return np.asarray(self.counts.sum(axis=0) / self.counts.sum())

    @property
    def accuracy(self) -> float:
        """Share of rows given their real class."""
        return float(np.trace(self.counts) / self.counts.sum())

    @property
    def macro_accuracy(self) -> float:
        """Mean over the real classes of the share of their rows given that class."""
        rows = self.counts.sum(axis=1)
        return float((np.diag(self.counts)[rows > 0] / rows[rows > 0]).mean())

    def mean_cost(self, costs: Array) -> float:
        """Mean over rows of the cost (K, K) by real and predicted class."""
        return float((self.counts * costs).sum() / self.counts.sum())

    def __str__(self) -> str:
        """A line a real class, a column a predicted one."""
        names = [str(label) for label in self.classes.tolist()]
        cells = [[f"{count:g}" for count in line] for line in self.counts]
        width = 2 + max(len(text) for text in chain(names, *cells))
        lines = ["".join(text.rjust(width) for text in ["", *names])]
        lines += [
            name.ljust(width) + "".join(t.rjust(width) for t in line) for name, line in zip(names, cells, strict=True)
        ]
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class DecisionReport:
    """Decisions on the calibration rows by the plain largest score, and by the weighted one.

    Parameters
    ----------
    before, after : Confusion
    costs : array (K, K), optional
    """

    before: Confusion
    after: Confusion
    costs: Array | None = None

    def __repr__(self) -> str:
        """The tables."""
        return str(self)

    def __str__(self) -> str:
        """Tables and measures side by side."""
        real = _shares(self.before.real_proportions)
        lines = [f"classes {' '.join(map(str, self.before.classes.tolist()))}; real proportions {real}"]
        for name, table in (("before", self.before), ("after", self.after)):
            cost = "" if self.costs is None else f", mean cost {table.mean_cost(self.costs):.4g}"
            lines.append(
                f"{name}: accuracy {table.accuracy:.4f}, macro accuracy {table.macro_accuracy:.4f}{cost}, "
                f"predicted proportions {_shares(table.predicted_proportions)}"
            )
            lines.append(str(table))
        return "\n".join(lines)


def _shares(shares: Array) -> str:
    return " ".join(f"{share:.3f}" for share in shares)
