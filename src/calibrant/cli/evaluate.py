"""``calibrant evaluate``: how wrong the uncertainty is."""

from __future__ import annotations

from functools import partial

from ..tables.detection import Asked
from .analysing import FAIL_ON, FOLDS, QUICK, QUICK_FOLDS, analyse_table, leave
from .console import note, say, say_json
from .methods import candidates_for
from .options import ALL, JSON, METHODS, ROWS, TABLE, with_columns
from .results import measured_on, show_decision, show_groups, show_measures


@partial(with_columns, names=ALL)
def command(
    table: TABLE,
    *,
    asked: Asked,
    method: METHODS = None,
    rows: ROWS = 200_000,
    quick: QUICK = False,
    fail_on: FAIL_ON = "none",
    json: JSON = False,
) -> None:
    """See how wrong the uncertainty of forecasts is, and how much calibration mends.

    Measures come with 90 % intervals. The calibrator is cross-validated: no row is calibrated by a fit that has seen
    it. With --group, one correction for all competes with one a group; with --feature, boosted competes, which learns
    from these. Checks of the forecasts pass, warn or fail; with --fail-on the exit code tells, for use in pipelines.

    **Example:** `calibrant evaluate forecasts.csv --mean mu --std sigma --target y --group shop`
    """
    folds = QUICK_FOLDS if quick else FOLDS
    result = analyse_table(table, asked, lambda columns: candidates_for(columns, method), rows, folds=folds)
    for text in [*result.notes, *(["a quick look: three folds instead of five"] if quick else [])]:
        note(text)
    if json:
        say_json(result.to_dict())
    else:
        show_decision(result)
        say("")
        show_measures(result, "" if len(result.y) == result.rows else measured_on(len(result.y), result.rows))
        show_groups(result)
    leave(result, fail_on)
