"""Rows as an engine sees them: what each is good for, its score, its weight and its group, as expressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw

from ...tables.columns import Columns
from ...tables.roles import RoleError
from ..sampling import NO_FORECAST
from .frames import chosen, is_finite, number, worked_out

USED, NO_OUTCOME, NO_WEIGHT, BLANK, BY_ROWS = 0, 1, 2, 3, 4  # what rows are good for; the others are faults
ENDLESS, SPREAD, WEIGHT, FAR, FLAT, SHARE, TOTAL, LABEL = 11, 12, 13, 14, 15, 16, 17, 18
FARTHEST = 1e100  # predicted deviations; what is farther is an error of units


@dataclass(frozen=True, eq=False)
class Scored:
    """What is summed over the rows of a frame.

    Attributes
    ----------
    fine : expression
        Whether a row can be used, in few operations: it is so if the row has a forecast and passes all checks.
    good : expression
        Whether a row has a forecast.
    checks : sequence of (expression, int)
        What must hold of a row that has one, and what it is good for if it does not.
    x : expression
        What cells are made of.
    masses : tuple of expressions
        What is added up over cells, times the weight of rows and times that and x; None is for 1.
    extremes : dict of expressions
        What the smallest and largest value is wanted of; None is for x.
    """

    fine: Any
    good: Any
    checks: Sequence[tuple[Any, int]]
    x: Any
    masses: tuple[Any, ...] = (None,)
    extremes: dict[str, Any] = field(default_factory=dict)


def prepared(frame: Any, columns: Columns, scored: Scored) -> Any:
    """Groups ``g0``, …, whether rows are used, ``fine``, ``x``, masses ``m0``, … that are not all 1, and extremes."""
    weight = None if columns.weight is None else number(columns.weight)
    groups = {f"g{place}": nw.col(name) for place, name in enumerate(columns.group)}
    numbers = {"x": scored.x, **{name: value for name, value in scored.extremes.items() if value is not None}}
    for place, mass in enumerate(scored.masses):
        product = weight if mass is None else mass if weight is None else mass * weight
        numbers |= {} if product is None else {f"m{place}": product}
    return frame.select(**groups, fine=_fine(scored, weight), **numbers)


def _fine(scored: Scored, weight: Any) -> Any:
    return scored.fine if weight is None else scored.fine & (weight > 0) & is_finite(weight)


def uses(frame: Any, columns: Columns, scored: Scored) -> dict[int, int]:
    """How many of the rows that are not fine are good for what."""
    weight = None if columns.weight is None else number(columns.weight)
    odd = frame.filter(chosen((_fine(scored, weight), nw.lit(False)), otherwise=nw.lit(True)))
    found = worked_out(odd.select(use=_use(columns, scored, weight)).group_by("use").agg(nw.len().alias("n")))
    return dict(zip(found["use"].to_pylist(), found["n"].to_pylist(), strict=True))


def _use(columns: Columns, scored: Scored, weight: Any) -> Any:
    """What each row is good for."""
    made: Any = nw.lit(USED)
    for holds, fault in reversed(scored.checks):
        made = chosen((holds, made), otherwise=fault)
    if weight is not None:
        made = chosen((is_finite(weight), chosen((weight > 0, made), (weight == 0, NO_WEIGHT), otherwise=WEIGHT)),
                      otherwise=WEIGHT)  # fmt: skip
    made = chosen((scored.good, made), otherwise=BLANK)
    if columns.target is None:
        raise RoleError("a column of outcomes must be named: {target}.")
    if columns.kind == "classes":
        y = nw.col(columns.target)
        return chosen((y.is_null(), NO_OUTCOME), (y.cast(nw.String) == "", NO_OUTCOME), otherwise=made)
    y = number(columns.target)
    return chosen((is_finite(y), made), (y.is_null() | y.is_nan(), NO_OUTCOME), otherwise=ENDLESS)


def refuse_faults(columns: Columns, found: dict[int, int], rows: int, *, strict: bool = False) -> None:
    """Tell in one line what is wrong with rows, from how many of all are good for what."""
    told = {
        ENDLESS: f"column `{columns.target}` must be finite",
        SPREAD: f"column `{columns.forecast[-1]}` must be positive",
        WEIGHT: f"column `{columns.weight}` must hold finite numbers, 0 or positive",
        FAR: f"column `{columns.target}` must be within {FARTHEST:g} predicted deviations of its forecast",
        FLAT: f"{columns} must differ within a row",
        SHARE: f"{columns} must be probabilities between 0 and 1",
        TOTAL: f"{columns} must add up to 1 in each row",
        LABEL: f"labels in `{columns.target}` must be among {', '.join(repr(str(key)) for key in columns.keys)}",
    }
    for use, rule in told.items():
        if found.get(use):
            raise ValueError(f"{rule}; {found[use]} of {rows} rows are not so.")
    if strict and found.get(BLANK):
        raise ValueError(f"{columns} must be finite numbers; {found[BLANK]} of {rows} rows {NO_FORECAST}.")
