"""The first screen: how bad it is, why, what to do about it, what that costs, and what was checked."""

from __future__ import annotations

from collections.abc import Sequence

from ..engines.decision import Check, Decision
from ..engines.result import Result
from .words import exact, safe, sentence

SEVERITIES = {"good": ("✓", "Good"), "minor": ("!", "Minor fault"), "serious": ("✕", "Serious fault")}
STATUSES = {"pass": ("✓", "pass"), "warn": ("!", "warn"), "fail": ("✕", "fail")}


def first_screen(result: Result) -> str:
    """The verdict beside the checks; the headline alone where nothing was decided."""
    decision = result.decision
    if not decision.sentence:
        return f"<h1>{sentence(result.verdict)}</h1>"
    mark, word = SEVERITIES[decision.severity]
    badge = f'<p class="badge {decision.severity}"><span aria-hidden="true">{mark}</span> {word}</p>'
    verdict = f"{badge}<h1>{sentence(decision.sentence)}</h1>{_list('causes', decision.causes)}{_todo(decision)}"
    checks = _checks(decision.checks)
    return f'<div class="decision {decision.severity}"><div>{verdict}</div>{checks}</div>'


def _todo(decision: Decision) -> str:
    """What to do, the command for it, what it costs, and what to be careful about."""
    command = copyable(decision.command) if decision.command else ""
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
    """What was checked, against which threshold, and how it ended."""
    if not checks:
        return ""
    rows = "".join(_check(check) for check in checks)
    return f'<div class="checks"><p><b class="label">Checks</b> {_count(checks)}</p><dl>{rows}</dl></div>'


def _check(check: Check) -> str:
    mark, word = STATUSES[check.status]
    badge = f'<span class="badge {check.status}"><span aria-hidden="true">{mark}</span> {word}</span>'
    return f"<div><dt>{badge} {safe(check.label)}</dt><dd>{sentence(check.words)}</dd></div>"


def _count(checks: Sequence[Check]) -> str:
    """How many ended how, the bad ones first."""
    ended = [check.status for check in checks]
    return ", ".join(f"{ended.count(s)} {word}" for s, (_, word) in reversed(STATUSES.items()) if s in ended)
