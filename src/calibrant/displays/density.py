"""Conditional densities or distribution functions as a heat map over one feature."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from .._checks import Array, column, one_of
from .._types import Numbers
from ..adapters import as_distribution
from ._axes import add_title, evenly
from ._base import ForecastDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection, QuadMesh
    from matplotlib.lines import Line2D

_COLUMNS, _LINES = 400, 256


@dataclass(kw_only=True, eq=False, repr=False)
class DensityDisplay(ForecastDisplay):
    r"""Heat map of :math:`f_t(y)` or :math:`F_t(y)` over one feature, outcomes on top (Song et al. 2019, fig. 1).

    With ``mean`` it is Song et al. (2018), fig. 4: their white line is the mean that the base model predicts.

    Draw several side by side by giving each its own axes, and the same ``levels`` of y.

    Make it with :meth:`from_predictions` or :meth:`from_estimator`.

    Attributes
    ----------
    x : array (k,)
        The feature, increasing; at most 400 of the rows are drawn.
    levels : array (m,)
        Values of y.
    values : array (m, k)
        Density or probability.
    what : {"pdf", "cdf"}
    outcomes : (array, array) or None
        Feature and outcome of every row.
    means : array (k,) or None
        Means along the feature.
    name : str or None
        What is drawn.
    mesh_, dots_, line_, ax_, figure_
        What :meth:`plot` drew.

    Examples
    --------
    >>> from calibrant import Normal
    >>> from calibrant.displays import DensityDisplay
    >>> DensityDisplay.from_predictions([0.5, 0.0], Normal([0.0, 1.0], 1.0), x=[0.0, 1.0]).values.shape
    (256, 2)

    Differs from the papers in: at most 400 rows of the feature, and densities at 256 levels of y unless given.
    """

    _size = (5.6, 4.2)

    x: Array
    levels: Array
    values: Array
    what: Literal["pdf", "cdf"]
    outcomes: tuple[Array, Array] | None = None
    means: Array | None = None
    mesh_: QuadMesh = field(init=False)
    dots_: PathCollection | None = field(init=False)
    line_: Line2D | None = field(init=False)

    @classmethod
    def from_predictions(
        cls,
        y_true: Numbers | None,
        dist: Any,
        *,
        x: Numbers,
        what: Literal["pdf", "cdf"] = "pdf",
        levels: Numbers | None = None,
        mean: bool | Numbers = False,
        name: str | None = None,
    ) -> Self:
        """Compute the map of forecasts.

        Parameters
        ----------
        y_true : array-like (n,) or None
            Outcomes; None if there are none.
        dist : Distribution, or what ``as_distribution`` accepts
            n forecasts.
        x : array-like (n,)
            One feature.
        what : {"pdf", "cdf"}
            Density, or distribution function.
        levels : array-like (m,), optional
            Values of y; 256 over the central 99.8 % of the forecasts and the outcomes unless told.
        mean : bool or array-like (n,)
            Whether a line shows the forecasts' means; or another mean of each row, the uncalibrated one say.
        name : str, optional
            What to call them in the title.
        """
        one_of(what, "what", ("pdf", "cdf"))
        law = as_distribution(dist)
        feature = column(x, "x", len(law))
        outcomes = None if y_true is None else (feature, column(y_true, "y_true", len(law)))
        order = np.argsort(feature, kind="stable")
        order = order[evenly(len(order), _COLUMNS)]
        order = order[np.append(True, np.diff(feature[order]) > 0)]  # one column per value of the feature
        drawn = law[order]
        if levels is None:
            ends = drawn.quantiles([0.001, 0.999]).ravel()
            ends = ends if outcomes is None else np.concatenate([ends, outcomes[1]])
            levels = np.linspace(ends.min(), ends.max(), _LINES)
        grid = column(levels, "levels")
        values = (drawn.pdf if what == "pdf" else drawn.cdf)(grid[None, :]).T
        means = None
        if mean is not False:
            means = drawn.mean() if mean is True else column(mean, "mean", len(law))[order]
        return cls(x=feature[order], levels=grid, values=values, what=what, outcomes=outcomes, means=means, name=name)

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any = None, *, feature: int | str = 0, name: str | None = None, **options: Any
    ) -> Self:
        """Compute the map of what a fitted model predicts, over one column of X."""
        x = X[feature] if isinstance(feature, str) else np.asarray(X)[:, feature]
        return super().from_estimator(model, X, y, name=name, x=x, **options)

    def _words(self) -> str:
        return f"{self.what} at {len(self.x)} places and {len(self.levels)} levels"

    def _draw(self, ax: Axes, title: str, kwargs: dict[str, Any]) -> None:
        top = float(np.quantile(self.values, 0.995)) if self.what == "pdf" else 1.0  # a peak must not dim the rest
        style: dict[str, Any] = {"cmap": "Blues", "vmin": 0.0, "vmax": top, "shading": "nearest", "rasterized": True}
        x = self.x if len(self.x) > 1 else np.array([self.x[0] - 0.5, self.x[0] + 0.5])
        values = self.values if len(self.x) > 1 else np.repeat(self.values, 2, axis=1)
        self.mesh_ = ax.pcolormesh(x, self.levels, values, **(style | kwargs))
        self.dots_ = self.line_ = None
        if self.outcomes is not None:
            self.dots_ = ax.scatter(*self.outcomes, s=9, color="#D55E00", linewidths=0, alpha=0.7, label="outcome")
        if self.means is not None:
            self.line_ = ax.plot(self.x, self.means, color="white", linewidth=1.8, label="mean", path_effects=_rim())[0]
        ax.set(xlabel="x", ylabel="y", ylim=(self.levels[0], self.levels[-1]))
        label = "Density" if self.what == "pdf" else "Probability of a smaller outcome"
        self.figure_.colorbar(self.mesh_, ax=ax, label=label)
        add_title(ax, title)


def _rim() -> list[Any]:
    """A thin dark rim, so that a white line is seen on white too."""
    from matplotlib.patheffects import Normal, Stroke

    return [Stroke(linewidth=2.8, foreground="#555555"), Normal()]
