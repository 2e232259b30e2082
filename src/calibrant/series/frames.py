"""Long frames of any library: columns as arrays, horizons, and the same frame with other numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import Array, column_names, to_array


def columns_of(frame: Any) -> list[str]:
    """Names of columns; a pandas index that has a name is one of them."""
    names = column_names(frame)
    if names is None:
        raise TypeError(f"`frame` must be a frame of pandas, polars or pyarrow; got {type(frame).__name__}.")
    return [*_index_names(frame), *(str(name) for name in names)]


def values_of(frame: Any, name: str) -> NDArray[Any]:
    """A column, or a level of a pandas index."""
    if name in _index_names(frame):
        return np.asarray(frame.index.get_level_values(name))
    if name not in (column_names(frame) or []):
        raise ValueError(f"there is no column `{name}` in the frame. It has {', '.join(columns_of(frame)[:12])}.")
    column = frame[name]
    return np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)


def numbers_of(frame: Any, name: str) -> Array:
    """A column of numbers, NaN where missing."""
    return to_array(values_of(frame, name), name)


def with_columns(frame: Any, new: Mapping[str, Array]) -> Any:
    """The same frame, some columns replaced, others added at the end; the one that came is not touched."""
    if hasattr(frame, "iloc"):
        return frame.assign(**new)
    if hasattr(frame, "with_columns"):
        import polars

        return frame.with_columns(**{name: polars.Series(values) for name, values in new.items()})
    for name, values in new.items():
        place = frame.schema.get_field_index(name)
        frame = frame.append_column(name, [values]) if place < 0 else frame.set_column(place, name, [values])
    return frame


def horizons(series: NDArray[Any], time: NDArray[Any], origin: NDArray[Any] | None = None) -> Array:
    """Steps ahead: the rank of each row's time among those of its series and origin, from 1 on.

    Examples
    --------
    >>> horizons(np.array(["a", "a", "b", "a"]), np.array([3, 2, 2, 3]), np.array([1, 1, 1, 2]))
    array([2., 1., 1., 1.])
    """
    if not len(time):
        return np.empty(0)
    when = np.unique(time, return_inverse=True)[1]
    who = np.unique(series, return_inverse=True)[1]
    begun = np.zeros(len(time), dtype=np.intp) if origin is None else np.unique(origin, return_inverse=True)[1]
    order = np.lexsort((when, begun, who))
    fresh = np.concatenate([[True], (np.diff(who[order]) != 0) | (np.diff(begun[order]) != 0)])
    count = np.cumsum(fresh | np.concatenate([[True], np.diff(when[order]) != 0]))
    start = np.maximum.accumulate(np.where(fresh, count, 0))
    out = np.empty(len(order))
    out[order] = count - start + 1
    return out


def _index_names(frame: Any) -> list[str]:
    names = getattr(getattr(frame, "index", None), "names", None) if hasattr(frame, "iloc") else None
    return [str(name) for name in names or [] if name is not None]
