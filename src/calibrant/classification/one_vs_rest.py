"""Any binary calibrator for several classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._checks import Array
from ..adapters.class_labels import Codes
from ..adapters.class_scores import ClassScores
from ..calibration.one_score import check_one_score, fit_one_score, one_probability
from .base import CLIP, ScoreCalibrator
from .binary import Events, columns_of, side_by_side


class OneVsRestCalibrator(ScoreCalibrator):
    r"""One copy of a binary calibrator for each class against the rest; their probabilities are divided by the sum.

    .. math:: p^*(i, j) = \frac{c_j(s_{ij})}{\sum_k c_k(s_{ik})}

    Zadrozny & Elkan (2002). The calibrators of one score do so by themselves; this is for those of others, and for
    those that are made for several classes.

    Parameters
    ----------
    calibrator : estimator
        One of this library's, or any with ``fit(scores, y)``, y being 0 or 1, and ``transform``, ``predict_proba`` or
        ``predict``. Scores are (n,) probabilities or margins as they come, or the log odds of logits; (n, 1) for those
        that have ``predict_proba`` but no ``transform``.
    scores_are : {"probabilities", "logits", "margins"}
        What all of them are given, whatever the calibrator itself says.
    clip : float
        Probabilities stay in [clip, 1 - clip].

    Attributes
    ----------
    calibrators_ : list
        One for two classes, else one a class; None for a class without rows, whose probability is 1 / (n + 2).

    Examples
    --------
    >>> from sklearn.isotonic import IsotonicRegression
    >>> scores = [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6], [0.4, 0.5, 0.1]]
    >>> cal = OneVsRestCalibrator(IsotonicRegression(out_of_bounds="clip")).fit(scores, ["a", "b", "c", "a"])
    >>> cal.transform([[0.4, 0.5, 0.1]]).round(3)
    array([[0.667, 0.333, 0.   ]])
    """

    def __init__(self, calibrator: Any, *, scores_are: str = "probabilities", clip: float = CLIP) -> None:
        super().__init__(scores_are=scores_are, clip=clip)
        self.calibrator = calibrator

    def _fit(self, scores: ClassScores, codes: Codes, weights: Array | None) -> None:
        check_one_score(self.calibrator, "calibrator")
        x = _positions(scores)
        self.calibrators_ = [self._fit_one(x[:, j], scores.kind, codes == j, weights) for j in columns_of(scores)]
        self.rest_ = 1 / (2 + (len(codes) if weights is None else weights.sum()))

    def _fit_one(self, x: Array, kind: str, events: Events, weights: Array | None) -> Any:
        return fit_one_score(self.calibrator, x, kind, events, weights) if events.any() else None

    def _transform(self, scores: ClassScores) -> Array:
        x = _positions(scores)
        pairs = zip(columns_of(scores), self.calibrators_, strict=True)
        return side_by_side([self._probabilities(x[:, j], scores.kind, one) for j, one in pairs])

    def _probabilities(self, x: Array, kind: str, calibrator: Any) -> Array:
        return np.full(len(x), self.rest_) if calibrator is None else one_probability(calibrator, x, kind)


def _positions(scores: ClassScores) -> Array:
    return scores.log_odds() if scores.kind == "logits" else scores.values
