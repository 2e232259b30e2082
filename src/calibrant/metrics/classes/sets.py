"""How often sets of classes hold the label, and how large they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._checks import Array, complain, sample_weights, to_array
from ..._types import Labels, Numbers, Weights
from ...adapters.class_labels import Codes, class_numbers
from .forecasts import known_labels


def set_coverage(
    y_true: Labels,
    sets: Numbers,
    *,
    classes: Labels | None = None,
    by_class: bool = False,
    sample_weight: Weights = None,
) -> float | Array:
    r"""Share of labels that are in their set, :math:`\frac1T \#\{t : y_t \in C_t\}`; compare it with the nominal one.

    Parameters
    ----------
    y_true : array-like (n,)
        Labels of any type.
    sets : array-like (n, K) of bool
        Which classes are in the set of each row, as `ConformalSets.predict_sets` gives them.
    classes : array-like (K,), optional
        Labels of the columns; the sorted labels of ``y_true`` unless told.
    by_class : bool
        The share among the rows of each real class, (K,), instead; NaN of classes without rows.
    sample_weight : array-like (n,), optional
        Frequencies: weight 2 is the row twice.

    Examples
    --------
    >>> from calibrant import metrics
    >>> sets = [[True, True], [True, False], [True, False], [False, True]]
    >>> metrics.set_coverage(["a", "a", "b", "b"], sets)
    0.75
    >>> metrics.set_coverage(["a", "a", "b", "b"], sets, by_class=True)
    array([1. , 0.5])
    """
    held, codes, weights = _sets(y_true, sets, classes, sample_weight)
    return _average(held[np.arange(len(codes)), codes], codes, weights, held.shape[1] if by_class else None)


def set_size(
    y_true: Labels,
    sets: Numbers,
    *,
    classes: Labels | None = None,
    by_class: bool = False,
    sample_weight: Weights = None,
) -> float | Array:
    r"""Mean number of classes in a set, :math:`\frac1T \sum_t |C_t|`; smaller is better at the same coverage.

    Parameters
    ----------
    y_true, sets, classes, by_class, sample_weight
        As in :func:`set_coverage`.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.set_size(["a", "a", "b", "b"], [[True, True], [True, False], [True, False], [False, True]])
    1.25
    """
    held, codes, weights = _sets(y_true, sets, classes, sample_weight)
    return _average(held.sum(axis=1), codes, weights, held.shape[1] if by_class else None)


def _sets(y_true: Any, sets: Any, classes: Any, sample_weight: Any) -> tuple[Array, Codes, Array]:
    """Sets as zeros and ones, class numbers, and weights."""
    held = to_array(sets, "sets")
    if held.ndim != 2:
        raise ValueError(f"`sets` must be (n, classes); got shape {held.shape}.")
    complain("sets", "true or false", held, (held != 0) & (held != 1))
    labels = known_labels(y_true, "y_true", len(held))
    _, codes = class_numbers(labels, held.shape[1], classes, None, y="y_true", scores="sets")
    weights = sample_weights(sample_weight, len(codes))
    return held, codes, np.ones(len(codes)) if weights is None else weights


def _average(values: Array, codes: Codes, weights: Array, classes: int | None) -> float | Array:
    """Weighted mean of all rows, or of those of each class."""
    if classes is None:
        return float(weights @ values / weights.sum())
    mass = np.bincount(codes, weights, classes)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.bincount(codes, weights * values, classes) / mass)
