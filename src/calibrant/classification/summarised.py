"""Class calibrators to which a summary of the rows says as much as the rows."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from .._checks import Array
from ..adapters.class_labels import Classes, Codes
from ..adapters.class_scores import ClassScores, as_scores
from ..calibration.rows import labelled_rows
from ..calibration.summarised import Summarised
from ..summaries import ClassSummary, Summary
from .base import check_clip
from .binary import LEAST_CLIP, BinaryCalibrator, columns_of


class SummarisedScores(Summarised, BinaryCalibrator):
    """A calibrator of one score that can learn from a summary: log odds, or margins as they are, by cells.

    Examples
    --------
    >>> from calibrant import PlattCalibrator
    >>> monday = PlattCalibrator().summarise([0.2, 0.7, 0.6], [0, 1, 0])
    >>> tuesday = PlattCalibrator().summarise([0.9], [1], classes=[0, 1])
    >>> PlattCalibrator().fit_summary(monday + tuesday).n_rows_
    4
    """

    _apart: ClassVar[bool] = True  # whether cells are represented by two means, of events and of the rest

    @property
    def _learns_from(self) -> type[Summary]:
        return ClassSummary

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
        self._forget()
        return super().fit(scores, y, sample_weight=sample_weight, classes=classes)

    def summarise(self, scores: Any, y: Any, *, sample_weight: Any = None, classes: Any = None) -> Summary:
        """All that this calibrator would learn from these rows; see `fit` for the arguments."""
        return self._summary_of(scores, y, (sample_weight, classes), None)

    def partial_fit(self, scores: Any, y: Any, *, sample_weight: Any = None, classes: Any = None) -> Self:
        """Learn from some more rows, as if they had come with those before; see `fit` for the arguments.

        The classes are those of the first call.
        """
        if classes is None and "summary_" in vars(self):
            classes = vars(self)["summary_"].classes
            scores = as_scores(scores, self.scores_are).in_order_of(classes)
        return self._continued(lambda finest: self._summary_of(scores, y, (sample_weight, classes), finest))

    def _summary_of(self, scores: Any, y: Any, extra: tuple[Any, Any], finest: int | None) -> Summary:
        check_clip(self.clip)
        table = as_scores(scores, self.scores_are)
        self._check_kind(table.kind)
        rows, classes, codes, weights = labelled_rows(table, y, *extra, fewest=1)
        return _summary(table[rows], codes, classes, weights, finest)

    def _fit_summary(self, summary: ClassSummary) -> None:
        check_clip(self.clip)
        self._check_kind(summary.kind)
        if np.count_nonzero(summary.totals()) < 2:
            raise ValueError("`y` must have at least two classes; all labels of the summary are one.")
        self.classes_ = summary.classes
        self.nearest_ = max(self.clip, LEAST_CLIP, 0.5 * summary.least if summary.certain else 0.0)
        problems = [summary.problem(j, apart=self._apart) for j in range(len(summary.grids))]
        self.curves_ = [self._fit_one(self._placed(x, summary.kind), events, w) for x, events, w in problems]

    def _check_kind(self, kind: str) -> None:
        """Refuse scores that this calibrator cannot take."""

    def _placed(self, x: Array, kind: str) -> Array:
        """What the curves are functions of, from what the summary holds."""
        if kind != "probabilities":
            return x
        return np.clip(x, *ClassScores(np.array([0.0, 1.0])).log_odds(self.nearest_))


def _summary(
    scores: ClassScores, codes: Codes, classes: Classes, weights: Array | None, finest: int | None
) -> ClassSummary:
    """Summary of checked rows."""
    facts: dict[str, Any] = {"kind": scores.kind, "finest": finest}
    if scores.kind == "probabilities":
        p = scores.values
        facts |= {"least": float(np.min(p, where=p > 0, initial=0.5)), "certain": bool(p.min() == 0)}
    x = scores.log_odds(LEAST_CLIP)
    problems = [(np.ascontiguousarray(x[:, j]), codes == j) for j in columns_of(scores)]
    return ClassSummary.of_scores(problems, weights, classes=classes, **facts)
