"""What evaluate, report and demo have in common: open a table, find its columns, look at it from every side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..engines.arrow import evaluate
from ..engines.result import Result
from ..tables.columns import Columns
from ..tables.detection import Asked, open_columns
from .advice import how_to_apply
from .console import progress


def analyse_table(path: Path, asked: Asked, candidates: Callable[[Columns], Any], most: int) -> Result:
    """Evaluate the forecasts in a table with the candidates for its columns."""
    table, columns, notes = open_columns(path, asked)
    with progress("looking", table.rows) as (done, stage):
        tried = candidates(columns)
        result = evaluate(table, columns, candidates=tried, most=most, progress=done, stage=stage)
    how = how_to_apply(path, columns, result.chosen, asked.reading)
    return replace(result, notes=[*table.notes, *notes, *result.notes], command=how)
