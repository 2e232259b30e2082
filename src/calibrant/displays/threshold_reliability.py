"""Reliability at several thresholds of the outcome."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..metrics import ThresholdReliability, threshold_reliability
from ._axes import GREY, axes_or_new, dress, predicted_law

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


@dataclass(kw_only=True)
class ThresholdReliabilityDisplay:
    r"""Observed frequency of :math:`Y \le t` against its forecast probability, a line per threshold.

    Song et al. (2018), fig. 5.

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
    >>> display = ThresholdReliabilityDisplay.from_predictions([-2.0, 0.5, -0.5, 2.0], law, thresholds=[0.0], bins=2)
    >>> display.reliability.observed
    array([[0.5, 0.5]])
    """

    reliability: ThresholdReliability
    name: str | None = None
    lines_: list[Line2D] = field(init=False, repr=False)
    diagonal_: Line2D = field(init=False, repr=False)
    ax_: Axes = field(init=False, repr=False)
    figure_: Figure = field(init=False, repr=False)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        dist: Any,
        *,
        thresholds: Any = 16,
        bins: int = 8,
        name: str | None = None,
        sample_weight: Any = None,
    ) -> Self:
        """Compute the lines of forecasts; parameters as in `metrics.threshold_reliability`."""
        curve = threshold_reliability(y_true, dist, thresholds=thresholds, bins=bins, sample_weight=sample_weight)
        return cls(reliability=curve, name=name)

    @classmethod
    def from_estimator(cls, model: Any, X: Any, y: Any, *, name: str | None = None, **options: Any) -> Self:
        """Compute the lines of what a fitted model predicts; options are those of :meth:`from_predictions`."""
        return cls.from_predictions(y, predicted_law(model, X), name=name or type(model).__name__, **options)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the lines, dark for low thresholds, light for high ones.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless told.
        name : str, optional
            What to call them instead of their own name.
        **kwargs
            For matplotlib's ``plot``.

        Returns
        -------
        self
        """
        import matplotlib

        self.ax_, self.figure_ = axes_or_new(ax, (4.6, 4.4))
        ax, title = self.ax_, self.name if name is None else name
        dress(ax)
        self.diagonal_ = ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle="--")[0]
        curve = self.reliability
        colours = matplotlib.colormaps["viridis"](np.linspace(0, 0.9, len(curve.thresholds)))
        self.lines_ = []
        for t, q, r, colour in zip(curve.thresholds, curve.forecast, curve.observed, colours, strict=True):
            style: dict[str, Any] = {"color": colour, "linewidth": 1.4, "marker": "o", "markersize": 3}
            self.lines_ += ax.plot(q, r, **(style | {"label": f"y ≤ {t:.3g}"} | kwargs))
        ax.set(
            xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="Forecast probability of Y ≤ t", ylabel="Observed frequency"
        )
        ax.set_aspect("equal")
        ax.legend(handles=[self.lines_[0], self.lines_[-1]], loc="upper left", frameon=False, fontsize="small")
        if title:
            ax.set_title(title, fontsize="medium")
        return self
