"""What evaluate, compare and report have in common: open a table, find its columns, look at it from every side."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..engines.arrow import evaluate
from ..engines.result import BEFORE, Result
from ..tables.columns import Columns
from ..tables.detection import Asked, find_columns
from ..tables.sources import open_table
from .console import progress


def look(path: Path, asked: Asked, candidates: Callable[[Columns], Any], most: int) -> Result:
    """Evaluate the forecasts in a table with the candidates for its columns."""
    table = open_table(path)
    columns, notes = find_columns(table, asked)
    with progress("looking", table.rows) as (done, stage):
        tried = candidates(columns)
        result = evaluate(table, columns, candidates=tried, most=most, progress=done, stage=stage)
    how = how_to_apply(path, columns, result.chosen)
    return replace(result, notes=[*table.notes, *notes, *result.notes], command=how)


def how_to_apply(path: Path, columns: Columns, chosen: str) -> str:
    """The commands that fit the chosen calibrator and apply it."""
    if chosen == BEFORE:
        return ""
    name = chosen.lower().replace(" ", "-")
    saved = f"{path.stem}.calibrant"
    fit = ["calibrant", "fit", str(path), *flags(columns), "--method", name, "-o", saved]
    apply = ["calibrant", "apply", saved, "new.parquet", "-o", "calibrated.parquet"]
    return f"{shlex.join(fit)}\n{shlex.join(apply)}"


def flags(columns: Columns) -> list[str]:
    """The options that say which column is what."""
    pairs = list(zip(columns.keys, columns.forecast, strict=False))
    if columns.kind == "classes" and len(columns.forecast) == 1:
        pairs = [(columns.keys[1], columns.forecast[0])]
    found = {
        "normal": [
            text for flag, name in zip(("--mean", "--std"), columns.forecast, strict=False) for text in (flag, name)
        ],
        "quantiles": [text for level, name in pairs for text in ("--quantile", f"{level:g}={name}")]
        if columns.kind == "quantiles"
        else [],
        "points": ["--point", *columns.forecast],
        "samples": ["--sample-prefix", _common(columns.forecast)],
        "classes": [text for label, name in pairs for text in ("--probability", f"{label}={name}")],
    }[columns.kind]
    if columns.scores_are != "probabilities":
        found += ["--scores-are", columns.scores_are]
    for flag, name in (("--target", columns.target), ("--weight", columns.weight)):
        found += [flag, name] if name else []
    return found


def _common(names: tuple[str, ...]) -> str:
    first, last = min(names), max(names)
    same = [a == b for a, b in zip(first, last, strict=False)]
    return first[: same.index(False)] if False in same else first
