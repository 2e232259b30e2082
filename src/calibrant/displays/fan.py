"""Forecast fan: nested intervals, median and outcomes along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from .._checks import Array, complain, count, nonempty, probabilities, same_length, to_array
from .._types import Numbers
from ..adapters import as_distribution
from ..adapters.places import positions
from ._axes import COLOURS, add_legend, add_title, dress, percent, short_dates
from ._base import ForecastDisplay
from ._blocks import Blocks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.lines import Line2D


@dataclass(kw_only=True, eq=False, repr=False)
class FanDisplay(ForecastDisplay):
    """Forecasts along time or a feature: central intervals inside each other, the median, and the outcomes as dots.

    Kuleshov et al. (2018), fig. 1 and 6. With outcomes, the legend says how many of them each interval holds.

    Thousands of rows are read in blocks of consecutive ones: the mean of their medians and of the ends of their
    intervals, and a bar that holds as many of the block's outcomes as the widest interval should, each measured on its
    own interval. Calibrated forecasts have bars as long as the shade; longer ones tell of too narrow forecasts.

    Make it with :meth:`from_predictions` or :meth:`from_estimator`.

    Attributes
    ----------
    x : array (n,)
        Positions, increasing; all other arrays are in the same order.
    median : array (n,)
        Predicted medians.
    coverages : array (k,)
        Nominal coverage of the intervals, widest first.
    lower, upper : arrays (n, k)
        Ends of the intervals.
    y_true : array (n,) or None
        Outcomes; NaN where there is none yet.
    observed : array (k,) or None
        Share of the outcomes in each interval.
    bars : array (n, 2) or None
        Of blocks, the ends of their bars; ``y_true`` then is the middle of their outcomes.
    rows : int
        How many forecasts there are, drawn one by one or in blocks.
    name : str or None
        What is drawn.
    bands_, line_, dots_, bars_, ax_, figure_
        What :meth:`plot` drew; ``dots_`` is None without outcomes, ``bars_`` without blocks.

    Examples
    --------
    >>> from calibrant import Normal
    >>> from calibrant.displays import FanDisplay
    >>> fan = FanDisplay.from_predictions([0.5, 3.5], Normal([0.0, 1.0], 1.0), x=[2020, 2010])
    >>> fan.x, fan.median, fan.observed
    (array([2010, 2020]), array([1., 0.]), array([0.5, 0.5, 0.5]))

    Differs from the paper in: several intervals inside each other, not the one of 90 %; blocks of many rows.
    """

    _size = (7.2, 3.8)

    x: NDArray[Any]
    median: Array
    coverages: Array
    lower: Array
    upper: Array
    y_true: Array | None = None
    observed: Array | None = None
    bars: Array | None = None
    rows: int = 0
    bands_: list[PolyCollection] = field(init=False)
    line_: Line2D = field(init=False)
    dots_: Line2D | None = field(init=False)
    bars_: LineCollection | None = field(init=False)

    @classmethod
    def from_predictions(
        cls,
        y_true: Numbers | None,
        dist: Any,
        *,
        x: Any = None,
        coverages: Sequence[float] = (0.5, 0.8, 0.9),
        blocks: int | None = None,
        name: str | None = None,
    ) -> Self:
        """Compute the intervals of forecasts.

        Parameters
        ----------
        y_true : array-like (n,) or None
            Outcomes, NaN where there is none yet; None if there are none at all.
        dist : Distribution, or what ``as_distribution`` accepts
            n forecasts.
        x : array-like (n,), optional
            Where the forecasts stand: numbers or dates, in any order. The number of the row unless told.
        coverages : sequence of float
            Nominal coverage of the intervals.
        blocks : int, optional
            Number of blocks of consecutive rows to draw instead of single rows.
        name : str, optional
            What to call it in the title.
        """
        law = as_distribution(dist)
        median = nonempty(law.median(), "dist")
        nominal = np.sort(nonempty(probabilities(coverages, "coverages"), "coverages"))[::-1]
        places = positions(x, len(law))
        order = np.argsort(places, kind="stable")
        ends = law.quantiles(np.concatenate([0.5 - nominal / 2, 0.5 + nominal / 2]))[order]
        lower, upper = ends[:, : len(nominal)], ends[:, len(nominal) :]
        y = None if y_true is None else _outcomes(y_true, len(law))[order]
        drawn = Blocks(places[order], median[order], lower, upper, y)
        drawn = drawn if blocks is None else drawn.joined(count(blocks, "blocks"), float(nominal[0]))
        observed = None if y is None else _shares_inside(y, lower, upper)
        return cls(**vars(drawn), coverages=nominal, observed=observed, rows=len(law), name=name)

    @classmethod
    def from_estimator(cls, model: Any, X: Any, y: Any = None, *, name: str | None = None, **options: Any) -> Self:
        """Compute the intervals that a fitted model predicts; options are those of :meth:`from_predictions`."""
        return super().from_estimator(model, X, y, name=name, **options)

    def _words(self) -> str:
        return f"{self.rows} forecasts, " + ", ".join(self._band_label(k) for k in range(len(self.coverages)))

    def _draw(self, ax: Axes, title: str, kwargs: dict[str, Any]) -> None:
        dress(ax)
        style: dict[str, Any] = {"color": COLOURS[0], "alpha": 0.18, "linewidth": 0} | kwargs
        self.bands_ = [
            ax.fill_between(self.x, self.lower[:, k], self.upper[:, k], label=self._band_label(k), **style)
            for k in range(len(self.coverages))
        ]
        (self.line_,) = ax.plot(self.x, self.median, color=style["color"], linewidth=1.6, label="median")
        self.dots_ = self.bars_ = None
        if self.y_true is not None:
            ink = ax.xaxis.label.get_color()  # that of text, so that dots show on dark pages too
            what = "outcome" if self.bars is None else "outcomes of a block"
            (self.dots_,) = ax.plot(self.x, self.y_true, "o", color=ink, markersize=2.8, label=what)
            self.bars_ = None if self.bars is None else ax.vlines(self.x, *self.bars.T, color=ink, linewidth=0.9)
        add_title(ax, title, loc="left", pad=24)
        self._finish(ax, style["alpha"])

    def _finish(self, ax: Axes, alpha: float) -> None:
        """Short dates, and above the data a legend with the shades of the intervals where they overlap."""
        ax.margins(x=0.01)
        if self.x.dtype.kind == "M":
            short_dates(ax.xaxis)
        place: dict[str, Any] = {"bbox_to_anchor": (0, 1), "borderaxespad": 0.2, "ncols": 9}
        legend = add_legend(ax, "lower left", **place, handlelength=1.4, columnspacing=1.2, borderpad=0)
        for k, patch in enumerate(legend.get_patches()):
            patch.set_alpha(1 - (1 - alpha) ** (k + 1))

    def _band_label(self, k: int) -> str:
        nominal = percent(self.coverages[k])
        return nominal if self.observed is None else f"{nominal} (holds {percent(round(self.observed[k], 2))})"


def _outcomes(y_true: Any, rows: int) -> Array:
    """One outcome per forecast, NaN where there is none yet."""
    y = to_array(y_true, "y_true")
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"`y_true` must be 1-dimensional; got shape {y.shape}.")
    same_length(y, "y_true", rows)
    complain("y_true", "finite or missing", y, np.isinf(y))
    return y


def _shares_inside(y: Array, lower: Array, upper: Array) -> Array | None:
    """Share of the outcomes that are there in each interval; None where there are none."""
    known = ~np.isnan(y)
    if not known.any():
        return None
    inside = (lower[known] <= y[known, None]) & (y[known, None] <= upper[known])
    return np.asarray(inside.mean(axis=0))
