"""The page of a monitor: whether calibration has drifted, what changed, since when."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from .._files import write_text
from .._version import __version__
from ..displays.drift import DriftDisplay
from ..engines.plain import as_json
from ..monitor import DriftMonitor
from ..monitor.alarms import Alarm
from .decision import SEVERITIES
from .html import filled, listed_sections
from .svg import Titles, picture
from .tables import Cell, table
from .words import safe, sentence
from .writing import check_beside

MOST_GROUPS, MOST_LOG = 50, 700.0  # groups in the table; log e-values, lest they overflow
SIZE = (7.6, 6.4)


def write_monitor(monitor: DriftMonitor, path: str | os.PathLike[str], *, source: str = "", notes: Any = ()) -> Path:
    """Write the page and the JSON beside it, each whole or not at all, and return the path of the JSON."""
    beside = check_beside(Path(path))
    write_text(Path(path), render(monitor, source=source, notes=notes))
    write_text(beside, as_json({"calibrant": __version__, **described(monitor), "source": source, "notes": [*notes]}))
    return beside


def described(monitor: DriftMonitor) -> dict[str, Any]:
    """What a monitor has found, as JSON holds it.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import Normal
    >>> found = described(DriftMonitor().update(Normal(np.zeros(200), 1.0), np.full(200, 2.0)))
    >>> found["drift"], found["rows"], found["alarms"][0]["kind"]
    (True, 200, 'bias')
    """
    alarms = [{**alarm.to_dict(), **_times(alarm)} for alarm in monitor.alarms_]
    return {
        "drift": bool(alarms),
        "rows": monitor.n_rows_,
        "level": monitor.level,
        "e_value": monitor.e_value_,
        "alarms": alarms,
        "groups": {str(name): e for name, e in _groups(monitor)},
    }


def render(monitor: DriftMonitor, *, source: str = "", notes: Any = ()) -> str:
    """A monitor as one HTML page that needs nothing else."""
    lines = "".join(f"<li>{safe(note, 400)}</li>" for note in notes)
    parts = {
        "Evidence and coverage": f'<div class="pictures wide">{_picture(monitor)}</div>',
        "Alarms": _alarms(monitor.alarms_),
        "Groups": _groups_table(monitor),
        "How to read it": _words(monitor.level),
        "Notes": f"<ul>{lines}</ul>" if lines else "",
    }
    contents, sections = listed_sections({title: body for title, body in parts.items() if body})
    named = f"<b>{safe(source)}</b>: " if source else ""
    facts = f"{named}{monitor.n_rows_:,} rows. Made on <span>{date.today()}</span> by calibrant {safe(__version__)}."
    return filled(title=source or "forecasts", first=_first(monitor), facts=facts, contents=contents, sections=sections)


def _first(monitor: DriftMonitor) -> str:
    """Whether there is drift, and the first alarm in words."""
    severity = "serious" if monitor.alarms_ else "good"
    mark, _ = SEVERITIES[severity]
    word = "Drift" if monitor.alarms_ else "No drift"
    badge = f'<p class="badge {severity}"><span aria-hidden="true">{mark}</span> {word}</p>'
    if not monitor.alarms_:
        text = f"Nothing that chance does not explain in {monitor.n_rows_:,} rows"
    else:
        first, more = monitor.alarms_[0], len(monitor.alarms_) - 1
        text = f"{_where(first)}{first.words}" + (f", and {more} more alarm{'s' * (more > 1)}" if more else "")
    return f'<div class="decision {severity}"><div>{badge}<h1>{sentence(text)}</h1></div></div>'


def _where(alarm: Alarm) -> str:
    return "" if alarm.group is None else f"{alarm.group}: "


def _picture(monitor: DriftMonitor) -> str:
    def draw(axes: Any) -> Titles:
        DriftDisplay.from_monitor(monitor).plot(axes)
        axes[0].set_title("")
        return []

    caption = "Evidence against calibration, coverage, and how wide outcomes are believed to be, in time"
    return picture(caption, SIZE, draw, rows=3)


def _alarms(alarms: list[Alarm]) -> str:
    if not alarms:
        return ""
    heads = [Cell(name) for name in ("what changed", "where", "kind", "since", "noticed", "e-value", "size")]
    rows = [
        (
            [
                Cell(safe(alarm.fault)),
                Cell("all rows" if alarm.group is None else safe(str(alarm.group))),
                Cell(safe(alarm.kind)),
                Cell(safe(alarm.began), alarm.since),
                Cell(safe(alarm.noticed), alarm.step),
                Cell(f"{alarm.e_value:.3g}", alarm.e_value),
                Cell(f"{alarm.size:.3g}", alarm.size),
            ],
            "",
        )
        for alarm in alarms
    ]
    return table(heads, rows)


def _times(alarm: Alarm) -> dict[str, Any]:
    """Times as texts, numbers, or nothing."""
    both = {"time": alarm.time, "since_time": alarm.since_time}
    return {name: value if value is None or isinstance(value, float) else str(value) for name, value in both.items()}


def _groups(monitor: DriftMonitor) -> list[tuple[Any, float]]:
    """Groups with the evidence in each, the most first."""
    names = monitor.groups_ or []
    evidence = np.exp(np.minimum(monitor.log_e_[1:], MOST_LOG))
    return sorted(zip(names, evidence.tolist(), strict=True), key=lambda pair: -pair[1])


def _groups_table(monitor: DriftMonitor) -> str:
    found = _groups(monitor)
    if not found:
        return ""
    told = {alarm.group: alarm.words for alarm in reversed(monitor.alarms_) if alarm.group is not None}
    rows = [
        ([Cell(safe(str(name))), Cell(f"{e:.3g}", e), Cell(safe(told.get(name, "")))], "")
        for name, e in found[:MOST_GROUPS]
    ]
    many = f"<p>The {MOST_GROUPS} of {len(found)} groups with the most evidence.</p>"
    return (many if len(found) > MOST_GROUPS else "") + table([Cell("group"), Cell("e-value now"), Cell("alarm")], rows)


def _words(level: float) -> str:
    return (
        "<p>An e-value is what a gambler who started with 1 and bets against the forecasts has made of it: if these "
        f"are calibrated, it ever passes {1 / level:g} with a probability of at most {100 * level:g} %, however often "
        "one looks. The date of a change is the most probable one.</p>"
    )
