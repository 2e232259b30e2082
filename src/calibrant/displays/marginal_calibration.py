"""Mean forecast against the outcomes, as distributions of y."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from scipy.special import ndtri

from .._checks import probability
from .._types import Numbers, Weights
from ..metrics import MarginalCalibration, marginal_calibration
from ._axes import COLOURS, GREY, add_legend, dress, has_label, percent
from ._base import ForecastDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D

_ZERO = "_marginally calibrated"  # a label with an underscore stays out of the legend


@dataclass(kw_only=True, eq=False, repr=False)
class MarginalCalibrationDisplay(ForecastDisplay):
    r"""Mean forecast probability of :math:`Y \le y` less the share of outcomes up to y, for every y.

    .. math:: \bar F(y) - \hat G(y)

    Gneiting, Balabdaoui and Raftery (2007): near 0 everywhere if the forecasts are marginally calibrated. Above 0
    forecasts put too much below y, below 0 too little: a wave up and then down is a forecaster whose mean law is too
    wide. The band holds the value of a perfect forecaster at each y by itself, not the whole curve.

    Make it with :meth:`from_predictions` or :meth:`from_estimator`; a second display may be plotted on the axes of the
    first.

    Attributes
    ----------
    curve : MarginalCalibration
        What `metrics.marginal_calibration` computed.
    coverage : float
        Probability of the band at each y.
    name : str or None
        What is drawn.
    line_, zero_, band_, ax_, figure_
        What :meth:`plot` drew; ``zero_`` is None where the axes had it already.

    Examples
    --------
    >>> from calibrant import Normal
    >>> from calibrant.displays import MarginalCalibrationDisplay
    >>> MarginalCalibrationDisplay.from_predictions([-1.0, 0.0, 3.0, 0.1], Normal([0.0] * 4, 1.0))
    <MarginalCalibrationDisplay: largest difference 0.25>
    """

    _size = (5.2, 3.6)

    curve: MarginalCalibration
    coverage: float = 0.95
    line_: Line2D = field(init=False)
    zero_: Line2D | None = field(init=False)
    band_: PolyCollection = field(init=False)

    @classmethod
    def from_predictions(
        cls,
        y_true: Numbers,
        dist: Any,
        *,
        points: Numbers = 256,
        coverage: float = 0.95,
        name: str | None = None,
        sample_weight: Weights = None,
    ) -> Self:
        """Compute the curve of forecasts; parameters as in `metrics.marginal_calibration`, coverage of the band."""
        share = probability(coverage, "coverage")
        curve = marginal_calibration(y_true, dist, points=points, sample_weight=sample_weight)
        return cls(curve=curve, coverage=share, name=name)

    def _words(self) -> str:
        return f"largest difference {self.curve.largest:.2g}"

    def _draw(self, ax: Axes, title: str, kwargs: dict[str, Any]) -> None:
        self.zero_, drawn = None, len(ax.lines) - 1
        if not has_label(ax, _ZERO):
            dress(ax)
            self.zero_, drawn = ax.axhline(0.0, color=GREY, linewidth=1, label=_ZERO), 0
        curve, reach = self.curve, float(ndtri(0.5 + self.coverage / 2)) * self.curve.noise
        label = f"{percent(self.coverage)} of perfect forecasters"
        style: dict[str, Any] = {
            "color": GREY,
            "alpha": 0.22,
            "linewidth": 0,
            "label": "_" * has_label(ax, label) + label,
        }
        self.band_ = ax.fill_between(curve.points, -reach, reach, **style)
        line: dict[str, Any] = {"color": COLOURS[drawn % len(COLOURS)], "linewidth": 1.5, "label": self._label(title)}
        line |= kwargs
        (self.line_,) = ax.plot(curve.points, curve.difference, **line)
        ax.set(xlabel="Outcome y", ylabel="Mean forecast less share of outcomes")
        add_legend(ax, "best")
