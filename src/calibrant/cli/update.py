"""``calibrant update``: learn from the outcomes of a day, once."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ..calibration import OnlineCalibrator
from ..engines.daily import update
from ..store.calibrators import describe, load, save
from ..tables.columns import Columns
from ..tables.detection import Asked, existing_column, find_columns
from ..tables.sources import Table, open_table
from ..tables.writing import CALIBRATOR, check_output
from .console import commands, note, progress, say, say_json
from .options import JSON, ONLINE, TABLE, with_columns

STATE = Annotated[
    Path,
    typer.Argument(
        help="The file that keeps what was learned; it is made by the first update.",
        metavar="STATE",
        show_default=False,
    ),
]


@partial(with_columns, names=ONLINE)
def command(state: STATE, table: TABLE, *, asked: Asked, json: JSON = False) -> None:
    """Learn from the outcomes of a day how forecasts are off now, and keep it in a file that `apply` takes.

    What is old is forgotten, and nothing is learned twice: give the same table again, or one that begins where the last
    one began, with --id or --time telling rows apart. Rows whose outcome is not known yet may come again; with --time,
    as long as no later one of their group was learned. With --group, each group is followed by itself, with --horizon
    each step ahead.

    **Example:** `calibrant update shop.calibrant yesterday.parquet --time ds --group shop`
    """
    check_output(state, table, table=False, kind=CALIBRATOR)
    source = open_table(table, asked.reading)
    kept = describe(state)["metadata"] if state.exists() else {}
    columns, notes = _columns(source, asked, kept)
    fitted = load(state) if state.exists() else _new(columns)
    if not isinstance(fitted, OnlineCalibrator):
        kind = type(fitted).__name__
        raise ValueError(f"`{state}` holds {kind}, which learns once, by fit; give a file that update has made.")
    with progress("learning", source.rows) as (done, _):
        learned = update(fitted, source, columns, _tables(kept), done)
    if learned.new:
        save(fitted, state, metadata={"source": source.name, "columns": columns.to_dict(), "tables": learned.tables})
    for text in [*source.notes, *notes, *learned.notes]:
        note(text)
    rows = int(getattr(fitted, "n_rows_", 0))
    if json:
        return say_json({"state": str(state), "new": learned.new, "repeated": learned.repeated, "rows": rows})
    say(_told(learned.new, learned.repeated, rows, state))
    if learned.new:
        say(commands(["calibrant", "apply", str(state), "today.parquet", "-o", "calibrated.parquet"]))
    return None


def _new(columns: Columns) -> OnlineCalibrator:
    """One that knows nothing, for such forecasts."""
    if columns.kind == "points":
        raise ValueError("point predictions have no width that could be followed; give means and standard deviations.")
    if columns.kind != "classes":
        return OnlineCalibrator()
    return OnlineCalibrator(kind=columns.scores_are, classes=columns.keys)


def _columns(table: Table, asked: Asked, kept: Any) -> tuple[Columns, list[str]]:
    """Roles of columns: those of the first update, unless others are said."""
    saved = kept.get("columns") if isinstance(kept, dict) else None
    if saved is None:
        return find_columns(table, asked)
    known = Columns.from_dict(saved)
    if asked != Asked(reading=asked.reading):
        columns, notes = find_columns(table, asked)
        if columns.kind != known.kind or bool(columns.group) != bool(known.group):
            raise ValueError(
                f"what was learned is of {known}, and {_grouped(known)}; got {columns}, {_grouped(columns)}."
            )
        return columns, notes
    for name in known.names():
        existing_column(table, name)
    return known, []


def _grouped(columns: Columns) -> str:
    return f"by {', '.join(f'`{name}`' for name in columns.group)}" if columns.group else "not by group"


def _tables(kept: Any) -> list[str]:
    saved = kept.get("tables", []) if isinstance(kept, dict) else []
    return [text for text in saved if isinstance(text, str)] if isinstance(saved, list) else []


def _told(new: int, repeated: int, rows: int, state: Path) -> str:
    again = f"; {repeated:,} had been learned before" if repeated else ""
    if not new:
        return f"Nothing new{again}. {state} is as it was."
    return f"{new:,} rows learned{again}. {state} knows {rows:,}. To apply it:"
