"""Shares of outcomes inside intervals, by parts of the rows, and their picture: a dot with its interval a part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._checks import Array, interval_levels, sample_weights
from .._types import Numbers, Weights
from ..metrics._inputs import paired
from ..metrics.catalogue import Measured, _share
from ..metrics.evaluation import LawEvaluation
from ._axes import GREY, add_legend, percent, percents

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

APART = 0.3  # of two forecasts of one part, in parts
Parts = Sequence[NDArray[np.intp]]  # rows of each part
Sides = dict[str, Array]  # by name of the forecasts: value, low and high end of each part (m, 3)


def forecasts_by_name(dists: Any, name: str | None) -> dict[str, Any]:
    """Several forecasts of the same outcomes as they are, one by its name."""
    return dict(dists) if isinstance(dists, Mapping) else {name or "forecasts": dists}


def shares_inside(y_true: Numbers, dists: dict[str, Any], parts: Parts, coverage: Any, weights: Weights) -> Sides:
    """Share of the outcomes of each part in intervals, with Wilson's 90 % interval around it."""
    levels, found = interval_levels(coverage, "coverage"), {}
    for name, dist in dists.items():
        y, law, _ = paired(y_true, dist)
        w = sample_weights(weights, len(y))
        inside, mass = LawEvaluation(law, y).between(*levels), np.ones(len(y)) if w is None else w
        measured = [_share_of(inside[rows], mass[rows]) for rows in parts]
        found[name] = np.array([(each.value, each.low, each.high) for each in measured])
    return found


def _share_of(inside: Array, weights: Array) -> Measured:
    """A share with its interval; not known where nothing has a weight."""
    total = float(weights.sum())
    return _share(inside, weights, total) if total > 0 else Measured(np.nan, np.nan, np.nan, np.nan)


def coverage_label(coverage: Any) -> str:
    """What the shares are.

    >>> coverage_label(0.9), coverage_label((0.05, 0.5))
    ('Share of outcomes in 90 % intervals', 'Share of outcomes between quantiles 0.05 and 0.5')
    """
    if np.ndim(coverage) == 0:
        return f"Share of outcomes in {percent(coverage)} intervals"
    low, high = coverage
    return f"Share of outcomes between quantiles {low:g} and {high:g}"


def nominal_of(coverage: Any) -> float:
    """The share that intervals are meant to hold.

    >>> nominal_of(0.9), nominal_of((0.25, 0.75))
    (0.9, 0.5)
    """
    low, high = interval_levels(coverage, "coverage")
    return float(coverage) if np.ndim(coverage) == 0 else high - low


def draw_dots(ax: Axes, at: Array, ends: Array, *, vertical: bool, style: dict[str, Any]) -> list[Line2D]:
    """A dot for each value and a line from end to end of its interval, one artist a part."""
    drawn = []
    for place, (value, low, high) in zip(at, ends, strict=True):
        along = [low if np.isfinite(low) else value, value, high if np.isfinite(high) else value]
        pair = ([place] * 3, along) if vertical else (along, [place] * 3)
        drawn += ax.plot(*pair, marker="o", markevery=[1], **style)
    return drawn


def draw_sides(
    ax: Axes, names: Sequence[str], sides: Sides, goal: float, colors: Sequence[str], kwargs: dict[str, Any]
) -> tuple[dict[str, list[Line2D]], Line2D]:
    """A line a part, one below the other, with a dot for each of the forecasts; the dots by name, and the goal."""
    at, dots = np.arange(len(names), dtype=np.float64), {}
    drawn = draw_goal(ax, goal, vertical=False)
    for k, (side, ends) in enumerate(sides.items()):
        step = APART * (k - (len(sides) - 1) / 2)
        style = {"color": colors[k % len(colors)], "linewidth": 1.8, "markersize": 4.5} | kwargs
        dots[side] = draw_dots(ax, at + step, ends, vertical=False, style=style)
    ax.set(yticks=at, yticklabels=names, ylim=(len(names) - 0.4, -0.6))
    ax.grid(False, axis="y")
    percents(ax.xaxis)
    legend_above(ax, dots, drawn, spelled(goal, goal > 0))
    return dots, drawn


def draw_goal(ax: Axes, goal: float, *, vertical: bool) -> Line2D:
    """Where calibrated forecasts lie."""
    line = ax.axhline if vertical else ax.axvline
    return line(goal, color=GREY, linewidth=1.2, linestyle="--", zorder=1)


def legend_above(ax: Axes, dots: dict[str, list[Line2D]], goal: Line2D, text: str) -> None:
    """Names of the forecasts above the data, where nothing is hidden."""
    handles = [lines[0] for lines in dots.values() if lines]
    names = [name for name, lines in dots.items() if lines]
    place: dict[str, Any] = {"bbox_to_anchor": (0, 1), "borderaxespad": 0.2, "borderpad": 0, "ncols": 9}
    add_legend(
        ax, "lower left", handles=[*handles, goal], labels=[*names, text], columnspacing=1.2, handlelength=1.4, **place
    )


def spelled(goal: float, is_share: bool) -> str:
    """What calibrated forecasts reach.

    >>> spelled(0.9, True), spelled(0.0, False)
    ('90 % promised', 'calibrated: 0')
    """
    return f"{percent(goal)} promised" if is_share and goal else f"calibrated: {goal:g}"
