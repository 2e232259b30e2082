"""All calibrators side by side: a table, and sharpness against calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..displays.pareto import ParetoDisplay
from ..engines.result import Result
from ..metrics.catalogue import FRONT, label
from ..select.comparison import NONE
from . import svg
from .tables import Cell, measure_cell, name_cell, table
from .words import clean, safe


def by_loss(result: Result) -> list[str]:
    """Stages, best first."""
    names = result.comparison.names
    return [names[i] for i in np.argsort(result.comparison.loss, kind="stable")]


def front_of(result: Result, order: Sequence[str]) -> ParetoDisplay | None:
    """Loss against calibration of all stages that have both."""
    keys = FRONT[result.task]
    found = {stage: [result.measures[stage].get(key) for key in keys] for stage in order}
    known = {stage: [each.value for each in pair if each] for stage, pair in found.items()}
    known = {stage: pair for stage, pair in known.items() if len(pair) == 2 and np.isfinite(pair).all()}
    if len(known) < 2:
        return None
    first, second = ([pair[k] for pair in known.values()] for k in range(2))
    return ParetoDisplay.from_measures(list(known), first, second, labels=(label(keys[0]), label(keys[1])))


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
    """Sharpness against calibration; the forecasts as they came are drawn only where nothing beats them at both."""
    front = front_of(result, order)
    if front is None:
        return ""
    beaten = [name for name, on in zip(front.names, front.front, strict=True) if name == NONE and not on]
    rest = front_of(result, [stage for stage in order if stage not in beaten])
    shown = front if rest is None else rest
    shown = replace(shown, names=[clean(name, 30) for name in shown.names])
    caption = f"{shown.labels[0]} against {shown.labels[1]}: full dots are beaten at both by no other"

    def draw(ax: Any) -> svg.Titles:
        dots = shown.plot(ax=ax).dots_
        texts = [
            f"{name}: {shown.labels[0]} {loss:.4g}, {shown.labels[1]} {error:.4g}"
            for name, loss, error in zip(shown.names, shown.loss, shown.calibration, strict=True)
        ]
        return [(dot, text) for dot, text in zip(dots, texts, strict=True) if dot is not None]

    return svg.picture(caption, (6.0, 3.6), draw)
