"""What every calibrator of class probabilities is: scores and labels in, probabilities out."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._checks import Array, sample_weights
from ..adapters.class_labels import Codes, as_labels, classes_of, encode, missing_labels
from ..adapters.class_scores import ClassScores, as_scores
from ..calibration.threads import one_thread

CLIP = 1e-12


class ScoreCalibrator(BaseEstimator, ABC):
    """Learn from scores and labels how scores are off; `transform` turns new ones into probabilities.

    Scores are (n,), for the second of two classes in sorted order, or (n, K) with a column a class, and are
    probabilities, logits or margins as ``scores_are`` says. Rows whose label is missing are left out with a warning.
    Weights are frequencies: weight 2 is the row twice, weight 0 the row left out.

    Attributes
    ----------
    classes_ : ndarray (K,)
        Labels of the columns.
    n_rows_ : int
        Rows that were learned from.
    """

    scores_are: str
    clip: float

    def __init__(self, *, scores_are: str = "probabilities", clip: float = CLIP) -> None:
        self.scores_are = scores_are
        self.clip = clip

    def fit(self, scores: Any, y: Any, *, sample_weight: Any = None, classes: Any = None) -> Self:
        """Learn from the scores and labels of n rows.

        Parameters
        ----------
        scores : array-like (n,) or (n, K)
        y : array-like (n,)
            Labels of any type.
        sample_weight : array-like (n,), optional
        classes : array-like (K,), optional
            Labels of the columns; the names of a frame's columns if these are the labels, else the sorted labels of y.
        """
        check_clip(self.clip)
        table = as_scores(scores, self.scores_are)
        rows, self.classes_, codes, weights = labelled_rows(table, y, sample_weight, classes)
        with one_thread():
            self._fit(table[rows], codes, weights)
        self.n_rows_ = len(codes)
        return self

    def transform(self, scores: Any) -> Array:
        """Probabilities (n, K), the rows adding up to 1, none closer to 0 or 1 than ``clip``."""
        check_is_fitted(self)
        return clipped(self._transform(self._read(scores)), self.clip)

    def _read(self, scores: Any) -> ClassScores:
        """Scores of the classes that were learned."""
        table = as_scores(scores, self.scores_are)
        if table.n_classes != len(self.classes_):
            raise ValueError(
                f"`scores` must have a column for each of the {len(self.classes_)} classes; got {table.n_classes}."
            )
        return table

    @abstractmethod
    def _fit(self, scores: ClassScores, codes: Codes, weights: Array | None) -> None:
        """Learn from checked input; learned names end in an underscore."""

    @abstractmethod
    def _transform(self, scores: ClassScores) -> Array:
        """Probabilities (n, K) of checked scores."""

    def __sklearn_is_fitted__(self) -> bool:
        """Fitted once `fit` came to its end."""
        return hasattr(self, "n_rows_")


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
    if classes is None and table.names is not None and set(np.unique(labels).tolist()) <= set(table.names):
        classes = list(table.names) if len(table.names) == table.n_classes else None
    known = classes_of(labels, table.n_classes, classes, fewest)
    return rows, known, encode(labels, known), None if weights is None else weights[rows]


def check_clip(clip: Any) -> None:
    """A distance from 0 and 1 that leaves room for probabilities."""
    if not isinstance(clip, (int, float)) or not 0 <= clip < 0.5:
        raise ValueError(f"`clip` must be a number from 0 to below 0.5; got {clip!r}.")


def nearest_to_certain(scores: ClassScores, clip: float) -> float:
    """What probabilities of exactly 0 are taken for: half the least of the others, or ``clip`` if that is more.

    A forest of 50 trees says 0 where it means less than 1 in 50; log odds of 1e-12 would make such rows outliers.

    >>> nearest_to_certain(ClassScores(np.array([[1.0, 0.0], [0.9, 0.1]])), 1e-12)
    0.05
    """
    p = scores.values
    if scores.kind != "probabilities" or p.min() > 0:
        return clip
    return max(clip, 0.5 * float(np.min(p, where=p > 0, initial=0.5)))


def check_smoothing(smoothing: Any) -> float:
    """How many rows are added in thought: any number that is not negative."""
    if isinstance(smoothing, bool) or not isinstance(smoothing, (int, float)) or not 0 <= smoothing < np.inf:
        raise ValueError(f"`smoothing` must be a number of rows, 0 or more; got {smoothing!r}.")
    return float(smoothing)


def clipped(p: Array, clip: float) -> Array:
    """Rows that add up to 1 with all entries in [clip, 1 - clip].

    >>> clipped(np.array([[0.0, 1.0]]), 0.01)
    array([[0.01, 0.99]])
    """
    if not p.size or p.min() >= clip:
        return p
    spare = np.maximum(p, clip) - clip  # shrink what lies above the clip, so that nothing falls below it
    room = 1 - clip * p.shape[1]
    return np.asarray(clip + spare * (room / spare.sum(axis=1, keepdims=True)))
