"""``calibrant demo``: the whole way on bundled data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..engines.example import diabetes_forecasts
from ..tables.detection import Asked
from ..tables.writing import write_table, write_text
from .analysing import analyse_table
from .console import commands, say, say_json
from .options import JSON

OUTPUT = Annotated[Path, typer.Option("--output", "-o", help="The folder to write to.", metavar="FOLDER")]


def command(output: OUTPUT = Path("calibrant-demo"), json: JSON = False) -> None:
    """Forecast the progress of diabetes with Bayesian ridge regression and write a full report on the forecasts.

    The data come with scikit-learn. The forecasts of each patient are by a model that has not seen the patient; they
    are written as a CSV file too, to try the other commands on.
    """
    from ..report import render

    output.mkdir(parents=True, exist_ok=True)
    forecasts, page = output / "forecasts.csv", output / "report.html"
    write_table(forecasts, diabetes_forecasts().to_batches())
    result = analyse_table(forecasts, Asked(group=["sex", "age"]), lambda _: None, 20_000)
    write_text(page, render(result))
    if json:
        return say_json({**result.to_dict(), "forecasts": str(forecasts), "report": str(page)})
    say(result.verdict, f"The forecasts are in {forecasts}", f"The report is in {page.resolve()}")
    say(
        "",
        "Next:",
        commands(["calibrant", "evaluate", str(forecasts), "--group", "sex"]),
        *result.command.splitlines()[:1],
    )
    return None
