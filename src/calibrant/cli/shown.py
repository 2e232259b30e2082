"""Results as lines and tables of a terminal."""

from __future__ import annotations

from typing import Any

from ..engines.measures import CALIBRATION, LOSS
from ..engines.result import BEFORE, Group, Result
from ..metrics import MetricInterval
from .console import say, say_table

MOST_GROUPS = 20


def show_measures(result: Result) -> None:
    """Every stage's measures, with intervals."""
    names = list(dict.fromkeys(name for table in result.measures.values() for name in table))
    rows = [
        [name, *(_with_interval(result.measures[stage].get(name), name) for stage in result.measures)] for name in names
    ]
    say_table(["", *(_title(stage, result.chosen) for stage in result.measures)], rows)


def show_groups(result: Result) -> None:
    """Groups, worst calibrated first."""
    if not result.groups:
        return
    names = [name for name in (CALIBRATION[result.task], "90 % interval", LOSS[result.task]) if _known(result, name)]
    heads = [f"{name}, {side}" for name in names for side in ("before", "after")]
    rows = [
        [
            group.name,
            f"{group.rows:g}",
            *(_of_group(side.get(n), reach.get(n), n) for n in names for side, reach in _sides(group)),
        ]
        for group in result.groups[:MOST_GROUPS]
    ]
    say("")
    say_table(["group, worst first", "rows", *heads], rows)
    if len(result.groups) > MOST_GROUPS:
        say(f"and {len(result.groups) - MOST_GROUPS} more groups; --json has them all")


def _sides(group: Group) -> list[tuple[dict[str, float], dict[str, tuple[float, float]]]]:
    return [(group.before, group.reach_before), (group.after, group.reach_after)]


def _of_group(value: Any, reach: tuple[float, float] | None, name: str) -> str:
    if value is None or reach is None:
        return _number(value, name)
    return _with_interval(MetricInterval(value, *reach), name)


def _known(result: Result, name: str) -> bool:
    return any(name in group.before or name in group.after for group in result.groups)


def _title(stage: str, chosen: str) -> str:
    text = "none (before)" if stage == BEFORE else stage
    return f"{text} *" if stage == chosen else text


def _with_interval(measure: Any, name: str) -> str:
    if measure is None:
        return ""
    low, high = (_number(end, name, 3) for end in (measure.low, measure.high))
    return f"{_number(measure.value, name)}  ({low} to {high})"


def _number(value: Any, name: str, digits: int = 4) -> str:
    if value is None:
        return ""
    return f"{100 * value:.1f} %" if "%" in name else f"{value:.{digits}g}"
