"""The ROC curve, its convex hull, and scores whose ranking is repaired where the curve sags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._brief import Brief
from .._checks import Array, complain, one_of
from ..adapters.class_scores import ClassScores, as_scores
from ..calibration.rows import labelled_rows
from .soundness import check_class_forecasts, example_scores


@dataclass(frozen=True, eq=False, repr=False)
class RocCurve(Brief):
    """Rates of false and true positives above each distinct score, from (0, 0) to (1, 1).

    Parameters
    ----------
    false_positives, true_positives : array (m + 1,)
    thresholds : array (m + 1,)
        Rows with at least this score are called positive; the first is inf.
    hull : array of int
        Points that are corners of the convex hull.
    """

    false_positives: Array
    true_positives: Array
    thresholds: Array
    hull: NDArray[np.intp]

    @property
    def area(self) -> float:
        """Area under the curve."""
        return float(np.trapezoid(self.true_positives, self.false_positives))

    @property
    def hull_area(self) -> float:
        """Area under the convex hull."""
        return float(np.trapezoid(self.true_positives[self.hull], self.false_positives[self.hull]))


def roc_curve(scores: Array, positive: NDArray[np.bool_], weights: Array | None = None) -> RocCurve:
    """The ROC curve of scores (n,); equal scores make one slanted piece.

    Corners of the hull are the ends of the blocks of isotonic regression on the shares of positives.

    >>> curve = roc_curve(np.array([0.1, 0.4, 0.6, 0.9]), np.array([False, True, False, True]))
    >>> curve.area, curve.hull_area
    (0.75, 0.875)
    """
    distinct, group = np.unique(scores, return_inverse=True)
    rows = np.bincount(group, weights, len(distinct)).astype(np.float64)
    hits = np.bincount(group[positive], None if weights is None else weights[positive], len(distinct))
    true, false = np.cumsum(np.r_[0.0, hits[::-1]]), np.cumsum(np.r_[0.0, (rows - hits)[::-1]])
    blocks = isotonic_regression(hits / rows, weights=rows).blocks
    return RocCurve(false / false[-1], true / true[-1], np.r_[np.inf, distinct[::-1]], len(distinct) - blocks[::-1])


class ConcavityRepair(BaseEstimator):
    r"""Invert the ranking of scores within those segments of the ROC curve that sag below its convex hull.

    The local form of calibrating decisions (Flach and Wu 2005): between two corners of the hull where the scores rank
    rows the wrong way round, s becomes :math:`s_{low} + s_{high} - s`. A curve that merely wobbles has many shallow
    segments, and inverting noise is of no use: a segment is inverted if its rank sum is at least ``least`` standard
    deviations too low. Chance alone makes segments of 2.2 ± 0.5 (the area of a Brownian excursion).

    Parameters
    ----------
    least : float, default 4
    scores_are : {"probabilities", "logits", "margins"}, default "probabilities"
        Of two classes.

    Attributes
    ----------
    classes_ : ndarray (2,)
        The second is the positive one.
    segments_ : ndarray (m, 2)
        Lowest and highest score of each inverted segment.
    curve_, repaired_ : RocCurve
        Of the calibration rows, before and after.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> s = rng.random(4000)
    >>> y = rng.random(4000) < np.where((s > 0.4) & (s < 0.6), 1 - s, s)  # the wrong way round in the middle
    >>> repair = ConcavityRepair().fit(s, y)
    >>> repair.segments_.round(1)
    array([[0.4, 0.6]])
    >>> repair.transform([0.2, 0.45]).round(1)
    array([0.2, 0.6])
    """

    def __init__(self, *, least: float = 4.0, scores_are: str = "probabilities") -> None:
        self.least = least
        self.scores_are = scores_are

    def fit(self, scores: Any, y: Any, *, sample_weight: Any = None, classes: Any = None) -> Self:
        """Find the segments from the scores and labels of n rows.

        Parameters
        ----------
        scores : array-like (n,) or (n, 2)
        y : array-like (n,)
        sample_weight : array-like (n,), optional
            Frequencies.
        classes : array-like (2,), optional
            Labels; the second is the positive one.
        """
        one_of(self.scores_are, "scores_are", ("probabilities", "logits", "margins"))
        complain("least", "0 or positive", np.asarray(self.least), ~(np.asarray(self.least) >= 0))
        table = as_scores(scores, self.scores_are)
        rows, labels, codes, weights = labelled_rows(table, y, sample_weight, classes)
        values, positive = _one_column(table)[rows], codes == 1
        self.curve_ = roc_curve(values, positive, weights)
        total = np.ones(len(codes)) if weights is None else weights
        sums = float(total[~positive].sum()), float(total[positive].sum())
        self.segments_ = _sagging(self.curve_, sums, self.least)
        self.repaired_ = roc_curve(_inverted(values, self.segments_), positive, weights)
        self.classes_ = labels
        return self

    def transform(self, scores: Any) -> Array:
        """Repaired scores of the positive class, (n,), on their own scale."""
        check_is_fitted(self)
        return _inverted(_one_column(as_scores(scores, self.scores_are), self.classes_), self.segments_)

    def _check_forecasts(self) -> None:
        """Raise ValueError if it makes no scores; what it learned may come from anywhere."""
        examples = example_scores(len(self.classes_), self.scores_are)
        check_class_forecasts(examples, self.transform(examples.values))

    def __sklearn_is_fitted__(self) -> bool:
        """Fitted once `fit` came to its end."""
        return hasattr(self, "classes_")


def _one_column(table: ClassScores, classes: Any = None) -> Array:
    """Scores of the second class: of those that were learned, once there are any."""
    if table.n_classes != 2:
        raise ValueError(f"an ROC curve is for two classes; `scores` has {table.n_classes} columns.")
    table = table if classes is None else table.in_order_of(classes)
    return table.values[:, 1] - table.values[:, 0] if table.kind == "logits" else table.values[:, 1]


def _sagging(curve: RocCurve, rows: tuple[float, float], least: float) -> Array:
    """Lowest and highest scores of the hull's segments whose rank sums are too low."""
    segments = []
    for i, j in zip(curve.hull[:-1], curve.hull[1:], strict=True):
        negatives = rows[0] * np.diff(curve.false_positives[i : j + 1])
        positives = rows[1] * np.diff(curve.true_positives[i : j + 1])
        if rank_deviation(negatives[::-1], positives[::-1]) <= -max(least, 1e-9):
            segments.append([curve.thresholds[j], curve.thresholds[i + 1]])
    return np.array(segments).reshape(-1, 2)[::-1]


def rank_deviation(negatives: Array, positives: Array) -> float:
    r"""Mann and Whitney's statistic of counts by increasing score, in standard deviations from its mean.

    .. math:: \frac{U - n_+ n_- / 2}{\sqrt{\frac{n_+ n_-}{12}\big(n + 1 - \sum_k \frac{t_k^3 - t_k}{n (n - 1)}\big)}}

    >>> rank_deviation(np.array([0.0, 5.0]), np.array([5.0, 0.0]))  # all positives below all negatives
    -3.0
    """
    ties = negatives + positives
    n, minus, plus = ties.sum(), negatives.sum(), positives.sum()
    if n < 2 or not minus > 0 or not plus > 0:
        return 0.0
    below = np.cumsum(negatives) - 0.5 * negatives
    spread = n + 1 - ((ties**3 - ties) / (n * (n - 1))).sum()
    if not spread > 1e-9 * n:
        return 0.0
    return float((positives @ below - plus * minus / 2) / np.sqrt(plus * minus / 12 * spread))


def _inverted(scores: Array, segments: Array) -> Array:
    out = np.array(scores)
    for low, high in segments:
        inside = (scores >= low) & (scores <= high)
        out[inside] = low + high - scores[inside]
    return out
