"""Rows to learn from: those that have an outcome, a number or a label, and a weight."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._checks import Array, outcomes, sample_weights
from ..adapters.class_labels import Classes, Codes, as_labels, class_numbers, missing_labels
from ..adapters.class_scores import ClassScores
from ..distributions import Distribution

_FEWEST = 1e-9  # rows, counted with their weights
_DIGITS = 9  # of normal scores, to which laws agree


class LearnableRows(NamedTuple):
    """Which rows can be learned from (a slice or a mask), their outcomes, weights, and the labels of classes."""

    rows: Any
    y: NDArray[Any]
    weights: Array | None
    classes: Classes | None = None


def learnable_rows(forecasts: Any, y: Any, sample_weight: Any = None, classes: Any = None) -> LearnableRows:
    """Rows of laws and points that have a number, of class scores that have a label, with a weight above 0."""
    if not isinstance(forecasts, ClassScores):
        return LearnableRows(*usable_rows(len(forecasts), y, sample_weight))
    rows, known, codes, weights = labelled_rows(forecasts, y, sample_weight, classes)
    return LearnableRows(rows, known[codes], weights, known)


def usable_rows(n: int, y: Any, sample_weight: Any) -> tuple[Any, Array, Array | None]:
    """Rows that have an outcome and a weight above 0 (a slice or a mask), with those outcomes and weights."""
    values, kept = outcomes(y, n)
    weights = None if sample_weight is None else sample_weights(sample_weight, n)
    if weights is not None:
        look_like_counts(float(weights.sum()), int(np.count_nonzero(weights)), stacklevel=4)
    if kept is None and (weights is None or weights.all()):
        return slice(None), values, weights
    used = np.ones(n, dtype=bool) if kept is None else kept
    if weights is not None:
        used = used & (weights > 0)
    whole = np.empty(n)
    whole[slice(None) if kept is None else kept] = values
    return used, whole[used], None if weights is None else weights[used]


def outcomes_of_a_forecast(forecasts: Any, y: Array) -> float:
    """How many different outcomes a law has on average; infinitely many where forecasts are no laws.

    Laws are one if they say the same of two values.

    >>> from calibrant import Normal
    >>> outcomes_of_a_forecast(Normal([0.0, 0.0, 1.0, 2.0], 1.0), np.array([1.0, 2.0, 2.0, 2.0]))
    1.33...
    """
    if not isinstance(forecasts, Distribution):
        return np.inf
    ends = np.quantile(y, [0.25, 0.75], method="nearest")[None, :]
    said = forecasts._by_blocks(lambda part, v: part.to_normal(v), np.broadcast_to(ends, (len(y), 2)))
    laws, rows = said.round(_DIGITS), np.column_stack([said.round(_DIGITS), y])
    return len(np.unique(rows, axis=0)) / len(np.unique(laws, axis=0))


def look_like_counts(total: float, rows: int, *, stacklevel: int = 3) -> None:
    """Weights of several rows that add up to one row or less are shares; taken for frequencies they say nothing."""
    if total < _FEWEST:
        raise ValueError(f"`sample_weight` must add up to a number of rows; the sum over {rows} rows is {total:g}.")
    if total <= 1 + 1e-9 and rows > 1:
        warnings.warn(
            f"`sample_weight` adds up to {total:g} over {rows} rows. Weights are frequencies: weight 2 is the row "
            "twice. Shares? Multiply them by the number of rows.",
            stacklevel=stacklevel,
        )


def labelled_rows(
    table: ClassScores, y: Any, sample_weight: Any, classes: Any = None, *, fewest: int = 2
) -> tuple[Any, Any, Codes, Array | None]:
    """Rows that have a label and a weight above 0; the classes; these rows' class numbers and weights."""
    labels = as_labels(y)
    if len(labels) != len(table):
        raise ValueError(f"`y` must have one label per row of scores; got {len(labels)} for {len(table)} rows.")
    weights = sample_weights(sample_weight, len(labels))
    gone = missing_labels(labels)
    if gone.any():
        warnings.warn(f"{int(gone.sum())} of {len(labels)} rows have no label and are left out.", stacklevel=3)
    used = ~gone if weights is None else ~gone & (weights > 0)
    if not used.any():
        raise ValueError("`y` must have a label and a weight above 0 in at least one row; it has none.")
    rows = slice(None) if used.all() else used
    labels = labels[rows]
    if labels.dtype.kind == "O":
        labels = as_labels(labels.tolist())
    if fewest > 1 and (labels == labels[0]).all():
        raise ValueError(f"`y` must have at least two classes; all {len(labels)} labels are {labels.tolist()[0]!r}.")
    known, codes = class_numbers(labels, table.n_classes, classes, table.classes)
    return rows, known, codes, None if weights is None else weights[rows]
