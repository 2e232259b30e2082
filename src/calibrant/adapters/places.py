"""Where forecasts stand along an axis or in time: numbers or dates."""

from __future__ import annotations

from datetime import UTC
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import Array, complain, plain_array, same_length, to_array


def positions(x: Any, rows: int, name: str = "x") -> NDArray[Any]:
    """Numbers or dates, one a row, none missing; texts such as 2024-01-31 are dates.

    >>> positions(["2024-01-31", "2024-02-01"], 2).dtype
    dtype('<M8[us]')
    """
    if x is None:
        return np.arange(rows)
    places = plain_array(x)
    if places.ndim != 1:
        raise ValueError(f"`{name}` must be 1-dimensional; got shape {places.shape}.")
    same_length(places, name, rows)
    if places.dtype.kind in "US" or (places.dtype.kind == "O" and any(map(_is_date, places))):
        places = _dates(places, name)
    elif places.dtype.kind == "O":
        places = to_array(places, name)
    if places.dtype.kind not in "biufM":
        raise TypeError(_told(name, places[0]))
    complain(name, "present", places, np.isnat(places) if places.dtype.kind == "M" else np.isnan(places))
    return places


def times_of(time: Any, rows: int) -> tuple[Array, str]:
    """Times as numbers that floats hold exactly, dates in microseconds since 1970, and which of the two they are.

    >>> times_of(["1970-01-02"], 1)
    (array([8.64e+10]), 'dates')
    """
    places = positions(time, rows, "time")
    if places.dtype.kind == "M":
        return places.astype("M8[us]").astype(np.int64).astype(np.float64), "dates"
    numbers = places.astype(np.float64)
    complain("time", "finite", numbers, ~np.isfinite(numbers))
    return numbers, "numbers"


def _is_date(value: Any) -> bool:
    return hasattr(value, "year") or isinstance(value, str)


def _dates(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Dates and times of the standard library or pandas, or texts; those with a time zone as UTC."""
    zoned = (getattr(value, "tzinfo", None) is not None for value in values)
    plain = [v.astimezone(UTC).replace(tzinfo=None) if z else v for v, z in zip(values, zoned, strict=True)]
    try:
        return np.array(plain, dtype="datetime64[us]")
    except (TypeError, ValueError) as reason:
        first = next(value for value in plain if value is not None)
        raise TypeError(_told(name, first)) from reason


def _told(name: str, first: Any) -> str:
    got = f"got {type(first).__name__} {first!r}"
    return f"`{name}` must be numbers, dates, or texts such as 2024-01-31; {got}."
