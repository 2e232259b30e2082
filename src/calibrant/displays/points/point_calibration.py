"""Predicted against real values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..._checks import Array, one_of
from ..._types import Numbers, Weights
from ...distributions.base import Distribution
from ...metrics.points.errors import Points, paired_points
from ...metrics.points.table import point_summary
from ...regression.points.curves import FITS, fit_curve
from .._axes import DIAGONAL, GREY
from .._base import CurveDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.lines import Line2D

POINTS = 2000  # drawn at most; more would hide the curve
CURVE = 200
SEED = 0  # of the choice of points


@dataclass(kw_only=True, eq=False, repr=False)
class PointCalibrationDisplay(CurveDisplay):
    r"""Real values against predicted ones, with the curve of what to expect given the prediction.

    The curve :math:`E(y \mid \hat y)` of calibrated predictions (type RD of Bella et al. 2010, fig. 2) is the diagonal;
    where it is above, predictions are too low. It is the curve by which `PointCalibrator` would put them right.

    Make it with :meth:`from_predictions` or :meth:`from_estimator`. Call ``plot(ax=...)`` of a second display on the
    axes of the first to compare, before and after calibration say.

    Attributes
    ----------
    predicted, real : arrays (m,)
        Points: all rows, or 2 000 chosen at random, always with the same seed.
    curve_predicted, curve_real : arrays (k,)
        The curve, over the range of the predictions.
    mean_error, standard_error : float
        Mean of predicted - real over all rows, and its standard error.
    relative_mse : float
        As in `metrics.relative_mse`.
    name : str or None
        What is drawn.
    points_, line_, diagonal_, ax_, figure_
        What :meth:`plot` drew; ``diagonal_`` is None where the axes had it already.

    Examples
    --------
    >>> from calibrant.displays import PointCalibrationDisplay
    >>> display = PointCalibrationDisplay.from_predictions([3.0, 5.0, 7.0], [1.0, 2.0, 3.0], method="linear")
    >>> display.mean_error, display.curve_real[[0, -1]]
    (-3.0, array([3., 7.]))
    """

    predicted: Array
    real: Array
    curve_predicted: Array
    curve_real: Array
    mean_error: float
    standard_error: float
    relative_mse: float
    points_: PathCollection = field(init=False)

    @classmethod
    def from_predictions(
        cls,
        y_true: Numbers,
        y_pred: Points,
        *,
        method: str = "local",
        name: str | None = None,
        sample_weight: Weights = None,
    ) -> Self:
        """Compute the curve of predictions.

        Parameters
        ----------
        y_true, y_pred, sample_weight
            As in `metrics.mse`.
        method : {"local", "linear", "isotonic", "ratio", "mean-ratio", "inverse"}
            Kind of curve, as in `PointCalibrator`.
        name : str, optional
            What to call the predictions in the legend.
        """
        one_of(method, "method", tuple(FITS))
        point = y_pred.mean() if isinstance(y_pred, Distribution) else y_pred
        real, predicted, weights = paired_points(y_true, point, sample_weight)
        grid = np.linspace(predicted.min(), predicted.max(), CURVE)
        curve = fit_curve(method, predicted, real, weights)(grid)
        overall = point_summary(real, predicted, n_bins=1, sample_weight=weights).overall
        rows = _chosen(len(real), weights)
        return cls(
            predicted=predicted[rows],
            real=real[rows],
            curve_predicted=grid,
            curve_real=curve,
            mean_error=overall["mean_error"],
            standard_error=overall["standard_error"],
            relative_mse=overall["relative_mse"],
            name=name,
        )

    @classmethod
    def _predicted(cls, model: Any, X: Any) -> Any:
        return model.predict(X)

    def _words(self) -> str:
        return f"mean error {self.mean_error:.3g} ± {self.standard_error:.2g}"

    def _draw_diagonal(self, ax: Axes) -> Line2D:
        ax.set(xlabel="Predicted", ylabel="Real")
        return ax.axline((0, 0), slope=1, color=GREY, linewidth=1, label=DIAGONAL)

    def _draw_curve(self, ax: Axes, title: str, kwargs: dict[str, Any]) -> None:
        self._draw_line(self.curve_predicted, self.curve_real, title, {"linewidth": 2} | kwargs)
        style: dict[str, Any] = {"s": 9, "alpha": 0.3, "linewidths": 0, "color": self.line_.get_color()}
        self.points_ = ax.scatter(self.predicted, self.real, zorder=1.5, **style)


def _chosen(rows: int, weights: Array | None) -> Any:
    """All rows, or some of many; heavy ones more likely."""
    if rows <= POINTS:
        return slice(None)
    chance = None if weights is None else weights / weights.sum()
    some = POINTS if weights is None else min(POINTS, int(np.count_nonzero(weights)))
    return np.sort(np.random.default_rng(SEED).choice(rows, some, replace=False, p=chance))
