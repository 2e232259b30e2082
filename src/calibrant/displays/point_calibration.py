"""Predicted against real values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._checks import Array, one_of
from ..distributions.base import Distribution
from ..metrics.point_table import point_summary
from ..metrics.points import paired_points
from ..regression.points.curves import FITS, fit_curve
from ._axes import COLOURS, GREY, axes_or_new, dress, has_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

POINTS = 2000  # drawn at most; more would hide the curve
CURVE = 200
SEED = 0  # of the choice of points
DIAGONAL = "_diagonal"  # a label with an underscore stays out of the legend


@dataclass(kw_only=True)
class PointCalibrationDisplay:
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
    name: str | None = None
    points_: PathCollection = field(init=False, repr=False)
    line_: Line2D = field(init=False, repr=False)
    diagonal_: Line2D | None = field(init=False, repr=False)
    ax_: Axes = field(init=False, repr=False)
    figure_: Figure = field(init=False, repr=False)

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_pred: Any, *, method: str = "local", name: str | None = None, sample_weight: Any = None
    ) -> Self:
        """Compute the curve of predictions.

        Parameters
        ----------
        y_true : array-like (n,)
            Outcomes.
        y_pred : array-like (n,) or Distribution
            Point predictions; the means of a Distribution.
        method : {"local", "linear", "isotonic", "ratio"}
            Kind of curve, as in `PointCalibrator`.
        name : str, optional
            What to call the predictions in the legend.
        sample_weight : array-like (n,), optional
            Frequencies: weight 2 is the row twice.

        Returns
        -------
        PointCalibrationDisplay
        """
        one_of(method, "method", tuple(FITS))
        point = y_pred.mean() if isinstance(y_pred, Distribution) else y_pred
        real, predicted, weights = paired_points(y_true, point, sample_weight)
        grid = np.linspace(predicted.min(), predicted.max(), CURVE)
        curve = fit_curve(method, predicted, real, weights)(grid)
        overall = point_summary(real, predicted, groups=1, sample_weight=weights).overall
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
    def from_estimator(cls, model: Any, X: Any, y: Any, *, name: str | None = None, **options: Any) -> Self:
        """Compute the curve of what a fitted regressor predicts; options are those of :meth:`from_predictions`."""
        return cls.from_predictions(y, model.predict(X), name=name or type(model).__name__, **options)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw points and curve; on axes that hold some already, add to them.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless told.
        name : str, optional
            What to call the predictions instead of their own name.
        **kwargs
            For matplotlib's ``plot`` of the curve.

        Returns
        -------
        self
        """
        self.ax_, self.figure_ = axes_or_new(ax, (4.8, 4.8))
        self._draw_reference(self.ax_)
        title = self.name if name is None else name
        label = f"{title + ': ' if title else ''}mean error {self.mean_error:.3g} ± {self.standard_error:.2g}"
        colour = COLOURS[(len(self.ax_.lines) - 1) % len(COLOURS)]
        style: dict[str, Any] = {"color": colour, "linewidth": 2, "label": label} | kwargs
        (self.line_,) = self.ax_.plot(self.curve_predicted, self.curve_real, **style)
        dots: dict[str, Any] = {"s": 9, "alpha": 0.3, "linewidths": 0, "color": self.line_.get_color()}
        self.points_ = self.ax_.scatter(self.predicted, self.real, zorder=1.5, **dots)
        self.ax_.legend(loc="upper left", frameon=False, fontsize="small")
        return self

    def _draw_reference(self, ax: Axes) -> None:
        """The diagonal, once for all predictions."""
        self.diagonal_ = None
        if not has_label(ax, DIAGONAL):
            dress(ax)
            self.diagonal_ = ax.axline((0, 0), slope=1, color=GREY, linewidth=1, label=DIAGONAL)
            ax.set(xlabel="Predicted", ylabel="Real")


def _chosen(rows: int, weights: Array | None) -> Any:
    """All rows, or some of many; heavy ones more likely."""
    if rows <= POINTS:
        return slice(None)
    chance = None if weights is None else weights / weights.sum()
    some = POINTS if weights is None else min(POINTS, int(np.count_nonzero(weights)))
    return np.sort(np.random.default_rng(SEED).choice(rows, some, replace=False, p=chance))
