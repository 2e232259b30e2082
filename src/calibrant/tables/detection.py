"""Finding out which column is what: from what was asked for, or from the columns' names, and telling what was found."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

import pyarrow as pa

from .._checks import one_of
from ..adapters.class_scores import KINDS
from ..adapters.names import Told, forecasts_told, level_of, same_level
from .columns import Columns
from .features import EVERY, with_features
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
    mean, std, point, target, weight, time, id, horizon : str, optional
        Names of columns.
    group : list of str
        Names of columns.
    feature : list of str
        Names of columns; "*" is for all that have no other role.
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
    id: str | None = None
    feature: list[str] = field(default_factory=list)
    horizon: str | None = None
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
        for name in ("target", "weight", "time", "id", "horizon")
        if getattr(asked, name)
    }
    groups = tuple(existing_column(table, name) for name in asked.group)
    features = tuple(existing_column(table, name) for name in asked.feature if name != EVERY)
    kinds = asked.kinds()
    if len(kinds) > 1:
        raise RoleError(f"forecasts are of one kind; got {' with '.join(ROLES[kind] for kind in kinds)}.")
    free = [name for name in table.columns if name not in {*roles.values(), *groups, *features}]
    if kinds:
        columns = Columns(kinds[0], *_asked_for(kinds[0], table, asked, free), **roles)
    else:
        told = _detected(table, free, roles.get("target"), features)
        _check_levels(told.columns, told.keys if told.kind == "quantiles" else ())
        columns = Columns(told.kind, told.columns, told.keys, **roles)
        notes += [f"found {columns}", *([told.note] if told.note else [])]
    columns = replace(columns, scores_are=asked.scores_are, group=groups, feature=features)
    if outcomes and columns.target is None:
        target = _target(table, columns)
        columns = replace(columns, target=target)
        notes.append(f"found {'labels' if columns.kind == 'classes' else 'outcomes'} in `{target}`")
    if outcomes and columns.kind == "classes" and len(columns.forecast) == 1:
        columns = replace(columns, keys=_two_labels(table, columns))
        notes.append(f"`{columns.forecast[0]}` is the probability of {columns.keys[1]!r} against {columns.keys[0]!r}")
    if asked.feature:
        columns, more = with_features(table, columns, asked.feature)
        columns, notes = replace(columns, feature=tuple(sorted(columns.feature))), [*notes, *more]
    return columns, notes


def _two_labels(table: Table, columns: Columns) -> tuple[str, str]:
    """The label that is not the one whose probability is given, and that one; unless named, the second of the two."""
    target, found = str(columns.target), set[str]()
    for batch in table.batches([target], {target: pa.string()}):
        found.update(set(texts(batch[target])) - {MISSING})
        if len(found) > 2:
            break
    key = str(columns.keys[0]) if columns.keys else None
    if key is not None and found <= {"true", "false"} and key.lower() in TRUTH:
        return {"true": "false", "false": "true"}[TRUTH[key.lower()]], key
    others = sorted(found - {key}, key=_rank)
    if len(others) != (2 if key is None else 1):
        said = f"they are {', '.join(map(repr, others[:3]))}" if others else f"all are {key!r}"
        rule = "two" if key is None else f"{key!r} and one other"
        raise ValueError(f"labels in `{target}` must be {rule}, as one probability is given; {said}.")
    return (others[0], others[1]) if key is None else (others[0], key)


def _rank(label: str) -> tuple[bool, float, str]:
    """Numbers in their order, then texts in theirs."""
    try:
        return False, float(label), label
    except ValueError:
        return True, 0.0, label


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
    if role == "sample_prefix":  # sample_1 and sample_2 have no company in sample_size
        counted = tuple(name for name in found if name[len(prefix) :].isdecimal())
        found = counted if len(counted) > 1 else found
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
    names, levels = tuple(name for _, name in found), tuple(level for level, _ in found)
    _check_levels(names, levels)
    if len(found) < 2:
        raise ValueError("quantiles must be of at least two levels; got one.")
    return names, levels


def _check_levels(names: tuple[str, ...], levels: tuple[float, ...]) -> None:
    twice = same_level(names, levels) if levels else None
    if twice:
        text = "`{name}` and `{other}` are both of level {level:g}. Two models? Say {quantile} of one."
        raise RoleError(text, name=twice[0], other=twice[1], level=twice[2])


def _detected(table: Table, free: list[str], target: str | None, features: tuple[str, ...] = ()) -> Told:
    """The forecasts that names tell."""
    usual = [name for name in table.columns if name.lower() in TARGETS and name not in features]
    target = target or (usual[0] if len(usual) == 1 else None)
    numbers = target is not None and pa.types.is_floating(table.schema.field(target).type)
    found = forecasts_told(free, numbers=numbers)
    if len(found) == 1:
        return found[0]
    kinds = dict.fromkeys(told.kind for told in found)
    roles = " or ".join(ROLES[kind] for kind in kinds) if found else ", ".join(ROLES.values())
    text = f"`{{table}}` has {{what}} forecast columns by their names. Say {roles}. It has {{listed}}."
    what = "no" if not found else "several kinds of" if len(kinds) > 1 else "several"
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
