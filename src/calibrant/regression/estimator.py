"""Any regressor, with calibrated distributions as its predictions."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.linear_model import BayesianRidge
from sklearn.utils.validation import validate_data

from .._checks import Array
from .._types import Labels, Numbers
from ..calibration.contract import check_calibrator
from ..calibration.crossfit import Fold, Sample, apply_calibrator, fit_calibrators, pooled
from ..calibration.estimator import CalibratedEstimator
from ..calibration.online import OnlineCalibrator
from ..distributions import Distribution, concatenate
from ..distributions.guaranteed import mixed
from .quantile import QuantileCalibrator
from .reading import prepare


class CalibratedRegressor(RegressorMixin, CalibratedEstimator):
    r"""A regressor whose predictions are calibrated distributions.

    The base model is cross-fitted: each row is forecast by a model that has not seen it, and the calibrator learns from
    these forecasts how the model is off. Learning from rows that the base was trained on makes intervals too narrow; a
    `SameRowsWarning` tells when that is seen to happen.

    How to read the base is found out by itself (``forecast_kind_``): a method `predict_dist`, `pred_dist` (NGBoost) or
    `predict_proba` (skpro), the deviations of ``predict(X, return_std=True)``, means and variances of CatBoost's
    RMSEWithUncertainty, one model per level if `levels` are given, and otherwise points
    with :math:`\hat\sigma^2 = \sum_t w_t (y_t - \hat y_t)^2 / \sum_t w_t` over the out-of-fold residuals. Pipelines,
    searches and frozen models are looked into.

    Parameters
    ----------
    estimator : regressor, default BayesianRidge()
        A fitted model in a `FrozenEstimator` is not fitted again, and the calibrator learns from the rows given to
        `fit`, which should be held-out ones.
    calibrator : calibrator, default QuantileCalibrator()
        One that sees features (`BoostedCalibrator`) is given the rows of X, as they are.
    cv : int, splitter, iterable of (train, test), "same" or None, default 5
        How to cross-fit; an int is `KFold` without shuffling, or `GroupKFold` if groups are given; None is 5. Rows that
        no split forecasts, the first ones of `TimeSeriesSplit`, take no part in the calibration. "same" trains and
        calibrates on the same rows, as some papers do, and warns. A frozen model needs no splits.
    ensemble : bool, default False
        False: one model fitted to all rows and one calibrator fitted to all out-of-fold forecasts. True: a model and a
        calibrator per split; the forecast is the average of their distribution functions,
        :math:`F = \frac1K\sum_k R_k\circ F_k` (Kuleshov et al. 2018, §3.2; Song et al. 2018, §6). With
        `ConformalCalibrator` intervals are then those of CV+, of jackknife+ with a split a row.
    levels : array-like (L,), optional
        Levels for a quantile regressor, which is cloned per level: `QuantileRegressor`, gradient boosting with its
        quantile loss, LightGBM, XGBoost. Or the levels of the columns that the model predicts; XGBoost and CatBoost
        models of several levels tell theirs.
    method : {"auto", "predict_dist", "pred_dist", "predict_proba", "return_std", "mean_variance", "quantiles", "point"}
        How to read the base model; "auto" unless told. A model that is set to forecast a quantile other than the
        median is a point forecast only if told.
    n_jobs : int, optional
        Splits worked on at a time.
    online : bool, default False
        Go on learning: `update` shows outcomes as they come to the calibrator, which is then `OnlineCalibrator()`
        unless told. `fit` shows it the out-of-fold forecasts, in the order of the splits.

    Attributes
    ----------
    forecast_kind_ : str
        How the base model is read; one of the values of `method`.
    estimators_, calibrators_ : list
        The fitted models and their calibrators; one each unless ``ensemble=True``.
    estimator_, calibrator_ :
        The fitted model and its calibrator, unless ``ensemble=True``.
    sigma_ : float
        Out-of-fold residual root mean square, for point predictions only.
    oof_forecasts_ : Distribution
        The uncalibrated forecasts that the calibrator learned from.
    oof_rows_ : ndarray of int
        The row of X of each of them.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray (n_features,)
        Names of the features, if all are strings.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> y = X[:, 0] + rng.exponential(size=400)
    >>> model = CalibratedRegressor(cv=5).fit(X, y)
    >>> model.forecast_kind_
    'return_std'
    >>> model.predict_interval([[0.0, 0.0]], coverage=0.9).round(0)
    array([[0., 3.]])

    Differs from the paper in: Kuleshov et al. (2018) recalibrate their models on the rows they were trained on; here
    the base is cross-fitted, as their §3.2 advises. A `FrozenEstimator` fitted on the same rows is what they did.
    """

    def __init__(
        self,
        estimator: Any = None,
        calibrator: Any = None,
        *,
        cv: Any = 5,
        ensemble: bool = False,
        levels: Numbers | None = None,
        method: str = "auto",
        n_jobs: int | None = None,
        online: bool = False,
    ) -> None:
        super().__init__(estimator, calibrator, cv=cv, ensemble=ensemble, method=method, n_jobs=n_jobs)
        self.levels = levels
        self.online = online

    # ---- fitting ----
    def _sample(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Sample:
        return Sample.of(X, y, sample_weight, groups)

    def _fit(self, sample: Sample, fit_params: dict[str, Any]) -> list[Any]:
        base, reading = prepare(self._base(), self.method, self.levels, sample.y)
        validate_data(self, sample.X, skip_check_array=True)
        folds, models = self._forecast(base, reading, sample, fit_params)
        self.oof_rows_, laws, weights = pooled(folds, sample, concatenate)
        self._reading, self.oof_forecasts_ = reading.with_sigma(laws, sample.y[self.oof_rows_], weights)
        self.forecast_kind_ = reading.kind
        self._fit_calibrators(folds, sample, weights)
        self.__dict__.pop("sigma_", None)
        if self._reading.sigma is not None:
            self.sigma_ = self._reading.sigma
        return models

    def _base(self) -> Any:
        return BayesianRidge() if self.estimator is None else self.estimator

    def _calibrator(self) -> Any:
        if self.calibrator is None:
            return OnlineCalibrator() if self.online else QuantileCalibrator()
        if self.online and not hasattr(self.calibrator, "update"):
            kind = type(self.calibrator).__name__
            raise TypeError(f"`online=True` needs a calibrator with update, such as OnlineCalibrator; {kind} has none.")
        return check_calibrator(self.calibrator)

    def _hits_all(self, forecasts: Distribution, sample: Sample) -> bool:
        errors = np.abs(sample.y - forecasts.median())
        return len(errors) > 2 and bool(errors.max() <= 1e-6 * np.ptp(sample.y))

    def _fit_calibrators(self, folds: list[Fold], sample: Sample, weights: Array | None) -> None:
        if self.ensemble:
            parts = [(self._reading.scaled(fold.forecasts), fold.rows, sample.weights_of(fold.rows)) for fold in folds]
        else:
            parts = [(self.oof_forecasts_, self.oof_rows_, weights)]
        self.calibrators_ = fit_calibrators(self._calibrator(), parts, sample, self.n_jobs)

    def update(self, X: Any, y: Numbers, **beside: Any) -> Self:
        """Let the calibrators learn from outcomes as they come; the base models stay as they are.

        Parameters
        ----------
        X : array-like or frame (n, n_features)
        y : array-like (n,)
        **beside
            What `OnlineCalibrator.update` takes: ``groups``, ``horizon``, ``ids``, ``time``, ``sample_weight``.
        """
        self._check_features(X)
        if not self.online:
            raise ValueError("update is for online=True: other calibrators learn in fit alone.")
        for calibrator, model in zip(self.calibrators_, self.estimators_, strict=True):
            calibrator.update(self._reading(model, X), y, **beside)
        return self

    # ---- forecasting ----
    def predict_dist(self, X: Any, *, calibrated: bool = True, groups: Labels | None = None) -> Distribution:
        """Calibrated forecasts of the rows of X, or the base model's own (``calibrated=False``).

        Parameters
        ----------
        X : array-like or frame (n, n_features)
            A pandas index is kept.
        calibrated : bool, default True
        groups : array-like (n,), optional
            For calibrators that take groups.
        """
        self._check_features(X)
        laws = [self._reading(model, X) for model in self.estimators_]
        if calibrated:
            pairs = zip(self.calibrators_, laws, strict=True)
            laws = [apply_calibrator(calibrator, law, groups, X) for calibrator, law in pairs]
        elif groups is not None:
            raise ValueError("`groups` are for the calibrator; with calibrated=False there is none.")
        return mixed(laws)

    def predict(self, X: Any, groups: Labels | None = None) -> Array:
        """Means of the calibrated forecasts, (n,)."""
        return self.predict_dist(X, groups=groups).mean()

    def predict_var(self, X: Any, groups: Labels | None = None) -> Array:
        """Variances of the calibrated forecasts, (n,)."""
        return self.predict_dist(X, groups=groups).var()

    def predict_interval(self, X: Any, coverage: float = 0.9, groups: Labels | None = None) -> Array:
        """Central intervals of the calibrated forecasts, (n, 2)."""
        return self.predict_dist(X, groups=groups).interval(coverage)

    def predict_quantiles(
        self, X: Any, levels: Numbers = (0.05, 0.25, 0.5, 0.75, 0.95), groups: Labels | None = None
    ) -> Array:
        """Quantiles of the calibrated forecasts, (n, L)."""
        return self.predict_dist(X, groups=groups).quantiles(levels)
