"""Fitting a calibrator where the data lives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sklearn.base import clone

from ...calibration.contract import takes_of
from ...calibration.rows import look_like_counts
from ...classification.base import check_clip
from ...classification.summarised import SummarisedScores
from ...summaries import Summary
from ...tables.columns import Columns
from ...tables.lazy_frames import has_dots
from ...tables.roles import RoleError
from .. import arrow
from .cells import summed
from .classes import class_summary, problems
from .frames import frame_of
from .parts import Part
from .rows import BLANK, BY_ROWS, NO_WEIGHT, Scored, refuse_faults
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
    found = None
    if not has_dots(frame_of(source), columns.names()):
        found = (_of_classes if columns.kind == "classes" else _of_scores)(source, columns, fresh)
    if found is None:
        return arrow.fit(source, columns, fresh)
    return fresh.fit_summary(found)


def _of_scores(source: Any, columns: Columns, calibrator: Any) -> Summary | None:
    """Summary of normal scores and residuals; None where rows are needed."""
    wanted = scored(calibrator, columns)
    if wanted is None:
        return None
    grouped = "groups" in takes_of(calibrator).beside
    parts = _sums(source, columns if grouped else replace(columns, group=()), wanted)
    return None if parts is None else summary_of(calibrator, columns, parts)


def _of_classes(source: Any, columns: Columns, calibrator: Any) -> Summary | None:
    """Summary of scores of classes, a pass for each class where there are more than two."""
    wanted = problems(frame_of(source), columns) if isinstance(calibrator, SummarisedScores) else None
    if wanted is None:
        return None
    check_clip(calibrator.clip)
    found = [_sums(source, replace(columns, group=()), one) for one in wanted]
    return class_summary(columns, [part[""] for part in found if part is not None])


def _sums(source: Any, columns: Columns, wanted: Scored) -> dict[str, Part] | None:
    """Sums by group; None where some rows can only be read one by one."""
    parts, others, rows = summed(source, columns, wanted)
    if others.get(BY_ROWS):
        return None
    refuse_faults(columns, others, rows, strict=getattr(source, "strict", False))
    if not parts:
        arrow.refuse_unusable(others.get(NO_WEIGHT, 0), others.get(BLANK, 0), columns)
    if columns.weight is not None:
        counted = slice(1) if wanted.masses[0] is None else slice(None)
        total = sum(float(part.grid.mass[counted].sum()) for part in parts.values())
        look_like_counts(total, sum(part.n_rows for part in parts.values()))
    return parts
