"""What every calibrator of class probabilities is: scores and labels in, probabilities out."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._checks import Array
from ..adapters.class_labels import Codes
from ..adapters.class_scores import ClassScores, as_scores
from ..calibration.base import Calibrator
from ..calibration.contract import Takes
from ..calibration.rows import labelled_rows
from ..calibration.threads import one_thread
from ..numerics.soundness import check_numbers
from .soundness import check_class_forecasts, example_scores

CLIP = 1e-12


class ScoreCalibrator(Calibrator):
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

    takes = Takes(("scores",), frozenset({"classes"}))
    classes_: Any
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
            Labels of the columns; else those that a frame's columns or `ClassScores` tell, else the sorted labels of y.
        """
        check_clip(self.clip)
        table = self._read(scores)
        rows, self.classes_, codes, weights = labelled_rows(table, y, sample_weight, classes)
        with one_thread():
            self._fit(table[rows], codes, weights)
        self.n_rows_ = len(codes)
        return self

    def transform(self, scores: Any) -> Array:
        """Probabilities (n, K), the rows adding up to 1, none closer to 0 or 1 than ``clip``."""
        check_is_fitted(self)
        return clipped(self._transform(self._read(scores).in_order_of(self.classes_)), self.clip)

    def _read(self, scores: Any) -> ClassScores:
        return as_scores(scores, self.scores_are)

    def _check_sound(self) -> None:
        """Raise ValueError if what was learned cannot be: it may come from anywhere."""
        check_numbers(self)

    def _check_forecasts(self) -> None:
        """Raise ValueError if what it makes of examples are no probabilities."""
        examples = example_scores(len(self.classes_), self.scores_are)
        check_class_forecasts(examples, self.transform(examples.values))

    @abstractmethod
    def _fit(self, scores: ClassScores, codes: Codes, weights: Array | None) -> None:
        """Learn from checked input; learned names end in an underscore."""

    @abstractmethod
    def _transform(self, scores: ClassScores) -> Array:
        """Probabilities (n, K) of checked scores."""


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
