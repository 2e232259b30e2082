"""REC curve: which share of the predictions is good enough, for every tolerance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..._checks import Array
from ..._types import Numbers, Weights
from ...metrics.points.errors import Points, paired_points
from ...metrics.points.tolerance import error_tolerance
from .._axes import COLOURS, GREY, add_legend, dress, evenly, has_label
from .._base import ForecastDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

CORNERS = 2048  # drawn at most; more could not be seen
_NULL = "mean outcome"
_CURVE = "rec curve"  # how the lines of this picture are known


@dataclass(kw_only=True, eq=False, repr=False)
class RECDisplay(ForecastDisplay):
    r"""Share of predictions whose absolute error is at most a tolerance, against the tolerance.

    What ROC curves are to classifiers: the regression error characteristic of Bi and Bennett (2003), which Bella et al.
    (2010) call their counterpart. The area over the curve is the mean absolute error; a curve that lies above another
    everywhere is better at every tolerance. The grey one is that of always predicting the mean outcome.

    Make it with :meth:`from_predictions` or :meth:`from_estimator`. Call ``plot(ax=...)`` of a second display on the
    axes of the first to compare, before and after calibration say.

    Attributes
    ----------
    tolerances, shares : arrays (m,)
        Corners of the curve.
    area : float
        Area over the curve, the mean absolute error.
    null_tolerances, null_shares : arrays (k,)
        Corners of the curve of the mean outcome.
    null_area : float
        Area over it.
    name : str or None
        What is drawn.
    line_, null_, ax_, figure_
        What :meth:`plot` drew; ``null_`` is None where the axes had it already.

    Examples
    --------
    >>> from calibrant.displays import RECDisplay
    >>> display = RECDisplay.from_predictions([1.0, 2.0, 3.0, 4.0], [1.5, 2.0, 5.0, 4.5])
    >>> display.tolerances, display.shares, display.area
    (array([0. , 0.5, 2. ]), array([0.25, 0.75, 1.  ]), 0.75)

    Differs from the paper in: the chapter names REC analysis and draws none; the curve is Bi and Bennett's.
    """

    _size = (5.2, 3.6)

    tolerances: Array
    shares: Array
    area: float
    null_tolerances: Array
    null_shares: Array
    null_area: float
    line_: Line2D = field(init=False)
    null_: Line2D | None = field(init=False)

    @classmethod
    def from_predictions(
        cls, y_true: Numbers, y_pred: Points, *, name: str | None = None, sample_weight: Weights = None
    ) -> Self:
        """Compute the curve of predictions.

        Parameters
        ----------
        y_true, y_pred, sample_weight
            As in `metrics.error_tolerance`; of laws the medians.
        name : str, optional
            What to call the predictions in the legend.
        """
        y, point, weights = paired_points(y_true, y_pred, sample_weight)
        curve = error_tolerance(y, point, sample_weight=weights)
        mean = np.full(len(y), np.average(y, weights=weights))
        null = error_tolerance(y, mean, sample_weight=weights)
        kept, null_kept = evenly(len(curve.shares), CORNERS), evenly(len(null.shares), CORNERS)
        return cls(
            tolerances=curve.tolerances[kept],
            shares=curve.shares[kept],
            area=curve.area,
            null_tolerances=null.tolerances[null_kept],
            null_shares=null.shares[null_kept],
            null_area=null.area,
            name=name,
        )

    @classmethod
    def _predicted(cls, model: Any, X: Any) -> Any:
        return model.predict(X)

    def _words(self) -> str:
        return f"mean absolute error {self.area:.4g}"

    def _draw(self, ax: Axes, title: str, kwargs: dict[str, Any]) -> None:
        drawn = sum(line.get_gid() == _CURVE for line in ax.lines)
        self.null_ = None
        label = f"{_NULL}: {self.null_area:.4g}"
        if not has_label(ax, label):
            dress(ax)
            grey: dict[str, Any] = {"color": GREY, "linewidth": 1, "drawstyle": "steps-post"}
            (self.null_,) = ax.plot(self.null_tolerances, self.null_shares, label=label, **grey)
        style: dict[str, Any] = {"color": COLOURS[drawn % len(COLOURS)], "linewidth": 1.8, "drawstyle": "steps-post"}
        (self.line_,) = ax.plot(
            self.tolerances, self.shares, gid=_CURVE, **style | {"label": self._label(title)} | kwargs
        )
        ax.set(xlim=(0, None), ylim=(0, 1.02), xlabel="Tolerance", ylabel="Share of predictions within it")
        add_legend(ax, "lower right")
