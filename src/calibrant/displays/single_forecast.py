"""One row's forecasts as curves, with what came."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from .._checks import Array, column, count, one_of
from .._types import Numbers
from ..adapters import as_distribution
from ._axes import COLOURS, GREY, add_legend, add_title, dress
from ._base import ForecastDisplay
from ._shares import forecasts_by_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

_POINTS = 1024
_TRUTH = "black"


@dataclass(kw_only=True, eq=False, repr=False)
class SingleForecastDisplay(ForecastDisplay):
    r"""Densities :math:`f(y)` or distribution functions :math:`F(y)` of one row by several methods, and its outcome.

    Song et al. (2018), fig. 3; the middle of that figure is `CalibrationMapDisplay`.

    Make it with :meth:`from_predictions` or :meth:`from_estimator`.

    Attributes
    ----------
    levels : array (m,)
        Values of y.
    curves : dict of arrays (m,)
        Density or probability there, by name.
    what : {"pdf", "cdf"}
    row : int
    outcome : float or None
    name : str or None
        What is drawn.
    lines_, truth_, ax_, figure_
        What :meth:`plot` drew.

    Examples
    --------
    >>> from calibrant import Normal
    >>> from calibrant.displays import SingleForecastDisplay
    >>> SingleForecastDisplay.from_predictions([0.5], {"base": Normal([0.0], 1.0), "wide": Normal([0.0], 2.0)})
    <SingleForecastDisplay: pdf of row 0 by base, wide>
    """

    _size = (5.4, 3.6)

    levels: Array
    curves: dict[str, Array]
    what: Literal["pdf", "cdf"]
    row: int
    outcome: float | None = None
    lines_: list[Line2D] = field(init=False)
    truth_: Line2D | None = field(init=False)

    @classmethod
    def from_predictions(
        cls,
        y_true: Numbers | None,
        dists: Any,
        *,
        row: int = 0,
        what: Literal["pdf", "cdf"] = "pdf",
        levels: Numbers | None = None,
        name: str | None = None,
    ) -> Self:
        """Compute the curves of one row.

        Parameters
        ----------
        y_true : array-like (n,) or None
            Outcomes; None if there are none.
        dists : Distribution, or what ``as_distribution`` accepts, or a dict of such by name
            n forecasts each.
        row : int
            Which of them.
        what : {"pdf", "cdf"}
            Density, or distribution function.
        levels : array-like (m,), optional
            Values of y; 1 024 over the central 99.8 % of the forecasts and the outcome unless told.
        name : str, optional
            What to call it in the title, and forecasts that come without a name.
        """
        one_of(what, "what", ("pdf", "cdf"))
        place = count(row, "row", least=0)
        laws = {key: as_distribution(each) for key, each in forecasts_by_name(dists, name).items()}
        size = min(len(law) for law in laws.values())
        if place >= size:
            raise ValueError(f"`row` must be below the number of forecasts; got {row} for {size}.")
        ones = {key: law[place] for key, law in laws.items()}
        outcome = None if y_true is None else float(column(y_true, "y_true", size)[place])
        if levels is None:
            ends = np.concatenate([law.quantiles([0.001, 0.999]).ravel() for law in ones.values()])
            ends = ends if outcome is None else np.append(ends, outcome)
            levels = np.linspace(ends.min(), ends.max(), _POINTS)
        grid = column(levels, "levels")
        curves = {key: (law.pdf if what == "pdf" else law.cdf)(grid[None, :])[0] for key, law in ones.items()}
        return cls(levels=grid, curves=curves, what=what, row=place, outcome=outcome, name=name)

    def _words(self) -> str:
        return f"{self.what} of row {self.row} by {', '.join(self.curves)}"

    def _draw(self, ax: Axes, title: str, kwargs: dict[str, Any]) -> None:
        dress(ax)
        self.lines_, self.truth_ = [], None
        for k, (key, values) in enumerate(self.curves.items()):
            style: dict[str, Any] = {"color": COLOURS[k % len(COLOURS)], "linewidth": 1.6, "label": key} | kwargs
            self.lines_ += ax.plot(self.levels, values, **style)
        if self.outcome is not None:
            self.truth_ = ax.axvline(self.outcome, color=_TRUTH, linewidth=1.4, label="outcome")
        ax.axhline(0, color=GREY, linewidth=0.8)
        ax.set(xlabel="y", ylabel="Density" if self.what == "pdf" else "Probability of a smaller outcome")
        ax.set_xlim(self.levels[0], self.levels[-1])
        add_legend(ax, "best")
        add_title(ax, title)
