"""Pictures of predictive distributions, before and after."""

from __future__ import annotations

from functools import partial
from typing import Any

import matplotlib
import numpy as np

from ..calibration.base import Calibrator
from ..calibration.contract import transform_with
from ..calibration.feature_table import features_of
from ..displays import CalibrationCurveDisplay, CalibrationMapDisplay, FanDisplay, PITDisplay
from ..displays._axes import percent
from ..displays.sharpness import SharpnessDisplay
from ..engines.result import Result
from ..metrics.catalogue import LEVEL
from ..select.comparison import NONE
from . import svg
from .stretch import MOST_IN_FAN, Stretch, spread

MOST_WIDTHS = 800  # rows whose width is drawn
MAP_LINES = 7
Side = tuple[str, Any]  # "before" or "after", and the laws


def sides(result: Result, stage: str) -> list[Side]:
    """What is compared: the forecasts as they came, where they are there, and one stage."""
    first = [("before", result.stages[NONE])] if NONE in result.stages else []
    return [*first, ("after", result.stages[stage])]


def colour(side: str) -> str:
    """Of everything before, and of everything after."""
    return svg.BEFORE if side == "before" else svg.AFTER


def curves(result: Result, stage: str) -> str:
    """Calibration curves on the same axes."""

    def draw(ax: Any) -> svg.Titles:
        titles: svg.Titles = []
        for side, laws in sides(result, stage):
            weights: dict[str, Any] = {"sample_weight": result.weights}
            shown = CalibrationCurveDisplay.from_predictions(result.y, laws, name=side, **weights).plot(
                ax=ax, color=colour(side)
            )
            titles.append((shown.line_, f"{side}: calibration error {shown.error:.4f}, perfect: {shown.floor:.4f}"))
            if shown.band_ is not None:
                titles.append((shown.band_, f"{percent(shown.coverage)} of perfect forecasters stay in this band"))
        return titles

    return svg.picture(f"Calibration curve, {stage}: calibrated forecasts follow the diagonal", (4.6, 4.6), draw)


def pits(result: Result, stages: list[str]) -> dict[str, str]:
    """PIT histograms of several stages, to one scale."""
    displays = {
        stage: PITDisplay.from_predictions(result.y, result.stages[stage], sample_weight=result.weights)
        for stage in stages
    }
    top = 1.25 * max(max(shown.density.max(), shown.band[1]) for shown in displays.values())
    return {
        stage: svg.picture(
            f"PIT histogram, {when(stage)}: flat if calibrated", (4.6, 3.4), partial(_pit, shown, stage, top)
        )
        for stage, shown in displays.items()
    }


def _pit(shown: PITDisplay, stage: str, top: float, ax: Any) -> svg.Titles:
    shown.plot(ax=ax, color=colour(when(stage)))
    ax.set_ylim(0, top)
    bars = zip(shown.bars_, shown.edges[:-1], shown.edges[1:], shown.density, strict=True)
    texts = [
        (bar, f"PIT {low:.1f} to {high:.1f}: {d:.2f} times the rows there should be") for bar, low, high, d in bars
    ]
    return [*texts, (shown.band_, f"{percent(shown.coverage)} of perfect forecasters have all bars in this band")]


def sharpness(result: Result, stage: str) -> str:
    """How the predicted widths are distributed."""
    rows = spread(len(result.y), MOST_WIDTHS)
    weights = None if result.weights is None else result.weights[rows]
    options: dict[str, Any] = {"coverage": LEVEL, "sample_weight": weights}
    shown_sides = [(side, laws[rows]) for side, laws in sides(result, stage)]
    displays = [
        SharpnessDisplay.from_forecasts(laws, name=side, **options)
        for side, laws in shown_sides
        if np.isfinite(laws.interval(LEVEL)).all(axis=1).any()  # none are where rows are too few for a guarantee
    ]

    def draw(ax: Any) -> svg.Titles:
        for shown in displays:
            shown.plot(ax=ax, color=colour(str(shown.name)))
        return [(shown.line_, f"{shown.name}: mean width {shown.mean:.4g}") for shown in displays]

    return svg.picture(f"Sharpness, {stage}: calibrated forecasts further left are better", (4.6, 3.4), draw)


def fans(result: Result, stages: list[str], stretch: Stretch | None) -> dict[str, str]:
    """Fans of several stages, to one scale; none where there is nothing to show."""
    if stretch is None:
        return {}
    y, rows = result.y[stretch.rows], stretch.rows
    options: dict[str, Any] = {"x": stretch.places, "blocks": stretch.blocks}
    displays = {stage: FanDisplay.from_predictions(y, result.stages[stage][rows], **options) for stage in stages}
    limits = _limits(
        [part for shown in displays.values() for part in (shown.y_true, shown.bars, shown.lower, shown.upper)]
    )
    return {
        stage: svg.picture(
            f"Forecasts and outcomes, {when(stage)}: {stretch.caption}. {_legend(shown)}",
            (5.2, 3.0),
            partial(_fan, shown, stage, stretch.label, limits),
        )
        for stage, shown in displays.items()
    }


def _limits(drawn: list[Any]) -> tuple[float, float]:
    """Of an axis that holds everything."""
    ends = np.concatenate([np.ravel(part) for part in drawn if part is not None])
    ends = ends[np.isfinite(ends)]
    edge = 0.03 * (np.ptp(ends) or 1.0)
    return float(ends.min() - edge), float(ends.max() + edge)


def _fan(shown: FanDisplay, stage: str, label: str, limits: tuple[float, float], ax: Any) -> svg.Titles:
    shown.plot(ax=ax, color=colour(when(stage)))
    ax.get_legend().remove()  # the caption says it in larger letters
    ax.set(ylim=limits, xlabel=label, ylabel="Outcome")
    texts = [f"{percent(share)} intervals" for share in shown.coverages]
    return [*zip(shown.bands_, texts, strict=True), (shown.line_, "median")]


def _legend(shown: FanDisplay) -> str:
    """What the shades are and how many outcomes they hold."""
    if shown.observed is None:
        return "Line: median; shaded: intervals."
    pairs = zip(shown.observed, shown.coverages, strict=True)
    shares = ", ".join(f"{percent(round(part, 2))} in the {percent(nominal)}" for part, nominal in pairs)
    if shown.bars is None:
        return f"Of the outcomes (dots), {shares} intervals around the median (line)."
    widest = percent(shown.coverages[0])
    return (
        f"Of the outcomes, {shares} intervals around the median (line). Bars hold {widest} of a block's outcomes, each "
        f"measured on its own interval: calibrated forecasts have bars as long as the widest shade."
    )


def when(stage: str) -> str:
    """A stage in captions: forecasts as they are were there before."""
    return "before" if stage == NONE else stage


def fitted_map(result: Result) -> str:
    """What the chosen calibrator, fitted to all rows, does to some forecasts that had a spread before."""
    if NONE not in result.stages or result.calibrator is None:
        return ""
    rows = spread(len(result.y), MOST_IN_FAN)
    laws, seen = result.stages[NONE][rows], features_of(result.features, rows)
    common = getattr(result.calibrator, "common_", None)  # of one a group what all have in common
    fitted = common if isinstance(common, Calibrator) else result.calibrator
    shown = CalibrationMapDisplay.from_forecasts(laws, transform_with(fitted, laws, X=seen), rows=MAP_LINES)

    def draw(ax: Any) -> svg.Titles:
        shown.plot(ax=ax)
        shades = matplotlib.colormaps["viridis"](np.linspace(0.4, 0.75, len(shown.lines_)))  # visible on any page
        for line, shade in zip(shown.lines_, shades, strict=True):
            line.set_color(svg.AFTER if shown.shared else shade)
        ax.legend(loc="upper left", frameon=False, fontsize="small")
        start = "" if shown.shared else "forecast with "
        return [(line, f"{start}{line.get_label()}") for line in shown.lines_]

    which = "" if fitted is result.calibrator else ", what all groups have in common"
    return svg.picture(f"The fitted map{which}: on the diagonal nothing changes", (4.6, 4.6), draw)
