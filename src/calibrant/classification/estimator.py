"""Any classifier, with calibrated probabilities and decisions as its predictions."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import validate_data

from .._checks import Array
from ..adapters.class_scores import ClassScores, as_scores
from ..calibration.contract import check_calibrator, takes_of
from ..calibration.crossfit import Fold, Rows, Sample, apply_calibrator, fit_calibrators, pooled
from ..calibration.estimator import CalibratedEstimator
from .grouped_decisions import GroupedDecisions
from .platt import PlattCalibrator
from .reading import ClassReading, detect, kind_of

Part = tuple[ClassScores, Rows, Array | None]


class CalibratedClassifier(ClassifierMixin, CalibratedEstimator):
    r"""A classifier whose probabilities come true, and whose decisions may be calibrated too.

    The base model is cross-fitted: each row is scored by a model that has not seen it, and the calibrator learns from
    these scores. Weights and other arguments of `fit` reach the base model through pipelines and searches.

    Parameters
    ----------
    estimator : classifier, default LogisticRegression()
        A fitted model in a `FrozenEstimator` is not fitted again, and the calibrator learns from the rows given to
        `fit`, which should be held-out ones.
    calibrator : calibrator, default PlattCalibrator()
        Ours, or any object with ``fit(scores, y, sample_weight=None)`` and ``transform(scores)`` that gives
        probabilities (n, K). Which is best for these data? `AutoCalibrator()` finds out.
    decision : DecisionCalibrator or GroupedDecisions, optional
        What `predict` does with the calibrated probabilities; fitted to the out-of-fold ones. None takes the most
        probable class.
    cv : int, splitter, iterable of (train, test), "same" or None, default 5
        How to cross-fit; an int is `StratifiedKFold` without shuffling, or `GroupKFold` if groups are given.
    ensemble : bool, default False
        False: one model fitted to all rows and one calibrator fitted to all out-of-fold scores. True: a model and a
        calibrator per split, and the average of their probabilities, :math:`\frac1K\sum_k c_k(s_k(x))`.
    method : {"auto", "predict_proba", "predict_log_proba", "predict_joint_log_proba", "decision_function"}
        How to read the base model; "auto" takes `predict_proba`, else `decision_function`, whose values are margins, or
        logits for a calibrator with ``scores_are="logits"``. A naive Bayes model's joint
        log probabilities do not round to 0 and 1, which serves decisions and ranks; taken for log odds they are so far
        out that sigmoids and temperatures suffer.
    n_jobs : int, optional
        Splits worked on at a time.

    Attributes
    ----------
    classes_ : ndarray (K,)
    method_ : str
        How the base model is read.
    estimators_, calibrators_ : list
        The fitted models and their calibrators; one each unless ``ensemble=True``.
    estimator_, calibrator_ :
        The fitted model and its calibrator, unless ``ensemble=True``.
    decision_ : DecisionCalibrator or GroupedDecisions
        Fitted, if there is one.
    oof_scores_ : ClassScores
        The scores that the calibrator learned from.
    oof_rows_ : ndarray of int
        The row of X of each of them.
    n_features_in_ : int
    feature_names_in_ : ndarray (n_features,)

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from calibrant import metrics
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CalibratedClassifier(GaussianNB()).fit(X[::2], y[::2])
    >>> base = GaussianNB().fit(X[::2], y[::2])
    >>> [round(metrics.log_loss(y[1::2], m.predict_proba(X[1::2])), 2) for m in (base, model)]
    [0.62, 0.16]
    """

    def __init__(
        self,
        estimator: Any = None,
        calibrator: Any = None,
        *,
        decision: Any = None,
        cv: Any = 5,
        ensemble: bool = False,
        method: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(estimator, calibrator, cv=cv, ensemble=ensemble, method=method, n_jobs=n_jobs)
        self.decision = decision

    # ---- fitting ----
    def _sample(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Sample:
        return Sample.labelled(X, y, sample_weight, groups)

    def _fit(self, sample: Sample, fit_params: dict[str, Any]) -> list[Any]:
        self.classes_ = _at_least_two(sample)
        self.method_ = detect(self._base(), self.method)
        validate_data(self, sample.X, skip_check_array=True)
        self._reading = ClassReading(self.method_, self.classes_, kind_of(self.method_, self._calibrator()))
        folds, models = self._forecast(self._base(), self._reading, sample, fit_params)
        self.oof_rows_, self.oof_scores_, weights = pooled(folds, sample, _joined)
        whole = (self.oof_scores_, self.oof_rows_, weights)
        parts = _parts(folds, sample, whole) if self.ensemble else [whole]
        self.calibrators_ = fit_calibrators(self._calibrator(), parts, sample, self.n_jobs)
        self._fit_decision(folds, sample)
        return models

    def _fit_decision(self, folds: Sequence[Fold], sample: Sample) -> None:
        self.__dict__.pop("decision_", None)
        if self.decision is None:
            return
        calibrators = self.calibrators_ if self.ensemble else self.calibrators_ * len(folds)
        calibrated = []
        for calibrator, fold in zip(calibrators, folds, strict=True):
            groups = sample.groups_for(calibrator, fold.rows)
            made = self._calibrated(calibrator, fold.forecasts, groups, sample.features_for(calibrator, fold.rows))
            calibrated.append(Fold(fold.model, fold.rows, made))
        rows, scores, weights = pooled(calibrated, sample, np.concatenate)
        beside: dict[str, Any] = {"sample_weight": weights, "classes": self.classes_}
        if self._decides_by_group():
            beside["groups"] = None if sample.groups is None else sample.groups[rows]
        self.decision_ = clone(self.decision).fit(scores, sample.y[rows], **beside)

    def _decides_by_group(self) -> bool:
        return isinstance(self.decision, GroupedDecisions)

    def _who_takes_groups(self) -> Any:
        return self.decision if self._decides_by_group() else self._calibrator()

    def _base(self) -> Any:
        return LogisticRegression() if self.estimator is None else self.estimator

    def _calibrator(self) -> Any:
        return PlattCalibrator() if self.calibrator is None else check_calibrator(self.calibrator)

    def _hits_all(self, forecasts: ClassScores, sample: Sample) -> bool:
        return False  # an easy problem, perhaps

    # ---- predicting ----
    def predict_proba(self, X: Any, groups: Any = None) -> Array:
        """Calibrated probabilities (n, K), the columns in the order of ``classes_``."""
        self._check_features(X)
        pairs = zip(self.estimators_, self.calibrators_, strict=True)
        return _mean(self._calibrated(calibrator, self._reading(model, X), groups, X) for model, calibrator in pairs)

    def _calibrated(self, calibrator: Any, scores: ClassScores, groups: Any, X: Any) -> Array:
        return _probabilities(calibrator, apply_calibrator(calibrator, scores, groups, X), self.classes_)

    def predict_log_proba(self, X: Any, groups: Any = None) -> Array:
        """Logarithms of the calibrated probabilities, (n, K)."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X, groups)))

    def predict(self, X: Any, groups: Any = None) -> NDArray[Any]:
        """Labels (n,): what ``decision_`` makes of the probabilities, or the most probable class."""
        if self._decides_by_group():
            taken = "groups" in takes_of(self.calibrators_[0]).beside
            return np.asarray(self.decision_.predict(self.predict_proba(X, groups if taken else None), groups=groups))
        probabilities = self.predict_proba(X, groups)
        if self.decision is not None:
            return np.asarray(self.decision_.predict(probabilities))
        return np.asarray(self.classes_[np.argmax(probabilities, axis=1)])


def _mean(tables: Iterator[Array]) -> Array:
    """The mean of tables, of which no more than one is kept beside their sum."""
    total, count = next(tables), 1
    for count, table in enumerate(tables, 2):
        total = total + table if count == 2 else np.add(total, table, out=total)  # the first may be somebody's
    return total if count == 1 else np.divide(total, count, out=total)


def _at_least_two(sample: Sample) -> NDArray[Any]:
    classes: Any = sample.classes
    if len(classes) < 2:
        raise ValueError(f"`y` must have at least two classes; it has one class, {classes.tolist()!r}.")
    return np.asarray(classes)


def _parts(folds: Sequence[Fold], sample: Sample, whole: Part) -> list[Part]:
    """Scores, rows and weights for the calibrator of each fold; all rows where a fold has a single class."""
    parts: list[Part] = [(fold.forecasts, fold.rows, sample.weights_of(fold.rows)) for fold in folds]
    seen = [sample.y[rows if w is None else rows[w > 0]] for _, rows, w in parts]
    lone = [i for i, labels in enumerate(seen) if (labels == labels[:1]).all()]
    if lone:
        warnings.warn(
            f"{len(lone)} of {len(parts)} splits have test rows of one class only; their calibrators are fitted to the "
            "rows of all splits. Fewer splits, or ensemble=False?",
            stacklevel=4,
        )
    return [whole if i in lone else part for i, part in enumerate(parts)]


def _joined(tables: Sequence[ClassScores]) -> ClassScores:
    return ClassScores(np.concatenate([table.values for table in tables]), tables[0].kind, tables[0].classes)


def _probabilities(calibrator: Any, made: Any, classes: NDArray[Any]) -> Array:
    """What a calibrator, ours or a user's, makes of scores: (n, K)."""
    table = as_scores(made, "probabilities", "transform(scores)")
    if table.n_classes != len(classes):
        raise ValueError(
            f"{type(calibrator).__name__}.transform must give a column for each of the {len(classes)} classes; "
            f"got {table.n_classes}."
        )
    return table.values
