"""What the calibrators of several classes share that ask calibrators of two."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._checks import Array
from ...calibration.one_score import check_one_score, fit_one_score, one_probability
from ..base import CLIP, ScoreCalibrator
from ..binary import Events


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
        return check_one_score(self.calibrator, "calibrator")

    def _fit_one(self, x: Array, kind: str, events: Events, weights: Array | None) -> Any:
        """A copy fitted to scores (n,) of a yes, or None where nobody said yes."""
        return fit_one_score(self._binary(), x, kind, events, weights) if events.any() else None

    def _probabilities(self, x: Array, kind: str, calibrator: Any) -> Array:
        """Probabilities of a yes."""
        return np.full(len(x), self.rest_) if calibrator is None else one_probability(calibrator, x, kind)


def rest_of(rows: int, weights: Array | None) -> float:
    """Probability of what never came in so many rows, 1 / (n + 2)."""
    return float(1 / (2 + (rows if weights is None else weights.sum())))
