"""Sharpness: how wide the forecasts are, as a distribution over the rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._checks import Array, sample_weights
from ..adapters import as_distribution
from ._axes import COLOURS, axes_or_new, dress, predicted_law

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

POINTS = 512  # drawn at most


@dataclass(kw_only=True)
class SharpnessDisplay:
    r"""Share of the forecasts whose standard deviation is at most s, against s; a dot marks the mean.

    Among calibrated forecasts the sharper ones, further to the left, are better (Gneiting et al. 2007). Forecasts whose
    standard deviation is infinite are left out.

    Make it with :meth:`from_predictions` or :meth:`from_estimator`. Call ``plot(ax=...)`` of a second display on the
    axes of the first to compare.

    Attributes
    ----------
    std : array (m,)
        Standard deviations, increasing.
    share : array (m,)
        Share of the forecasts that are at least as sharp.
    mean : float
        Mean standard deviation.
    name : str or None
        What is drawn.
    line_, dot_, ax_, figure_
        What :meth:`plot` drew.

    Examples
    --------
    >>> from calibrant import Normal
    >>> from calibrant.displays.sharpness import SharpnessDisplay
    >>> display = SharpnessDisplay.from_predictions(Normal([0.0, 0.0], [3.0, 1.0]))
    >>> display.std, display.share, display.mean
    (array([1., 3.]), array([0.5, 1. ]), 2.0)
    """

    std: Array
    share: Array
    mean: float
    name: str | None = None
    line_: Line2D = field(init=False, repr=False)
    dot_: Line2D = field(init=False, repr=False)
    ax_: Axes = field(init=False, repr=False)
    figure_: Figure = field(init=False, repr=False)

    @classmethod
    def from_predictions(cls, dist: Any, *, name: str | None = None, sample_weight: Any = None) -> Self:
        """Compute the shares of forecasts.

        Parameters
        ----------
        dist : Distribution, or what ``as_distribution`` accepts
            n forecasts.
        name : str, optional
            What to call them in the legend.
        sample_weight : array-like (n,), optional
            Frequencies: weight 2 is the row twice.

        Returns
        -------
        SharpnessDisplay
        """
        std = as_distribution(dist).std()
        weights = sample_weights(sample_weight, len(std))
        weights = np.ones(len(std)) if weights is None else weights
        kept = np.isfinite(std) & (weights > 0)
        if not kept.any():
            raise ValueError(f"`dist` must have finite standard deviations; none of {len(std)} forecasts has one.")
        std, weights = std[kept], weights[kept]
        order = np.argsort(std, kind="stable")
        share = np.cumsum(weights[order]) / weights.sum()
        drawn = np.unique(np.linspace(0, len(std) - 1, min(len(std), POINTS)).round().astype(np.intp))
        mean = float(np.average(std, weights=weights))
        return cls(std=std[order][drawn], share=share[drawn], mean=mean, name=name)

    @classmethod
    def from_estimator(cls, model: Any, X: Any, *, name: str | None = None, **options: Any) -> Self:
        """Compute the shares of what a fitted model predicts; options are those of :meth:`from_predictions`."""
        return cls.from_predictions(predicted_law(model, X), name=name or type(model).__name__, **options)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the shares; on axes that hold some already, add to them.

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
        self.ax_, self.figure_ = axes_or_new(ax, (5.2, 3.6))
        ax, title = self.ax_, self.name if name is None else name
        label = f"{title + ': ' if title else ''}mean {self.mean:.4g}"
        colour = COLOURS[(len(ax.lines) // 2) % len(COLOURS)]
        style: dict[str, Any] = {"color": colour, "linewidth": 1.8, "label": label} | kwargs
        x, y = np.append(self.std[0], self.std), np.append(0.0, self.share)
        (self.line_,) = ax.plot(x, y, drawstyle="steps-post", **style)
        height = float(np.interp(self.mean, self.std, self.share))
        (self.dot_,) = ax.plot([self.mean], [height], "o", color=self.line_.get_color(), markersize=6)
        dress(ax)
        ax.set(ylim=(0, 1.02), xlabel="Predicted standard deviation", ylabel="Share of forecasts at least as sharp")
        ax.legend(loc="best", frameon=False, fontsize="small")
        return self
