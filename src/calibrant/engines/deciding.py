"""From measures, groups and bins to what a report decides."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..metrics._inputs import average
from ..metrics.evaluation import LawEvaluation
from ..select.candidates import ONLINE
from ..select.comparison import NONE, Comparison
from .checks import ROWS, checks
from .class_causes import ClassCauses
from .decision import Check, Decision, Severity
from .law_causes import LawCauses
from .result import Bin, Group
from .sides import COVERAGE, Sides
from .verdict import gain, sentence, worse_groups
from .wording import amount, percent, times

SAME_WIDTH = 0.01


def decide(sides: Sides, comparison: Comparison, groups: list[Group], bins: tuple[list[Bin], list[Bin]]) -> Decision:
    """What to make of forecasts: how bad it is, why, what to do, what it costs, what to be careful about.

    Parameters
    ----------
    sides : Sides
    comparison : Comparison
    groups : list of Group
    bins : bins by what was predicted, bins by time
    """
    task, chosen = sides.trial.task, comparison.chosen
    measures = dict(zip(comparison.names, comparison.measures, strict=True))
    tables = (measures.get(NONE, measures[chosen]), measures[chosen])
    found = checks(sides, tables, (groups, *bins))
    level = severity(found)
    return Decision(
        severity=level,
        sentence=sentence(task, measures, chosen),
        causes=causes(sides),
        action=_action(chosen, level, gain(task, measures, chosen), sides.usable),
        cost=cost(sides, chosen),
        caveats=_caveats(sides, found, worse_groups(task, groups), follows=chosen == ONLINE),
        checks=found,
    )


def severity(found: Sequence[Check]) -> Severity:
    """Serious if a check fails, minor if one warns; too few rows say nothing about the forecasts."""
    statuses = {check.status for check in found if check.key != "rows"}
    return "serious" if "fail" in statuses else "minor" if "warn" in statuses else "good"


def causes(sides: Sides) -> list[str]:
    """What is wrong with the forecasts as they came, in words; nothing where they cannot be used as they came."""
    if not sides.usable:
        return []
    kind = LawCauses if isinstance(sides.before, LawEvaluation) else ClassCauses
    return kind(sides.before, sides.weights, sides.trial.n_tested).in_words()  # type: ignore[arg-type]


def _action(chosen: str, level: Severity, gained: str, usable: bool) -> str:
    if chosen != NONE:
        return f"Calibrate with {chosen}. {gained}".strip() if usable else f"Calibrate with {chosen}."
    if level == "good":
        return "Use the forecasts as they are."
    return "Use the forecasts with care: no calibrator that was tried makes them better by more than noise."


def cost(sides: Sides, chosen: str) -> str:
    """What the chosen calibration does to the width of 90 % intervals, or to the probability of the likeliest class."""
    if not isinstance(sides.after, LawEvaluation):
        return _confidence(sides, chosen)
    widths = [np.subtract(*side.law.interval(COVERAGE).T[::-1]) for side in (sides.before, sides.after)]  # type: ignore[union-attr]
    means = [average(width, sides.weights) for width in widths]
    if not sides.usable:
        return f"{percent(COVERAGE)} intervals are {amount(means[1])} wide on average" if np.isfinite(means[1]) else ""
    if chosen == NONE or not all(np.isfinite(width).all() and width.min() > 0 for width in widths):
        return ""
    return _changed(*means)


def _changed(before: float, after: float) -> str:
    """What became of the mean width of intervals, in words."""
    ratio, both = after / before, f"({amount(before)} → {amount(after)})"
    if abs(np.log(ratio)) < SAME_WIDTH:
        return f"{percent(COVERAGE)} intervals stay as wide as they are on average {both}"
    way = f"{times(ratio)} wider" if ratio > 1 else f"{times(1 / ratio)} narrower"
    return f"{percent(COVERAGE)} intervals get {way} on average {both}"


def _confidence(sides: Sides, chosen: str) -> str:
    if chosen == NONE or not sides.usable:
        return ""
    before, after = (average(side.p.max(axis=1), sides.weights) for side in (sides.before, sides.after))  # type: ignore[union-attr]
    return f"the likeliest class is given {percent(after, 1)} instead of {percent(before, 1)} on average"


def _caveats(sides: Sides, found: Sequence[Check], worse: str, *, follows: bool) -> list[str]:
    by_key = {check.key: check for check in found}
    said = [] if by_key["rows"].status == "pass" else [f"Few rows: {_few(sides.trial.n_tested)}"]
    if worse:
        said.append(worse)
    if "drift" in by_key and by_key["drift"].status != "pass":
        remedy = "go on with `calibrant update`" if follows else "calibrate with recent rows, and again soon"
        said.append(f"What is wrong changes with time: {remedy}.")
    ruled_out = int(np.count_nonzero(np.isinf(sides.losses[0])))
    if ruled_out:
        said.append(f"Forecasts had ruled out {ruled_out} of the outcomes: their loss is infinite.")
    return said


def _few(n: float) -> str:
    return f"with {n:,.10g}, less than {ROWS[0]}, much of what is shown is noise."
