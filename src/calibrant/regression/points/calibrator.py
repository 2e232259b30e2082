"""Calibration of point predictions."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin, TransformerMixin

from ..._checks import Array, column, finite, one_of, to_array
from ...adapters import as_distribution
from ...calibration import RegressionCalibrator
from ...calibration.contract import Takes
from ...distributions import Distribution
from ...distributions.shifted import moved
from ..residual import _is_column
from .curves import FITS, BentLine, fit_curve


class PointCalibrator(RegressorMixin, TransformerMixin, RegressionCalibrator):
    r"""Put point predictions right on average, all along their range.

    .. math:: \hat y \mapsto g(\hat y) \approx E(y \mid \hat y)

    Calibration of type RD of Bella et al. (2010): the mean error :math:`E(\hat y - y)` of the calibrated predictions is
    0 on the rows of `fit`, for every method but "mean-ratio", which makes 1 of the mean ratio :math:`E(\hat y/y)`
    instead, the chapter's second condition: one line through 0 cannot keep both.

    Numbers in, numbers out. Distributions are moved, each to its calibrated mean, and keep their spread and shape; to
    calibrate these too, ``Chain([PointCalibrator(), QuantileCalibrator()])``. A regressor that predicts points is
    calibrated with cross-fitting by ``CalibratedRegressor(model, PointCalibrator())``.

    How many rows do I need? About 20 for a ratio, 50 for a line, 200 for the bends of "isotonic" and "local".

    Cost where nothing is wrong, nats a row (`experiments.cost`): 0.011, 0.0037, 0.0010 at 100, 300 and 1 000 rows
    (half the rise of the squared error over the variance).

    Parameters
    ----------
    method : {"linear", "isotonic", "ratio", "local", "mean-ratio", "inverse"}, default "linear"
        - "linear": least squares of y on :math:`\hat y`, the first reading of the chapter's line; it cannot raise the
          squared error on the rows of `fit`;
        - "isotonic": the increasing step curve of least squares, linear between steps and constant beyond the data;
        - "ratio": :math:`\hat y \sum_t w_t y_t / \sum_t w_t \hat y_t`, for quantities with a natural 0;
        - "local": lines fitted to the nearest rows, as many as the data bear out, and continued beyond the data; one
          line through all where the data show no bend;
        - "mean-ratio": :math:`\hat y / (\frac1T \sum_t \hat y_t / y_t)`, for outcomes away from 0; small outcomes weigh
          most, and predictions that were right on average become too low;
        - "inverse": least squares :math:`\hat y \approx a + b y` turned round, :math:`\hat y \mapsto (\hat y - a)/b`;
          the errors are then unrelated to the *outcomes*, and the squared error is
          :math:`\operatorname{var}(y) (1 - r^2)/r^2`, that of "linear" over :math:`r^2`, the squared correlation. The
          chapter's "these calibrations used to increase the mean squared error" is true of this reading.

    Attributes
    ----------
    curve_ : BentLine
        The curve g, a function of predictions.
    n_rows_ : int
        Rows that were learned from.

    Examples
    --------
    >>> calibrator = PointCalibrator().fit([1.0, 2.0, 3.0], [3.0, 5.0, 7.0])
    >>> calibrator.transform([10.0])
    array([21.])
    >>> from calibrant import Normal
    >>> calibrator.transform(Normal([10.0], 2.0)).interval(0.9)
    array([[17.71, 24.29]])

    Differs from the paper in: the chapter names one method, a linear regression between real and predicted values, and
    does not say of which on which ("linear" and "inverse" are the two readings); it gives :math:`E(\hat y/y) = 1` as a
    condition and no method for it. "isotonic", "ratio" and "local" are not in it.
    """

    takes = Takes(("points", "distributions"))

    def __init__(self, method: str = "linear") -> None:
        self.method = method

    def fit(self, forecasts: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """Learn from n predictions and their outcomes.

        Parameters
        ----------
        forecasts : array-like (n,) or (n, 1), or Distribution or what `as_distribution` takes
            Point predictions; the means of distributions.
        y : array-like (n,)
        sample_weight : array-like (n,), optional
        """
        one_of(self.method, "method", tuple(FITS))
        if y is None:
            raise ValueError("fit requires y to be passed, but the target y is None.")
        return super().fit(forecasts, y, sample_weight=sample_weight)

    def predict(self, forecasts: Any) -> Array:
        """Calibrated predictions (n,); of distributions, their calibrated means."""
        calibrated: Any = self.transform(forecasts)
        return calibrated.mean() if isinstance(calibrated, Distribution) else np.asarray(calibrated)

    def _read(self, forecasts: Any) -> Any:
        if isinstance(forecasts, (tuple, dict, Distribution)) or not _is_column(forecasts):
            return as_distribution(forecasts)
        hint = "NaN and inf cannot be calibrated."
        return column(finite(to_array(forecasts, "forecasts"), "forecasts", hint), "forecasts")

    def _fit(self, forecasts: Any, y: Array, weights: Array | None) -> None:
        self.curve_: BentLine = fit_curve(self.method, _points(forecasts), y, weights)

    def _transform(self, forecasts: Any) -> Any:
        points = _points(forecasts)
        calibrated = self.curve_(points)
        return moved(forecasts, calibrated - points) if isinstance(forecasts, Distribution) else calibrated

    def __sklearn_tags__(self) -> Any:
        """One column of predictions, (n,) or (n, 1)."""
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False  # of many columns
        return tags


def _points(forecasts: Any) -> Array:
    """The predictions, or the means of distributions."""
    if not isinstance(forecasts, Distribution):
        return np.asarray(forecasts)
    return finite(forecasts.mean(), "means of forecasts", "Laws without a mean? Give PointCalibrator their medians.")
