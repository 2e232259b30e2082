"""Calibrators one after another."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .base import Calibrator, read_for
from .contract import Takes, as_forecasts, check_calibrator, fit_with, refuse_features, takes_of, transform_with
from .feature_table import features_of
from .labels import labels_of
from .rows import learnable_rows


class Chain(Calibrator):
    """Each calibrator is fitted to what the ones before it made of the forecasts.

    Groups and features, where given, reach the calibrators that take them.

    Parameters
    ----------
    calibrators : list of Calibrator

    Attributes
    ----------
    calibrators_ : list of fitted Calibrator

    Examples
    --------
    >>> from calibrant import Normal, QuantileCalibrator, ScaleCalibrator
    >>> chain = Chain([ScaleCalibrator(), QuantileCalibrator()])
    >>> chain.fit(Normal([0.0, 0.0, 0.0], 1.0), [-2.0, 0.5, 2.0]).n_rows_
    3
    """

    def __init__(self, calibrators: list[Any]) -> None:
        self.calibrators = calibrators

    @property
    def takes(self) -> Takes:  # type: ignore[override]
        """Forecasts of the first, and what any of them can use beside."""
        each = [takes_of(step) for step in self._steps()]
        return Takes(
            each[0].forecasts, frozenset().union(*(t.beside for t in each)), frozenset().union(*(t.needs for t in each))
        )

    def _steps(self) -> list[Any]:
        steps: Any = self.calibrators
        if not isinstance(steps, (list, tuple)) or not steps:
            raise ValueError(f"`calibrators` must be a list of at least one calibrator; got {steps!r}.")
        return [check_calibrator(step, f"calibrators[{i}]") for i, step in enumerate(steps)]

    @property
    def scores_are(self) -> str:
        """What plain class scores are, as the first says."""
        return str(getattr(self._steps()[0], "scores_are", "probabilities"))

    def _read(self, forecasts: Any) -> Any:
        return read_for(self._steps()[0], forecasts)

    def fit(
        self,
        forecasts: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        classes: Any = None,
        X: Any = None,
    ) -> Self:
        """Learn from n forecasts and their outcomes, or from class scores and labels.

        Parameters
        ----------
        forecasts : what the first calibrator takes, n rows
        y : array-like (n,)
        sample_weight : array-like (n,), optional
        groups : array-like (n,), optional
            For the calibrators that take groups.
        classes : array-like (K,), optional
            Labels of the columns of class scores.
        X : array-like or frame (n, d), optional
            Features, for the calibrators that take them.
        """
        steps = self._steps()
        refuse_features(X, self, "the chain")
        table = self._read(forecasts)
        labels = None if groups is None else labels_of(groups, len(table))
        rows, y, weights, classes = learnable_rows(table, y, sample_weight, classes)
        table, labels, X = table[rows], None if labels is None else labels[rows], features_of(X, rows)
        self.calibrators_: list[Any] = []
        for step in steps:
            fitted = fit_with(clone(step), table, y, sample_weight=weights, groups=labels, classes=classes, X=X)
            self.calibrators_.append(fitted)
            table = as_forecasts(transform_with(fitted, table, groups=labels, X=X), classes)
        self.n_rows_ = len(y)
        if classes is not None:
            self.classes_ = classes
        return self

    def transform(self, forecasts: Any, *, groups: Any = None, X: Any = None) -> Any:
        """Calibrated forecasts of the same rows."""
        check_is_fitted(self)
        refuse_features(X, self, "the chain")
        first, *others = self.calibrators_
        made = transform_with(first, forecasts, groups=groups, X=X)
        for calibrator in others:
            made = transform_with(calibrator, as_forecasts(made, getattr(self, "classes_", None)), groups=groups, X=X)
        return made

    def _check_forecasts(self) -> None:
        """Raise ValueError if the links make no forecasts; what they learned may come from anywhere."""
        for part in self.calibrators_:
            part._check_forecasts()
