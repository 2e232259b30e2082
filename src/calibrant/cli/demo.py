"""``calibrant demo``: the whole way on made-up data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..engines.example import shop_forecasts
from ..select.candidates import QUICK as QUICKLY
from ..tables.detection import Asked
from ..tables.writing import write_table
from .analysing import analyse_table
from .console import commands, say, say_json
from .options import JSON
from .results import show_decision

OUTPUT = Annotated[Path, typer.Option("--output", "-o", help="The folder to write to.", metavar="FOLDER")]


def command(output: OUTPUT = Path("calibrant-demo"), json: JSON = False) -> None:
    """Write a full report on made-up forecasts of three shops' sales that have three faults: watch it find them.

    The forecasts are too narrow, one shop sells more than they say, and sales get restless, which they do not see.
    They are written as a CSV file too, to try the other commands on.
    """
    from ..report.writing import write_report

    output.mkdir(parents=True, exist_ok=True)
    forecasts, page = output / "forecasts.csv", output / "report.html"
    write_table(forecasts, shop_forecasts().to_batches())
    asked = Asked(target="sales", group=["shop"], time="day")
    result = analyse_table(forecasts, asked, lambda _: QUICKLY, 20_000)
    write_report(result, page)
    if json:
        return say_json({**result.to_dict(), "forecasts": str(forecasts), "report": str(page)})
    show_decision(result)
    say("", f"The forecasts are in {forecasts}", f"The report is in {page.resolve()}")
    say(
        "",
        "Next:",
        commands(["calibrant", "evaluate", str(forecasts), "--target", "sales", "--group", "shop", "--time", "day"]),
        *result.command.splitlines()[:1],
    )
    return None
