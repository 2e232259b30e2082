"""The commands that follow from a result, ready to be copied."""

from __future__ import annotations

from pathlib import Path

from ..select.candidates import AUTO, BY_GROUP, ONLINE
from ..select.comparison import NONE
from ..select.methods import methods_with_features
from ..tables.columns import Columns
from ..tables.files import PIPE
from ..tables.reading import Reading
from .console import commands
from .methods import kind_of


def how_to_apply(path: Path, columns: Columns, chosen: str, reading: Reading | None = None) -> str:
    """The commands that fit the chosen calibrator and apply it."""
    if chosen == NONE:
        return ""
    name = chosen.removesuffix(BY_GROUP)
    grouped = name != chosen or name == AUTO
    groups = groups_of(columns) if grouped else []
    seen = columns.feature if name in methods_with_features(kind_of(columns)) else ()
    features = [text for column in seen for text in ("--feature", column)]
    saved = f"{_stem(path)}.calibrant"
    table = [str(path), *how_to_read(reading or Reading())]
    fit = ["calibrant", "fit", *table, *flags(columns), *groups, *features, "--method", name, "-o", saved]
    if name == ONLINE:
        roles = [*groups_of(columns), *(["--time", columns.time] if columns.time else [])]
        fit = ["calibrant", "update", saved, *table, *flags(columns), *roles]
    apply = ["calibrant", "apply", saved, "new.parquet", "-o", "calibrated.parquet"]
    return commands(fit, apply)


def groups_of(columns: Columns) -> list[str]:
    """The options that name groups."""
    return [text for column in columns.group for text in ("--group", column)]


def _stem(path: Path) -> str:
    """A name to save by: that of the table without its endings; a pattern or a pipe has none.

    >>> [_stem(Path(name)) for name in ("shops.csv.gz", "my.shops.csv", "day-*.parquet", "-")]
    ['shops', 'my.shops', 'forecasts', 'forecasts']
    """
    stem = Path(Path(path).name.removesuffix(".gz")).stem
    return "forecasts" if stem == PIPE or set(stem) & set("*?[") or not stem else stem


def how_to_read(reading: Reading) -> list[str]:
    """The options that say how to read a table.

    >>> how_to_read(Reading(decimal=","))
    ['--decimal', ',']
    """
    usual = vars(Reading())
    said = {f"--{name}": value for name, value in vars(reading).items() if value != usual[name]}
    return [text for option, value in said.items() for text in ([option] if value is True else [option, value])]


def flags(columns: Columns) -> list[str]:
    """The options that say which column is what."""
    pairs = list(zip(columns.keys, columns.forecast, strict=False))
    if columns.kind == "classes" and len(columns.forecast) == 1:
        pairs = [(columns.keys[1], columns.forecast[0])]
    found = {
        "normal": [
            text for flag, name in zip(("--mean", "--std"), columns.forecast, strict=False) for text in (flag, name)
        ],
        "quantiles": [text for level, name in pairs for text in ("--quantile", f"{level:g}={name}")]
        if columns.kind == "quantiles"
        else [],
        "points": ["--point", *columns.forecast],
        "samples": ["--sample-prefix", _common(columns.forecast)],
        "classes": [text for label, name in pairs for text in ("--probability", f"{label}={name}")],
    }[columns.kind]
    if columns.scores_are != "probabilities":
        found += ["--scores-are", columns.scores_are]
    for flag, name in (("--target", columns.target), ("--weight", columns.weight)):
        found += [flag, name] if name else []
    return found


def _common(names: tuple[str, ...]) -> str:
    first, last = min(names), max(names)
    same = [a == b for a, b in zip(first, last, strict=False)]
    return first[: same.index(False)] if False in same else first
