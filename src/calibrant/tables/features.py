"""Which columns are features, and which of those are texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from .columns import Columns
from .roles import RoleError
from .rows import are_numbers
from .sources import Table

EVERY = "*"  # all columns that have no other role
_TEXTS = [getattr(pa.types, f"is_{kind}") for kind in ("string", "large_string", "string_view", "dictionary")]
_SHOWN = 6


def with_features(table: Table, columns: Columns, asked: Sequence[str]) -> tuple[Columns, list[str]]:
    """The same roles and features, and notes on those that nobody named.

    Numbers of any type and booleans are numbers; texts and what comes in a dictionary are texts, and so are columns
    that are groups or names of rows as well. Dates, times and nested values are no features: named they are an error,
    among all others they are left out.

    Parameters
    ----------
    table : Table
    columns : Columns
        The other roles.
    asked : list of str
        Names of columns; "*" is for all that have no other role.

    Examples
    --------
    >>> from .sources import open_table
    >>> table = open_table(pa.table({"mu": [0.0], "sigma": [1.0], "y": [0.3], "price": [2], "region": ["north"]}))
    >>> columns, _ = with_features(table, Columns("normal", ("mu", "sigma"), target="y"), ["*"])
    >>> columns.feature, columns.category
    (('price', 'region'), ('region',))
    """
    columns = columns.without_features()
    named = [name for name in dict.fromkeys(asked) if name != EVERY]
    if columns.target in named:
        raise RoleError("column `{name}` holds the outcomes, which are no {feature}.", name=columns.target)
    others = sorted(set(table.columns) - {*columns.names(), *named}) if EVERY in asked else []
    types = _types(table, [*named, *others])
    odd = [name for name, kind in types.items() if not (are_numbers(kind) or _are_texts(kind))]
    wrong = next((name for name in odd if name in named), None)
    if wrong is not None:
        rule = f"column `{wrong}` must hold numbers or texts to be a feature; it holds {types[wrong]}."
        raise ValueError(f"{rule} Dates? Add columns with parts of them, the weekday say.")
    found = tuple(name for name in types if name not in odd)
    if not found:
        raise RoleError("{feature:'*'}: `{table}` has no other column that could be a feature.", table=table.name)
    labels = {*columns.group, columns.id}
    texts = tuple(name for name in found if _are_texts(types[name]) or name in labels)
    notes = [f"features are {_listed(found)}"] if others else []
    notes += [f"left out of the features, being neither numbers nor texts: {_listed(odd)}"] if odd else []
    return replace(columns, feature=found, category=texts), notes


def _types(table: Table, names: list[str]) -> dict[str, pa.DataType]:
    """Types of columns: those that all values have, of a text file too."""
    if not names:
        return {}
    first = next(table.batches(names, table.settled()))
    return {name: first.schema.field(name).type for name in names}


def _are_texts(kind: pa.DataType) -> bool:
    return any(is_kind(kind) for is_kind in _TEXTS)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(f"`{name}`" for name in names[:_SHOWN]) + more
