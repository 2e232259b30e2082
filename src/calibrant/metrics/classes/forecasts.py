"""What all measures of class probabilities share: checked labels, probabilities and weights, one class at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..._checks import Array, column_names, complain, finite, nonempty, one_of, sample_weights, to_array
from ..._types import Numbers
from ...adapters.class_labels import Classes, Codes, as_labels, class_numbers, encode, label_of_column, missing_labels
from ...adapters.class_scores import ClassScores, as_scores

Probabilities: TypeAlias = Numbers | ClassScores
"""Of the second of two classes (n,), or of all classes (n, K)."""
SCALES = ("auto", "chapter", "sum")


@dataclass(frozen=True, slots=True, eq=False)
class EventForecasts:
    """Forecast probabilities (n,) of an event, whether it happened (n,), and weights (n,) or None."""

    p: Array
    events: NDArray[np.bool_]
    weights: Array | None

    @property
    def total(self) -> float:
        """Number of rows, counted with their weights."""
        return float(len(self.p) if self.weights is None else self.weights.sum())


@dataclass(frozen=True, slots=True, eq=False)
class ClassForecasts:
    """Probabilities (n,) of the second of two classes or (n, K), class numbers (n,), weights, and the K classes."""

    proba: Array
    codes: Codes
    weights: Array | None
    classes: Classes

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return len(self.classes)

    def column(self, j: int) -> EventForecasts:
        """Class j against the rest."""
        if self.proba.ndim == 2:
            return EventForecasts(np.ascontiguousarray(self.proba[:, j]), self.codes == j, self.weights)
        return EventForecasts(self.proba if j == 1 else 1 - self.proba, self.codes == j, self.weights)

    def one_against_rest(self) -> list[EventForecasts]:
        """Each class against the rest; of two classes the second, which says the same as the first."""
        return [self.column(j) for j in ([1] if self.n_classes == 2 else range(self.n_classes))]

    def top(self) -> EventForecasts:
        """The most probable class, the first of equally probable ones."""
        if self.proba.ndim == 1:
            second = self.proba > 0.5
            return EventForecasts(np.maximum(self.proba, 1 - self.proba), second == (self.codes == 1), self.weights)
        best = np.argmax(self.proba, axis=1)
        return EventForecasts(self.proba[np.arange(len(best)), best], best == self.codes, self.weights)

    def table(self) -> Array:
        """Probabilities (n, K)."""
        return self.proba if self.proba.ndim == 2 else np.column_stack([1 - self.proba, self.proba])

    def binary(self, measure: str) -> EventForecasts:
        """The second of two classes; more are an error."""
        if self.n_classes != 2:
            raise ValueError(
                f"{measure} is for two classes; got {self.n_classes}. Take one class against the rest: "
                "y_true == label with its column of `y_proba`."
            )
        return self.column(1)


def class_forecasts(y_true: Any, y_proba: Any, classes: Any, sample_weight: Any) -> ClassForecasts:
    """Labels, probabilities and weights of one length; rows of weight 0 only tell that their class exists."""
    proba, own = class_probabilities(y_proba)
    labels = known_labels(y_true, "y_true", len(proba))
    columns = 2 if proba.ndim == 1 else proba.shape[1]
    known, codes = class_numbers(labels, columns, classes, own, y="y_true", scores="y_proba")
    weights = sample_weights(sample_weight, len(codes))
    if weights is not None and not weights.all():
        keep = weights > 0
        proba, codes, weights = proba[keep], codes[keep], weights[keep]
    return ClassForecasts(proba, codes, weights, known)


def class_probabilities(y_proba: Any) -> tuple[Array, Classes | None]:
    """Probabilities (n,) of the second of two classes, or (n, K), and the classes that they carry, if any."""
    if isinstance(y_proba, ClassScores):
        return y_proba.probabilities(), y_proba.classes
    p = to_array(y_proba, "y_proba")
    if p.ndim not in (1, 2):
        raise ValueError(f"`y_proba` must be (n,) or (n, classes); got shape {p.shape}.")
    nonempty(p, "y_proba")
    if not (p.min() >= 0 and p.max() <= 1):
        finite(p, "y_proba")
        hint = "Logits or margins? Turn them into probabilities first."
        complain("y_proba", "probabilities between 0 and 1", p, ~((p >= 0) & (p <= 1)), hint)
    if p.ndim == 1 or p.shape[1:] == (1,):
        names = column_names(y_proba) or [getattr(y_proba, "name", None)]
        return p.reshape(-1), label_of_column(names[0])
    table = as_scores(p if column_names(y_proba) is None else y_proba, name="y_proba")
    return table.values, table.classes


def known_labels(y: Any, name: str, rows: int | None = None) -> NDArray[Any]:
    """Labels of which none is missing, at least one, as many as forecasts."""
    labels = as_labels(y, name)
    if rows is not None and len(labels) != rows:
        raise ValueError(f"`{name}` must have one entry per forecast; got {len(labels)} for {rows} forecasts.")
    if not len(labels):
        raise ValueError(f"`{name}` must have at least one row; it is empty.")
    complain(name, "labels", labels, missing_labels(labels), "Leave out rows without a label.")
    return labels


def label_pairs(y_true: Any, y_pred: Any, classes: Any, sample_weight: Any) -> tuple[Codes, Codes, Classes, Array]:
    """Class numbers of actual and predicted labels, the classes, and weights; every label that occurs is a class."""
    predicted = known_labels(y_pred, "y_pred")
    actual = known_labels(y_true, "y_true", len(predicted))
    if (actual.dtype.kind in "US") != (predicted.dtype.kind in "US"):
        raise TypeError(f"`y_true` and `y_pred` must be labels of one type; got {actual.dtype} and {predicted.dtype}.")
    weights = sample_weights(sample_weight, len(actual))
    if weights is None:
        weights = np.ones(len(actual))
    actual, predicted, weights = actual[weights > 0], predicted[weights > 0], weights[weights > 0]
    known = np.union1d(actual, predicted) if classes is None else as_labels(classes, "classes")
    return encode(actual, known, "y_true"), encode(predicted, known, "y_pred"), known, weights


def class_scale(scale: str, n_classes: int) -> float:
    """What the sum over the classes is multiplied by."""
    one_of(scale, "scale", SCALES)
    if scale == "chapter" or (scale == "auto" and n_classes == 2):
        return 1 / n_classes
    return 1.0
