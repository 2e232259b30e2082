"""The tested rows of a trial before and after the chosen calibration."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtri

from .._checks import Array
from ..metrics.catalogue import LEVEL, LOSS, MEASURES, Measured
from ..metrics.evaluation import Evaluation, LawEvaluation
from ..select.trial import Trial

COVERAGE = 0.9  # of the intervals that are looked at


@dataclass(frozen=True, eq=False)
class Sides:
    """The tested rows of a trial before and after the chosen calibration.

    ``usable`` is whether the forecasts can be used as they came; where they are numbers or margins, both sides are what
    calibration made of them.
    """

    trial: Trial
    before: Evaluation
    after: Evaluation
    usable: bool = True

    @cached_property
    def weights(self) -> Array:
        """Weights of the tested rows."""
        return self.trial.weights[self.trial.tested]

    @cached_property
    def losses(self) -> tuple[Array, Array]:
        """The log score of each row."""
        loss: Any = MEASURES[LOSS[self.trial.task]].rows
        return loss(self.before), loss(self.after)

    @cached_property
    def time(self) -> Array | None:
        """Time of the tested rows as numbers; dates as seconds since 1970."""
        if self.trial.time is None:
            return None
        when = self.trial.time[self.trial.tested]
        return (when.astype("datetime64[us]").astype(np.int64) / 1e6) if when.dtype.kind == "M" else when.astype(float)


def surplus(evaluation: Evaluation) -> tuple[Array, Array]:
    """By how much more came true than was promised, one value a row, and the variance of each if all is well.

    Of laws whether the 90 % interval holds the outcome, less 0.9; of classes whether the event came (the second of two
    classes, of more the most probable one), less its probability.
    """
    if isinstance(evaluation, LawEvaluation):
        inside = evaluation.inside(COVERAGE)
        return inside - COVERAGE, np.full(len(inside), COVERAGE * (1 - COVERAGE))
    events = evaluation.events
    return np.asarray(events.events - events.p, dtype=np.float64), np.asarray(events.p * (1 - events.p))


def mean_surplus(values: Array, variances: Array, weights: Array) -> tuple[float, float]:
    """Weighted mean of the surplus, and its standard error if all is well."""
    total = weights.sum()
    return float(np.dot(weights, values) / total), float(np.sqrt(np.dot(weights, variances)) / total)


def measured_share(evaluation: Evaluation, weights: Array) -> Measured:
    """Share of outcomes in the 90 % intervals; of classes the mean surplus."""
    if isinstance(evaluation, LawEvaluation):
        return MEASURES[f"coverage_{100 * COVERAGE:g}"].measured(evaluation, weights)
    mean, error = mean_surplus(*surplus(evaluation), weights)
    reach = float(ndtri(0.5 + LEVEL / 2)) * error
    return Measured(mean, error, mean - reach, mean + reach)
