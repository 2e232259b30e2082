"""Measures of all rows of a table, however many: sums over batches."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

from .._checks import Array
from ..adapters.class_scores import ClassScores
from ..calibration.contract import takes_of, transform_with
from ..distributions import Distribution
from ..metrics.catalogue import MEASURES, measures_of
from ..metrics.evaluation import ClassEvaluation, LawEvaluation
from ..metrics.quantile_calibration import observed_levels
from ..tables.columns import Columns
from ..tables.rows import TableRows, forecasts_of, scan_rows
from ..tables.sources import open_table
from .arrow import outcomes_of, refuse_unusable, roles_to_measure
from .calibrated import group_of

LEVELS = np.arange(1, 11) / 10  # of the calibration error
Sums = dict[str, Any]


def measured_by_batches(source: Any, columns: Columns, calibrator: Any = None) -> Any:
    """Measures of forecasts, or of what a calibrator makes of them, by group where there are columns of groups."""
    found: dict[str, Sums] = {}
    taken = None if calibrator is None else takes_of(calibrator)
    read = blank = 0
    for rows in scan_rows(open_table(source), roles_to_measure(columns, taken)):
        read, blank = read + len(rows), blank + rows.blank
        used = rows if rows.weights is None or rows.weights.all() else rows.take(rows.weights > 0)
        if not len(used):
            continue
        names = group_of(used) if columns.group else np.full(len(used), "", dtype=object)
        labels, codes = np.unique(names.astype(str), return_inverse=True)
        sums = _sums_of(_made(calibrator, columns, used), columns, used)
        for label, mine in sums_by(labels.tolist(), codes, sums).items():
            old = found.get(label, {})
            found[label] = {name: old.get(name, 0.0) + value for name, value in mine.items()}
    if not found:
        refuse_unusable(read, blank, columns)
    return by_group({label: as_measures(sums) for label, sums in found.items()}, columns)


def sums_by(labels: list[str], codes: Any, sums: Sums) -> dict[str, Sums]:
    """Sums over the rows of each group, from the number of each row's group.

    >>> sums_by(["a", "b"], np.array([1, 0, 1]), {"rows": np.ones(3)})["b"]
    {'rows': np.float64(2.0)}
    """
    order = np.argsort(codes, kind="stable")
    first = np.searchsorted(codes[order], np.arange(len(labels)))
    added = {name: np.add.reduceat(values[order], first, axis=0) for name, values in sums.items()}
    return {label: {name: values[place] for name, values in added.items()} for place, label in enumerate(labels)}


def by_group(found: dict[str, dict[str, float]], columns: Columns) -> Any:
    """Measures by group, in the groups' order; of all rows where there are no groups."""
    return dict(sorted(found.items())) if columns.group else found[""]


def as_measures(sums: Sums) -> dict[str, float]:
    """Measures from sums over rows."""
    rows = sums["rows"]
    found = {name: float(value / rows) for name, value in sums.items() if name not in ("rows", "below")}
    if "below" in sums:
        found["calibration_error"] = float(np.square(LEVELS - sums["below"] / rows).sum())
    if "rmse" in found:
        found["rmse"] = float(np.sqrt(found["rmse"]))
    order = [*MEASURES]
    return dict(sorted(found.items(), key=lambda item: order.index(item[0])))


def _made(calibrator: Any, columns: Columns, rows: TableRows) -> Any:
    """Forecasts, or what a calibrator makes of them."""
    plain = forecasts_of(columns, rows)
    if calibrator is None:
        return plain
    groups = None if rows.groups is None else group_of(rows)
    return transform_with(calibrator, plain, groups=groups, X=rows.features, horizon=rows.horizon)


def _sums_of(made: Any, columns: Columns, rows: TableRows) -> Sums:
    """What each row adds to each measure, times its weight."""
    w = np.ones(len(rows)) if rows.weights is None else rows.weights
    if columns.kind == "classes":
        p = made.probabilities() if isinstance(made, ClassScores) else made
        evaluation: Any = ClassEvaluation(p, np.asarray(rows.y), np.asarray(columns.keys))
    elif isinstance(made, Distribution):
        evaluation = LawEvaluation(made, outcomes_of(columns, rows))
    else:
        error = outcomes_of(columns, rows) - made
        return {"rows": w, "mae": w * np.abs(error), "rmse": w * np.square(error)}
    return {"rows": w} | law_sums(evaluation, columns.task, w)


def law_sums(evaluation: Any, task: str, weights: Array) -> Sums:
    """What each row adds to the measures that are means, and to the shares of outcomes below levels."""
    sums: Sums = {
        measure.key: weights * measure.rows(evaluation) for measure in measures_of(task) if measure.rows is not None
    }
    if task == "regression":
        sums["below"] = weights[:, None] * _below(*evaluation.scores)
    return sums


def _below(left: Array, right: Array) -> Array:
    """Whether each outcome is below each level; of an atom the share that is."""
    if left is right:
        return (right[:, None] <= ndtri(LEVELS)).astype(np.float64)
    return observed_levels((left, right), LEVELS, np.ones(len(right)), np.arange(len(right))).frequency
