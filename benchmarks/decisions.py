"""The exact threshold beside scikit-learn's threshold tuning, and temperature scaling beside scikit-learn's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import TunedThresholdClassifierCV

from calibrant.classification.decisions import DecisionCalibrator
from calibrant.classification.temperature import TemperatureCalibrator

from .timing import Line, cpu_seconds


class Given(ClassifierMixin, BaseEstimator):
    """A classifier whose X is its answer: a column for the probability of class 1, or a column a class."""

    def __init__(self, classes: int = 2) -> None:
        self.classes = classes
        self.classes_ = np.arange(classes)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: np.ndarray, y: np.ndarray) -> Given:
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.predict_proba(X).argmax(axis=1)

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return np.column_stack([1 - X, X]) if X.shape[1] == 1 else X


def lines(n: int = 100_000) -> Iterator[Line]:
    """Tuning of given scores: scikit-learn tries 100 thresholds, ours all distinct scores, with the report."""
    rng = np.random.default_rng(0)
    p = rng.beta(1, 4, n)
    y = (rng.random(n) < p**1.3).astype(int)
    peer = TunedThresholdClassifierCV(FrozenEstimator(Given()), scoring="balanced_accuracy", cv="prefit", refit=False)
    theirs = cpu_seconds(lambda: peer.fit(p[:, None], y), 3)
    yield Line(f"TunedThresholdClassifierCV, 100 thresholds, {n:.0e} rows", theirs, "itself", theirs)
    ours = cpu_seconds(lambda: DecisionCalibrator("macro").fit(p, y))
    yield Line(f"DecisionCalibrator('macro'), all {n:.0e} thresholds", ours, "scikit-learn's", theirs, 1 / 50)
    sort = cpu_seconds(lambda: np.argsort(p))
    yield Line("  the same", ours, "argsort of the scores", sort)
    reached = DecisionCalibrator("macro").fit(p, y).report_.after.macro_accuracy
    yield Line("macro accuracy reached, ours beside theirs (as ms)", peer.best_score_ / 1e3, "ours", reached / 1e3, 1.0)
    for classes in (2, 10):
        yield from _temperature(10 * n, classes)


def _temperature(n: int, classes: int) -> Iterator[Line]:
    rng = np.random.default_rng(1)
    x = rng.normal(0, 2, (n, classes))
    y = (x / 1.7 + rng.gumbel(size=(n, classes))).argmax(axis=1)
    p = np.exp(x)
    p /= p.sum(axis=1, keepdims=True)
    peer = CalibratedClassifierCV(FrozenEstimator(Given(classes)), method="temperature")
    theirs = cpu_seconds(lambda: peer.fit(p, y), 2)
    yield Line(f"CalibratedClassifierCV(temperature), {n:.0e} rows, {classes} classes", theirs, "itself", theirs)
    ours = cpu_seconds(lambda: TemperatureCalibrator().fit(p, y), 3)
    yield Line("TemperatureCalibrator, the same rows", ours, "scikit-learn's", theirs, 1 / 3)
