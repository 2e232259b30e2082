"""Finding out which column is what: from what was asked for, or from the columns' names, and telling what was found."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import pairwise
from typing import Any

import pyarrow as pa

from .._checks import one_of
from ..adapters.class_scores import KINDS
from ..adapters.frames import NamesTell, level_of
from .columns import Columns
from .reading import Reading
from .roles import Role, RoleError
from .rows import MISSING, TRUTH, texts
from .sources import Table, open_table

TARGETS = ("y", "y_true", "target", "actual", "actuals", "outcome", "outcomes", "observed", "observation", "truth")
LABELS = (*TARGETS, "label", "class")
ROLES = {
    "normal": "{mean} and {std}",
    "quantiles": "{quantile}",
    "samples": "{sample_prefix}",
    "points": "{point}",
    "classes": "{class_prefix} or {probability}",
}  # by kind, what says which columns the forecasts are in


@dataclass(frozen=True)
class Asked:
    """What a user says about columns; None is for finding out.

    Attributes
    ----------
    mean, std, point, target, weight, time : str, optional
        Names of columns.
    group : list of str
        Names of columns.
    quantile : list of str
        ``"0.1=q10"``, or just ``"q10"`` where the name tells the level.
    probability : list of str
        ``"spam=p_spam"``: the column of a class.
    sample_prefix, class_prefix : str, optional
        What the names of such columns begin with.
    scores_are : {"probabilities", "logits", "margins"}
    reading : Reading
        How to read the table.
    """

    mean: str | None = None
    std: str | None = None
    point: str | None = None
    quantile: list[str] = field(default_factory=list)
    sample_prefix: str | None = None
    class_prefix: str | None = None
    probability: list[str] = field(default_factory=list)
    scores_are: str = "probabilities"
    target: str | None = None
    weight: str | None = None
    group: list[str] = field(default_factory=list)
    time: str | None = None
    reading: Reading = field(default_factory=Reading)

    def kinds(self) -> list[str]:
        """The kinds of forecasts that are spoken of."""
        spoken = {
            "normal": self.mean or self.std,
            "quantiles": self.quantile,
            "samples": self.sample_prefix,
            "points": self.point,
            "classes": self.class_prefix or self.probability,
        }
        return [kind for kind, value in spoken.items() if value]


def open_columns(source: Any, asked: Asked) -> tuple[Table, Columns, list[str]]:
    """A table of forecasts and outcomes, the roles of its columns, and notes on those that nobody named."""
    table = open_table(source, asked.reading)
    return table, *find_columns(table, asked)


def find_columns(table: Table, asked: Asked, *, outcomes: bool = True) -> tuple[Columns, list[str]]:
    """Roles of columns, and notes on those that nobody named.

    Parameters
    ----------
    table : Table
    asked : Asked
    outcomes : bool
        Whether a column of outcomes is needed.

    Examples
    --------
    >>> from .sources import open_table
    >>> table = open_table(pa.table({"mu": [0.0], "sigma": [1.0], "y": [0.3]}))
    >>> columns, notes = find_columns(table, Asked())
    >>> columns.forecast, columns.target
    (('mu', 'sigma'), 'y')
    >>> notes
    ['found means and standard deviations in `mu`, `sigma`', 'found outcomes in `y`']
    """
    if asked.scores_are not in KINDS[:3]:
        one_of(asked.scores_are, "scores_are", KINDS[:3])
    notes: list[str] = []
    roles: dict[str, Any] = {
        name: existing_column(table, getattr(asked, name))
        for name in ("target", "weight", "time")
        if getattr(asked, name)
    }
    groups = tuple(existing_column(table, name) for name in asked.group)
    kinds = asked.kinds()
    if len(kinds) > 1:
        raise RoleError(f"forecasts are of one kind; got {' with '.join(ROLES[kind] for kind in kinds)}.")
    free = [name for name in table.columns if name not in {*roles.values(), *groups}]
    if kinds:
        columns = Columns(kinds[0], *_asked_for(kinds[0], table, asked, free), **roles)
    else:
        columns = Columns(*_detected(table, free, roles.get("target")), **roles)
        notes.append(f"found {columns}")
    columns = replace(columns, scores_are=asked.scores_are, group=groups)
    if outcomes and columns.target is None:
        target = _target(table, columns)
        columns = replace(columns, target=target)
        notes.append(f"found {'labels' if columns.kind == 'classes' else 'outcomes'} in `{target}`")
    if outcomes and columns.kind == "classes" and len(columns.keys) == 1:
        columns = replace(columns, keys=(_other_label(table, columns), *columns.keys))
        notes.append(f"`{columns.forecast[0]}` is the probability of {columns.keys[1]!r} against {columns.keys[0]!r}")
    return columns, notes


def _other_label(table: Table, columns: Columns) -> str:
    """The label that is not the one whose probability is given."""
    target, key = str(columns.target), str(columns.keys[0])
    found: set[str] = set()
    for batch in table.batches([target], {target: pa.string()}):
        found.update(set(texts(batch[target])) - {MISSING})
        if len(found) > 2:
            break
    if found <= {"true", "false"} and key.lower() in TRUTH:
        return {"true": "false", "false": "true"}[TRUTH[key.lower()]]
    others = sorted(found - {key})
    if len(others) != 1:
        said = f"they are {', '.join(map(repr, others[:3]))}" if others else f"all are {key!r}"
        raise ValueError(f"labels in `{target}` must be {key!r} and one other, as one probability is given; {said}.")
    return others[0]


def existing_column(table: Table, name: str) -> str:
    """Return the name if the table has such a column."""
    if name in table.columns:
        return name
    lower = {column.lower(): column for column in table.columns}
    close = [lower[match] for match in get_close_matches(name.lower(), lower, 3, 0.5)]
    nearest = f" Nearest: {_listed(close)}." if close else ""
    raise ValueError(f"there is no column `{name}` in `{table.name}`.{nearest} It has {_listed(table.columns)}.")


def _listed(names: list[str], most: int = 12) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(f"`{name}`" for name in names[:most]) + more


def _asked_for(kind: str, table: Table, asked: Asked, free: list[str]) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """Columns and keys of forecasts of the kind that was spoken of."""
    if kind == "normal":
        if not (asked.mean and asked.std):
            given, lacking = ("{mean}", "{std}") if asked.mean else ("{std}", "{mean}")
            raise RoleError(f"{given} needs {lacking} beside it. Point predictions only? Use {{point}}.")
        return (existing_column(table, asked.mean), existing_column(table, asked.std)), ()
    if kind == "points":
        return (existing_column(table, str(asked.point)),), ()
    if kind == "quantiles":
        return _quantiles([_level(table, text) for text in asked.quantile])
    if kind == "samples":
        return _prefixed(table, str(asked.sample_prefix), free, "sample_prefix"), ()
    if asked.probability:
        pairs = [_pair(text, Role("probability", "spam=p_spam")) for text in asked.probability]
        return tuple(existing_column(table, name) for _, name in pairs), tuple(label for label, _ in pairs)
    prefix = str(asked.class_prefix)
    names = _prefixed(table, prefix, free, "class_prefix")
    return names, tuple(name.removeprefix(prefix) for name in names)


def _prefixed(table: Table, prefix: str, free: list[str], role: str) -> tuple[str, ...]:
    found = tuple(name for name in free if name.startswith(prefix))
    if len(found) < 2:
        count = "one column" if found else "no column"
        given, listed = Role(role, repr(prefix)), _listed(table.columns)
        text = "{given}: {count} of `{table}` begins so. It has {listed}."
        raise RoleError(text, given=given, count=count, table=table.name, listed=listed)
    return found


def _pair(text: str, example: Role) -> tuple[str, str]:
    key, found, name = text.partition("=")
    if not found or not key or not name:
        raise RoleError("{given!r} must be like {example}.", given=text, example=example)
    return key, name


def _level(table: Table, text: str) -> tuple[float, str]:
    key, name = (text, text) if text in table.columns or "=" not in text else _pair(text, Role("quantile", "0.1=q10"))
    name = existing_column(table, name)
    level = level_of(key)
    if level is None:
        rule = "{quantile:{given!r}} must tell a level between 0 and 1, like {quantile:0.1={name}}."
        raise RoleError(rule, given=text, name=name)
    return level, name


def _quantiles(found: list[tuple[float, str]]) -> tuple[tuple[str, ...], tuple[float, ...]]:
    found = sorted(found)
    for (level, name), (following, other) in pairwise(found):
        if level == following:
            text = "`{name}` and `{other}` are both of level {level:g}. Two models? Say {quantile} of one."
            raise RoleError(text, name=name, other=other, level=level)
    if len(found) < 2:
        raise ValueError("quantiles must be of at least two levels; got one.")
    return tuple(name for _, name in found), tuple(level for level, _ in found)


def _detected(table: Table, free: list[str], target: str | None) -> tuple[str, tuple[str, ...], tuple[Any, ...]]:
    """Kind, columns and keys of the forecasts that names tell."""
    found: list[tuple[str, tuple[str, ...], tuple[Any, ...]]] = []
    told = NamesTell.of(free)
    means, stds = ([name for name, role in told.moments.items() if role == kind] for kind in ("mean", "std"))
    if len(means) == len(stds) == 1:
        found.append(("normal", (*means, *stds), ()))
    levels, classes = [(level, name) for name, level in told.levels.items()], told.labels
    usual = [name for name in table.columns if name.lower() in TARGETS]
    target = target or (usual[0] if len(usual) == 1 else None)
    numbers = target is not None and pa.types.is_floating(table.schema.field(target).type)
    if classes and not (numbers and len(levels) > 1 and all(name in told.levels for name in classes)):
        found.append(("classes", tuple(classes), tuple(classes.values())))
        levels = [(level, name) for level, name in levels if name not in classes]
    if len(levels) > 1:
        found.append(("quantiles", *_quantiles(levels)))
    if len(found) == 1:
        return found[0]
    roles = " or ".join(ROLES[kind] for kind, _, _ in found) if found else ", ".join(ROLES.values())
    text = f"`{{table}}` has {{what}} forecast columns by their names. Say {roles}. It has {{listed}}."
    what = "several kinds of" if found else "no"
    raise RoleError(text, table=table.name, what=what, listed=_listed(free))


def _target(table: Table, columns: Columns) -> str:
    free = [name for name in table.columns if name not in columns.names()]
    usual = LABELS if columns.kind == "classes" else TARGETS
    found = [name for name in free if name.lower() in usual]
    if len(found) != 1:
        which = f"several columns may hold them: {_listed(found)}" if found else f"it has {_listed(table.columns)}"
        text = "which column of `{table}` holds the outcomes? Say {target}; {which}."
        raise RoleError(text, table=table.name, which=which)
    return found[0]
