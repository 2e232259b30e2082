"""``calibrant evaluate``: how wrong the uncertainty is."""

from __future__ import annotations

from ..tables.detection import Asked
from .analysing import analyse_table
from .console import note, say, say_json
from .methods import candidates_for
from .options import JSON, METHODS, ROWS, TABLE, with_columns
from .results import show_groups, show_measures


@with_columns
def command(table: TABLE, *, asked: Asked, method: METHODS = None, rows: ROWS = 200_000, json: JSON = False) -> None:
    """See how wrong the uncertainty of forecasts is, and how much calibration mends.

    Measures come with 90 % intervals. The calibrator is cross-validated: no row is calibrated by a fit that has seen
    it. With --group, one correction for all competes with one a group.

    **Example:** `calibrant evaluate forecasts.csv --mean mu --std sigma --target y --group shop`
    """
    result = analyse_table(table, asked, lambda columns: candidates_for(columns, method), rows)
    for text in result.notes:
        note(text)
    if json:
        return say_json(result.to_dict())
    say(result.verdict, "")
    show_measures(result)
    show_groups(result)
    return None
