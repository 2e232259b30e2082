"""Forecasts with their outcomes, of either kind, and how forecasts of them are scored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import Array, one_of, to_array
from ..adapters import as_distribution
from ..adapters.class_labels import as_labels
from ..adapters.class_scores import ClassScores, as_scores
from ..calibration.nested import takes
from ..calibration.rows import labelled_rows, usable_rows
from ..distributions import Distribution
from ..regression.features import distinct_rows, merged
from . import measures

TASKS = ("auto", "classification", "regression")


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows of forecasts and outcomes, with their weights."""

    forecasts: Any
    y: NDArray[Any]
    weights: Array
    classes: NDArray[Any] | None = None

    @classmethod
    def of(cls, forecasts: Any, y: Any, sample_weight: Any = None, *, classes: Any = None, time: Any = None) -> Problem:
        """Read checked forecasts: `ClassScores` or a `Distribution`.

        In order of time where there is a time. Else equal rows are one row with their weights, so that no copy of a row
        is on the other side of a split.
        """
        whole = cls._read(forecasts, y, sample_weight, classes, time)
        if time is not None:
            return whole
        if whole.classes is None:
            return cls(*distinct_rows(whole.forecasts, whole.y, whole.weights))
        codes = np.searchsorted(whole.classes, whole.y, sorter=np.argsort(whole.classes))
        kept, weights = merged(np.column_stack([whole.forecasts.values, codes]), whole.weights)
        return cls(whole.forecasts[kept], whole.y[kept], weights, whole.classes)

    @classmethod
    def _read(cls, forecasts: Any, y: Any, sample_weight: Any, classes: Any, time: Any) -> Problem:
        """The rows that have an outcome and a weight, as they come or sorted by time."""
        order = np.arange(len(forecasts))
        if time is not None:
            when = np.asarray(time)
            if when.shape != (len(forecasts),):
                raise ValueError(f"`time` must have one entry per forecast; got shape {when.shape}.")
            order = np.argsort(when, kind="stable")
        if isinstance(forecasts, ClassScores):
            rows, known, codes, weights = labelled_rows(forecasts, y, sample_weight, classes)
            outcomes: NDArray[Any] = known[codes]
        else:
            rows, outcomes, weights = usable_rows(len(forecasts), y, sample_weight)
            known = None
        used = np.zeros(len(forecasts), dtype=bool)
        used[rows] = True
        inner = np.argsort(np.argsort(order)[used], kind="stable")
        w = np.ones(len(outcomes)) if weights is None else weights
        return cls(forecasts[rows][inner], outcomes[inner], w[inner], known)

    def __len__(self) -> int:
        return len(self.y)

    @property
    def task(self) -> str:
        """What kind of forecasts these are."""
        return "regression" if self.classes is None else "classification"

    def rarest(self) -> int:
        """Rows of the rarest class that is there; all rows where outcomes are numbers."""
        return len(self) if self.classes is None else int(np.unique(self.y, return_counts=True)[1].min())

    def fitted(self, calibrator: Any, rows: Any = slice(None)) -> Any:
        """Fit a calibrator to some of the rows."""
        known = self.classes is not None and takes(calibrator.fit, "classes")
        extra = {"classes": self.classes} if known else {}
        return calibrator.fit(self.forecasts[rows], self.y[rows], sample_weight=self.weights[rows], **extra)

    def measured(self, calibrator: Any, rows: Any, *, full: bool = True) -> measures.Rows:
        """What a fitted calibrator's forecasts of some rows are worth, row by row; or only their loss."""
        prediction = calibrator.transform(self.forecasts[rows])
        if self.classes is None:
            return measures.of_law(self.y[rows], prediction, full=full)
        return measures.of_classes(self.y[rows], np.asarray(prediction), self.classes)


def read_forecasts(forecasts: Any, y: Any, task: str = "auto", scores_are: str = "probabilities") -> Any:
    """Forecasts as `ClassScores` or as a `Distribution`, as the task says.

    Without a task: scores and distributions are what they are; labels that are no numbers, and probabilities with as
    many columns as there are labels, make a classification.
    """
    one_of(task, "task", TASKS)
    if task == "classification" or isinstance(forecasts, ClassScores):
        return as_scores(forecasts, scores_are)
    if task == "regression" or isinstance(forecasts, (Distribution, tuple, dict)):
        return as_distribution(forecasts)
    if y is not None and _looks_like_classes(forecasts, y):
        return as_scores(forecasts, scores_are)
    try:
        return as_distribution(forecasts)
    except (TypeError, ValueError) as reason:
        raise TypeError(f'`forecasts` are neither class scores nor distributions: {reason} Say task="...".') from reason


def _looks_like_classes(scores: Any, y: Any) -> bool:
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
