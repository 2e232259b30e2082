"""``calibrant report``: one page to open."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ..select.candidates import QUICK as QUICKLY
from ..tables.columns import Columns
from ..tables.detection import Asked
from ..tables.writing import PAGE, check_output
from .analysing import FAIL_ON, FOLDS, QUICK, QUICK_FOLDS, analyse_table, leave
from .console import note, say, say_json
from .fit import OVERWRITE
from .methods import candidates_for
from .options import ALL, JSON, METHODS, ROWS, TABLE, with_columns
from .results import show_decision

OUTPUT = Annotated[
    Path, typer.Option("--output", "-o", help="The page to write; an older one is replaced.", metavar="FILE")
]


@partial(with_columns, names=ALL)
def command(
    table: TABLE,
    *,
    asked: Asked,
    output: OUTPUT = Path("report.html"),
    method: METHODS = None,
    rows: ROWS = 20_000,
    quick: QUICK = False,
    fail_on: FAIL_ON = "none",
    overwrite: OVERWRITE = False,
    json: JSON = False,
) -> None:
    """Write a report on a table of forecasts: one HTML page that needs nothing else, and the same as JSON beside it.

    Without --method every sensible calibrator is tried; the page lets you switch between them. Checks of the forecasts
    pass, warn or fail; with --fail-on the exit code tells, for use in pipelines.

    **Example:** `calibrant report forecasts.csv --group shop -o report.html`
    """
    from ..report.writing import check_beside, write_report

    check_output(output, table, overwrite=overwrite, table=False, kind=PAGE)
    check_output(check_beside(output), table, table=False)
    folds = QUICK_FOLDS if quick else FOLDS
    result = analyse_table(table, asked, partial(_candidates, method, quick), rows, folds=folds)
    beside = write_report(result, output)
    for text in result.notes:
        note(text)
    if json:
        say_json({**result.to_dict(), "report": str(output)})
    else:
        show_decision(result)
        say(f"The same for programs is in {beside}", f"The report is in {output}")
    leave(result, fail_on)


def _candidates(method: list[str] | None, quick: bool, columns: Columns) -> Any:
    """Those that are named, or all, or the quick ones."""
    if method:
        return candidates_for(columns, method)
    return QUICKLY if quick else None
