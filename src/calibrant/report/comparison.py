"""All calibrators side by side: a table, and sharpness against calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..displays.pareto import ParetoDisplay
from ..engines.measures import CALIBRATION, LOSS, common_loss
from ..engines.result import BEFORE, Result
from . import svg
from .tables import Cell, name_cell, table
from .words import clean, safe, with_interval


def by_loss(result: Result) -> list[str]:
    """Stages, best first."""
    name = common_loss(result.task, result.measures)

    def loss(stage: str) -> float:
        value = result.measures[stage].get(name)
        return np.inf if value is None or np.isnan(value.value) else float(value.value)

    return sorted(result.measures, key=loss)


def front_of(result: Result, order: Sequence[str]) -> ParetoDisplay | None:
    """Loss against calibration of all stages that have both."""
    names = (LOSS[result.task], "A²" if result.task == "regression" else CALIBRATION[result.task])
    known = [stage for stage in order if all(name in result.measures[stage] for name in names)]
    if len(known) < 2:
        return None
    both = [[float(result.measures[stage][name].value) for stage in known] for name in names]
    return ParetoDisplay.from_measures(known, *both, labels=names)


def table_of_stages(result: Result, order: Sequence[str]) -> str:
    """Every stage with every measure."""
    names = dict.fromkeys(name for found in result.measures.values() for name in found)
    front = front_of(result, order)
    best = {} if front is None else dict(zip(front.names, front.front, strict=True))
    heads = [Cell("calibrator"), *(Cell(safe(name)) for name in names), *([Cell("Pareto front")] if best else [])]
    rows = []
    for stage in order:
        cells = [name_cell("none (before)" if stage == BEFORE else stage)]
        for name in names:
            value = result.measures[stage].get(name)
            cells.append(Cell(with_interval(value, name), "" if value is None else float(value.value)))
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
    beaten = [name for name, on in zip(front.names, front.front, strict=True) if name == BEFORE and not on]
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
