"""The first screen: how bad it is, why, what to do about it, what that costs, and what was checked."""

from __future__ import annotations

from collections.abc import Sequence

from ..engines.decision import STATUSES, Check
from ..engines.result import Result
from .words import exact, safe, sentence

SEVERITIES = {"good": ("✓", "Good"), "minor": ("!", "Minor fault"), "serious": ("✕", "Serious fault")}
MARKS = {"pass": "✓", "warn": "!", "fail": "✕"}


def first_screen(result: Result, cards: str) -> str:
    """The verdict and the most telling numbers beside the checks; the headline alone where nothing was decided."""
    decision = result.decision
    if not decision.sentence:
        return f"<h1>{sentence(result.verdict)}</h1>{cards}"
    mark, word = SEVERITIES[decision.severity]
    badge = f'<p class="badge {decision.severity}"><span aria-hidden="true">{mark}</span> {word}</p>'
    verdict = f"{badge}<h1>{sentence(decision.sentence)}</h1>{_list('causes', decision.causes)}{_todo(result)}"
    checks = _checks(decision.checks)
    return f'<div class="decision {decision.severity}"><div>{verdict}{cards}</div>{checks}</div>'


def _todo(result: Result) -> str:
    """What to do, the command for it, what it costs, and what to be careful about."""
    decision = result.decision
    lines = decision.command or result.command
    command = copyable(lines) if lines else ""
    action = f"<p>{sentence(decision.action)}</p>" if decision.action else ""
    cost = f"<p>{sentence(decision.cost)}</p>" if decision.cost else ""
    parts = {"Do": action + command, "Cost": cost, "Mind": _list("caveats", decision.caveats)}
    rows = "".join(f"<dt>{name}</dt><dd>{body}</dd>" for name, body in parts.items() if body)
    return f'<dl class="todo">{rows}</dl>' if rows else ""


def copyable(command: str) -> str:
    """A command with a button that copies it."""
    button = '<button type="button" class="copy">Copy</button>'
    return f'<div class="command"><pre><code>{exact(command)}</code></pre>{button}</div>'


def _list(kind: str, lines: Sequence[str]) -> str:
    items = "".join(f"<li>{sentence(line)}</li>" for line in lines)
    return f'<ul class="{kind}">{items}</ul>' if items else ""


def _checks(checks: Sequence[Check]) -> str:
    """What was checked, against which threshold, and how it ended, the bad ones first."""
    if not checks:
        return ""
    rows = "".join(_check(check) for check in sorted(checks, key=lambda check: -STATUSES.index(check.status)))
    return f'<div class="checks"><p><b class="label">Checks</b> {_count(checks)}</p><dl>{rows}</dl></div>'


def _check(check: Check) -> str:
    mark = f'<span aria-hidden="true">{MARKS[check.status]}</span>'
    badge = f'<span class="badge {check.status}">{mark} {check.status}</span>'
    return f"<div><dt>{badge} <span>{safe(check.label)}</span></dt><dd>{sentence(check.words)}</dd></div>"


def _count(checks: Sequence[Check]) -> str:
    """How many ended how, the bad ones first."""
    ended = [check.status for check in checks]
    return ", ".join(f"{ended.count(status)} {status}" for status in reversed(STATUSES) if status in ended)
