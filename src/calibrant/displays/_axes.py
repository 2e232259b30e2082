"""What all pictures share: axes to draw on, colours, a quiet style, and few numbers and short dates beside axes."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

# Okabe and Ito's colours, which colour-blind readers tell apart
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
GREY = "#7F7F7F"
MOST_TICKS = 5
DIAGONAL = "_diagonal"  # a label with an underscore stays out of the legend


def axes_or_new(ax: Axes | None, size: tuple[float, float]) -> tuple[Axes, Figure]:
    """The given axes, or those of a new figure, and the figure they are part of."""
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=size, layout="constrained")
    return ax, figure_of(ax)


def figure_of(ax: Axes) -> Figure:
    """The figure that axes are part of."""
    figure = ax.get_figure(root=True)
    if figure is None:
        raise ValueError("`ax` must be part of a figure; it was removed from its own.")
    return figure


def dress(ax: Axes) -> None:
    """Light grid behind the data, no frame."""
    ax.grid(True, color=GREY, alpha=0.18, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_alpha(0.4)
    ax.tick_params(length=0, pad=5)


def dashed_diagonal(ax: Axes) -> Line2D:
    """Where nothing changes, or forecasts are right."""
    return ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle="--")[0]


def add_legend(ax: Axes, loc: str, **options: Any) -> Any:
    """A legend in small letters without a frame."""
    style: dict[str, Any] = {"loc": loc, "frameon": False, "fontsize": "small"} | options
    return ax.legend(**style)


def add_title(ax: Axes, title: str, **options: Any) -> None:
    """A title, if there is one."""
    if title:
        ax.set_title(title, fontsize="medium", **options)


def has_label(ax: Axes, label: str) -> bool:
    """Whether an artist with this label is on the axes already."""
    return any(artist.get_label() == label for artist in ax.get_children())


def evenly(rows: int, most: int) -> NDArray[np.intp]:
    """Numbers of at most so many rows, evenly spread over all.

    >>> evenly(9, 3), evenly(2, 3)
    (array([0, 4, 8]), array([0, 1]))
    """
    return np.unique(np.linspace(0, rows - 1, min(rows, most)).round().astype(np.intp))


def percent(share: float) -> str:
    """A share as whole percents, with decimals only where they matter.

    >>> percent(0.9), percent(0.999)
    ('90 %', '99.9 %')
    """
    return f"{round(100 * share, 4):g} %"


def percents(axis: Any) -> None:
    """Shares in percents, few of them."""
    ticker: Any = import_module("matplotlib.ticker")
    axis.set_major_locator(ticker.MaxNLocator(MOST_TICKS))
    axis.set_major_formatter(lambda value, _: f"{round(100 * value, 6):g} %")


def short_dates(axis: Any) -> None:
    """Years, months or days, as little as tells them apart."""
    dates: Any = import_module("matplotlib.dates")
    locator = dates.AutoDateLocator(minticks=3, maxticks=6)
    axis.set(major_locator=locator, major_formatter=dates.ConciseDateFormatter(locator))
