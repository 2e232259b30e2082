"""What decisions are judged by: a sum of gains, or how well predicted and real class proportions agree."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._checks import Array, finite, one_of, to_array
from ..adapters.class_labels import Codes

OBJECTIVES = ("proportions", "accuracy", "macro", "cost")


class Objective(ABC):
    """Higher is better. Confusion tables have a line a real class and a column a predicted one."""

    @abstractmethod
    def value(self, confusion: Array) -> float:
        """Of a confusion table (K, K)."""

    @abstractmethod
    def along(self, c: int, order: Codes, others: Codes, codes: Codes, weights: Array) -> Array:
        """Of all n + 1 decisions that give the first m rows in this order to class c, and the rest to ``others``."""


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


def _sums(x: Array) -> Array:
    """Sums of the first 0, 1, ..., n entries."""
    sums = np.empty(len(x) + 1)
    sums[0] = 0.0
    np.cumsum(x, out=sums[1:])
    return sums


def make_objective(name: str, cost_matrix: Any, real: Array) -> Objective:
    """The named objective, for classes of these total weights (K,).

    >>> make_objective("macro", None, np.array([8.0, 2.0])).gains
    array([[0.0625, 0.    ],
           [0.    , 0.25  ]])
    """
    one_of(name, "objective", OBJECTIVES)
    if (cost_matrix is not None) != (name == "cost"):
        raise ValueError('`cost_matrix` must be given with objective="cost", and only then.')
    if name == "proportions":
        return Agreement()
    if name == "cost":
        return Gain(-checked_costs(cost_matrix, len(real)) / real.sum())
    if name == "accuracy":
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
