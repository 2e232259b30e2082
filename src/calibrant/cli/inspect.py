"""``calibrant inspect``: what is in a saved calibrator."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from ..metrics.catalogue import Measured, label
from ..store.calibrators import describe
from ..tables.columns import Columns
from .console import say, say_json, say_table
from .options import JSON
from .results import in_words, measured_on

CALIBRATOR = Annotated[Path, typer.Argument(help="A file that fit wrote.", metavar="CALIBRATOR", show_default=False)]


def command(calibrator: CALIBRATOR, json: JSON = False) -> None:
    """Tell what is in a saved calibrator: method, rows, columns, measures before and after.

    Nothing in the file is executed.

    **Example:** `calibrant inspect shop.calibrant`
    """
    found = describe(calibrator)
    if json:
        return say_json(found)
    known = found["metadata"]
    lines = [
        f"{found['method']}, fitted to {found['rows']:,} rows",
        f"saved {found['saved']} by calibrant {found['library']} (format {found['version']})",
    ]
    lines += [f"fitted to {known['source']}"] if "source" in known else []
    lines += [_roles(Columns.from_dict(known["columns"]))] if "columns" in known else []
    say(*lines)
    measures = known.get("measures")
    tables = measures.items() if isinstance(measures, dict) else ()
    stages = {name: table for name, table in tables if isinstance(table, dict)}
    if stages:
        keys = list(dict.fromkeys(key for table in stages.values() for key in table))
        say("")
        rows = [[label(key), *(_saved(table.get(key), key) for table in stages.values())] for key in keys]
        say_table([_measured(known.get("measured")), *stages], rows)
    return None


def _measured(rows: Any) -> str:
    """On how many rows, as `fit` saved it."""
    known = isinstance(rows, list) and len(rows) == 2 and all(isinstance(n, int) for n in rows)
    return measured_on(*rows) if known else "cross-validated"


def _roles(columns: Columns) -> str:
    """Which column is what."""
    others = {"outcomes": columns.target, "weights": columns.weight, "time": columns.time}
    single = "".join(f", {what} in `{name}`" for what, name in others.items() if name)
    several = {"groups": columns.group, "features": columns.feature}
    listed = {what: ", ".join(f"`{name}`" for name in names) for what, names in several.items() if names}
    return f"{columns}{single}" + "".join(f", {what} in {names}" for what, names in listed.items())


def _saved(measure: Any, key: str) -> str:
    """A measure as `fit` saved it: value, and ends of the interval."""
    saved = measure if isinstance(measure, list) else []
    ends = [float(end) if isinstance(end, (int, float)) else math.nan for end in saved]
    return in_words(Measured(ends[0], math.nan, *ends[1:]), key) if len(ends) == 3 else ""
