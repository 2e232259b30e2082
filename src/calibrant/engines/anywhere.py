"""Fit, evaluate and apply to a table wherever it is: each engine works on its own frames, Arrow on all others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow as pa

from .._checks import one_of
from ..tables.columns import Columns
from ..tables.detection import Asked, find_columns
from ..tables.lazy_frames import batches_of, lazy_frame
from ..tables.reading import Reading
from ..tables.rows import scan_rows
from ..tables.sources import Table, open_table
from ..tables.writing import check_output, write_table
from . import arrow, lazy
from .added import Added
from .measuring import measured_by_batches
from .sampling import Sample

ADDED: dict[str, Any] = {
    "levels": "levels", "coverage": "coverage", "with_mean": "mean", "with_std": "std", "cdf": "cdf"
}  # fmt: skip

_LISTS = ("quantile", "probability", "group", "feature")  # roles that several columns may have


def fit(
    source: Any,
    calibrator: Any,
    columns: Columns | None = None,
    *,
    engine: str = "arrow",
    sample: Sample | None = None,
    progress: arrow.Progress | None = None,
    **roles: Any,
) -> Any:
    """Fit a calibrator to a table where it is.

    Parameters
    ----------
    source : path, frame or Table
        A file, folder, pattern or ``"duckdb:///shop.db?table=forecasts"``; a pandas, polars or pyarrow frame; or a
        Polars LazyFrame, DuckDB relation, Dask frame, PySpark frame or Ibis table, whose engine then does the work.
    calibrator : calibrator
        Is not touched; a fitted copy comes back.
    columns : Columns, optional
        Which column is what; by ``roles``, and by the names of columns, if None.
    engine : {"arrow", "duckdb", "polars", "spark", "dask"}
        What opens a path.
    sample : Sample, optional
        Gets to see all rows.
    progress : callable, optional
        Called with the number of rows after each batch that goes by.
    **roles
        As `calibrant.tables.detection.Asked` has them: ``mean="mu", std="sigma", target="y", group=["shop"]``; one
        name stands for a list.

    Examples
    --------
    >>> import polars as pl
    >>> from calibrant import QuantileCalibrator
    >>> from calibrant import engines
    >>> frame = pl.LazyFrame({"mu": [0.0, 1.0, 2.0], "sigma": [1.0, 1.0, 1.0], "y": [0.5, 0.5, 3.5]})
    >>> calibrator = engines.fit(frame, QuantileCalibrator(), mean="mu", std="sigma", target="y")
    >>> engines.apply(calibrator, frame, levels=[0.1, 0.9]).collect_schema().names()
    ['mu', 'sigma', 'y', 'q0.1', 'q0.9']
    >>> list(engines.evaluate(frame, calibrator))[:3]
    ['nll', 'crps', 'coverage_50']
    """
    table, columns = _opened(source, columns, engine, roles)
    if table.lazy is None:
        return arrow.fit(table, columns, calibrator, sample=sample, progress=progress)
    fitted = lazy.fit(table, columns, calibrator)
    for rows in scan_rows(table, columns) if sample is not None else ():
        sample.add(rows)  # type: ignore[union-attr]
        if progress is not None:
            progress(rows.read)
    return fitted


def evaluate(
    source: Any, calibrator: Any = None, columns: Columns | None = None, *, engine: str = "arrow", **roles: Any
) -> Any:
    """Measures of all forecasts of a table, or of what a calibrator makes of them; see `fit` for the arguments.

    They are by key, and where there are columns of groups by group first.
    """
    table, columns = _opened(source, columns, engine, roles)
    found = measured_by_batches if table.lazy is None else lazy.evaluate
    return found(table, columns, calibrator)


def apply(
    calibrator: Any,
    source: Any,
    columns: Columns | None = None,
    output: str | Path | None = None,
    *,
    added: Added | None = None,
    engine: str = "arrow",
    **roles: Any,
) -> Any:
    """Calibrate the forecasts of a table; see `fit` for the arguments.

    What comes out is of the kind that came in: a frame whose engine works later still does so. With ``output`` it is
    written to that file, and the names of the new columns come back. ``levels``, ``coverage``,
    ``with_mean``, ``with_std`` and ``cdf``, columns or numbers at which probabilities are wanted, say which these are,
    unless ``added`` does.
    """
    asked = {name: roles.pop(given) for given, name in ADDED.items() if given in roles}
    added = Added.of(**asked) if added is None else added
    if columns is None:
        roles.setdefault("scores_are", getattr(calibrator, "scores_are", "probabilities"))
    table, columns = _opened(source, columns, engine, roles, outcomes=False)
    columns = columns.in_order(calibrator.classes_) if columns.kind == "classes" else columns
    if table.lazy is None:
        return arrow.apply(calibrator, table, columns, output, added=added)
    made = lazy.apply(calibrator, table, columns, added=added)
    return made if output is None else write_lazily(made, table, output)


def write_lazily(
    made: Any, table: Table, output: str | Path, *, overwrite: bool = False, progress: arrow.Progress | None = None
) -> list[str]:
    """Write what an engine makes of a table, batch by batch, and give the names of the new columns."""
    target = check_output(output, table.name, overwrite=overwrite)
    frame = lazy_frame(made)
    names = frame.collect_schema().names()

    def counted() -> Iterator[pa.RecordBatch]:
        for batch in batches_of(frame, names):
            yield batch
            if progress is not None:
                progress(batch.num_rows)

    write_table(target, counted())
    return list(names[len(table.columns) :])


def _opened(
    source: Any, columns: Columns | None, engine: str, roles: dict[str, Any], *, outcomes: bool = True
) -> tuple[Table, Columns]:
    table = source if isinstance(source, Table) else open_table(source, Reading(engine=engine))
    if columns is not None:
        if roles:
            raise ValueError(f"`columns` say which column is what; leave {', '.join(roles)} out.")
        return table, columns
    known = [field.name for field in fields(Asked) if field.name != "reading"]
    asked: dict[str, Any] = {}
    for name, given in roles.items():
        one_of(name, "a role of columns", known)
        asked[name] = [given] if name in _LISTS and isinstance(given, str) else given
    return table, find_columns(table, Asked(**asked), outcomes=outcomes)[0]
