"""Decisions with class weights of their own for each group of rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from .._checks import Array
from ..calibration.contract import Takes
from ..calibration.labels import labels_of, rows_by_label
from ..calibration.rows import labelled_rows
from ..calibration.summarised_groups import LEAST_SHARE
from ..numerics.soundness import check_finite
from .decision_report import Confusion, DecisionReport
from .decision_weights import Decisions, decide, sweep
from .decisions import DecisionCalibrator
from .objectives import make_objective


class GroupedDecisions(BaseEstimator):
    r"""Decide by class weights of each group, held close to the common ones where a group is small.

    .. math:: \log w_g = \log w + \frac{n_g}{n_g + s} \Delta_g

    w are the weights of the `DecisionCalibrator` for all rows, and :math:`\Delta_g` the change of them that suits its
    objective best on the :math:`n_g` rows of group g alone, s being ``strength``: proportions that agree in every
    region and not only as a whole (type CD of Bella et al. 2010, which "can also be studied and applied locally").
    Groups not seen in `fit` get w, and so do those with less than a fifth of the say, fewer than 5 rows by default.

    Why not ``GroupedCalibrator(DecisionCalibrator())``? That one puts calibrators on top of each other's forecasts, and
    decisions are no forecasts: labels cannot be calibrated once more, and weighted scores are no probabilities.

    Parameters
    ----------
    decision : DecisionCalibrator, optional
        Objective, costs and kind of scores; ``DecisionCalibrator()`` unless told.
    strength : float, default 20
        Weight, in rows, of the common decision; 0 leaves each group to itself.

    Attributes
    ----------
    classes_ : ndarray (K,)
    common_ : DecisionCalibrator
        Fitted to all rows.
    log_weights_ : dict from group to ndarray (K,)
        Of the groups with weights of their own.
    report_ : DecisionReport
        Confusion tables and measures on the calibration rows: by the plain largest score, and by the groups' weights.

    Examples
    --------
    >>> p = np.tile([0.1, 0.2, 0.3, 0.4], 50)
    >>> region = np.repeat(["north", "south"], 100)
    >>> y = np.where(region == "north", p > 0.15, p > 0.35)
    >>> model = GroupedDecisions(DecisionCalibrator("accuracy"), strength=0).fit(p, y, groups=region)
    >>> model.predict([0.25, 0.25], groups=["north", "south"])
    array([ True, False])

    Differs from the paper in: the chapter says that this calibration may be local and gives no method; what it relates
    it to, repairing concavities, is `ConcavityRepair`.
    """

    takes = Takes(("scores",), frozenset({"groups", "classes"}), frozenset({"groups"}))

    def __init__(self, decision: Any = None, strength: float = 20.0) -> None:
        self.decision = decision
        self.strength = strength

    def fit(self, scores: Any, y: Any, *, groups: Any = None, sample_weight: Any = None, classes: Any = None) -> Self:
        """Learn the weights from the scores, labels and groups of n rows.

        Parameters
        ----------
        scores, y, sample_weight, classes
            As in `DecisionCalibrator.fit`.
        groups : array-like (n,)
            Labels of any type.
        """
        decision = DecisionCalibrator() if self.decision is None else clone(self.decision)
        if not isinstance(decision, DecisionCalibrator):
            raise TypeError(f"`decision` must be a DecisionCalibrator; got {self.decision!r}.")
        if not self.strength >= 0:
            raise ValueError(f"`strength` must be at least 0; got {self.strength}.")
        table = decision._read(scores)
        names = labels_of(groups, len(table))
        rows, labels, codes, weights = labelled_rows(table, y, sample_weight, classes)
        common = decision.fit(table[rows], labels[codes], sample_weight=weights, classes=labels)
        weights = np.ones(len(codes)) if weights is None else weights
        all_rows = Decisions(table.log_scores()[rows], codes, weights)
        self.log_weights_ = {}
        given = np.empty(len(codes), dtype=np.intp)
        for name, mine in rows_by_label(names[rows]).items():
            part = Decisions(all_rows.scores[mine], codes[mine], weights[mine])
            own = self._learned(part, common)
            if own is not None:
                self.log_weights_[name] = own
            given[mine] = decide(part.scores, common.log_weights_ if own is None else own)
        counts = np.bincount(codes * len(labels) + given, weights, len(labels) ** 2)
        after = Confusion(labels, counts.reshape(len(labels), -1).astype(np.float64))
        self.report_ = DecisionReport(common.report_.before, after, common.report_.costs)
        self.common_, self.classes_ = common, labels
        return self

    def _learned(self, rows: Decisions, common: DecisionCalibrator) -> Array | None:
        """Log weights of a group, or None of one that is too small."""
        n = rows.weights.sum()
        if n < LEAST_SHARE * (n + self.strength):
            return None
        real = np.bincount(rows.codes, rows.weights, rows.scores.shape[1]).astype(np.float64)
        objective = make_objective(common.objective, common.cost_matrix, real, common.classes_)
        change, _ = sweep(Decisions(rows.scores + common.log_weights_, rows.codes, rows.weights), objective)
        return np.asarray(common.log_weights_ + n / (n + self.strength) * change)

    def predict(self, scores: Any, *, groups: Any = None) -> NDArray[Any]:
        """Labels (n,), each by the weights of its group."""
        check_is_fitted(self)
        table = self.common_._read(scores).in_order_of(self.classes_)
        logs = table.log_scores()
        codes = np.empty(len(logs), dtype=np.intp)
        for name, mine in rows_by_label(labels_of(groups, len(table))).items():
            codes[mine] = decide(logs[mine], self.log_weights_.get(name, self.common_.log_weights_))
        return np.asarray(self.classes_[codes])

    def _check_sound(self) -> None:
        """Raise ValueError if these are no weights: they may come from anywhere."""
        shape = np.shape(self.common_.log_weights_)
        for own in self.log_weights_.values():
            if np.shape(own) != shape or not np.isfinite(own).all():
                raise ValueError("GroupedDecisions.log_weights_ must be a finite number for each class and group.")

    def _check_forecasts(self) -> None:
        """Raise ValueError if it cannot decide; what it learned may come from anywhere."""
        check_finite(self.common_, "log_weights_")
        self.common_._check_forecasts()

    def __sklearn_is_fitted__(self) -> bool:
        """Fitted once `fit` came to its end."""
        return hasattr(self, "classes_")
