"""What is known about forecasts after looking at their outcomes: all that a report shows, and nothing to compute."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import Array
from .._version import __version__
from ..metrics.catalogue import Measured
from ..select import Comparison
from ..select.comparison import NONE
from .decision import Decision
from .plain import as_json

Table = dict[str, Measured]  # by key of the measure


@dataclass(frozen=True)
class Group:
    """How one group of rows fares: measures by key, before and after the chosen calibration.

    ``harm`` is by how much the loss of its rows rose, and ``harm_error`` the standard error of that. ``surplus`` is how
    much more of it came true than the forecasts, as they came, had promised: the share of outcomes in 90 % intervals
    less 0.9, or how often an event came less its probability; with the standard error that it has if all is well.
    """

    name: str
    rows: float
    before: Table
    after: Table
    harm: float = 0.0
    harm_error: float = 0.0
    surplus: tuple[float, float] = (0.0, 0.0)

    @property
    def is_worse(self) -> bool:
        """Whether the loss rose by more than two standard errors."""
        return bool(self.harm > 2 * self.harm_error)

    def to_dict(self) -> dict[str, Any]:
        """What JSON can hold of it."""
        sides = {"before": _plain(self.before), "after": _plain(self.after)}
        return {"name": self.name, "rows": self.rows, **sides, "worse": self.is_worse}


@dataclass(frozen=True)
class WorstRow:
    """A row whose outcome the forecasts took for very improbable; with its group, time and name where it has them."""

    row: int
    outcome: Any
    forecast: str
    loss_before: float
    loss_after: float
    group: str = ""
    time: Any = None
    id: Any = None


@dataclass(frozen=True)
class Bin:
    """Rows whose forecasts, or times, are alike, and how many of their 90 % intervals held the outcome.

    Of classes, instead of that: how much more often the event came than was forecast, as a share of the rows. The event
    is the second of two classes, of more the most probable one.

    Attributes
    ----------
    by : {"level", "width", "time"}
        What the rows are alike in: the predicted median, the width of the 90 % interval, or the time.
    low, high : float
        The least and the largest of the bin; dates as seconds since 1970.
    rows : float
        How many there are, with their weights.
    before, after : Measured
        The share, with its interval, before and after the chosen calibration.
    """

    by: str
    low: float
    high: float
    rows: float
    before: Measured
    after: Measured

    def to_dict(self) -> dict[str, Any]:
        """What JSON can hold of it."""
        return vars(self) | _plain({"before": self.before, "after": self.after})


@dataclass(frozen=True)
class WrongSegment:
    """Rows that conditions on features describe, in which forecasts are wrong; measured on rows it was not found on.

    Attributes
    ----------
    name : str
        The conditions in words.
    rows, share : float
        Rows that were measured, with their weights, and their share of all that were.
    fault_before, fault_after : str
        What is wrong, before and after the chosen calibration.
    p_value : float
        Adjusted for the false discovery rate.
    before, after : Measured
        Share of outcomes in 90 % intervals; of classes how much more often the event came than was forecast.
    """

    name: str
    rows: float
    share: float
    fault_before: str
    fault_after: str
    p_value: float
    before: Measured
    after: Measured

    def to_dict(self) -> dict[str, Any]:
        """What JSON can hold of it."""
        return vars(self) | _plain({"before": self.before, "after": self.after})


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """Forecasts, their outcomes, and how good the forecasts are, before and after calibration.

    Attributes
    ----------
    task : {"regression", "classification"}
    y : ndarray (n,)
        Outcomes or labels of the rows looked at.
    stages : dict
        "none": the forecasts as they came, `Distribution` or `ClassScores`; then by calibrator what
        cross-validation made of the same rows: no row was calibrated by a fit that had seen it.
    comparison : Comparison
        Measures, losses and the choice.
    weights : ndarray (n,), optional
    axis : ndarray (n,), optional
        Time or row number, for pictures along it.
    features : array or frame (n, d), optional
        What else is known of the same rows; columns of a frame in the order of their names. Of tables a pyarrow one:
        numbers, NaN where missing, and texts, null where missing.
    classes : ndarray (K,), optional
    groups : list of Group
        Worst calibrated first.
    by_class : list of Group
        Each class: share of the rows that have it, mean forecast of it, and how far off the forecasts are.
    segments : list of WrongSegment
        Where forecasts are wrong, by the features, the worst first.
    worst : list of WorstRow
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
    decision : Decision
        How bad it is, why, what to do, and the checks.
    conditional : list of Bin
        Coverage by predicted level, then by predicted width.
    over_time : list of Bin
        Coverage in blocks of time.
    fingerprint : str
        The same for the same forecasts, outcomes and weights.
    made : str
        The date, such as 2024-01-31.
    """

    task: str
    y: NDArray[Any]
    stages: dict[str, Any]
    comparison: Comparison
    verdict: str
    weights: Array | None = None
    axis: NDArray[Any] | None = None
    classes: NDArray[Any] | None = None
    groups: list[Group] = field(default_factory=list)
    by_class: list[Group] = field(default_factory=list)
    worst: list[WorstRow] = field(default_factory=list)
    calibrator: Any = None
    rows: int = 0
    source: str = ""
    notes: list[str] = field(default_factory=list)
    command: str = ""
    decision: Decision = field(default_factory=lambda: Decision("good", ""))
    conditional: list[Bin] = field(default_factory=list)
    over_time: list[Bin] = field(default_factory=list)
    fingerprint: str = ""
    made: str = ""
    features: Any = None
    segments: list[WrongSegment] = field(default_factory=list)

    def __repr__(self) -> str:
        """Rows, stages and the choice."""
        stages = ", ".join(self.stages)
        return f"Result(task={self.task!r}, rows={self.rows}, stages=[{stages}], chosen={self.chosen!r})"

    @property
    def chosen(self) -> str:
        """Name of the stage that is recommended; "none" if nothing is better."""
        return self.comparison.chosen

    @property
    def measures(self) -> dict[str, Table]:
        """By stage, then by measure: value, standard error and interval."""
        return dict(zip(self.comparison.names, self.comparison.measures, strict=True))

    @property
    def before(self) -> str:
        """The stage that others are seen beside: the forecasts as they came, where they can be measured."""
        return NONE if NONE in self.stages else self.chosen

    def to_json(self) -> str:
        """The same as JSON; numbers that are not finite are null."""
        return as_json(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """What JSON can hold of it: decision and checks, measures, groups, worst rows."""
        return {
            "calibrant": __version__,
            "task": self.task,
            "source": self.source,
            "rows": self.rows,
            "made": self.made,
            "fingerprint": self.fingerprint,
            "verdict": self.verdict,
            "decision": self.decision.to_dict(),
            "chosen": self.chosen,
            "measures": {stage: _plain(table) for stage, table in self.measures.items()},
            "groups": [group.to_dict() for group in self.groups],
            "segments": [segment.to_dict() for segment in self.segments],
            "classes": [group.to_dict() for group in self.by_class],
            "conditional": [part.to_dict() for part in self.conditional],
            "over_time": [part.to_dict() for part in self.over_time],
            "worst": [vars(row) for row in self.worst],
            "notes": self.notes,
        }


def _plain(table: Table) -> dict[str, list[float | None]]:
    """Value and ends of the interval of each measure."""
    ends = {key: (found.value, found.low, found.high) for key, found in table.items()}
    return {key: [float(value) if np.isfinite(value) else None for value in values] for key, values in ends.items()}
