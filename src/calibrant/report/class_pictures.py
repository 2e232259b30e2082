"""Pictures of class probabilities, before and after."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..displays import ConfusionDisplay, ReliabilityDisplay
from ..displays._axes import percent
from ..displays.class_map import ClassMapDisplay
from ..displays.confusion import MOST_TEXTS
from ..engines.result import Result
from ..select.comparison import NONE
from . import svg
from .law_pictures import colour, sides
from .words import clean

MOST_CLASSES = 25  # of a confusion table that can be read
LONGEST = 14  # characters of a class beside the table


def reliability(result: Result, stage: str) -> str:
    """Reliability diagrams on the same axes."""
    classes = [] if result.classes is None else result.classes.tolist()
    what = f"of {clean(classes[1])}" if len(classes) == 2 else "of the most probable class"

    def draw(ax: Any) -> svg.Titles:
        titles: svg.Titles = []
        for side, probabilities in sides(result, stage):
            weights: dict[str, Any] = {"sample_weight": result.weights}
            shown = ReliabilityDisplay.from_predictions(result.y, probabilities, name=side, **weights).plot(
                ax=ax, color=colour(side)
            )
            titles.append((shown.line_, f"{side}: mean distance {shown.error:.4f}, perfect: {shown.floor:.4f}"))
            titles.append((shown.band_, f"{side}: {percent(shown.coverage)} of perfect forecasters stay in this band"))
        ax.legend(loc="best", frameon=False, fontsize="small")
        return titles

    return svg.picture(f"Reliability, {stage}: calibrated probabilities {what} follow the diagonal", (4.8, 6.0), draw)


def confusions(result: Result, stage: str) -> str:
    """Confusion tables, if there are not too many classes."""
    if result.classes is None or len(result.classes) > MOST_CLASSES:
        return ""
    found = sides(result, stage)
    labels = [result.classes[np.argmax(probabilities, axis=1)] for _, probabilities in found]
    names = [side for side, _ in found]
    shown = ConfusionDisplay.from_predictions(
        result.y, *labels, classes=result.classes, names=names, sample_weight=result.weights
    )
    short = np.array([clean(label, LONGEST) for label in result.classes])
    size = max(3.4, (0.55 if len(short) <= MOST_TEXTS else 0.3) * len(short))

    def draw(axes: Any) -> svg.Titles:
        from matplotlib.colors import LinearSegmentedColormap

        faint = LinearSegmentedColormap.from_list("faint", [svg.AFTER + "00", svg.AFTER])  # the page shines through
        replace(shown, classes=short).plot(ax=axes, cmap=faint)
        for ax in np.ravel(axes):
            if len(short) > MOST_TEXTS:  # no room for shares either
                ax.set(xticklabels=short, yticklabels=short)
            ax.tick_params(axis="x", rotation=0 if max(map(len, short)) * len(short) < 24 else 90)
        return []

    caption = f"Real and predicted classes, {stage}"
    return svg.picture(caption, (1.3 * size, (size + 0.8) * len(found)), draw, rows=len(found))


def class_map(result: Result, stage: str) -> str:
    """What became of the probabilities; nothing where there were none before."""
    if NONE not in result.stages:
        return ""
    short = None if result.classes is None else np.array([clean(label, 2 * LONGEST) for label in result.classes])
    shown = ClassMapDisplay.from_forecasts(result.stages[NONE], result.stages[stage], classes=short)

    def draw(ax: Any) -> svg.Titles:
        shown.plot(ax=ax)
        return [(dots, str(label)) for dots, label in zip(shown.dots_, shown.classes, strict=True)]

    return svg.picture(f"The map, {stage}, as cross-validation fitted it: dots are rows", (4.6, 4.6), draw)
