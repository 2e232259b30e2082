"""Where forecasts stand along an axis or in time: numbers or dates."""

from __future__ import annotations

from datetime import UTC
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import complain, plain_array, same_length, to_array


def positions(x: Any, rows: int, name: str = "x") -> NDArray[Any]:
    """Numbers or dates, one a row, none missing."""
    if x is None:
        return np.arange(rows)
    places = plain_array(x)
    if places.ndim != 1:
        raise ValueError(f"`{name}` must be 1-dimensional; got shape {places.shape}.")
    same_length(places, name, rows)
    if places.dtype.kind == "O":
        places = _dates(places) if any(hasattr(place, "year") for place in places) else to_array(places, name)
    if places.dtype.kind not in "biufM":
        raise TypeError(f"`{name}` must be numbers or dates; got {type(places[0]).__name__} {places[0]!r}.")
    complain(name, "present", places, np.isnat(places) if places.dtype.kind == "M" else np.isnan(places))
    return places


def _dates(values: NDArray[Any]) -> NDArray[Any]:
    """Dates and times of the standard library or pandas; those with a time zone as UTC."""
    zoned = (getattr(value, "tzinfo", None) is not None for value in values)
    plain = [v.astimezone(UTC).replace(tzinfo=None) if z else v for v, z in zip(values, zoned, strict=True)]
    return np.array(plain, dtype="datetime64[us]")
