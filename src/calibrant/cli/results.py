"""Results as lines and tables of a terminal."""

from __future__ import annotations

import math

from ..engines.result import Group, Result
from ..metrics.catalogue import CALIBRATION, LOSS, MEASURES, Measured, label
from ..select.comparison import NONE
from .console import say, say_table

MOST_GROUPS = 20


def show_decision(result: Result) -> None:
    """The verdict, why, what it costs, what to be careful about, and the checks that do not pass."""
    found = result.decision
    say(result.verdict)
    parts = {"why": "; ".join(found.causes), "cost": found.cost}
    say(*(f"{name}: {text}" for name, text in parts.items() if text), *(f"mind: {text}" for text in found.caveats))
    bad = [check for check in found.checks if check.status != "pass"]
    say(*(f"{check.status}: {check.words}" for check in bad))
    if not bad:
        say(f"All {len(found.checks)} checks pass.")


def show_measures(result: Result, title: str = "") -> None:
    """Every stage's measures, with intervals."""
    keys = list(dict.fromkeys(key for table in result.measures.values() for key in table))
    rows = [[label(key), *(in_words(table.get(key), key) for table in result.measures.values())] for key in keys]
    say_table([title, *(_title(stage, result.chosen) for stage in result.measures)], rows)


def measured_on(rows: int, of: int) -> str:
    """On how many rows measures were taken, where not on all: A², say, grows with their number.

    >>> measured_on(5000, 200_000), measured_on(100, 100)
    ('cross-validated, on 5,000 of 200,000 rows', 'cross-validated')
    """
    return "cross-validated" if rows >= of else f"cross-validated, on {rows:,} of {of:,} rows"


def show_groups(result: Result) -> None:
    """Groups, worst calibrated first."""
    if not result.groups:
        return
    keys = [
        key for key in (CALIBRATION[result.task], "coverage_90", LOSS[result.task]) if key in result.groups[0].after
    ]
    sides = ["before", "after"] if NONE in result.stages else ["after"]
    heads = [f"{label(key)}, {side}" for key in keys for side in sides]
    rows = [[group.name, f"{group.rows:g}", *_of_group(group, keys, sides)] for group in result.groups[:MOST_GROUPS]]
    say("")
    say_table(["group, worst first", "rows", *heads, ""], rows)
    if len(result.groups) > MOST_GROUPS:
        say(f"and {len(result.groups) - MOST_GROUPS} more groups; --json has them all")


def _of_group(group: Group, keys: list[str], sides: list[str]) -> list[str]:
    cells = [in_words(getattr(group, side).get(key), key) for key in keys for side in sides]
    return [*cells, "worse" if group.is_worse else ""]


def _title(stage: str, chosen: str) -> str:
    text = f"{NONE} (before)" if stage == NONE else stage
    return f"{text} *" if stage == chosen else text


def in_words(found: Measured | None, key: str) -> str:
    """Value, and the interval where there is one."""
    if found is None:
        return ""
    value = _number(found.value, key)
    if math.isnan(found.low):
        return value
    return f"{value}  ({_number(found.low, key, 3)} to {_number(found.high, key, 3)})"


def _number(value: float, key: str, digits: int = 4) -> str:
    share = key in MEASURES and MEASURES[key].unit == "share"
    return f"{100 * value:.1f} %" if share else f"{value:.{digits}g}"
