"""Calibrators of one score: of two classes directly, of more one class against the rest."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .._checks import Array
from ..adapters.class_labels import Codes
from ..adapters.class_scores import ClassScores
from .base import ScoreCalibrator

Events = NDArray[np.bool_]
Curve = Callable[[Array], Array]  # from scores (n,) to probabilities (n,)


class BinaryCalibrator(ScoreCalibrator):
    """Learns one curve from score to probability for two classes, else one a class, and divides by their sum.

    Attributes
    ----------
    curves_ : list of callable
        From log odds (or margins, as they are) to the probability of the class; one for two classes, else K.
    """

    def _fit(self, scores: ClassScores, codes: Codes, weights: Array | None) -> None:
        odds = scores.log_odds(self.clip)
        self.curves_ = [self._fit_one(odds[:, j], codes == j, weights) for j in _columns(scores)]

    @abstractmethod
    def _fit_one(self, x: Array, events: Events, weights: Array | None) -> Curve:
        """The curve for scores (n,) and whether the class is the row's (n,)."""

    def _transform(self, scores: ClassScores) -> Array:
        odds = scores.log_odds(self.clip)
        columns = [curve(odds[:, j]) for j, curve in zip(_columns(scores), self.curves_, strict=True)]
        if len(columns) == 1:
            return np.column_stack([1 - columns[0], columns[0]])
        p = np.maximum(np.column_stack(columns), 1e-300)
        return np.asarray(p / p.sum(axis=1, keepdims=True))


def _columns(scores: ClassScores) -> list[int]:
    return [1] if scores.n_classes == 2 else list(range(scores.n_classes))
