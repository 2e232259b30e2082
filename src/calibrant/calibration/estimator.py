"""What the calibrated regressor and the calibrated classifier share: cross-fitting a base model."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.validation import check_is_fitted, validate_data

from .._types import Labels, Weights
from ..adapters.nested import innermost
from .crossfit import Fold, Sample, cross_fit, fit_on, groups_to_split, make_splitter, split_rows
from .routing import metadata_router, route
from .same_rows import warn_if_seen, warn_same

Read = Callable[[Any, Any], Any]  # from a fitted model and X to forecasts


class CalibratedEstimator(MetaEstimatorMixin, BaseEstimator):
    """A base model whose out-of-fold forecasts a calibrator learns from."""

    estimators_: list[Any]
    calibrators_: list[Any]

    def __init__(
        self,
        estimator: Any = None,
        calibrator: Any = None,
        *,
        cv: Any = 5,
        ensemble: bool = False,
        method: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.calibrator = calibrator
        self.cv = cv
        self.ensemble = ensemble
        self.method = method
        self.n_jobs = n_jobs

    def fit(
        self, X: Any, y: Labels, sample_weight: Weights = None, groups: Labels | None = None, **fit_params: Any
    ) -> Self:
        """Fit base models and calibrators.

        Parameters
        ----------
        X : array-like or frame (n, n_features)
            Whatever the base model takes.
        y : array-like (n,)
            Outcomes; for a classifier, labels of any type.
        sample_weight : array-like (n,), optional
            Frequencies, for the base model (if it takes weights) and the calibrator.
        groups : array-like (n,), optional
            For the splitter, which keeps them apart, and for a calibrator that takes groups (`GroupedCalibrator`).
        **fit_params
            For the base model's `fit`; sliced if they have one entry per row.
        """
        self.estimators_ = self._fit(self._sample(X, y, sample_weight, groups), fit_params)
        for name in ("estimator_", "calibrator_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if not self.ensemble:
            self.estimator_, self.calibrator_ = self.estimators_[0], self.calibrators_[0]
        return self

    @abstractmethod
    def _sample(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Sample:
        """The rows to learn from, checked."""

    @abstractmethod
    def _fit(self, sample: Sample, fit_params: dict[str, Any]) -> list[Any]:
        """Fit the calibrators and give the fitted base models."""

    @abstractmethod
    def _base(self) -> Any:
        """The model to fit, or a default."""

    @abstractmethod
    def _calibrator(self) -> Any:
        """The calibrator to fit, or a default."""

    @abstractmethod
    def _hits_all(self, forecasts: Any, sample: Sample) -> bool:
        """Whether forecasts are so good that their model must have seen the outcomes."""

    def _forecast(
        self, base: Any, read: Read, sample: Sample, fit_params: dict[str, Any]
    ) -> tuple[list[Fold], list[Any]]:
        """Forecasts to learn from, and the models to keep: those of the folds, or one that has seen all rows."""
        if isinstance(base, FrozenEstimator) or isinstance(self.cv, str):
            fold = self._fold_of_all(base, read, sample, fit_params)
            return [fold], [fold.model]
        groups = groups_to_split(self.cv, sample.groups, self._who_takes_groups())
        splitter = make_splitter(self.cv, sample.y, groups=groups, classifier=sample.classes is not None)
        given = {"sample_weight": sample.weights, **fit_params}
        routed = route(self, self._base(), splitter, given, groups)
        splits = split_rows(splitter, sample, routed.split)
        folds = cross_fit(base, sample, splits, read, routed.base, self.n_jobs)
        return folds, [fold.model for fold in folds] if self.ensemble else [fit_on(base, sample, routed.base)]

    def _who_takes_groups(self) -> Any:
        """The one beside the splitter that may learn from groups."""
        return self._calibrator()

    def _fold_of_all(self, base: Any, read: Read, sample: Sample, fit_params: dict[str, Any]) -> Fold:
        """Forecasts of all rows by one model: a frozen one, or one trained on the same rows."""
        if self.ensemble:
            raise ValueError("`ensemble=True` needs splits: an estimator that is not frozen, and cv=5, say.")
        groups_to_split((), sample.groups, self._who_takes_groups())
        rows = np.arange(len(sample.y))
        if not isinstance(base, FrozenEstimator):
            if self.cv != "same":
                make_splitter(self.cv, sample.y)  # knows no other word, and says so
            warn_same("cv='same'")
            routed = route(self, self._base(), None, {"sample_weight": sample.weights, **fit_params})
            model = fit_on(base, sample, routed.base)
            return Fold(model, rows, read(model, sample.X))
        if fit_params:
            raise TypeError(f"a frozen estimator is not fitted and takes no {', '.join(sorted(fit_params))}.")
        fold = Fold(base, rows, self._read_frozen(base, read, sample))
        warn_if_seen(base, sample.X, hits_all=self._hits_all(fold.forecasts, sample))
        return fold

    @staticmethod
    def _read_frozen(base: Any, read: Read, sample: Sample) -> Any:
        """Forecasts of a model that is fitted, by whatever sign: NGBoost's has none that scikit-learn would see."""
        try:
            return read(base, sample.X)
        except (AttributeError, TypeError):
            base.fit(sample.X, sample.y)  # fits nothing, but tells where it should have been
            raise

    def _check_features(self, X: Any) -> None:
        """The features that the fit saw."""
        check_is_fitted(self)
        if hasattr(self, "n_features_in_") and getattr(X, "ndim", 2) == 1:
            raise ValueError(f"`X` must be 2-dimensional; got shape {X.shape}. Reshape your data: X.reshape(1, -1)?")
        validate_data(self, X, reset=False, skip_check_array=True)

    # ---- scikit-learn's contracts ----
    def get_metadata_routing(self) -> MetadataRouter:
        """Who takes which metadata; see scikit-learn's user guide on metadata routing."""
        ready = self.cv is None or isinstance(self.cv, int) or hasattr(self.cv, "split")
        return metadata_router(self, self._base(), make_splitter(self.cv, None) if ready else None)

    def __sklearn_is_fitted__(self) -> bool:
        """Fitted once `fit` came to its end."""
        return hasattr(self, "estimators_")

    def __sklearn_tags__(self) -> Any:
        """Inputs are the base model's affair."""
        tags = super().__sklearn_tags__()
        if hasattr(innermost(self._base()), "__sklearn_tags__"):  # models of other libraries may have none
            tags.input_tags = get_tags(self._base()).input_tags
        tags.input_tags.pairwise = False
        return tags
