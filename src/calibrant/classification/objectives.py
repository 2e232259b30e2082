"""What decisions are judged by: a sum of gains, agreement of predicted and real proportions, or a score of labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import Array, finite, to_array
from ..adapters.class_labels import Codes
from .label_scores import VECTORISED, TableScores, score_of_rows, scorer_names, tables_along

MOST_CALLS = 1000  # places that are scored by a callable before it is known where the best ones are
OBJECTIVES = ("proportions", "accuracy", "macro", "cost", *VECTORISED)


class Objective(ABC):
    """Higher is better. Confusion tables have a line a real class and a column a predicted one."""

    @abstractmethod
    def value(self, confusion: Array) -> float:
        """Of a confusion table (K, K)."""

    @abstractmethod
    def along(self, c: int, order: Codes, others: Codes, codes: Codes, weights: Array) -> Array:
        """Of all n + 1 decisions that give the first m rows in this order to class c, and the rest to ``others``."""

    def at(self, places: Codes, c: int, order: Codes, others: Codes, codes: Codes, weights: Array) -> Array:
        """The same of some numbers m; -inf where it was not computed, as others are better."""
        return self.along(c, order, others, codes, weights)[places]


@dataclass(frozen=True, eq=False)
class Gain(Objective):
    r"""The sum :math:`\sum_i w_i G_{y_i \hat y_i}` of gains (K, K) by real and predicted class."""

    gains: Array

    def value(self, confusion: Array) -> float:
        return float((self.gains * confusion).sum())

    def along(self, c: int, order: Codes, others: Codes, codes: Codes, weights: Array) -> Array:
        kept = weights * self.gains.ravel().take(codes * len(self.gains) + others)
        change = weights * self.gains[:, c].take(codes) - kept
        return np.asarray(kept.sum() + _sums(change[order]))


@dataclass(frozen=True, eq=False)
class Agreement(Objective):
    r"""Minus the distance :math:`\sum_j |\hat\pi_j - \pi_j|` of predicted and real class proportions."""

    def value(self, confusion: Array) -> float:
        return float(-np.abs(confusion.sum(axis=0) - confusion.sum(axis=1)).sum() / confusion.sum())

    def along(self, c: int, order: Codes, others: Codes, codes: Codes, weights: Array) -> Array:
        classes = 1 + max(int(others.max()), int(codes.max()), c)
        real = np.bincount(codes, weights, minlength=classes)
        distance = np.abs(_sums(weights[order]) - real[c])
        for j in range(classes):
            if j != c:
                lost = _sums((weights * (others == j))[order])
                distance += np.abs(lost[-1] - lost - real[j])
        return np.asarray(-distance / weights.sum())


class OneShare(Objective):
    """Minus the distance of the number of rows given to a class from the number of rows it really has."""

    def value(self, confusion: Array) -> float:
        return -np.inf

    def along(self, c: int, order: Codes, others: Codes, codes: Codes, weights: Array) -> Array:
        return np.asarray(-np.abs(_sums(weights[order]) - weights[codes == c].sum()))


@dataclass(frozen=True, eq=False)
class Score(Objective):
    """A score of confusion tables; where it is slow, of at most a few thousand of them."""

    scores: TableScores
    size: int
    slow: bool = False

    def value(self, confusion: Array) -> float:
        return float(self.scores(confusion[None])[0])

    def along(self, c: int, order: Codes, others: Codes, codes: Codes, weights: Array) -> Array:
        return np.concatenate([self.scores(t) for t in tables_along(c, order, others, codes, weights, self.size)])

    def at(self, places: Codes, c: int, order: Codes, others: Codes, codes: Codes, weights: Array) -> Array:
        if not self.slow or not len(places):
            return super().at(places, c, order, others, codes, weights)
        values = np.full(len(places), -np.inf)
        some = np.unique(np.linspace(0, len(places) - 1, min(MOST_CALLS, len(places))).round().astype(np.intp))
        for _ in range(2):
            tables = _chosen(places[some], tables_along(c, order, others, codes, weights, self.size))
            values[some] = self.scores(tables)
            near = np.arange(len(places)) - int(values.argmax())
            some = np.flatnonzero((np.abs(near) <= len(places) // MOST_CALLS) & np.isneginf(values))
            if not len(some):
                break
        return values


def _chosen(places: Codes, blocks: Iterator[Array]) -> Array:
    """The tables at these places, which rise."""
    found, first = [], 0
    for tables in blocks:
        mine = places[np.searchsorted(places, first) : np.searchsorted(places, first + len(tables))]
        found.append(tables[mine - first])
        first += len(tables)
    return np.concatenate(found)


def _sums(x: Array) -> Array:
    """Sums of the first 0, 1, ..., n entries."""
    sums = np.empty(len(x) + 1)
    sums[0] = 0.0
    np.cumsum(x, out=sums[1:])
    return sums


def make_objective(name: Any, cost_matrix: Any, real: Array, labels: NDArray[Any] | None = None) -> Objective:
    """The named objective, or that of a callable, for classes of these total weights (K,) and labels.

    >>> make_objective("macro", None, np.array([8.0, 2.0])).gains
    array([[0.0625, 0.    ],
           [0.    , 0.25  ]])
    """
    known = name if isinstance(name, str) else ""
    if (cost_matrix is not None) != (known == "cost"):
        raise ValueError('`cost_matrix` must be given with objective="cost", and only then.')
    known = "macro" if known == "balanced_accuracy" else known
    if known in VECTORISED:
        return Score(VECTORISED[known], len(real))
    if callable(name) or (known not in OBJECTIVES and known in scorer_names()):
        return Score(score_of_rows(name, np.arange(len(real)) if labels is None else labels), len(real), slow=True)
    if known not in OBJECTIVES:
        listed = ", ".join(map(repr, OBJECTIVES))
        raise ValueError(
            f"`objective` must be one of {listed}, a scorer of scikit-learn's for labels, or a score(y_true, labels); "
            f"got {name!r}."
        )
    if known == "proportions":
        return Agreement()
    if known == "cost":
        return Gain(-checked_costs(cost_matrix, len(real)) / real.sum())
    if known == "accuracy":
        return Gain(np.eye(len(real)) / real.sum())
    present = real > 0
    return Gain(np.diag(np.where(present, 1 / np.where(present, real, 1.0), 0.0) / present.sum()))


def checked_costs(cost_matrix: Any, classes: int) -> Array:
    """Costs (K, K), finite, with a line a real class and a column a predicted one."""
    costs = finite(to_array(cost_matrix, "cost_matrix"), "cost_matrix")
    if costs.shape != (classes, classes):
        raise ValueError(
            f"`cost_matrix` must be ({classes}, {classes}): real classes by predicted ones; got {costs.shape}."
        )
    return costs
