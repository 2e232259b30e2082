"""What evaluate, report and demo have in common: open a table, find its columns, look at it from every side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ..engines.arrow import evaluate
from ..engines.decision import STATUSES
from ..engines.result import Result
from ..tables.columns import Columns
from ..tables.detection import Asked, open_columns
from .advice import how_to_apply
from .console import progress

FOLDS, QUICK_FOLDS = 5, 3
FAILED = 1  # the exit code; that of errors is 2
FailOn = Literal["none", "warn", "fail"]
FAIL_ON = Annotated[
    FailOn, typer.Option("--fail-on", help="Leave with exit code 1 if a check warns or fails, or only if one fails.")
]
QUICK = Annotated[
    bool, typer.Option("--quick", help="Try only calibrators that are fitted at once, on three folds instead of five.")
]


def analyse_table(
    path: Path, asked: Asked, candidates: Callable[[Columns], Any], most: int, *, folds: int = FOLDS
) -> Result:
    """Evaluate the forecasts in a table with the candidates for its columns."""
    table, columns, notes = open_columns(path, asked)
    with progress("looking", table.rows) as (done, stage):
        tried = candidates(columns)
        result = evaluate(table, columns, candidates=tried, most=most, cv=folds, progress=done, stage=stage)
    how = how_to_apply(path, columns, result.chosen, asked.reading)
    decision = replace(result.decision, command=how)
    return replace(result, notes=[*table.notes, *notes, *result.notes], command=how, decision=decision)


def leave(result: Result, least: FailOn) -> None:
    """Leave with exit code 1 where a check is as bad as that, or worse."""
    if least != "none" and STATUSES.index(result.decision.worst) >= STATUSES.index(least):
        raise typer.Exit(FAILED)
