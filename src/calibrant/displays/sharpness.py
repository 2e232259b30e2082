"""Sharpness: how wide the forecasts are, as a distribution over the rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._checks import Array, probability, sample_weights
from .._types import Weights
from ..adapters import as_distribution
from ..adapters.predicted import predicted_law
from ..distributions.base import Distribution
from ._axes import COLOURS, add_legend, dress, evenly, percent
from ._base import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

POINTS = 512  # drawn at most


@dataclass(kw_only=True, eq=False, repr=False)
class SharpnessDisplay(Display):
    r"""Share of the forecasts whose standard deviation is at most s, against s; a dot marks the mean.

    Among calibrated forecasts the sharper ones, further to the left, are better (Gneiting et al. 2007). Forecasts whose
    standard deviation is infinite are left out. With ``coverage``, the width of central intervals, which is always
    finite, takes the place of the standard deviation.

    Make it with :meth:`from_forecasts` or :meth:`from_estimator`. Call ``plot(ax=...)`` of a second display on the
    axes of the first to compare.

    Attributes
    ----------
    std : array (m,)
        Standard deviations, or widths of intervals, increasing.
    share : array (m,)
        Share of the forecasts that are at least as sharp.
    mean : float
        Their mean.
    coverage : float or None
        Of the intervals whose width is drawn.
    name : str or None
        What is drawn.
    line_, dot_, ax_, figure_
        What :meth:`plot` drew.

    Examples
    --------
    >>> from calibrant import Normal
    >>> from calibrant.displays.sharpness import SharpnessDisplay
    >>> display = SharpnessDisplay.from_forecasts(Normal([0.0, 0.0], [3.0, 1.0]))
    >>> display.std, display.share, display.mean
    (array([1., 3.]), array([0.5, 1. ]), 2.0)
    """

    _size = (5.2, 3.6)

    std: Array
    share: Array
    mean: float
    coverage: float | None = None
    line_: Line2D = field(init=False)
    dot_: Line2D = field(init=False)

    @classmethod
    def from_forecasts(
        cls, dist: Any, *, coverage: float | None = None, name: str | None = None, sample_weight: Weights = None
    ) -> Self:
        """Compute the shares of forecasts.

        Parameters
        ----------
        dist : Distribution, or what ``as_distribution`` accepts
            n forecasts.
        coverage : float, optional
            Draw the width of central intervals of this coverage instead of the standard deviation.
        name : str, optional
            What to call them in the legend.
        sample_weight : array-like (n,), optional
            Frequencies: weight 2 is the row twice.
        """
        std = _spread(as_distribution(dist), coverage)
        weights = sample_weights(sample_weight, len(std))
        weights = np.ones(len(std)) if weights is None else weights
        kept = np.isfinite(std) & (weights > 0)
        if not kept.any():
            raise ValueError(f"`dist` must have finite standard deviations; none of {len(std)} forecasts has one.")
        std, weights = std[kept], weights[kept]
        order = np.argsort(std, kind="stable")
        share = np.cumsum(weights[order]) / weights.sum()
        drawn = evenly(len(std), POINTS)
        mean = float(np.average(std, weights=weights))
        return cls(std=std[order][drawn], share=share[drawn], mean=mean, coverage=coverage, name=name)

    @classmethod
    def from_estimator(cls, model: Any, X: Any, *, name: str | None = None, **options: Any) -> Self:
        """Compute the shares of what a fitted model predicts; options are those of :meth:`from_forecasts`."""
        return cls.from_forecasts(predicted_law(model, X), name=name or type(model).__name__, **options)

    def _words(self) -> str:
        return f"mean {self.mean:.4g}"

    def _draw(self, ax: Axes, title: str, kwargs: dict[str, Any]) -> None:
        colour = COLOURS[(len(ax.lines) // 2) % len(COLOURS)]
        style: dict[str, Any] = {"color": colour, "linewidth": 1.8, "label": self._label(title)} | kwargs
        x, y = np.append(self.std[0], self.std), np.append(0.0, self.share)
        (self.line_,) = ax.plot(x, y, drawstyle="steps-post", **style)
        height = float(np.interp(self.mean, self.std, self.share))
        (self.dot_,) = ax.plot([self.mean], [height], "o", color=self.line_.get_color(), markersize=6)
        dress(ax)
        what = "standard deviation" if self.coverage is None else f"width of {percent(self.coverage)} intervals"
        ax.set(ylim=(0, 1.02), xlabel=f"Predicted {what}", ylabel="Share of forecasts at least as sharp")
        add_legend(ax, "best")


def _spread(law: Distribution, coverage: float | None) -> Array:
    if coverage is None:
        return law.std()
    low, high = law.interval(probability(coverage, "coverage")).T
    return np.asarray(high - low)
