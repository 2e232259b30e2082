"""Bias along a feature: where forecasts are too high or too low on average."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from .._checks import Array, count, plain_array
from .._types import Labels, Numbers, Weights
from ..adapters.class_labels import missing_labels
from ..adapters.class_scores import ClassScores
from ..adapters.feature_columns import categories_of, feature_columns, numbers_of, rows_in
from ..distributions.base import Distribution
from ._inputs import average, total
from .classes.forecasts import Probabilities, class_forecasts
from .feature_cells import Cells, FeatureCells
from .points.errors import Points, paired_points
from .points.functionals import Functional, FunctionalName
from .points.table import standard_error
from .summary_table import aligned

COLUMNS = ("rows", "bias", "standard_error", "pvalue")
ALL, MISSING, OTHERS = "all rows", "missing", "others"


@dataclass(frozen=True, eq=False)
class BiasTable:
    """Bias of forecasts, of all rows first and then by values of a feature; prints as a table.

    Attributes
    ----------
    feature : str
        Name of the feature.
    models : tuple of str (L,)
        Which forecaster each line is about; "" where there is one.
    values : tuple of str (L,)
        The value of the feature, or the lowest and highest of a bin.
    rows, bias, standard_error, pvalue : arrays (L,)
        Rows counted with their weights, mean of the identification function, its standard error, and the p-value of
        Student's test that it is 0; NaN of a single row.
    """

    feature: str
    models: tuple[str, ...]
    values: tuple[str, ...]
    rows: Array
    bias: Array
    standard_error: Array
    pvalue: Array

    def to_frame(self) -> Any:
        """Pandas frame, a line a row."""
        import pandas as pd

        named = {"model": self.models} if any(self.models) else {}
        columns = {name: getattr(self, name) for name in COLUMNS}
        return pd.DataFrame({**named, self.feature: self.values, **columns})

    def __repr__(self) -> str:
        """The table."""
        return str(self)

    def __str__(self) -> str:
        """The table as aligned text."""
        numbers = zip(*(getattr(self, name) for name in COLUMNS), strict=True)
        body = [
            [" ".join(part for part in (model, value) if part), *("-" if np.isnan(x) else f"{x:.4g}" for x in line)]
            for model, value, line in zip(self.models, self.values, numbers, strict=True)
        ]
        return "\n".join(aligned([[self.feature, *COLUMNS], *body]))


def bias_by_feature(
    y_true: Numbers | Labels,
    y_pred: Points | Probabilities | Mapping[str, Points | Probabilities],
    feature: Any,
    *,
    functional: FunctionalName = "mean",
    level: float | None = None,
    n_bins: int = 10,
    sample_weight: Weights = None,
) -> BiasTable:
    r"""Mean of the identification function by values of a feature, with standard errors; 0 is unbiased.

    .. math:: V(x, y) = \begin{cases} x - y & \text{mean} \\ 1\{y \le x\} - \tau & \text{quantile} \\
        2\,|1\{y \le x\} - \tau|\,(x - y) & \text{expectile} \end{cases}

    Its expectation is 0 if x is the mean, quantile or expectile of y; above 0 forecasts are too high. Forecasts that
    are calibrated given the feature are unbiased in every line (Fissler et al. 2022). The p-values are those of
    Student's t test, each of its own line: among many lines a few are small by chance.

    Parameters
    ----------
    y_true : array-like (n,)
        Outcomes; or labels of two classes.
    y_pred : array-like (n,) or Distribution, or class probabilities (n,) or (n, 2), or a dict of these by name
        Point predictions; of a Distribution the means, quantiles or expectiles. Of classes that are texts or truth
        values, and of tables, the probability of the second is held against its being the class that came.
    feature : array-like (n,), column, or frame of one column
        Numbers or categories; what is missing is a value of its own.
    functional : {"mean", "median", "quantile", "expectile"}
        What the predictions are meant to be; the median is the quantile of level 1/2.
    level : float, optional
        The level τ of quantiles and expectiles.
    n_bins : int
        Most values of the feature. More different numbers are cut at their quantiles, of more categories the rarest are
        taken together.
    sample_weight : array-like (n,), optional
        Frequencies: weight 2 is the row twice.

    Returns
    -------
    BiasTable
        Prints as a table; ``to_frame()`` is a pandas frame.

    Examples
    --------
    >>> from calibrant import metrics
    >>> y, x = [1.0, 2.0, 4.0, 5.0, 6.0], [2.0, 4.0, 5.0, 4.0, 4.0]
    >>> metrics.bias_by_feature(y, x, ["north", "north", "north", "south", "south"])
    feature   rows   bias  standard_error   pvalue
    all rows     5    0.2          0.7348    0.799
    north        3  1.333          0.3333  0.05719
    south        2   -1.5             0.5   0.2048

    Differs from the paper in: the test is of one line at a time and two-sided; the mean of all lines is a line too.
    """
    models = {str(name): p for name, p in y_pred.items()} if isinstance(y_pred, Mapping) else {"": y_pred}
    if not models:
        raise ValueError("`y_pred` must have at least one model; the dict is empty.")
    count(n_bins, "n_bins", least=2)
    kind, column = Functional.named(functional, level), _one_column(feature)
    lines: list[tuple[str, str, tuple[float, ...]]] = []
    for model, given in models.items():
        y, x, weights = paired_points(*_outcomes_and_points(y_true, given, kind), sample_weight)
        values = kind.identification(y, x)
        lines.append((model, ALL, _tested(values, weights)))
        if len(lines) == 1:
            name, names, cells = _cells(column, len(y), sample_weight, n_bins)
        for cell, value in enumerate(names):
            mine = cells == cell
            lines.append((model, value, _tested(values[mine], None if weights is None else weights[mine])))
    table = np.array([line for _, _, line in lines]).T
    return BiasTable(name, tuple(line[0] for line in lines), tuple(line[1] for line in lines), *table)


def _outcomes_and_points(y_true: Any, y_pred: Any, kind: Functional) -> tuple[Any, Any]:
    """Numbers as they are; of two classes whether the second came, and its probability."""
    if isinstance(y_pred, Distribution):
        return y_true, kind.of(y_pred)
    labelled = any(isinstance(label, (str, bool)) for label in plain_array(y_true).ravel()[:1].tolist())
    if not (labelled or isinstance(y_pred, ClassScores) or np.shape(y_pred)[1:] > (1,)):
        return y_true, y_pred
    event = class_forecasts(y_true, y_pred, None, None).binary("bias_by_feature")
    return event.events.astype(np.float64), event.p


def _tested(values: Array, weights: Array | None) -> tuple[float, ...]:
    """Rows, mean, its standard error, and the p-value of Student's test that the mean is 0."""
    rows, mean, error = total(values, weights), average(values, weights), standard_error(values, weights)
    if error > 0 or np.isnan(error):
        return rows, mean, error, float(2 * stdtr(rows - 1, -abs(mean / error)))
    return rows, mean, error, float(mean == 0)


def _one_column(feature: Any) -> Any:
    """A table of one column."""
    if not hasattr(feature, "__len__") or isinstance(feature, (str, Mapping)):
        raise TypeError(f"`feature` must be a column with an entry a forecast; got {feature!r}.")
    if isinstance(feature, (list, tuple)):
        return [value if isinstance(value, (list, tuple)) else [value] for value in feature]
    if hasattr(feature, "to_frame") and not hasattr(feature, "columns"):
        return feature.to_frame()
    return feature.reshape(-1, 1) if getattr(feature, "ndim", 0) == 1 and hasattr(feature, "reshape") else feature


def _cells(X: Any, rows: int, sample_weight: Any, n_bins: int) -> tuple[str, list[str], Cells]:
    """Name of the feature, of its values, and the number of the value of each row that has a weight."""
    every = rows if sample_weight is None else np.size(sample_weight)
    if rows_in(X) != every:
        raise ValueError(f"`feature` must have one entry per forecast; got {rows_in(X)} for {every} forecasts.")
    names, columns = feature_columns(X, every)
    if len(columns) != 1:
        raise ValueError(f"`feature` must be one column; got {len(columns)}. Call once for each.")
    if columns[0].dtype.kind in "mM":
        raise TypeError(f"`feature` must be numbers or categories; got {columns[0].dtype}. Times? Take parts of them.")
    cells = FeatureCells(X, rows, sample_weight, n_bins, 1).codes[0]
    _, cells = np.unique(cells, return_inverse=True)
    column = columns[0] if sample_weight is None else columns[0][np.asarray(sample_weight).ravel() > 0]
    parts = [column[cells == cell] for cell in range(int(cells.max()) + 1)]
    of_numbers = categories_of(columns[0]) is None
    labels = _ranges([numbers_of(part, "feature") for part in parts]) if of_numbers else [_label(p) for p in parts]
    return names[0] if names else "feature", labels, cells


def _label(part: NDArray[Any]) -> str:
    """The category that all have, if they have one."""
    different = {MISSING if gone else str(each) for each, gone in zip(part, missing_labels(part), strict=True)}
    return different.pop() if len(different) == 1 else OTHERS


def _ranges(parts: list[Array]) -> list[str]:
    """The lowest and the highest number of each, with as many digits as tell them apart."""
    for digits in range(3, 18):
        ends = [tuple(f"{end:.{digits}g}" for end in (part.min(), part.max())) for part in parts]
        labels = [MISSING if low == "nan" else low if low == high else f"{low} to {high}" for low, high in ends]
        if len(set(labels)) == len(labels):
            break
    return labels
