"""All calibrators side by side: a table, and sharpness against calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..displays._axes import add_legend
from ..displays.pareto import ParetoDisplay
from ..engines.result import Result
from ..metrics.catalogue import FRONT, label
from ..select.comparison import NONE
from . import svg
from .tables import Cell, measure_cell, name_cell, table
from .words import clean, safe

LONGEST = 30  # characters of a name in the legend
SHORT = 20  # so long that two fit side by side


def by_loss(result: Result) -> list[str]:
    """Stages, best first."""
    names = result.comparison.names
    return [names[i] for i in np.argsort(result.comparison.loss, kind="stable")]


def front_of(result: Result, order: Sequence[str]) -> ParetoDisplay | None:
    """Loss against calibration of all stages that have both, with what is known about their errors."""
    keys = FRONT[result.task]
    pairs = {stage: [result.measures[stage].get(key) for key in keys] for stage in order}
    known = {stage: (a, b) for stage, (a, b) in pairs.items() if a and b and np.isfinite([a.value, b.value]).all()}
    if len(known) < 2:
        return None
    behind = dict(zip(result.comparison.names, result.comparison.error, strict=True))
    first, second = ([pair[k].value for pair in known.values()] for k in range(2))
    return ParetoDisplay.from_measures(
        list(known),
        first,
        second,
        labels=(label(keys[0]), label(keys[1])),
        loss_interval=[(a.value - behind[stage], a.value + behind[stage]) for stage, (a, _) in known.items()],
        calibration_interval=[(b.low, b.high) for _, b in known.values()],
    )


def table_of_stages(result: Result, order: Sequence[str]) -> str:
    """Every stage with every measure."""
    keys = dict.fromkeys(key for found in result.measures.values() for key in found)
    front = front_of(result, order)
    best = {} if front is None else dict(zip(front.names, front.front, strict=True))
    heads = [Cell("calibrator"), *(Cell(safe(label(key))) for key in keys), *([Cell("Pareto front")] if best else [])]
    rows = []
    for stage in order:
        cells = [name_cell(f"{NONE} (before)" if stage == NONE else stage)]
        cells += [measure_cell(result.measures[stage].get(key), key) for key in keys]
        if best:
            on = bool(best.get(stage, False))
            cells.append(Cell("yes" if on else "", int(on)))
        rows.append((cells, "chosen" if stage == result.chosen else ""))
    return table(heads, rows)


def picture(result: Result, order: Sequence[str]) -> str:
    """Sharpness against calibration of all stages, the forecasts as they came among them."""
    shown = front_of(result, order)
    if shown is None:
        return ""
    shown = replace(shown, names=[clean(f"{name} (before)" if name == NONE else name, LONGEST) for name in shown.names])
    texts = [
        f"{name}: {shown.labels[0]} {loss:.4g}, {shown.labels[1]} {error:.4g}"
        for name, loss, error in zip(shown.names, shown.loss, shown.calibration, strict=True)
    ]

    def draw(ax: Any) -> svg.Titles:
        dots = shown.plot(ax=ax).dots_
        columns = 2 if max(map(len, shown.names)) <= SHORT else 1
        add_legend(ax, "upper left", bbox_to_anchor=(-0.05, -0.2), ncols=columns, columnspacing=1.0)
        return [(dot, text) for dot, text in zip(dots, texts, strict=True) if dot is not None]

    return svg.picture(_caption(shown), (5.0, 3.4), draw)


def _caption(shown: ParetoDisplay) -> str:
    first, second = shown.labels
    arrows = " Arrows: too far to the right to be drawn to scale." if shown.far.any() else ""
    return (
        f"{first} against {second}: full dots are beaten at both by no other. Lines across: standard error of the "
        f"distance from the best {first}; lines up: 90 % interval of {second}.{arrows}"
    )
