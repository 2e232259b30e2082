"""Forecasts of either kind, as class scores or as distributions."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._checks import one_of, to_array
from ..adapters import as_distribution
from ..adapters.class_labels import as_labels
from ..adapters.class_scores import ClassScores, as_scores
from ..distributions import Distribution

TASKS = ("auto", "classification", "regression")


def read_forecasts(forecasts: Any, y: Any, task: str = "auto", scores_are: str = "probabilities") -> Any:
    """Forecasts as `ClassScores` or as a `Distribution`, as the task says.

    Without a task: scores and distributions are what they are; logits and margins are of classes; labels that are no
    numbers, and probabilities with as many columns as there are labels, make a classification.
    """
    one_of(task, "task", TASKS)
    if isinstance(forecasts, Distribution):
        return forecasts
    of_classes = task == "classification" or (task == "auto" and scores_are != "probabilities")
    if of_classes or isinstance(forecasts, ClassScores):
        return as_scores(forecasts, scores_are)
    if task == "regression" or isinstance(forecasts, (tuple, dict)):
        return as_distribution(forecasts)
    if y is not None and looks_like_classes(forecasts, y):
        return as_scores(forecasts, scores_are)
    try:
        return as_distribution(forecasts)
    except (TypeError, ValueError) as reason:
        raise TypeError(f'`forecasts` are neither class scores nor distributions: {reason} Say task="...".') from reason


def looks_like_classes(scores: Any, y: Any) -> bool:
    """Whether labels, and scores between 0 and 1 in as many columns, make a classification."""
    labels = as_labels(y)
    if labels.dtype.kind not in "iuf":
        return True
    try:
        values = to_array(scores, "scores")
    except (TypeError, ValueError):
        return False
    columns = 2 if values.ndim == 1 else values.shape[-1]
    inside = values.size > 0 and values.min() >= 0 and values.max() <= 1
    return bool(inside and len(np.unique(labels)) == columns and np.all(labels == np.round(labels)))
