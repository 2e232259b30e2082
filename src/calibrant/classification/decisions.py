"""Decisions from scores: the threshold, or the class weights, that suit an objective best."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._checks import Array
from ..adapters.class_scores import ClassScores, as_scores
from ..calibration.rows import labelled_rows
from ..numerics.soundness import check_finite
from .decision_report import Confusion, DecisionReport
from .decision_weights import Decisions, decide, sweep
from .objectives import make_objective
from .soundness import example_scores


class DecisionCalibrator(BaseEstimator):
    r"""Decide for the class :math:`\arg\max_j w_j p_{ij}` with weights learned from labelled rows.

    Of two classes that is a threshold on the score, found exactly among all n + 1 places between the sorted scores. Of
    more, the weights are optimised one class at a time, each step exact, until nothing improves (Lachiche and Flach
    2003; Bella et al. 2010, calibration of type CD). All is done on logs, so that naive Bayes products do not
    underflow.

    Parameters
    ----------
    objective : {"proportions", "accuracy", "macro", "cost", "f1", "matthews_corrcoef"}, name or callable
        Predicted class proportions like the real ones (least :math:`\sum_j |\hat\pi_j - \pi_j|`), the default;
        largest accuracy; largest mean of the accuracies within the real classes; least mean cost; largest F1 of the
        second of two classes, of more the mean over the classes; largest correlation of Matthews. Or any of
        scikit-learn's scorers of labels by its name, such as "jaccard", or ``score(y_true, labels)``, with
        ``sample_weight`` or without, higher being better; it must not depend on the order of rows. These two are called
        at no more than a few thousand places: all of them up to 1 000, else 1 000 and those around the best.
    cost_matrix : array-like (K, K), optional
        Costs by real (line) and predicted (column) class, for ``objective="cost"``.
    scores_are : {"probabilities", "positive", "logits", "margins"}, default "probabilities"
        (n, K) probabilities need not add up to 1. Logits may be log probabilities up to a constant a row. Of (n,)
        scores for the second of two classes, probabilities are p, positive ones the ratio of the second to the first.

    Attributes
    ----------
    classes_ : ndarray (K,)
    log_weights_ : ndarray (K,)
        Logs of the class weights, adding up to 0; for margins, what is added to them.
    threshold_ : float
        Two classes only: the second is predicted above this score, on the scale of (n,) scores.
    path_ : list of float
        The objective before and after each step; it never falls. Costs have a minus sign.
    report_ : DecisionReport
        Confusion tables and measures on the calibration rows, before and after.

    Examples
    --------
    >>> p = [0.10, 0.20, 0.30, 0.35, 0.40, 0.45, 0.55, 0.60]
    >>> y = ["ham", "ham", "ham", "spam", "spam", "spam", "spam", "spam"]
    >>> model = DecisionCalibrator(objective="accuracy").fit(p, y)
    >>> round(model.threshold_, 4)
    0.3245
    >>> model.predict([0.31, 0.33])
    array(['ham', 'spam'], dtype='<U4')
    >>> print(model.report_)
    classes ham spam; real proportions 0.375 0.625
    before: accuracy 0.6250, macro accuracy 0.7000, predicted proportions 0.750 0.250
             ham  spam
    ham        3     0
    spam       3     2
    after: accuracy 1.0000, macro accuracy 1.0000, predicted proportions 0.375 0.625
             ham  spam
    ham        3     0
    spam       0     5

    Differs from the paper in: thresholds between the calibration scores where the chapter has any ratio u, found for
    more objectives than its proportions, any score of labels among them; weights of more than two classes by
    coordinate steps, not ROC analysis.
    """

    def __init__(
        self, objective: Any = "proportions", *, cost_matrix: Any = None, scores_are: str = "probabilities"
    ) -> None:
        self.objective = objective
        self.cost_matrix = cost_matrix
        self.scores_are = scores_are

    def fit(self, scores: Any, y: Any, *, sample_weight: Any = None, classes: Any = None) -> Self:
        """Learn the weights from the scores and labels of n rows.

        Parameters
        ----------
        scores : array-like (n,) or (n, K)
        y : array-like (n,)
            Labels of any type; rows whose label is missing are left out with a warning.
        sample_weight : array-like (n,), optional
            Frequencies.
        classes : array-like (K,), optional
            Labels of the columns; else those that a frame's columns or `ClassScores` tell, else the sorted labels.
        """
        table = self._read(scores)
        rows, labels, codes, weights = labelled_rows(table, y, sample_weight, classes)
        weights = np.ones(len(codes)) if weights is None else weights
        real = np.bincount(codes, weights, len(labels)).astype(np.float64)
        objective = make_objective(self.objective, self.cost_matrix, real, labels)
        decisions = Decisions(table.log_scores()[rows], codes, weights)
        self.log_weights_, self.path_ = sweep(decisions, objective)
        before, after = (Confusion(labels, decisions.confusion(w)) for w in (0 * self.log_weights_, self.log_weights_))
        costs = None if self.cost_matrix is None else np.asarray(self.cost_matrix, dtype=np.float64)
        self.report_ = DecisionReport(before, after, costs)
        self.__dict__.pop("threshold_", None)  # of an earlier fit
        if len(labels) == 2:
            kind = scores.kind if isinstance(scores, ClassScores) else self.scores_are
            self.threshold_ = _threshold(float(self.log_weights_[0] - self.log_weights_[1]), kind)
        self.classes_ = labels
        return self

    @property
    def weights_(self) -> Array:
        """Class weights (K,) with a geometric mean of 1."""
        check_is_fitted(self)
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(self.log_weights_))

    def predict(self, scores: Any) -> NDArray[Any]:
        """Labels (n,)."""
        check_is_fitted(self)
        table = self._read(scores).in_order_of(self.classes_)
        return np.asarray(self.classes_[decide(table.log_scores(), self.log_weights_)])

    def _read(self, scores: Any) -> ClassScores:
        """Scores; tables of probabilities may add up to anything."""
        if isinstance(scores, ClassScores):
            return scores
        shape = scores.shape if hasattr(scores, "shape") else np.shape(scores)
        wide = len(shape) == 2 and shape[1] > 1
        return as_scores(scores, "positive" if self.scores_are == "probabilities" and wide else self.scores_are)

    def _check_forecasts(self) -> None:
        """Raise ValueError if it cannot decide; what it learned may come from anywhere."""
        check_finite(self, "log_weights_")
        self.predict(example_scores(len(self.classes_), self.scores_are).values)

    def __sklearn_is_fitted__(self) -> bool:
        """Fitted once `fit` came to its end."""
        return hasattr(self, "classes_")


def _threshold(log_ratio: float, kind: str) -> float:
    """The score of the second class at which its log ratio to the first has this value."""
    if kind == "probabilities":
        return float(expit(log_ratio))
    if kind == "positive":
        with np.errstate(over="ignore"):
            return float(np.exp(log_ratio))
    return log_ratio / 2 if kind == "margins" else log_ratio
