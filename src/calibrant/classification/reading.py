"""How the output of a fitted classifier becomes scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import Array, one_of, to_array
from ..adapters.class_labels import Codes, encode
from ..adapters.class_scores import ClassScores, as_scores
from ..adapters.nested import descend

METHODS = {
    "predict_proba": "probabilities",
    "predict_log_proba": "logits",
    "predict_joint_log_proba": "logits",
    "decision_function": "margins",
}
_FAR = 50.0  # below the least logit of a row lies a class that the model does not know


@dataclass(frozen=True, eq=False)
class ClassReading:
    """A method of fitted classifiers, the classes whose scores are wanted, and what the scores are taken for."""

    method: str
    classes: NDArray[Any]
    kind: str

    def __call__(self, model: Any, X: Any) -> ClassScores:
        """Scores of the rows of X, a column for each of the classes."""
        if self.method == "predict_joint_log_proba":
            model, X = descend(model, X)
        output = to_array(getattr(model, self.method)(X), f"{self.method}(X)")
        known = _known(model, output)
        codes = encode(known, self.classes, "classes of the base model")
        if len(known) == 1:
            return _filled(np.full((len(output), 1), float(self.kind == "probabilities")), codes, self)
        table = as_scores(output, self.kind, f"{self.method}(X)")
        if table.n_classes != len(known):
            raise ValueError(
                f"{self.method} of {type(model).__name__} gives {table.n_classes} columns for {len(known)} classes; "
                "one for each is wanted. One class against one? Use decision_function_shape='ovr'."
            )
        return table if len(known) == len(self.classes) else _filled(table.values, codes, self)


def _known(model: Any, output: Array) -> NDArray[Any]:
    """Classes of the columns of a fitted model; one that has no classes_, as NGBoost's, numbers them from 0."""
    found = getattr(model, "classes_", None)
    return np.arange(max(output.shape[1:], default=2)) if found is None else np.asarray(found)


def _filled(values: Array, codes: Codes, reading: ClassReading) -> ClassScores:
    """Scores with columns for the classes that a model has not seen."""
    kind = reading.kind
    if METHODS[reading.method] == "margins":
        raise ValueError(
            "margins of classes that the training rows lack do not exist: some rows of `cv` have too few classes. "
            "Use fewer splits, or a model with predict_proba."
        )
    rest = np.zeros((len(values), 1)) if kind == "probabilities" else values.min(axis=1, keepdims=True) - _FAR
    whole = np.tile(rest, (1, len(reading.classes)))
    whole[:, codes] = values
    return ClassScores(whole, kind)


def kind_of(method: str, calibrator: Any) -> str:
    """What scores are: as the method says; decision values are logits for a calibrator that says it takes logits."""
    kind = METHODS[method]
    return "logits" if kind == "margins" and getattr(calibrator, "scores_are", None) == "logits" else kind


def detect(estimator: Any, method: str) -> str:
    """Method to read a classifier by: its richest one.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.svm import LinearSVC
    >>> detect(LogisticRegression(), "auto"), detect(LinearSVC(), "auto")
    ('predict_proba', 'decision_function')
    """
    one_of(method, "method", ("auto", *METHODS))
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise TypeError(f"`estimator` must be a classifier; got {estimator!r}.")
    if method != "auto":
        return method
    for name in ("predict_proba", "decision_function"):
        if hasattr(estimator, name):
            return name
    raise TypeError(
        f"`estimator` must have predict_proba or decision_function; {type(estimator).__name__} has neither."
    )
