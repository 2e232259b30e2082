"""Laws given by central intervals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._checks import Array, column, complain, finite, index_of, probabilities, to_array
from ..._types import Numbers
from ...numerics.blocks import BLOCK, row_blocks
from ...numerics.quiet import NOT_NUMBERS
from .quantiles import Quantiles


def Intervals(  # noqa: N802  (it is written like a law, and gives one)
    low: Numbers, high: Numbers, coverage: Numbers, median: Numbers | None = None
) -> Quantiles:
    r"""Laws through the ends of central intervals: ``Quantiles`` at the levels :math:`(1 \mp c)/2`.

    One interval a row, without a median, is the normal law with these quantiles: mean :math:`(l + u)/2` and standard
    deviation :math:`(u - l)/(2\,\Phi^{-1}(\tfrac{1+c}2))`. With a median or several intervals it is a polyline of
    normal scores, with the tails of ``Quantiles``.

    Parameters
    ----------
    low, high : array-like (n,), or (n, k) for k intervals a row
        Lower and upper ends.
    coverage : float, or array-like (k,)
        Probability c that an interval is meant to hold: 0.9, not 90.
    median : array-like (n,), optional

    Returns
    -------
    Quantiles, n rows

    Examples
    --------
    >>> law = Intervals([0.0, 10.0], [2.0, 14.0], 0.9)
    >>> law.interval(0.9)
    array([[ 0.,  2.],
           [10., 14.]])
    >>> Intervals([[0.0, -1.0]], [[2.0, 4.0]], [0.5, 0.9], median=[0.5]).levels
    array([0.05, 0.25, 0.5 , 0.75, 0.95])
    """
    law = Quantiles(*interval_quantiles(low, high, coverage, median))
    index = index_of(low, high, median)
    if index is not None:
        object.__setattr__(law, "_index", index)
    return law


def interval_quantiles(low: Any, high: Any, coverage: Any, median: Any = None) -> tuple[Array, Array]:
    """Levels (L,) and quantiles (n, L) that k intervals a row, and a median, give: lower ends, upper ends, median.

    >>> interval_quantiles([1.0], [3.0], 0.9, [2.5])
    (array([0.05, 0.95, 0.5 ]), array([[1. , 3. , 2.5]]))
    """
    levels, columns = interval_columns(low, high, coverage, median)
    return levels, np.array(columns).T.copy()


def interval_columns(low: Any, high: Any, coverage: Any, median: Any = None) -> tuple[Array, tuple[Array, ...]]:
    """What ``interval_quantiles`` gives, as L columns of what was given, of which no table is made."""
    nominal = probabilities(coverage, "coverage")
    lower, upper = ends(low, high)
    n, k = lower.shape
    if nominal.shape != (k,):
        raise ValueError(f"`coverage` must be one number for each of {k} intervals a row; got {nominal.size}.")
    columns, levels = [*lower.T, *upper.T], [0.5 - nominal / 2, 0.5 + nominal / 2]
    if median is not None:
        columns.append(column(median, "median", n))
        levels.append(np.array([0.5]))
    return np.concatenate(levels), tuple(columns)


def ends(low: Any, high: Any) -> tuple[Array, Array]:
    """Lower and upper ends as tables (n, k) of one shape, finite, and in this order."""
    lower, upper = _table(low, "low"), _table(high, "high")
    alike = lower.shape == upper.shape
    if alike and widths_are_sound(lower, upper):
        return lower, upper
    for values, name in ((lower, "low"), (upper, "high")):
        finite(values, name)
    if not alike:
        raise ValueError(f"`low` and `high` must have one shape; got {lower.shape} and {upper.shape}.")
    complain("low", "at most `high`", lower, lower > upper, "Arguments in the wrong order?")
    return lower, upper


def widths_are_sound(lower: Array, upper: Array) -> bool:
    """Whether no width is below 0, missing or infinite, as those of ends are that have a fault; one pass."""
    if lower.size > 2 * BLOCK and len(lower) > 1:
        blocks = row_blocks(len(lower), lower.size // len(lower), 2 * BLOCK)
        return all(widths_are_sound(lower[rows], upper[rows]) for rows in blocks)
    width = NOT_NUMBERS.copy().run(np.subtract, upper, lower).ravel("K")
    return width.size == 0 or (width.item(width.argmin()) >= 0 and width.item(width.argmax()) < math.inf)


def _table(values: Any, name: str) -> Array:
    table = to_array(values, name)
    if table.ndim not in (1, 2):
        finite(table, name)
        raise ValueError(f"`{name}` must be (n,), or (n, k) for k intervals a row; got shape {table.shape}.")
    return table[:, None] if table.ndim == 1 else table
