"""Measuring forecasts where the data lives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from ..._checks import Array
from ...distributions import Normal
from ...metrics.catalogue import MEASURES, measures_of
from ...metrics.evaluation import LawEvaluation
from ...tables.columns import Columns
from ...tables.lazy_frames import has_dots
from ..arrow import refuse_unusable
from ..measuring import LEVELS, as_measures, by_group, law_sums, measured_by_batches, sums_by
from .cells import UNUSED, celled, keyed
from .frames import frame_of, number, worked_out
from .parts import array_of, labels_of
from .rows import BLANK, NO_WEIGHT, Scored, prepared, refuse_faults, uses
from .scores import log_spread, normal
from .shared import standard

_LEVEL, _OF_GROUPS = 12, 9  # of the grid, whose cells stand for their rows
_PARTS = 64  # of a cell, at most, by the levels that are counted


def evaluate(source: Any, columns: Columns, calibrator: Any = None) -> Any:
    r"""Measure the forecasts in a frame, or what a calibrator makes of them, by the engine that holds it.

    All rows are looked at. Of normal forecasts, and of maps that all of them share, the engine counts in one pass: the
    normal scores by narrow cells, parted where levels are counted, with :math:`\sum w`, :math:`\sum w\sigma` and
    :math:`\sum w\ln\sigma`. Shares of outcomes are exact, the means differ from those of the rows by less than a
    millionth of themselves. Everything else is worked out batch by batch.

    Parameters
    ----------
    source : lazy frame
        A Polars LazyFrame, DuckDB relation, Dask frame, PySpark frame or Ibis table.
    columns : Columns
    calibrator : fitted calibrator, optional
        Whose forecasts are measured; by default those of the frame are.

    Returns
    -------
    dict
        Measures by their key; where there are columns of groups, such a dict for each group.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.LazyFrame({"mu": [0.0, 1.0, 2.0], "sigma": [1.0, 1.0, 1.0], "y": [0.5, 0.5, 3.5]})
    >>> evaluate(frame, Columns("normal", ("mu", "sigma"), target="y"))["coverage_90"]
    1.0
    """
    law = standard(calibrator, columns) if calibrator is not None else Normal([0.0], [1.0])
    if columns.kind != "normal" or law is None or has_dots(frame_of(source), columns.names()):
        return measured_by_batches(source, columns, calibrator)
    ends = np.unique(law.quantiles(_levels())[0])
    wanted = replace(normal(columns), masses=(None, number(columns.forecast[1]), log_spread(columns)), extremes={})
    table = _counted(frame_of(source), columns, wanted, ends[np.isfinite(ends)])
    used = array_of(table, "key") < UNUSED
    others = {} if used.all() else uses(frame_of(source), columns, wanted)
    refuse_faults(columns, others, int(array_of(table, "n").sum()), strict=getattr(source, "strict", False))
    if not used.any():
        refuse_unusable(others.get(NO_WEIGHT, 0), others.get(BLANK, 0), columns)
    table = table.filter(pa.array(used))
    names, codes = labels_of(table, columns)
    found = sums_by(names, codes, _sums(table, calibrator))
    return by_group({name: as_measures(mine) for name, mine in found.items()}, columns)


def _levels() -> Array:
    """Levels whose quantiles outcomes are counted between."""
    shares = [measure.goal for measure in measures_of("regression") if measure.unit == "share" and measure.goal]
    ends = [0.5 + side * share / 2 for share in shares for side in (-1, 1)]
    return np.unique([*ends, *LEVELS[LEVELS < 1]])


def _counted(frame: Any, columns: Columns, scored: Scored, ends: Array) -> pa.Table:
    """Sums by group, cell and place among the ends."""
    x = nw.col("x")
    place = sum(((x > float(end)).cast(nw.Int64) for end in ends), nw.lit(0))
    level = _OF_GROUPS if columns.group else _LEVEL
    rows = keyed(celled(prepared(frame, columns, scored), level), nw.col("cell") * _PARTS + place)
    weight = {} if columns.weight is None else {"x0": nw.col("m0") * x}
    rows = rows.with_columns(x1=nw.col("m1") * x, **(weight or {"x0": x}))
    names = [*(["m0"] if weight else []), "m1", "m2", "x0", "x1"]
    groups = [f"g{number}" for number in range(len(columns.group))]
    return worked_out(rows.group_by(*groups, "key").agg(nw.len().alias("n"), *(nw.col(n).sum() for n in names)))


def _sums(table: pa.Table, calibrator: Any) -> dict[str, Array]:
    """What cells add to the measures: each is a row with the standard forecast and the mean of its scores."""
    weights = array_of(table, "m0" if "m0" in table.column_names else "n")
    spreads, logs = array_of(table, "m1"), array_of(table, "m2")
    found = {"rows": weights}
    standard_laws = Normal(np.zeros(len(weights)), 1.0)
    laws = standard_laws if calibrator is None else calibrator.transform(standard_laws)
    found |= law_sums(LawEvaluation(laws, array_of(table, "x0") / weights), "regression", weights)
    found["nll"] = found["nll"] + logs
    stretched = LawEvaluation(laws, array_of(table, "x1") / spreads)
    outcome = [key for key in found if key in MEASURES and MEASURES[key].unit == "outcome"]
    return found | {key: spreads * MEASURES[key].rows(stretched) for key in outcome}  # type: ignore[misc]
