"""``calibrant compare``: which calibrator is best."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer
from joblib import parallel_config

from ..engines.arrow import compare
from ..metrics.catalogue import Measured, label, measures_of
from ..select import Comparison
from ..tables.columns import Columns
from ..tables.detection import Asked, open_columns
from .advice import how_to_apply
from .console import note, progress, say, say_json, say_table
from .methods import candidates_for, check_features
from .options import JSON, METHODS, ROWS, TABLE, with_columns

JOBS = Annotated[int, typer.Option(help="Fits at a time.", min=1)]
REPEATS = Annotated[int, typer.Option(help="Times to cross-validate; with --time once.", min=1)]


@with_columns
def command(
    table: TABLE,
    *,
    asked: Asked,
    method: METHODS = None,
    rows: ROWS = 20_000,
    repeats: REPEATS = 1,
    jobs: JOBS = 1,
    json: JSON = False,
) -> None:
    """Compare calibrators on a table of forecasts, "none" among them.

    Each is cross-validated on the same five folds; without --method every sensible one is tried. Best first. With
    --group, one correction for all competes with one a group; with --feature, boosted competes, which learns from
    these.

    **Example:** `calibrant compare forecasts.csv --method scale --method quantile --method stack`
    """
    source, columns, notes = open_columns(table, asked)
    candidates = candidates_for(columns, method) if method else None
    if candidates is not None:
        check_features(list(candidates), columns)
    if columns.time and repeats > 1:
        raise ValueError("--repeats is for random folds; those along --time are always the same.")
    cv = 5 if columns.time else (5, repeats)
    with progress("comparing", source.rows) as (done, stage), parallel_config(n_jobs=jobs):
        options: dict[str, Any] = {"candidates": candidates, "most": rows, "cv": cv, "progress": done}
        found, left_out = compare(source, columns, fits=lambda k, all_: stage(f"fit {k} of {all_}"), **options)
    for text in [*source.notes, *notes, *left_out]:
        note(text)
    show(found, how_to_apply(table, columns, found.chosen, asked.reading), columns, json)


def show(found: Comparison, how: str, columns: Columns, json: bool) -> None:
    """The table, the recommendation, and how to follow it."""
    if json:
        return say_json({**as_dict(found), "command": how})
    keys = [measure.key for measure in measures_of(columns.task, "headline") if measure.key in found.measures[0]]
    heads = ["", "above best", *map(label, keys), *(["Pareto front"] if found.front.any() else [])]
    rows = []
    for i in np.argsort(found.loss, kind="stable"):
        cells = [f"{found.loss[i] - found.loss.min():.4f} ± {found.error[i]:.4f}"]
        cells += [_with_error(found.measures[i].get(key)) for key in keys]
        rows.append([found.names[i], *cells, *(["yes" if found.front[i] else ""] if found.front.any() else [])])
    say_table(heads, rows)
    say("", found.recommendation)
    if how:
        say("", *how.splitlines())
    return None


def _with_error(found: Measured | None) -> str:
    return "" if found is None else f"{found.value:.4g} ± {found.error:.2g}"


def as_dict(found: Comparison) -> dict[str, Any]:
    """What JSON can hold of it: of each measure value, ends of the interval, standard error."""
    tables = zip(found.names, found.measures, strict=True)
    return {
        "chosen": found.chosen,
        "recommendation": found.recommendation,
        "loss": dict(zip(found.names, found.loss.tolist(), strict=True)),
        "error": dict(zip(found.names, found.error.tolist(), strict=True)),
        "front": [name for name, on in zip(found.names, found.front, strict=True) if on],
        "measures": {
            name: {key: [each.value, each.low, each.high, each.error] for key, each in table.items()}
            for name, table in tables
        },
    }
