"""``calibrant inspect``: what is in a saved calibrator."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..store.calibrators import describe
from ..tables.columns import Columns
from .console import say, say_json, say_table
from .options import JSON

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
    say(f"{found['method']}, fitted to {found['rows']:,} rows")
    say(f"saved {found['saved']} by calibrant {found['library']} (format {found['version']})")
    if "source" in known:
        say(f"fitted to {known['source']}")
    if "columns" in known:
        columns = Columns.from_dict(known["columns"])
        others = {"outcomes": columns.target, "weights": columns.weight, "time": columns.time}
        groups = ", groups in " + ", ".join(f"`{name}`" for name in columns.group) if columns.group else ""
        say(f"{columns}" + "".join(f", {what} in `{name}`" for what, name in others.items() if name) + groups)
    measures = known.get("measures")
    if isinstance(measures, dict) and measures:
        names = list(dict.fromkeys(name for table in measures.values() for name in table))
        say("")
        say_table(
            ["cross-validated", *measures], [[n, *(_shown(table.get(n)) for table in measures.values())] for n in names]
        )
    return None


def _shown(measure: Any) -> str:
    value = measure[0] if isinstance(measure, list) and measure else None
    return f"{value:.4g}" if isinstance(value, (int, float)) else ""
