"""Coverage by group, over time, and by what was predicted, before and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..displays import ConditionalCoverageDisplay, GroupCoverageDisplay, SegmentDisplay
from ..displays.group_coverage import MOST
from ..engines.result import Bin, Result
from ..metrics.catalogue import LEVEL, Measured, label
from ..select.comparison import NONE
from . import svg
from .law_pictures import colour
from .words import both_ends, clean, number

SHOWN = {"regression": "coverage_90", "classification": "ece"}  # of groups
GOAL = {"regression": LEVEL, "classification": 0.0}
OF_BINS = {
    "regression": "Share of outcomes in 90 % intervals",
    "classification": "Came more often than forecast",
}
ALONG = {
    "level": {"regression": "Predicted median", "classification": "Forecast probability"},
    "width": {"regression": "Width of the predicted 90 % interval", "classification": "Width"},
    "time": {"regression": "Time", "classification": "Time"},
}
LONGEST = 26  # characters of a group beside the picture
WORDS = 30  # letters of a segment beside its dots
NAMED = 60  # where the mouse rests


def sides(result: Result) -> list[str]:
    """What is drawn: before where it can be measured, after where anything changes."""
    before = ["before"] * (NONE in result.stages)
    return before + ["after"] * (result.chosen != NONE or not before)


def groups(result: Result) -> str:
    """Groups, furthest off first, as dots with intervals; nothing where none of them was measured."""
    key = SHOWN[result.task]
    known = [group for group in result.groups if key in group.before and key in group.after]
    if not known:
        return ""
    found = {side: [getattr(group, side)[key] for group in known] for side in sides(result)}
    shown = GroupCoverageDisplay.from_measures(
        [str(k) for k in range(len(known))], _ends(found), goal=GOAL[result.task], label=_label(result)
    )
    order = [int(name) for name in shown.names]
    column, short = _column([group.name for group in known])
    shown.names, shown.colors = [both_ends(short[k], LONGEST) for k in order], [colour(side) for side in found]
    named = [f"{clean(known[k].name, NAMED)}, {known[k].rows:.10g} rows" for k in order]
    which = f"the {MOST} of {len(known)} groups that are furthest off" if len(known) > MOST else "furthest off first"
    interval = " Lines: 90 % intervals." if np.isfinite(next(iter(shown.sides.values()))[:, 1:]).any() else ""
    caption = f"{_label(result)}, by {column}: {which}, before calibration.{interval}"
    return svg.picture(caption, (3.3, shown._figure_size()[1]), lambda ax: _hover(shown, ax, named, found, order, key))


def segments(result: Result) -> str:
    """Segments in which forecasts are wrong, as dots with intervals."""
    known = result.segments
    found = {side: [getattr(segment, side) for segment in known] for side in sides(result)}
    label = OF_BINS[result.task]
    shown = SegmentDisplay(
        names=[both_ends(segment.name, WORDS) for segment in known],
        faults=[clean(segment.fault_before, WORDS) for segment in known],
        sides=_ends(found), goal=GOAL[result.task], label=label, colors=[colour(side) for side in found],
    )  # fmt: skip
    named = [f"{clean(segment.name, NAMED)}, {segment.rows:.10g} rows" for segment in known]
    caption = f"{label}, where forecasts are wrong: the worst first. Lines: 90 % intervals."
    every = list(range(len(known)))
    size = (3.3, shown._figure_size()[1])
    return svg.picture(caption, size, lambda ax: _hover(shown, ax, named, found, every, "share"))


def _column(names: list[str]) -> tuple[str, list[str]]:
    """The column that all groups come from, and their names without it.

    >>> _column(["shop = a", "shop = b"]), _column(["shop = a", "day = 1"])
    (('shop', ['a', 'b']), ('group', ['shop = a', 'day = 1']))
    """
    columns = {name.partition(" = ")[0] for name in names if " = " in name}
    if len(columns) != 1 or not all(" = " in name for name in names):
        return "group", names
    return clean(columns.pop(), LONGEST), [name.partition(" = ")[2] for name in names]


def _label(result: Result) -> str:
    key = SHOWN[result.task]
    return OF_BINS[result.task] if result.task == "regression" else label(key)


def bins(result: Result, parts: Sequence[Bin], by: str) -> str:
    """Bins of rows that are alike, as dots with intervals; nothing where there are none."""
    parts = [part for part in parts if part.by == by]
    if not parts:
        return ""
    found = {side: [getattr(part, side) for part in parts] for side in sides(result)}
    ends = [np.array([getattr(part, end) for part in parts]) for end in ("low", "high")]
    if by == "time" and result.axis is not None and result.axis.dtype.kind == "M":
        ends = [end.astype("datetime64[s]") for end in ends]
    words: dict[str, Any] = {"label": OF_BINS[result.task], "along": "" if by == "time" else ALONG[by][result.task]}
    shown = ConditionalCoverageDisplay(
        low=ends[0], high=ends[1], sides=_ends(found), goal=GOAL[result.task], **words,
        colors=[colour(side) for side in found],
    )  # fmt: skip
    spans = [
        f"{_place(low)} to {_place(high)}, {part.rows:.10g} rows" for low, high, part in zip(*ends, parts, strict=False)
    ]
    title = f"{OF_BINS[result.task]}, by {ALONG[by][result.task].lower()}"
    caption = f"{title}: calibrated forecasts stay at the dashed line. Vertical lines: 90 % intervals."
    every = list(range(len(parts)))
    return svg.picture(caption, (5.0, 3.0), lambda ax: _hover(shown, ax, spans, found, every, "share"))


def _place(value: Any) -> str:
    return str(value)[:10] if isinstance(value, np.datetime64) else f"{value:.4g}"


def _ends(found: dict[str, list[Measured]]) -> dict[str, Any]:
    """Value, low and high end of each, by side."""
    return {side: np.array([(each.value, each.low, each.high) for each in some]) for side, some in found.items()}


def _hover(
    shown: Any, ax: Any, names: Sequence[str], found: dict[str, list[Measured]], order: Sequence[int], key: str
) -> svg.Titles:
    shown.plot(ax=ax)
    titles: svg.Titles = []
    for side, dots in shown.dots_.items():
        for dot, name, k in zip(dots, names, order, strict=True):
            titles.append((dot, f"{name}; {side}: {_spoken(found[side][k], key)}"))
    return titles


def _spoken(measured: Measured, key: str) -> str:
    text = number(measured.value, key)
    if not np.isfinite(measured.low):
        return text
    return f"{text} ({number(measured.low, key).removesuffix(' %')} to {number(measured.high, key)})"
