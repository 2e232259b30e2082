"""Point predictions in one table: as a whole, and along their range."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..._checks import Array, count, one_of
from ..._types import Numbers, Weights
from ...distributions.base import Distribution
from .._inputs import BinLabels, average, equal_mass_bins
from ..summary_table import Summary
from .errors import Points, mae, mean_error, mean_ratio, mse, paired_points, relative_mse

COLUMNS = ("rows", "mean_predicted", "mean_actual", "mean_error", "standard_error", "mean_ratio", "mae")


@dataclass(frozen=True, eq=False)
class PointSummary:
    """Measures of point predictions.

    Attributes
    ----------
    overall : Summary
        ``mean_error`` with its ``standard_error``, ``mean_ratio``, ``mae``, ``rmse``, ``relative_mse``; a column per
        model. What could not be computed is NaN, with the reason in ``overall.notes``.
    along : dict of Summary
        By model, a line per group of rows with similar predictions, or outcomes, "1" for the lowest.
    by : {"predicted", "actual"}
        What the groups are made by.
    """

    overall: Summary
    along: dict[str, Summary]
    by: str = "predicted"

    def __repr__(self) -> str:
        """The tables."""
        return str(self)

    def __str__(self) -> str:
        """The tables as aligned text."""
        parts = [str(self.overall)]
        own, all_ = ("its predictions", "the predictions") if self.by == "predicted" else ("the outcomes",) * 2
        for name, table in self.along.items():
            parts += ["", f"{name}, along {own}" if name else f"along {all_}", str(table)]
        return "\n".join(parts)


def point_summary(
    y_true: Numbers,
    y_pred: Points | Mapping[str, Points],
    *,
    n_bins: int = 10,
    by: str = "predicted",
    sample_weight: Weights = None,
) -> PointSummary:
    r"""Calibration and error of point predictions, as a whole and along their range, for one model or several.

    Calibrated predictions (type RD of Bella et al. 2010) have a mean error near 0 as a whole and in every group of
    rows with similar predictions; "near" is within two standard errors. Groups are deciles unless told: as many rows
    in each as ties allow, by each model's own predictions, or by the outcomes. The latter is the chapter's "along the
    output value", and asks for other predictions: the best ones, :math:`E(y \mid x)`, are too high where y came out low
    and too low where it came out high.

    Parameters
    ----------
    y_true : array-like (n,)
        Outcomes.
    y_pred : array-like (n,) or Distribution, or a dict of these by name
        Point predictions, before and after calibration say; the means of Distributions.
    n_bins : int
        Number of groups.
    by : {"predicted", "actual"}
        Whether rows of a group have similar predictions, or similar outcomes.
    sample_weight : array-like (n,), optional
        Frequencies: weight 2 is the row twice.

    Returns
    -------
    PointSummary
        Prints as tables; ``.overall["mean_error"]`` is a number, or a dict by model.

    Examples
    --------
    >>> from calibrant import metrics
    >>> y = [1.0, 2.0, 4.0, 5.0]
    >>> print(metrics.point_summary(y, {"before": [2.0, 3.0, 4.0, 5.0], "after": [1.5, 2.5, 3.5, 4.5]}, n_bins=2))
                    before   after
    mean_error         0.5       0
    standard_error  0.2887  0.2887
    mean_ratio       1.375   1.131
    mae                0.5     0.5
    rmse            0.7071     0.5
    relative_mse       0.2     0.1
    <BLANKLINE>
    before, along its predictions
       rows  mean_predicted  mean_actual  mean_error  standard_error  mean_ratio  mae
    1     2             2.5          1.5           1               0        1.75    1
    2     2             4.5          4.5           0               0           1    0
    <BLANKLINE>
    after, along its predictions
       rows  mean_predicted  mean_actual  mean_error  standard_error  mean_ratio  mae
    1     2               2          1.5         0.5               0       1.375  0.5
    2     2               4          4.5        -0.5               0      0.8875  0.5
    """
    models = {str(name): p for name, p in y_pred.items()} if isinstance(y_pred, Mapping) else {"": y_pred}
    if not models:
        raise ValueError("`y_pred` must have at least one model; the dict is empty.")
    count(n_bins, "n_bins")
    one_of(by, "by", ("predicted", "actual"))
    lines: dict[str, tuple[float, ...]] = {}
    notes: dict[str, str] = {}
    along: dict[str, Summary] = {}
    for name, given in models.items():
        point = given.mean() if isinstance(given, Distribution) else given
        y, point, weights = paired_points(y_true, point, sample_weight)
        values, missing = _measured(y, point, weights)
        notes |= {f"{measure} of {name}" if name else measure: reason for measure, reason in missing.items()}
        lines = {measure: (*lines.get(measure, ()), value) for measure, value in values.items()}
        along[name] = _along(y, point, weights, equal_mass_bins(point if by == "predicted" else y, weights, n_bins))
    return PointSummary(Summary(tuple(models), lines, notes), along, by)


def _measured(y: Array, point: Array, weights: Array | None) -> tuple[dict[str, float], dict[str, str]]:
    """All measures, and why some are missing."""
    values = {
        "mean_error": mean_error(y, point, sample_weight=weights),
        "standard_error": standard_error(y - point, weights),
    }
    missing = {}
    for name, measure in (("mean_ratio", mean_ratio), ("mae", mae), ("mse", mse), ("relative_mse", relative_mse)):
        try:
            values[name] = measure(y, point, sample_weight=weights)
        except ValueError as reason:
            values[name], missing[name] = np.nan, str(reason)
    return {("rmse" if k == "mse" else k): float(np.sqrt(v) if k == "mse" else v) for k, v in values.items()}, missing


def _along(y: Array, point: Array, weights: Array | None, labels: BinLabels) -> Summary:
    """A line per group."""
    lines = {}
    for label in range(labels.max() + 1):
        mine = labels == label
        own = None if weights is None else weights[mine]
        values, _ = _measured(y[mine], point[mine], own)
        values["rows"] = float(mine.sum() if own is None else own.sum())
        values["mean_predicted"], values["mean_actual"] = average(point[mine], own), average(y[mine], own)
        lines[str(label + 1)] = tuple(values[name] for name in COLUMNS)
    return Summary(COLUMNS, lines, {})


def standard_error(errors: Array, weights: Array | None) -> float:
    r"""Standard error :math:`s/\sqrt n` of the mean; NaN of one row."""
    n = float(len(errors) if weights is None else weights.sum())
    if n <= 1:
        return np.nan
    unit = np.abs(errors).max() or 1.0
    spread = average(np.square((errors - average(errors, weights)) / unit), weights)
    return float(unit * np.sqrt(spread / (n - 1)))
