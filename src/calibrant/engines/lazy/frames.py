"""Frames that an engine has not worked out yet, and what it works out of them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import reduce
from operator import and_
from typing import Any

import narwhals as nw
import pyarrow as pa

from ...tables.lazy_frames import lazy_frame
from ...tables.sources import Table

LARGEST = sys.float_info.max
_OWN = {"polars": {"engine": "streaming"}}  # how an engine keeps memory constant in rows


def frame_of(source: Any) -> Any:
    """The lazy frame of a source, which may be a table that has one."""
    frame = source.lazy if isinstance(source, Table) else lazy_frame(source)
    if frame is None:
        kind = type(source).__name__
        raise TypeError(f"a lazy frame must be of Polars, DuckDB, Dask, PySpark or Ibis; got {kind}.")
    return frame


def worked_out(frame: Any) -> pa.Table:
    """What the engine makes of a frame, a few rows by now."""
    kind = frame.implementation.name.lower()
    made = frame.collect(**_OWN[kind]) if kind in _OWN else frame.collect()
    return made.to_arrow()


def number(name: str) -> Any:
    """A column as numbers of double precision, whatever it holds; what is missing stays so."""
    return nw.col(name).cast(nw.Float64)


def chosen(*cases: tuple[Any, Any], otherwise: Any) -> Any:
    """The value of the first condition that holds; one that is missing does not."""
    made = otherwise if isinstance(otherwise, nw.Expr) else nw.lit(otherwise)
    for condition, value in reversed(cases):
        made = nw.when(condition).then(value).otherwise(made)
    return made


def is_finite(values: Any) -> Any:
    """Whether numbers are there and finite: engines agree that NaN is not below the largest number."""
    return values.abs() <= LARGEST


def all_of(conditions: Iterable[Any]) -> Any:
    """Whether all conditions hold."""
    return reduce(and_, conditions)
