"""What can be wrong with forecasts in a segment: sums over its rows, what mending would gain, and tests of chance."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from scipy.special import betainc, chdtr, chdtrc, ndtr, ndtri, xlogy

from ..._checks import Array
from ...distributions.scores import log_pits
from ...links.groups import Groups
from ...metrics.classes.forecasts import EventForecasts
from ...metrics.evaluation import ClassEvaluation, Evaluation, LawEvaluation
from ...numerics.tails import score_of_logs
from .chance import events_by_chance
from .conditions import Mask

COVERAGE = 0.9
FAR = 5.0  # scores beyond count as if they were there
_OUTSIDE = float(ndtri(0.5 + COVERAGE / 2))
_LEAST_VARIANCE = 3.0  # of the number of events, below which a segment of classes tells nothing
_TINY = 1e-12


class Faults(ABC):
    """Rows of forecasts and outcomes, seen as what can be wrong with them.

    Sums of ``columns`` over the rows of a segment say, for each of the ``kinds``, by how many nats the outcomes of the
    segment would be more probable if the fault were mended: the log likelihood ratio.
    """

    kinds: tuple[str, ...]

    @cached_property
    @abstractmethod
    def columns(self) -> Array:
        """What is summed (s, n); the first are the weights."""

    @abstractmethod
    def gains(self, sums: Array) -> Array:
        """Nats by kind (k, ...) from sums (s, ...)."""

    @abstractmethod
    def chance(self, kind: str, rows: Mask) -> float:
        """Two-sided p-value of the rows being calibrated."""

    @abstractmethod
    def mended(self, rows: Mask) -> Self:
        """The same rows, with those of a segment calibrated by hindsight, to see what else is wrong."""


@dataclass(frozen=True, eq=False)
class LawFaults(Faults):
    r"""Normal scores z of outcomes, which are standard normal where the laws are right, with their weights.

    With mean m, variance q and a share o of :math:`|z| > 1.645` among n rows, scores beyond 5 counted as 5, gains are

    .. math:: \tfrac n2 m^2, \quad \tfrac n2 (q - 1 - \ln q), \quad
        n \Bigl( o \ln \tfrac o{0.1} + (1 - o) \ln \tfrac{1 - o}{0.9} \Bigr)
    """

    z: Array
    weights: Array

    kinds = ("bias", "width", "coverage")

    @cached_property
    def columns(self) -> Array:
        """Weights, scores, squares, and who is outside the 90 % interval."""
        w, z = self.weights, np.clip(self.z, -FAR, FAR)
        return np.stack([w, w * z, w * z**2, w * (np.abs(z) > _OUTSIDE)])

    def gains(self, sums: Array) -> Array:
        n = np.maximum(sums[0], _TINY)
        mean, square, out = sums[1:] / n
        spread = np.maximum(square - mean**2, _TINY)
        out = np.clip(out, 0.0, 1.0)
        missed = xlogy(out, out / (1 - COVERAGE)) + xlogy(1 - out, (1 - out) / COVERAGE)
        return np.asarray(np.stack([n * mean**2 / 2, n * (spread - 1 - np.log(spread)) / 2, n * missed]))

    def chance(self, kind: str, rows: Mask) -> float:
        n, first, second, out = self.columns[:, rows].sum(axis=1)
        if kind == "bias":
            return float(2 * ndtr(-abs(first) / np.sqrt(n)))
        if kind == "width":
            around = max(second - first**2 / n, 0.0)
            tails = chdtr(max(n - 1, _TINY), around), chdtrc(max(n - 1, _TINY), around)
        else:
            level = 1 - COVERAGE
            many = betainc(out, n - out + 1, level) if out > 0 else 1.0
            few = betainc(n - out, out + 1, 1 - level) if out < n else 1.0
            tails = many, few
        return float(min(1.0, 2 * min(tails)))

    def mended(self, rows: Mask) -> LawFaults:
        z, w = self.z[rows], self.weights[rows]
        order = np.argsort(z, kind="stable")
        reached = np.cumsum(w[order])
        even = np.empty(len(z))
        even[order] = ndtri((reached - w[order] / 2) / reached[-1])
        whole = self.z.copy()
        whole[rows] = even
        return LawFaults(whole, self.weights)


@dataclass(frozen=True, eq=False)
class ClassFaults(Faults):
    r"""Events and their probabilities, by kind, with the weights of the rows.

    The gain of a kind is :math:`(\sum w (e - p))^2 / (2 \sum w p (1 - p))`: nats of a small shift of the log odds.
    """

    events: dict[str, EventForecasts]
    weights: Array

    @property
    def kinds(self) -> tuple[str, ...]:  # type: ignore[override]
        """Bias of the second of two classes, confidence in the most probable one."""
        return tuple(self.events)

    @cached_property
    def columns(self) -> Array:
        """Weights; then by kind the variance and the surplus of events."""
        w, found = self.weights, [self.weights]
        for event in self.events.values():
            found += [w * event.p * (1 - event.p), w * (event.events - event.p)]
        return np.stack(found)

    def gains(self, sums: Array) -> Array:
        variance, surplus = sums[1::2], sums[2::2]
        enough = variance >= _LEAST_VARIANCE
        return np.asarray(np.where(enough, surplus**2 / (2 * np.where(enough, variance, 1.0)), 0.0))

    def chance(self, kind: str, rows: Mask) -> float:
        event = self.events[kind]
        return events_by_chance(event.p[rows], event.events[rows], self.weights[rows])

    def mended(self, rows: Mask) -> ClassFaults:
        found = {}
        for kind, event in self.events.items():
            p = event.p.copy()
            groups = Groups.of(p[rows], event.events[rows], self.weights[rows])
            p[rows] = groups.rising()[np.searchsorted(groups.x, p[rows])]
            found[kind] = EventForecasts(p, event.events, None)
        return ClassFaults(found, self.weights)


def faults_of(evaluation: Evaluation, weights: Array, random_state: np.random.Generator) -> Faults:
    """Faults of laws, an outcome on an atom drawn evenly from it, or of class probabilities."""
    if isinstance(evaluation, LawEvaluation):
        left, right = evaluation.scores
        drawn = right if left is right else score_of_logs(*log_pits(left, right, "randomised", random_state))
        return LawFaults(drawn, weights)
    return ClassFaults(_events(evaluation), weights)


def _events(evaluation: ClassEvaluation) -> dict[str, EventForecasts]:
    forecasts = evaluation.forecasts
    top = {"confidence": forecasts.top()}
    return {"bias": forecasts.column(1), **top} if forecasts.n_classes == 2 else top
