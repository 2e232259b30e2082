"""Distribution functions of calibrated forecasts as expressions."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from scipy.special import ndtri

from ...tables.columns import Columns
from ..added import Place
from .curves import is_expressible, mapped, normal_below
from .frames import all_of, is_finite, number
from .scores import on_polyline
from .shared import maps_of
from .steps import Steps

_MOST_LEVELS = 24  # columns of quantiles, which conditions put in order
_SLOW = ("dask",)  # engines that are Python themselves, and take half a minute to read such an expression


def with_cdf(calibrator: Any, columns: Columns, places: tuple[Place, ...], steps: Steps) -> list[Any] | None:
    r"""Distribution functions at places, each a column or a number; None where rows are needed.

    All rows share the maps :math:`T`, so that :math:`F(y) = \Phi(T(z))` with the score z of y. Blank where there is no
    y, or no forecast with a positive spread.
    """
    maps = maps_of(calibrator, columns)
    if maps is None or not all(map(is_expressible, maps)) or len(columns.forecast) > _MOST_LEVELS:
        return None
    if steps.frame.implementation.name.lower() in _SLOW:
        return None
    good, score = {"normal": _normal, "points": _points, "quantiles": _quantiles}[columns.kind](columns, steps)
    made = []
    for place in places:
        y = number(place) if isinstance(place, str) else nw.lit(float(place))
        there = good & ~y.is_nan() if isinstance(place, str) else good
        (t,) = steps.keep([nw.when(there).then(score(y))])
        for curve in maps:
            (t,) = steps.keep([mapped(curve, t)])
        made.append(nw.when(~t.is_null()).then(normal_below(t, steps)))
    return made


def _normal(columns: Columns, steps: Steps) -> tuple[Any, Any]:
    """Which rows have a forecast, and the score of an outcome."""
    loc, scale = map(number, columns.forecast)
    return is_finite(loc) & (scale > 0) & is_finite(scale), lambda y: (y - loc) / scale


def _points(columns: Columns, steps: Steps) -> tuple[Any, Any]:
    point = number(columns.forecast[0])
    return is_finite(point), lambda y: y - point


def _quantiles(columns: Columns, steps: Steps) -> tuple[Any, Any]:
    order = np.argsort(columns.keys)
    t = ndtri(np.asarray(columns.keys, dtype=np.float64)[order]).tolist()
    plain = [number(columns.forecast[place]) for place in order]
    knots = _in_order(plain, steps)
    return all_of([*map(is_finite, plain), knots[0] < knots[-1]]), lambda y: on_polyline(y, knots, t)


def _in_order(values: list[Any], steps: Steps) -> list[Any]:
    """Numbers of a row from the least to the largest: neighbours change places, as often as there are numbers."""
    values = steps.keep(values)
    for turn in range(len(values)):
        pairs = [(values[left], values[left + 1]) for left in range(turn % 2, len(values) - 1, 2)]
        swapped = [f(*pair) for pair in pairs for f in (nw.min_horizontal, nw.max_horizontal)]
        first = turn % 2
        values = [*values[:first], *steps.keep(swapped), *values[first + len(swapped) :]]
    return values
