"""Fitting a calibrator where the data lives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sklearn.base import clone

from ...calibration.contract import takes_of
from ...tables.columns import Columns
from ...tables.roles import RoleError
from .. import arrow
from .cells import summed
from .frames import frame_of
from .rows import BLANK, BY_ROWS, NO_WEIGHT, refuse_faults
from .scores import scored, summary_of


def fit(source: Any, columns: Columns, calibrator: Any) -> Any:
    """Fit a calibrator to a frame by the engine that holds it.

    Parameters
    ----------
    source : lazy frame
        A Polars LazyFrame, DuckDB relation, Dask frame, PySpark frame or Ibis table.
    columns : Columns
    calibrator : calibrator
        Is not touched; a fitted copy comes back, with its ``summary_``.

    Examples
    --------
    >>> import polars as pl
    >>> from calibrant import QuantileCalibrator
    >>> frame = pl.LazyFrame({"mu": [0.0, 1.0, 2.0], "sigma": [1.0, 1.0, 1.0], "y": [0.5, 0.5, 3.5]})
    >>> fit(frame, Columns("normal", ("mu", "sigma"), target="y"), QuantileCalibrator()).n_rows_
    3
    """
    fresh = clone(calibrator)
    if columns.feature and "X" not in takes_of(fresh).beside:
        raise RoleError("{kind} uses no features; leave {feature} out.", kind=type(fresh).__name__)
    wanted = scored(fresh, columns)
    if wanted is None:
        return arrow.fit(source, columns, fresh)
    grouped = "groups" in takes_of(fresh).beside
    roles = columns if grouped else replace(columns, group=())
    parts, others, rows = summed(frame_of(source), roles, wanted)
    if others.get(BY_ROWS):
        return arrow.fit(source, columns, fresh)
    refuse_faults(columns, others, rows, strict=getattr(source, "strict", False))
    if not parts:
        arrow.refuse_unusable(others.get(NO_WEIGHT, 0), others.get(BLANK, 0), columns)
    return fresh.fit_summary(summary_of(fresh, columns, parts))
