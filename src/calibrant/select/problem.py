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
from ..calibration.base import usable_rows
from ..calibration.nested import takes
from ..classification.base import labelled_rows
from ..distributions import Distribution
from ..metrics import log_loss, nll
from ..regression.features import distinct_rows, merged

TASKS = ("auto", "classification", "regression")


@dataclass(frozen=True, eq=False)
class Problem:
    """Distinct rows of forecasts and outcomes, with their weights.

    Equal rows are one row with their weights, so that no copy of a row is on the other side of a split.
    """

    forecasts: Any
    y: NDArray[Any]
    weights: Array
    classes: NDArray[Any] | None = None

    @classmethod
    def of(cls, forecasts: Any, y: Any, sample_weight: Any = None, classes: Any = None) -> Problem:
        """Read checked forecasts: `ClassScores` or a `Distribution`."""
        if isinstance(forecasts, ClassScores):
            rows, known, codes, weights = labelled_rows(forecasts, y, sample_weight, classes)
            w = np.ones(len(codes)) if weights is None else weights
            table = forecasts[rows]
            kept, w = merged(np.column_stack([table.values, codes]), w)
            return cls(table[kept], known[codes[kept]], w, known)
        rows, outcomes, weights = usable_rows(len(forecasts), y, sample_weight)
        return cls(*distinct_rows(forecasts[rows], outcomes, weights))

    def __len__(self) -> int:
        return len(self.y)

    def rarest(self) -> int:
        """Rows of the rarest class that is there; all rows where outcomes are numbers."""
        return len(self) if self.classes is None else int(np.unique(self.y, return_counts=True)[1].min())

    def fitted(self, calibrator: Any, rows: Any = slice(None)) -> Any:
        """Fit a calibrator to some of the rows."""
        known = self.classes is not None and takes(calibrator.fit, "classes")
        extra = {"classes": self.classes} if known else {}
        return calibrator.fit(self.forecasts[rows], self.y[rows], sample_weight=self.weights[rows], **extra)

    def losses(self, calibrator: Any, rows: Any) -> Array:
        """Minus the log probability (density) that a fitted calibrator gave to what happened, by row."""
        prediction = calibrator.transform(self.forecasts[rows])
        if self.classes is None:
            return np.asarray(nll(self.y[rows], prediction, per_row=True))
        return np.asarray(log_loss(self.y[rows], prediction, classes=self.classes, per_row=True))


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
