"""``calibrant apply``: put new forecasts right."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from .._checks import probability
from ..adapters.names import NAMES
from ..calibration.contract import takes_of
from ..engines import lazy
from ..engines.added import Added
from ..engines.anywhere import write_lazily
from ..engines.arrow import apply
from ..store.calibrators import describe, load
from ..tables.columns import Columns
from ..tables.detection import Asked, existing_column, find_columns
from ..tables.features import with_features
from ..tables.files import PIPE
from ..tables.roles import RoleError
from ..tables.sources import Table, open_table
from ..tables.writing import check_output
from .console import note, progress, say, say_json
from .inspect import CALIBRATOR
from .options import FORECASTS, JSON, TABLE, with_columns

OUTPUT = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        help="The table to write; its name tells the format; - is stdout, CSV. An older one is replaced.",
        metavar="FILE",
        show_default=False,
    ),
]
OVERWRITE = Annotated[bool, typer.Option("--overwrite", help="Replace the output even if it is an input.")]
_PANEL = "Columns to add, in the order given (default: quantiles at 0.05, 0.25, 0.5, 0.75, 0.95)"


def _asked_for(kind: str) -> Any:
    """A callback that keeps the order of the options."""

    def remember(context: typer.Context, value: Any) -> Any:
        items = context.meta.setdefault("added", [])
        for text in value if isinstance(value, list) else []:
            items.extend((kind, _place(part) if kind == "cdf" else _share(part, kind)) for part in text.split(","))
        if value is True:
            items.append((kind, None))
        return value

    return remember


def _share(text: str, kind: str) -> float:
    name = "levels" if kind == "level" else kind
    try:
        return probability(float(text), name)
    except ValueError as reason:
        hint = "Percent? Divide by 100." if text.replace(".", "").isdigit() else ""
        raise ValueError(f"--{name} must be numbers strictly between 0 and 1; got {text!r}. {hint}".strip()) from reason


def _place(text: str) -> str | float:
    """A number, or the name of a column."""
    try:
        return float(text)
    except ValueError:
        return text


LEVELS = Annotated[
    list[str] | None,
    typer.Option(
        "--levels",
        callback=_asked_for("level"),
        metavar="0.1,0.5,…",
        rich_help_panel=_PANEL,
        help="Quantiles q0.1, q0.5, …",
    ),
]
COVERAGE = Annotated[
    list[str] | None,
    typer.Option(
        "--coverage",
        callback=_asked_for("coverage"),
        metavar="0.9,…",
        rich_help_panel=_PANEL,
        help="Ends of central intervals lo-90, hi-90, …",
    ),
]
MEAN = Annotated[
    bool, typer.Option("--with-mean", callback=_asked_for("mean"), rich_help_panel=_PANEL, help="Calibrated means.")
]
STD = Annotated[
    bool,
    typer.Option(
        "--with-std", callback=_asked_for("std"), rich_help_panel=_PANEL, help="Calibrated standard deviations."
    ),
]
CDF = Annotated[
    list[str] | None,
    typer.Option(
        "--cdf",
        callback=_asked_for("cdf"),
        metavar="y,30,…",
        rich_help_panel=_PANEL,
        help="Probabilities cdf_y, cdf_30, … of outcomes up to those in a column, or up to a number.",
    ),
]


@partial(with_columns, names=FORECASTS)
def command(
    context: typer.Context,
    calibrator: CALIBRATOR,
    table: TABLE,
    *,
    asked: Asked,
    output: OUTPUT,
    levels: LEVELS = None,
    coverage: COVERAGE = None,
    with_mean: MEAN = False,
    with_std: STD = False,
    cdf: CDF = None,
    overwrite: OVERWRITE = False,
    json: JSON = False,
) -> None:
    """Calibrate the forecasts in a table and write it with new columns at its end.

    Which column is what is remembered from fit; the options below are for tables with other names. Class
    probabilities are added as p_LABEL.

    **Example:** `calibrant apply shop.calibrant new.parquet --levels 0.1,0.9 --coverage 0.9 -o calibrated.parquet`
    """
    fitted, saved = load(calibrator), describe(calibrator)["metadata"]
    if not hasattr(fitted, "transform"):
        kind = type(fitted).__name__
        what = f"a forecaster, {kind}, which predicts from features" if hasattr(fitted, "predict") else kind
        raise ValueError(f"`{calibrator}` holds {what}; give a calibrator.")
    if json and str(output) == PIPE:
        raise ValueError("--json is for results; with -o - the table itself is written to stdout.")
    source = open_table(table, asked.reading)
    check_output(output, table, calibrator, overwrite=overwrite)
    columns, notes = _columns(source, asked, saved, fitted)
    added = Added(tuple(context.meta.get("added", ())))
    with progress("calibrating", source.rows) as (done, _):
        names = _written(fitted, source, columns, output, added=added, overwrite=overwrite, progress=done)
    for text in [*source.notes, *notes]:
        note(text)
    if json:
        return say_json({"output": str(output), "added": names})
    if str(output) != PIPE:
        say(f"{output} has the columns of {source.name} and {', '.join(names)}")
    return None


def _written(fitted: Any, source: Table, columns: Columns, output: Path, *, added: Added, **how: Any) -> list[str]:
    """The names of the columns that were added, by the engine that reads the table."""
    if source.lazy is None:
        return list(apply(fitted, source, columns, output, added=added, **how))
    return write_lazily(lazy.apply(fitted, source, columns, added=added), source, output, **how)


def _columns(table: Table, asked: Asked, saved: Any, fitted: Any) -> tuple[Columns, list[str]]:
    """Roles of columns: those of fit, but for what was said; found out where nobody knows."""
    kept = saved.get("columns") if isinstance(saved, dict) else None
    if kept is None or asked.kinds():
        scores_are = getattr(fitted, "scores_are", "probabilities")
        columns, notes = find_columns(table, replace(asked, group=[], scores_are=scores_are), outcomes=False)
        if kept is not None:
            _check_kind(columns, Columns.from_dict(kept))
            columns = replace(Columns.from_dict(kept), forecast=columns.forecast, keys=columns.keys)
    else:
        columns, notes = Columns.from_dict(kept), []
    if columns.kind == "classes":
        columns = columns.in_order(fitted.classes_)
    ahead = asked.horizon or columns.horizon if "horizon" in takes_of(fitted).beside else None
    columns = replace(columns, group=tuple(asked.group) or columns.group, horizon=ahead)
    columns = _featured(table, columns, asked.feature, fitted)
    for name in (*columns.forecast, *columns.group, *columns.feature, *([ahead] if ahead else [])):
        existing_column(table, name)
    return columns, notes


def _featured(table: Table, columns: Columns, asked: list[str], fitted: Any) -> Columns:
    """Features as remembered or as said, where the calibrator uses some."""
    if "X" in takes_of(fitted).beside:
        names = [existing_column(table, name) for name in asked]
        return with_features(table, columns, names)[0] if names else columns
    if asked:
        raise RoleError("the calibrator uses no features; leave {feature} out.")
    return columns.without_features()


def _check_kind(columns: Columns, fitted: Columns) -> None:
    if columns.kind != fitted.kind or len(columns.forecast) != len(fitted.forecast):
        got = f"{NAMES[columns.kind]} in {len(columns.forecast)} columns"
        raise ValueError(f"the calibrator was fitted to {fitted}; got {got}.")
