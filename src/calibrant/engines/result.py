"""What is known about forecasts after looking at their outcomes: all that a report shows, and nothing to compute."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import Array
from ..metrics import MetricInterval
from ..select import Comparison

BEFORE = "before"


@dataclass(frozen=True)
class Group:
    """How one group of rows fares: measures by name, before and after the chosen calibration."""

    name: str
    rows: float
    before: dict[str, float]
    after: dict[str, float]
    reach_before: dict[str, tuple[float, float]] = field(default_factory=dict)
    """90 % intervals around those measures that are means over rows."""
    reach_after: dict[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class WorstRow:
    """A row whose outcome the forecasts took for very improbable."""

    row: int
    outcome: Any
    forecast: str
    loss_before: float
    loss_after: float


@dataclass(frozen=True, eq=False)
class Result:
    """Forecasts, their outcomes, and how good the forecasts are, before and after calibration.

    Attributes
    ----------
    task : {"regression", "classification"}
    y : ndarray (n,)
        Outcomes or labels of the rows looked at.
    stages : dict
        "before": the forecasts as they came, `Distribution` or probabilities (n, K); then by calibrator what
        cross-validation made of the same rows: no row was calibrated by a fit that had seen it.
    chosen : str
        Name of the stage that is recommended; "before" if nothing is better.
    measures : dict
        By stage, then by measure: value and interval.
    weights : ndarray (n,), optional
    axis : ndarray (n,), optional
        Time or row number, for pictures along it.
    classes : ndarray (K,), optional
    groups : list of Group
        Worst calibrated first.
    by_class : list of Group
        Each class: share of the rows that have it, mean forecast of it, and how far off the forecasts are.
    worst : list of WorstRow
    comparison : Comparison, optional
    calibrator : fitted calibrator, optional
        The chosen one, fitted to all rows.
    rows : int
        Rows of the table; the rows looked at may be a sample of them.
    source : str
        Where the rows came from.
    verdict : str
        The headline, in plain words.
    notes : list of str
        What was found, assumed or left out.
    command : str
        How to apply the calibrator.
    """

    task: str
    y: NDArray[Any]
    stages: dict[str, Any]
    chosen: str
    measures: dict[str, dict[str, MetricInterval]]
    verdict: str
    weights: Array | None = None
    axis: NDArray[Any] | None = None
    classes: NDArray[Any] | None = None
    groups: list[Group] = field(default_factory=list)
    by_class: list[Group] = field(default_factory=list)
    worst: list[WorstRow] = field(default_factory=list)
    comparison: Comparison | None = None
    calibrator: Any = None
    rows: int = 0
    source: str = ""
    notes: list[str] = field(default_factory=list)
    command: str = ""

    def to_dict(self) -> dict[str, Any]:
        """What JSON can hold of it: measures, groups, worst rows, verdict."""
        return {
            "task": self.task,
            "source": self.source,
            "rows": self.rows,
            "verdict": self.verdict,
            "chosen": self.chosen,
            "measures": {
                stage: {name: [_number(m.value), _number(m.low), _number(m.high)] for name, m in table.items()}
                for stage, table in self.measures.items()
            },
            "groups": [vars(group) for group in self.groups],
            "classes": [vars(group) for group in self.by_class],
            "worst": [vars(row) for row in self.worst],
            "notes": self.notes,
        }


def _number(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None
