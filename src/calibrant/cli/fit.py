"""``calibrant fit``: learn the correction."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ..engines.anywhere import fit
from ..engines.arrow import analysed
from ..engines.result import Result
from ..engines.sampling import Sample
from ..regression import PointCalibrator
from ..store.calibrators import save
from ..tables.columns import Columns
from ..tables.detection import Asked, open_columns
from ..tables.writing import CALIBRATOR, check_output
from .console import commands, note, progress, say, say_json
from .methods import calibrator_of, listed
from .options import JSON, LEARNED, TABLE, with_columns
from .results import measured_on, show_measures

FEWEST, MEASURED = 20, 5_000  # rows for the measures that are saved beside the calibrator
OUTPUT = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        help="The file to save the calibrator in; an older one is replaced.",
        metavar="FILE",
        show_default=False,
    ),
]
METHOD = Annotated[
    str | None,
    typer.Option(
        "--method",
        "-m",
        metavar="NAME",
        help=f"The calibrator. For distributions: {listed('distributions')}. For --point: {listed('points')}. "
        f"For classes: {listed('scores')}.",
    ),
]
OVERWRITE = Annotated[
    bool, typer.Option("--overwrite", help="Replace the output even if it is an input or a file of another kind.")
]


@partial(with_columns, names=LEARNED)
def command(
    table: TABLE,
    *,
    asked: Asked,
    output: OUTPUT,
    method: METHOD = None,
    overwrite: OVERWRITE = False,
    json: JSON = False,
) -> None:
    """Learn from forecasts and outcomes how forecasts are off, and save the correction.

    The file remembers which column is what. With --group, one correction per group, with --horizon, one for each step
    ahead; with --feature, one that depends on these columns, by --method boosted unless another is named.

    **Example:** `calibrant fit forecasts.csv --mean mu --std sigma --target y -o shop.calibrant`
    """
    source, columns, notes = open_columns(table, asked)
    name, calibrator = calibrator_of(method, columns)
    check_output(output, table, overwrite=overwrite, table=False, kind=CALIBRATOR)
    sample = Sample(MEASURED)
    with progress("fitting", source.rows) as (done, stage):
        fitted = fit(source, calibrator, columns, sample=sample, progress=done)
        stage("measuring")
        result = _measured(sample, columns, calibrator, name)
    notes = [*source.notes, *notes, *sample.notes()]
    kept = _metadata(source.name, columns, result, notes)
    save(fitted, output, metadata=kept)
    for text in notes:
        note(text)
    told = vars(fitted).get("guarantee_")
    promised = {"guarantee": told} if told else {}
    if json:
        about = {"calibrator": str(output), "method": type(fitted).__name__, "rows": fitted.n_rows_}
        return say_json({**about, **promised, **kept})
    if result is not None:
        say(result.verdict, "")
        show_measures(result, measured_on(len(result.y), result.rows))
        say("")
    for text in promised.values():
        say(text, "")
    say(f"{type(fitted).__name__} of {fitted.n_rows_:,} rows saved in {output}. To apply it:")
    say(commands(["calibrant", "apply", str(output), "new.parquet", "-o", "calibrated.parquet"]))
    return None


def _measured(sample: Sample, columns: Columns, calibrator: Any, name: str) -> Result | None:
    """Cross-validated measures on some of the rows, before and after; calibrated points and few rows have none."""
    if isinstance(calibrator, PointCalibrator) or sample.seen < FEWEST:
        return None
    try:
        return analysed(sample, columns, candidates={name: calibrator})
    except ValueError as reason:
        note(f"the fit is not measured: {reason}")
        return None


def _metadata(source: str, columns: Columns, result: Result | None, notes: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"source": source, "columns": columns.to_dict(), "measures": {}, "notes": notes}
    if result is not None:
        found |= {"measures": result.to_dict()["measures"], "measured": [len(result.y), result.rows]}
    return found
