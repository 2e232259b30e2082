"""Options that several commands share."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from ..tables.detection import Asked
from ..tables.engine_files import DATABASE
from ..tables.reading import Reading

_PANEL = "Which column is what (found by their names where not said)"
_READING = "How to read the table"


def _column(text: str, metavar: str = "COLUMN") -> Any:
    return typer.Option(help=text, rich_help_panel=_PANEL, metavar=metavar)


COLUMNS: dict[str, Any] = {
    "target": Annotated[str | None, _column("Outcomes, or labels of classes.")],
    "mean": Annotated[str | None, _column("Means of the forecasts; with --std.")],
    "std": Annotated[str | None, _column("Standard deviations of the forecasts; with --mean.")],
    "quantile": Annotated[
        list[str], _column("A quantile's level and column, such as 0.1=q10. Repeat for each.", "LEVEL=COLUMN")
    ],
    "sample_prefix": Annotated[str | None, _column("What names of columns of samples begin with.", "PREFIX")],
    "point": Annotated[str | None, _column("Point predictions, where there is nothing else.")],
    "probability": Annotated[
        list[str], _column("A class and the column of its probability. Repeat for each.", "LABEL=COLUMN")
    ],
    "class_prefix": Annotated[
        str | None, _column("What names of columns of class probabilities begin with.", "PREFIX")
    ],
    "scores_are": Annotated[str, _column("What columns of classes hold: probabilities, logits or margins.", "KIND")],
    "weight": Annotated[str | None, _column("Weights; a weight of 2 is the row twice.")],
    "group": Annotated[list[str], _column("Groups to look at one by one. Repeat for more.")],
    "time": Annotated[str | None, _column("Time; folds then follow its order.")],
    "feature": Annotated[
        list[str],
        _column("What methods such as boosted learn from too; '*' is all other columns. Repeat for more."),
    ],
    "id": Annotated[str | None, _column("Names of the rows, for the table of the worst, and to learn none twice.")],
    "horizon": Annotated[
        str | None, _column("How far ahead forecasts are, in steps, hours or days: one correction for each.")
    ],
}


def _read(text: str, metavar: str) -> Any:
    return typer.Option(help=text, rich_help_panel=_READING, metavar=metavar)


READING: dict[str, Any] = {
    "format": Annotated[str | None, _read("csv, jsonl, parquet or arrow, where the name does not tell.", "FORMAT")],
    "decimal": Annotated[str, _read("What comes before decimals in CSV files.", "'.' or ','")],
    "encoding": Annotated[str, _read("Of text files, such as latin-1.", "NAME")],
    "engine": Annotated[
        str, _read("What reads Parquet and CSV files and works on them: arrow, duckdb, polars, spark or dask.", "NAME")
    ],
    "strict": Annotated[
        bool,
        typer.Option(
            "--strict",
            rich_help_panel=_READING,
            help="Stop at a missing or infinite forecast, rather than leave such rows out.",
        ),
    ],
}


def _table(text: str) -> Path | str:
    """A path, or the address of a table of a database."""
    return text if text.startswith(DATABASE) else Path(text)


TABLE = Annotated[
    Path,
    typer.Argument(
        help="A Parquet, CSV, JSON lines or Arrow file; a folder or 'pattern' of Parquet files; a table of a database, "
        "duckdb:///FILE?table=NAME; - for stdin.",
        metavar="TABLE",
        parser=_table,
        show_default=False,
    ),
]
JSON = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
ROWS = Annotated[int, typer.Option(help="Rows to look at; of a larger table, that many drawn at random.", min=20)]
METHODS = Annotated[
    list[str] | None, typer.Option("--method", "-m", metavar="NAME", help="A calibrator to try. Repeat for more.")
]


ALL = [name for name in COLUMNS if name != "horizon"]
WITH_OUTCOMES = [name for name in ALL if name != "id"]
LEARNED = [*WITH_OUTCOMES, "horizon"]
WATCHED = [name for name in ALL if name not in ("feature", "weight", "point")]
ONLINE = [name for name in COLUMNS if name != "feature"]
FORECASTS = [name for name in LEARNED if name not in ("target", "scores_are", "weight", "time")]


def as_option(name: str, example: str = "") -> str:
    """An argument as the command line writes it.

    >>> as_option("sample_prefix", "draw_"), as_option("overwrite", "True")
    ('--sample-prefix draw_', '--overwrite')
    """
    option = f"--{name.replace('_', '-')}"
    return option if example in ("", "True") else f"{option} {example}"


def with_columns(command: Callable[..., Any], names: Sequence[str] = tuple(WITH_OUTCOMES)) -> Callable[..., Any]:
    """A command whose argument ``asked`` is spread over options, one a role of columns, and how to read the table."""
    hints = typing.get_type_hints(command, include_extras=True)
    own = [
        parameter.replace(annotation=hints[name])
        for name, parameter in inspect.signature(command).parameters.items()
        if name != "asked"
    ]
    defaults = vars(Asked()) | vars(Reading())
    known = {name: COLUMNS[name] for name in names} | READING
    kind = inspect.Parameter.KEYWORD_ONLY
    roles = [inspect.Parameter(name, kind, default=defaults[name], annotation=hint) for name, hint in known.items()]

    @wraps(command)
    def spread(*positional: Any, **options: Any) -> Any:
        reading = Reading(**{name: options.pop(name) for name in READING})
        asked = Asked(**{name: options.pop(name) for name in names}, reading=reading)
        return command(*positional, asked=asked, **options)

    spread.__signature__ = inspect.Signature([*own, *roles])  # type: ignore[attr-defined]
    spread.__annotations__ = {parameter.name: parameter.annotation for parameter in [*own, *roles]}
    return spread
