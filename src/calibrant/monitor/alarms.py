"""Alarms: what changed, where, since when, and how sure that is."""

from __future__ import annotations

import datetime
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from .._printable import printable

Time = float | datetime.datetime | None


@dataclass(frozen=True)
class Alarm:
    """A fault of the forecasts that chance does not explain.

    Attributes
    ----------
    kind : str
        "bias", "width", "tails" or "shape" of laws; "bias" or "confidence" of class probabilities.
    group : label or None
        In which group; None where all rows tell it.
    step, time : int, float or datetime
        When it was noticed: after so many rows; their time, None if none was given.
    since, since_time
        The most probable row, counted from 0, and time of the change.
    e_value : float
        Evidence, 1 / level at least: nobody who bets against calibrated forecasts makes as much of 1, but with a
        probability of at most its inverse.
    size : float
        How wrong since then: the mean normal score (bias), the real width over the forecast one (width), the share of
        outcomes in 90 % intervals (tails, shape); of classes the surplus of events over their probabilities.
    fault : str
        The same in words.

    Examples
    --------
    >>> print(Alarm("width", "north", 1054, None, 1003, None, 31.2, 1.5, "intervals 1.5 times too narrow"))
    north: intervals 1.5 times too narrow since row 1003 (noticed at row 1054, e-value 31)
    """

    kind: str
    group: Any
    step: int
    time: Time
    since: int
    since_time: Time
    e_value: float
    size: float
    fault: str

    @property
    def began(self) -> str:
        """Since when, as a text."""
        return _when(self.since, self.since_time)

    @property
    def noticed(self) -> str:
        """When it was noticed, as a text."""
        return _when(self.step, self.time)

    @property
    def words(self) -> str:
        """What is wrong since when, ``intervals 1.5 times too narrow since 2026-03-02`` say."""
        return f"{self.fault} since {self.began}"

    def _check_sound(self) -> None:
        """Raise ValueError if it can be no alarm: it may come from anywhere."""
        texts: tuple[Any, ...] = (self.kind, self.fault)
        counts: tuple[Any, ...] = (self.step, self.since)
        times: tuple[Any, ...] = (self.time, self.since_time)
        numbers: tuple[Any, ...] = (self.e_value, self.size)
        sound = (
            all(isinstance(each, str) for each in texts)
            and all(type(each) is int and each >= 0 for each in counts)
            and all(each is None or isinstance(each, (float, datetime.datetime)) for each in times)
            and all(isinstance(each, float) and np.isfinite(each) for each in numbers)
        )
        if not sound:
            raise ValueError("Alarm has fields of other kinds than an alarm has.")

    def to_dict(self) -> dict[str, Any]:
        """What a line of a table says."""
        return {**asdict(self), "words": self.words}

    def __str__(self) -> str:
        where = "" if self.group is None else f"{printable(str(self.group))}: "
        return f"{where}{self.words} (noticed at {self.noticed}, e-value {self.e_value:.2g})"


COLUMNS = (*(each.name for each in fields(Alarm)), "words")


def _when(row: int, time: Time) -> str:
    """A date, a date and time, a number, or the number of a row.

    >>> _when(3, None), _when(3, 12.5), _when(3, datetime.datetime(2026, 3, 2))
    ('row 3', '12.5', '2026-03-02')
    """
    if time is None:
        return f"row {row}"
    if isinstance(time, datetime.datetime):
        midnight = time.time() == datetime.time()
        return time.date().isoformat() if midnight else time.isoformat(" ", timespec="minutes")
    return f"{time:.15g}"


def as_time(value: float, dates: bool) -> Time:
    """A number of a stream's clock as a time: dates are kept as microseconds since 1970."""
    if np.isnan(value):
        return None
    if not dates:
        return float(value)
    return datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=round(value))
