"""Calibrators whose log probabilities are linear in those of the scores."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .._checks import Array, complain
from ..adapters.class_labels import Codes
from ..adapters.class_scores import ClassScores, softmax_rows
from .base import CLIP, ScoreCalibrator, nearest_to_certain
from .softmax.designs import Design
from .softmax.fit import fit_softmax
from .softmax.problem import SoftmaxProblem
from .temperature import PENALTY, fit_sharpness

PENALTIES = ("evidence", "structured")


class LinearSoftmaxCalibrator(ScoreCalibrator):
    """One temperature first, then what the design allows on top, both pulled towards leaving things as they are.

    Parameters
    ----------
    penalty : float, "evidence" or "structured", default "evidence"
        Precision of the normal priors around the identity, or those under which the labels are most probable, or twice
        the number of parameters that have the same prior.
    """

    _design: ClassVar[Design]

    def __init__(
        self, *, penalty: float | str = "evidence", scores_are: str = "probabilities", clip: float = CLIP
    ) -> None:
        super().__init__(scores_are=scores_are, clip=clip)
        self.penalty = penalty

    def _fit(self, scores: ClassScores, codes: Codes, weights: Array | None) -> None:
        if not isinstance(self.penalty, str) or self.penalty not in PENALTIES:
            value = np.asarray(self.penalty)
            if value.dtype.kind not in "iuf":
                raise ValueError(
                    f"`penalty` must be a number above 0, 'evidence' or 'structured'; got {self.penalty!r}."
                )
            complain("penalty", "positive", value, ~(value > 0))
        self.nearest_ = nearest_to_certain(scores, self.clip)
        logs = scores.log_probabilities(self.nearest_)
        self.temperature_ = 1 / fit_sharpness(logs, codes, weights, PENALTY)
        weights = np.ones(len(codes)) if weights is None else weights
        problem = SoftmaxProblem(self._design, self._inputs(logs), codes, weights)
        self.theta_, self.precisions_ = fit_softmax(problem, self.penalty)

    def _transform(self, scores: ClassScores) -> Array:
        return softmax_rows(self._design.scores(self._inputs(scores.log_probabilities(self.nearest_)), self.theta_))

    def _inputs(self, logs: Array) -> Array:
        """What the design is linear in: log probabilities over the temperature."""
        return logs / self.temperature_
