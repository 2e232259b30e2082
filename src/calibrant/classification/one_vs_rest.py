"""Any binary calibrator for several classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from .._checks import Array, to_array
from ..adapters.class_labels import Codes
from ..adapters.class_scores import ClassScores
from .base import CLIP, ScoreCalibrator
from .binary import Events, columns_of, side_by_side

_METHODS = ("transform", "predict_proba", "predict")


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
        if not hasattr(self.calibrator, "fit") or not any(hasattr(self.calibrator, name) for name in _METHODS):
            raise TypeError(
                f"`calibrator` must have fit and one of transform, predict_proba, predict; got {self.calibrator!r}."
            )
        x = _positions(scores)
        extra = {} if weights is None else {"sample_weight": weights}
        self.calibrators_ = [
            self._fit_one(self._one(x[:, j], scores.kind), codes == j, extra) for j in columns_of(scores)
        ]
        self.rest_ = 1 / (2 + (len(codes) if weights is None else weights.sum()))

    def _fit_one(self, x: Any, events: Events, extra: dict[str, Any]) -> Any:
        return clone(self.calibrator).fit(x, events.astype(int), **extra) if events.any() else None

    def _transform(self, scores: ClassScores) -> Array:
        x = _positions(scores)
        pairs = zip(columns_of(scores), self.calibrators_, strict=True)
        return side_by_side([self._probabilities(x[:, j], scores.kind, one) for j, one in pairs])

    def _probabilities(self, x: Array, kind: str, calibrator: Any) -> Array:
        if calibrator is None:
            return np.full(len(x), self.rest_)
        method = next(name for name in _METHODS if hasattr(calibrator, name))
        p = to_array(getattr(calibrator, method)(self._one(x, kind)), f"{method} of the calibrator")
        return _checked(p if p.ndim == 1 else p[:, -1], method, len(x))

    def _one(self, x: Array, kind: str) -> Any:
        """Scores of one class against the rest, as the calibrator wants them."""
        if isinstance(self.calibrator, ScoreCalibrator):
            first = {"probabilities": 1 - x, "logits": np.zeros(len(x))}.get(kind, -x)
            return ClassScores(np.column_stack([first, x]), kind)
        wants_column = hasattr(self.calibrator, "predict_proba") and not hasattr(self.calibrator, "transform")
        return x[:, None] if wants_column else x


def _positions(scores: ClassScores) -> Array:
    return scores.log_odds() if scores.kind == "logits" else scores.values


def _checked(p: Array, method: str, rows: int) -> Array:
    """Probabilities, or an error that says what came instead."""
    wrong = ~((p >= 0) & (p <= 1))
    if p.shape != (rows,) or wrong.any():
        what = f"shape {p.shape}" if p.shape != (rows,) else f"{p[np.argmax(wrong)]} in row {int(np.argmax(wrong))}"
        raise ValueError(f"`{method}` of the calibrator must give a probability for each of {rows} rows; got {what}.")
    return p
