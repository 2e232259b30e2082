"""Reliability at several thresholds of the outcome."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._types import Numbers, Weights
from ..metrics import ThresholdReliability, threshold_reliability
from ._axes import add_legend, add_title, dashed_diagonal, dress
from ._base import ForecastDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


@dataclass(kw_only=True, eq=False, repr=False)
class ThresholdReliabilityDisplay(ForecastDisplay):
    r"""Observed frequency of :math:`Y \le t` against its forecast probability, a line per threshold.

    Song et al. (2018), fig. 5: there with ``spaced="even"`` thresholds and 8 ``bins="width"`` of the probability.

    All lines on the diagonal: threshold-calibrated. Make it with :meth:`from_predictions` or :meth:`from_estimator`.

    Attributes
    ----------
    reliability : ThresholdReliability
        What `metrics.threshold_reliability` computed.
    name : str or None
        What is drawn.
    lines_, diagonal_, ax_, figure_
        What :meth:`plot` drew.

    Examples
    --------
    >>> from calibrant import Normal
    >>> from calibrant.displays import ThresholdReliabilityDisplay
    >>> law = Normal([-1.0, -1.0, 1.0, 1.0], 1.0)
    >>> display = ThresholdReliabilityDisplay.from_predictions([-2.0, 0.5, -0.5, 2.0], law, thresholds=[0.0], n_bins=2)
    >>> display.reliability.observed
    array([[0.5, 0.5]])
    """

    _size = (4.6, 4.4)

    reliability: ThresholdReliability
    lines_: list[Line2D] = field(init=False)
    diagonal_: Line2D = field(init=False)

    @classmethod
    def from_predictions(
        cls,
        y_true: Numbers,
        dist: Any,
        *,
        thresholds: Numbers = 16,
        n_bins: int = 8,
        name: str | None = None,
        sample_weight: Weights = None,
        **places: Any,
    ) -> Self:
        """Compute the lines of forecasts; parameters, ``spaced`` and ``bins`` too, as in `threshold_reliability`."""
        options: dict[str, Any] = {"thresholds": thresholds, "n_bins": n_bins} | places
        curve = threshold_reliability(y_true, dist, sample_weight=sample_weight, **options)
        return cls(reliability=curve, name=name)

    def _words(self) -> str:
        t, bins = self.reliability.thresholds, self.reliability.forecast.shape[1]
        return f"{len(t)} thresholds from {t[0]:.3g} to {t[-1]:.3g}, {bins} bins"

    def _draw(self, ax: Axes, title: str, kwargs: dict[str, Any]) -> None:
        import matplotlib

        dress(ax)
        self.diagonal_ = dashed_diagonal(ax)
        curve = self.reliability
        colours = matplotlib.colormaps["viridis"](np.linspace(0, 0.9, len(curve.thresholds)))
        self.lines_ = []
        for t, q, r, colour in zip(curve.thresholds, curve.forecast, curve.observed, colours, strict=True):
            style: dict[str, Any] = {"color": colour, "linewidth": 1.4, "marker": "o", "markersize": 3}
            some = ~np.isnan(q)  # empty bins
            self.lines_ += ax.plot(q[some], r[some], **(style | {"label": f"y ≤ {t:.3g}"} | kwargs))
        ax.set(
            xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="Forecast probability of Y ≤ t", ylabel="Observed frequency"
        )
        ax.set_aspect("equal")
        add_legend(ax, "upper left", handles=[self.lines_[0], self.lines_[-1]])
        add_title(ax, title)
