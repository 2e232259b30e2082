"""Calibrators of one score: of two classes directly, of more one class against the rest."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import Array
from ..adapters.class_labels import Codes
from ..adapters.class_scores import ClassScores, with_rest
from .base import ScoreCalibrator, nearest_to_certain
from .curves import Curve

Events = NDArray[np.bool_]
LEAST_CLIP = 1e-16  # a probability of 0 has no log odds


class BinaryCalibrator(ScoreCalibrator):
    """Learns one curve from score to probability for two classes, else one a class, and divides by their sum.

    Attributes
    ----------
    curves_ : list of Curve
        From score to the probability of the class; one for two classes, else K.
    nearest_ : float
        Probabilities nearer to 0 or 1 are taken for this near: the clip, or, where some were exactly 0 or 1, half the
        distance of the nearest that were not.
    """

    def _fit(self, scores: ClassScores, codes: Codes, weights: Array | None) -> None:
        self.nearest_ = max(nearest_to_certain(scores, self.clip), LEAST_CLIP)
        x = self._positions(scores)
        self.curves_: list[Any] = [self._fit_one(x[:, j], codes == j, weights) for j in columns_of(scores)]

    @abstractmethod
    def _fit_one(self, x: Array, events: Events, weights: Array | None) -> Curve:
        """The curve for scores (n,) and whether the class is the row's (n,)."""

    def _positions(self, scores: ClassScores) -> Array:
        """What the curves are functions of, (n, K): the log odds of each class, margins as they are."""
        return scores.log_odds(self.nearest_)

    def _check_sound(self) -> None:
        super()._check_sound()
        if not all(isinstance(curve, Curve) for curve in self.curves_):
            raise ValueError(f"{type(self).__name__}.curves_ must be curves of probabilities.")

    def _transform(self, scores: ClassScores) -> Array:
        x = self._positions(scores)
        return side_by_side([curve(x[:, j]) for j, curve in zip(columns_of(scores), self.curves_, strict=True)])


class RankCalibrator(BinaryCalibrator):
    """A calibrator to which only the order of the scores matters, or nearly so: probabilities are taken as they are."""

    def _positions(self, scores: ClassScores) -> Array:
        """Probabilities and margins as they are, the log odds of logits."""
        return scores.values if scores.kind in ("probabilities", "margins") else super()._positions(scores)


def columns_of(scores: ClassScores) -> list[int]:
    """The second column of two, else all."""
    return [1] if scores.n_classes == 2 else list(range(scores.n_classes))


def side_by_side(columns: list[Array]) -> Array:
    """Probabilities (n, K) from those of the second of two classes, or of each against the rest.

    >>> side_by_side([np.array([0.2]), np.array([0.4]), np.array([0.2])])
    array([[0.25, 0.5 , 0.25]])
    """
    if len(columns) == 1:
        return with_rest(columns[0])
    p = np.maximum(np.column_stack(columns), 1e-300)
    return np.asarray(p / p.sum(axis=1, keepdims=True))
