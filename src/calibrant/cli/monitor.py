"""``calibrant monitor``: whether calibration has drifted, what changed, and since when."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from ..engines.daily import watch
from ..monitor import DriftMonitor
from ..tables.detection import Asked, open_columns
from ..tables.writing import PAGE, check_output
from .analysing import FAILED
from .console import note, progress, say, say_json
from .fit import OVERWRITE
from .options import JSON, TABLE, WATCHED, with_columns

OUTPUT = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="A page to write; an older one is replaced.", metavar="FILE"),
]
LEVEL = Annotated[float, typer.Option(help="Probability that calm forecasts ever raise an alarm, at most.")]
SAME_TIME = Annotated[
    Literal["independent", "dependent"],
    typer.Option(help="Whether outcomes of the same time may depend, as those of shops that share the weather do."),
]
FAIL_ON = Annotated[
    Literal["none", "drift"], typer.Option("--fail-on", help="With drift: leave with exit code 1 if there is an alarm.")
]


@partial(with_columns, names=WATCHED)
def command(
    table: TABLE,
    *,
    asked: Asked,
    output: OUTPUT = None,
    level: LEVEL = 0.05,
    same_time: SAME_TIME = "independent",
    fail_on: FAIL_ON = "none",
    overwrite: OVERWRITE = False,
    json: JSON = False,
) -> None:
    """Watch a history of forecasts and outcomes for drift: what changed, in which group, and since when.

    The tests may be looked at every day: the probability of a false alarm is that of the whole run. Rows are taken in
    the order of --time, or as they come.

    **Example:** `calibrant monitor history.parquet --time ds --group shop -o monitor.html --fail-on drift`
    """
    if output is not None:
        from ..report.writing import check_beside

        check_output(output, table, overwrite=overwrite, table=False, kind=PAGE)
        check_output(check_beside(output), table, table=False)
    source, columns, notes = open_columns(table, asked)
    monitor = DriftMonitor(level, same_time=same_time)
    with progress("watching", source.rows) as (done, _):
        seen = watch(monitor, source, columns, done)
    if not seen.seen:
        raise ValueError(f"column `{columns.target}` must have an outcome in some row; it has none.")
    notes = [*source.notes, *notes, *seen.notes()]
    for text in notes:
        note(text)
    if output is not None or json:
        _written(monitor, output, source.name, notes, json=json)
    if not json:
        say(*str(monitor).splitlines())
        if output is not None:
            say(f"The page is in {output}")
    if fail_on == "drift" and monitor.alarms_:
        raise typer.Exit(FAILED)


def _written(monitor: DriftMonitor, output: Path | None, source: str, notes: list[str], *, json: bool) -> None:
    from ..report.monitoring import described, write_monitor

    if output is not None:
        write_monitor(monitor, output, source=source, notes=notes)
    if json:
        say_json(described(monitor))
