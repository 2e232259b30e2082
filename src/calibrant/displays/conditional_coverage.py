"""Coverage along time, the predicted level, the predicted width or a feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from .._checks import interval_levels, sample_weights
from .._types import Numbers, Weights
from ..adapters import as_distribution
from ..adapters.places import positions
from ..metrics._inputs import equal_mass_bins
from ._axes import COLOURS, MOST_TICKS, add_title, dress, percents, short_dates
from ._base import Display
from ._shares import (
    Sides,
    coverage_label,
    draw_dots,
    draw_goal,
    forecasts_by_name,
    legend_above,
    nominal_of,
    shares_inside,
    spelled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

APART = 0.16  # of two forecasts of one bin, in bins
WORDS = {"level": "Predicted median", "width": "Width of the predicted interval"}


@dataclass(kw_only=True, eq=False, repr=False)
class ConditionalCoverageDisplay(Display):
    r"""Share of outcomes in central intervals, in bins of equal numbers of rows along time or anything else.

    .. math:: \hat c_b = \frac1{n_b} \#\{t : x_t \in b,\ l_t \le y_t \le u_t\}

    Forecasts may keep their promise on average and break it in every bin: too wide where the outcome is easy, too
    narrow where it is hard, or right last year and wrong now. Bins of numbers stand side by side with the same width,
    and the axis tells where they begin; along dates they stand at their dates.

    Make it with :meth:`from_predictions`, or from numbers that are there already.

    Attributes
    ----------
    low, high : arrays (m,)
        The least and the largest x of each bin, numbers or dates.
    sides : dict of arrays (m, 3)
        By name of the forecasts: value, low and high end of each bin.
    goal : float
        The value of calibrated forecasts.
    label, along : str
        What the values are, and what x is.
    colors : sequence of str
        One for each of the forecasts.
    dots_, goal_, ax_, figure_
        What :meth:`plot` drew; the dots by name of the forecasts.

    Examples
    --------
    >>> from calibrant import Normal
    >>> from calibrant.displays import ConditionalCoverageDisplay
    >>> y, law = [0.1, 2.0, 0.2, -0.3], Normal([0.0] * 4, 1.0)
    >>> display = ConditionalCoverageDisplay.from_predictions(y, law, x=[2021, 2020, 2022, 2019], n_bins=2)
    >>> display.low, display.high, display.sides["forecasts"][:, 0]
    (array([2019, 2021]), array([2020, 2022]), array([0.5, 1. ]))
    """

    _size = (5.6, 3.4)

    low: NDArray[Any]
    high: NDArray[Any]
    sides: Sides
    goal: float = 0.9
    label: str = coverage_label(0.9)
    along: str = ""
    colors: Sequence[str] = COLOURS
    dots_: dict[str, list[Line2D]] = field(init=False)
    goal_: Line2D = field(init=False)

    @classmethod
    def from_predictions(
        cls,
        y_true: Numbers,
        dists: Any,
        *,
        x: Any = "level",
        n_bins: int = 10,
        coverage: float | tuple[float, float] = 0.9,
        name: str | None = None,
        sample_weight: Weights = None,
    ) -> Self:
        """Compute the shares of forecasts.

        Parameters
        ----------
        y_true, sample_weight
            As in `metrics.coverage`.
        dists : Distribution, or what ``as_distribution`` accepts; or a dict of such
            n forecasts; several, by name, are drawn beside each other.
        x : "level", "width" or array-like (n,)
            What bins are made of: the predicted median, the width of the interval, both of the first forecasts, or
            numbers or dates of your own.
        n_bins : int
            How many.
        coverage : float, or pair of float
            Of the central intervals; or the levels of their ends, (0.05, 0.5) say.
        name : str, optional
            What to call a single forecast.
        """
        by_name = forecasts_by_name(dists, name)
        places = _along(x, as_distribution(next(iter(by_name.values()))), coverage)
        weights = sample_weights(sample_weight, len(places))
        labels = equal_mass_bins(places.astype(np.float64), weights, n_bins)
        parts = [np.flatnonzero(labels == k) for k in np.unique(labels)]
        sides = shares_inside(y_true, by_name, parts, coverage, sample_weight)
        ends = [np.array([pick(places[rows]) for rows in parts]) for pick in (np.min, np.max)]
        words = {"label": coverage_label(coverage), "along": WORDS[x] if isinstance(x, str) else ""}
        return cls(low=ends[0], high=ends[1], sides=sides, goal=nominal_of(coverage), name=name, **words)

    def _words(self) -> str:
        worst = [np.nanmax(np.abs(ends[:, 0] - self.goal)) for ends in self.sides.values()]
        off = ", ".join(f"{side} {100 * far:.0f}" for side, far in zip(self.sides, worst, strict=True))
        return f"{len(self.low)} bins, off by at most {off} points"

    def _draw(self, ax: Axes, title: str, kwargs: dict[str, Any]) -> None:
        dress(ax)
        self.goal_ = draw_goal(ax, self.goal, vertical=True)
        middle, width = self._places()
        self.dots_ = {}
        for k, (side, ends) in enumerate(self.sides.items()):
            step = width * APART * (k - (len(self.sides) - 1) / 2)
            style: dict[str, Any] = {"color": self.colors[k % len(self.colors)], "linewidth": 1.8, "markersize": 4.5}
            ax.plot(middle + step, ends[:, 0], **(style | kwargs | {"linewidth": 0.9, "markersize": 0, "alpha": 0.5}))
            self.dots_[side] = draw_dots(ax, middle + step, ends, vertical=True, style=style | kwargs)
        percents(ax.yaxis)
        self._ticks(ax)
        ax.set(xlabel=self.along, ylabel=self.label)
        legend_above(ax, self.dots_, self.goal_, spelled(self.goal, self.goal > 0))
        add_title(ax, title, loc="left", pad=24)

    def _places(self) -> tuple[NDArray[Any], Any]:
        """Middle of each bin on the axis, and the width of a bin."""
        if self.low.dtype.kind != "M":
            return np.arange(len(self.low)) + 0.5, 1.0
        low, high = (ends.astype("datetime64[s]").astype(np.float64) / 86400 for ends in (self.low, self.high))
        middle = (low + high) / 2  # days since 1970, as matplotlib counts them
        return middle, (high[-1] - low[0]) / len(low)

    def _ticks(self, ax: Axes) -> None:
        """Dates, or where bins begin and the last one ends."""
        if self.low.dtype.kind == "M":
            ax.xaxis_date()
            short_dates(ax.xaxis)
            return
        edges = np.append(self.low, self.high[-1])
        some = np.unique(np.linspace(0, len(self.low), min(len(edges), MOST_TICKS + 1)).round().astype(int))
        ax.set(xticks=some, xticklabels=[f"{edges[k]:.3g}" for k in some], xlim=(-0.1, len(self.low) + 0.1))


def _along(x: Any, law: Any, coverage: Any) -> NDArray[Any]:
    """What bins are made of, one a row."""
    if not isinstance(x, str):
        return positions(x, len(law))
    if x not in WORDS:
        raise ValueError(f"`x` must be level, width, or one number or date a forecast; got {x!r}.")
    if x == "level":
        return np.asarray(law.median())
    low, high = law.ppf([interval_levels(coverage, "coverage")] * len(law)).T
    return np.asarray(high - low)
