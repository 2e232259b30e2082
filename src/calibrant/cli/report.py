"""``calibrant report``: one page to open."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..tables.detection import Asked
from ..tables.writing import PAGE, check_output, write_text
from .analysing import analyse_table
from .console import note, say, say_json
from .fit import OVERWRITE
from .methods import candidates_for
from .options import JSON, METHODS, ROWS, TABLE, with_columns

OUTPUT = Annotated[
    Path, typer.Option("--output", "-o", help="The page to write; an older one is replaced.", metavar="FILE")
]


@with_columns
def command(
    table: TABLE,
    *,
    asked: Asked,
    output: OUTPUT = Path("report.html"),
    method: METHODS = None,
    rows: ROWS = 20_000,
    overwrite: OVERWRITE = False,
    json: JSON = False,
) -> None:
    """Write a report on a table of forecasts: one HTML page that needs nothing else.

    Without --method every sensible calibrator is tried; the page lets you switch between them.

    **Example:** `calibrant report forecasts.csv --group shop -o report.html`
    """
    from ..report import render

    check_output(output, table, overwrite=overwrite, table=False, kind=PAGE)
    result = analyse_table(table, asked, lambda columns: candidates_for(columns, method) if method else None, rows)
    write_text(output, render(result))
    for text in result.notes:
        note(text)
    if json:
        return say_json({**result.to_dict(), "report": str(output)})
    say(result.verdict, f"The report is in {output}")
    return None
