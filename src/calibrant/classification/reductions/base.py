"""What the calibrators of several classes share that ask calibrators of two."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from ..._checks import Array, to_array
from ...adapters.class_scores import ClassScores
from ..base import CLIP, ScoreCalibrator
from ..binary import Events

_METHODS = ("transform", "predict_proba", "predict")


class Reduction(ScoreCalibrator):
    """Copies of a binary calibrator, each for one question about the classes.

    Attributes
    ----------
    calibrators_ : list
        One a question; None for a question to which all rows had the answer no, whose probability is ``rest_``.
    rest_ : float
        1 / (n + 2).
    """

    calibrator: Any
    calibrators_: list[Any]
    rest_: float

    def __init__(self, calibrator: Any, *, scores_are: str = "probabilities", clip: float = CLIP) -> None:
        super().__init__(scores_are=scores_are, clip=clip)
        self.calibrator = calibrator

    def _binary(self) -> Any:
        """The calibrator to copy, checked."""
        made = self.calibrator
        if not hasattr(made, "fit") or not any(hasattr(made, name) for name in _METHODS):
            raise TypeError(f"`calibrator` must have fit and one of transform, predict_proba, predict; got {made!r}.")
        return made

    def _fit_one(self, x: Array, kind: str, events: Events, weights: Array | None) -> Any:
        """A copy fitted to scores (n,) of a yes, or None where nobody said yes."""
        extra = {} if weights is None else {"sample_weight": weights}
        return clone(self._binary()).fit(self._one(x, kind), events.astype(int), **extra) if events.any() else None

    def _probabilities(self, x: Array, kind: str, calibrator: Any) -> Array:
        """Probabilities of a yes."""
        if calibrator is None:
            return np.full(len(x), self.rest_)
        method = next(name for name in _METHODS if hasattr(calibrator, name))
        p = to_array(getattr(calibrator, method)(self._one(x, kind)), f"{method} of the calibrator")
        return _checked(p if p.ndim == 1 else p[:, -1], method, len(x))

    def _one(self, x: Array, kind: str) -> Any:
        """Scores of a yes against no, as the calibrator wants them."""
        binary = self._binary()
        if isinstance(binary, ScoreCalibrator):
            first = {"probabilities": 1 - x, "logits": np.zeros(len(x))}.get(kind, -x)
            return ClassScores(np.column_stack([first, x]), kind)
        wants_column = hasattr(binary, "predict_proba") and not hasattr(binary, "transform")
        return x[:, None] if wants_column else x


def rest_of(rows: int, weights: Array | None) -> float:
    """Probability of what never came in so many rows, 1 / (n + 2)."""
    return float(1 / (2 + (rows if weights is None else weights.sum())))


def _checked(p: Array, method: str, rows: int) -> Array:
    """Probabilities, or an error that says what came instead."""
    wrong = ~((p >= 0) & (p <= 1))
    if p.shape != (rows,) or wrong.any():
        what = f"shape {p.shape}" if p.shape != (rows,) else f"{p[np.argmax(wrong)]} in row {int(np.argmax(wrong))}"
        raise ValueError(f"`{method}` of the calibrator must give a probability for each of {rows} rows; got {what}.")
    return p
