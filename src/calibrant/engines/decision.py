"""What a report decides: how bad it is, why, what to do, what that costs, and what to be careful about."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Status = Literal["pass", "warn", "fail"]
Severity = Literal["good", "minor", "serious"]
STATUSES: tuple[Status, ...] = ("pass", "warn", "fail")


@dataclass(frozen=True)
class Check:
    """One thing that was looked at in the forecasts as they came, and whether it is as it should be.

    Attributes
    ----------
    key : str
        Such as "coverage_90", "calibration", "bias", "groups", "drift", "rows".
    label : str
        The same in words.
    status : {"pass", "warn", "fail"}
    value : float, optional
        What was found; None where it could not be measured.
    threshold : float, optional
        What the value is held against: it passes on the good side of it.
    words : str
        One sentence: what was found against which threshold.
    """

    key: str
    label: str
    status: Status
    value: float | None
    threshold: float | None
    words: str


@dataclass(frozen=True)
class Decision:
    """What to make of forecasts.

    Attributes
    ----------
    severity : {"good", "minor", "serious"}
        Of what is wrong with the forecasts as they came.
    sentence : str
        The verdict, in one sentence.
    causes : list of str
        What is wrong, in words: "too narrow by 1.8×", "3.2 too high", "upper tail heavier than forecast".
    action : str
        What to do, in words.
    command : str
        The same as a command line to copy; "" where there is none.
    cost : str
        What calibration costs in width; "" where nothing is changed.
    caveats : list of str
        Few rows, groups made worse, drift, rows left out.
    checks : list of Check
    """

    severity: Severity
    sentence: str
    causes: list[str] = field(default_factory=list)
    action: str = ""
    command: str = ""
    cost: str = ""
    caveats: list[str] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)

    @property
    def worst(self) -> Status:
        """The worst status among the checks.

        >>> Decision("good", "All is well.").worst
        'pass'
        """
        return max((check.status for check in self.checks), key=STATUSES.index, default="pass")

    def to_dict(self) -> dict[str, Any]:
        """What JSON can hold of it."""
        return {**asdict(self), "worst": self.worst}
