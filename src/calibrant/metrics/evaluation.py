"""What measures need of each row, worked out once: scores, places of the outcomes, what was promised."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from .._checks import Array
from ..adapters.class_labels import Classes, Codes
from ..distributions.base import Distribution
from ..distributions.scores import score_intervals
from .classes.brier import brier_scores
from .classes.ece import problems_of_kind
from .classes.forecasts import ClassForecasts, EventForecasts
from .classes.probabilities import log_losses
from .integrated import needs_integrals, std_and_crps
from .scores import log_scores, pinball_loss

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class LawEvaluation:
    """Predictive laws and their outcomes; each column is worked out when a measure first asks for it.

    Attributes
    ----------
    law : Distribution, n rows
    y : ndarray (n,)
    on_atom : ndarray of bool (n,), optional
        Which outcomes are scored by the log of their mass, the others by the log density; by default those that have
        a mass. Laws that are compared must be given the same.
    quick : bool
        Whether spread and CRPS of laws without closed forms may be a little off: see :mod:`.integrated`.
    """

    law: Distribution
    y: Array
    on_atom: Mask | None = None
    quick: bool = False

    def __len__(self) -> int:
        return len(self.y)

    @cached_property
    def scores(self) -> tuple[Array, Array]:
        """Normal scores of P(Y < y) and of P(Y <= y)."""
        return score_intervals(self.law, self.y)

    @cached_property
    def nll(self) -> Array:
        """Minus the log density, or the log mass."""
        left, right = self.scores
        return log_scores(self.law, self.y, left < right, self.on_atom)

    @cached_property
    def crps(self) -> Array:
        """The CRPS of each row."""
        return self.law.crps(self.y) if self._integrals is None else self._integrals[1]

    @cached_property
    def pinball(self) -> Array:
        """Mean pinball loss at 5 %, 10 %, …, 95 %."""
        return np.asarray(pinball_loss(self.y, self.law, per_row=True))

    @cached_property
    def std(self) -> Array:
        """Predicted standard deviations."""
        return self.law.std() if self._integrals is None else self._integrals[0]

    @cached_property
    def _integrals(self) -> tuple[Array, Array] | None:
        """Standard deviations and CRPS where they come from the same integrals."""
        return std_and_crps(self.law, self.y) if self.quick and needs_integrals(self.law) else None

    def inside(self, coverage: float) -> Array:
        """1.0 where the central interval holds the outcome, else 0.0."""
        return self._between(-ndtri(0.5 + coverage / 2), ndtri(0.5 + coverage / 2))

    def between(self, low: float, high: float) -> Array:
        """1.0 where the interval between the quantiles of two levels holds the outcome, else 0.0."""
        return self._between(*ndtri([low, high]))

    def _between(self, first: float, last: float) -> Array:
        left, right = self.scores
        below = (left < last) | ((left == right) & (right <= last))
        return np.asarray((right >= first) & below, dtype=np.float64)

    def __getitem__(self, rows: Any) -> LawEvaluation:
        """Some of the rows, with what is known of them."""
        on_atom = None if self.on_atom is None else self.on_atom[rows]
        return _with_columns(LawEvaluation(self.law[rows], self.y[rows], on_atom, self.quick), self, rows)


@dataclass(frozen=True, eq=False)
class ClassEvaluation:
    """Class probabilities (n, K), the numbers of the classes that came (n,), and the K labels."""

    p: Array
    codes: Codes
    classes: Classes

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def forecasts(self) -> ClassForecasts:
        """The same as the measures of classes take them."""
        two = self.p.shape[1] == 2
        return ClassForecasts(np.ascontiguousarray(self.p[:, 1]) if two else self.p, self.codes, None, self.classes)

    @cached_property
    def log_loss(self) -> Array:
        """Minus the log probability of what came."""
        return log_losses(self.forecasts)

    @cached_property
    def brier(self) -> Array:
        """Squared error of the probabilities."""
        return brier_scores(self.forecasts)

    @cached_property
    def events(self) -> EventForecasts:
        """The second of two classes, else the most probable one, and whether it came."""
        return problems_of_kind(self.forecasts, "auto")[0]

    def __getitem__(self, rows: Any) -> ClassEvaluation:
        """Some of the rows, with what is known of them."""
        return _with_columns(ClassEvaluation(self.p[rows], self.codes[rows], self.classes), self, rows)


Evaluation = LawEvaluation | ClassEvaluation
E = TypeVar("E", LawEvaluation, ClassEvaluation)


def _with_columns(part: E, whole: E, rows: Any) -> E:
    for name, value in vars(whole).items():
        if name in vars(part) or name in ("forecasts", "events") or value is None:
            continue
        sliced = tuple(column[rows] for column in value) if isinstance(value, tuple) else value[rows]
        part.__dict__[name] = sliced
    return part
