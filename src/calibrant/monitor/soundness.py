"""Whether the state of a monitor, which may come from anywhere, can be what was seen."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from .._checks import number, probability
from ..calibration.soundness import POINTS, example_laws
from ..numerics.soundness import check_finite
from .alarms import Alarm
from .bets import Bets
from .history import History
from .reading import REMEMBERED
from .streams import Streams


def check_state(monitor: Any, bets: Bets) -> None:
    """Raise ValueError if parts are missing, of the wrong kind or size, or impossible."""
    probability(monitor.level, "level")
    number(monitor.tolerance, "tolerance", least=0, below=1)
    groups = monitor.groups_
    _need(groups is None or (isinstance(groups, list) and len(set(groups)) == len(groups)), "groups_")
    count = 1 + len(groups or ())
    _need(isinstance(monitor.streams_, Streams) and monitor.streams_.fits(count, bets.count), "streams_")
    _need(isinstance(monitor.history_, History) and monitor.history_.fits(len(bets.kinds)), "history_")
    for name, shape, kind in (
        ("shares_", (count,), "f"),
        ("log_e_", (count,), "f"),
        ("raised_", (count, len(bets.kinds)), "b"),
    ):
        value = getattr(monitor, name)
        _need(isinstance(value, np.ndarray) and value.shape == shape and value.dtype.kind == kind, name)
    check_finite(monitor, "shares_", "log_e_")
    _need(bool((monitor.shares_ > 0).all()) and float(monitor.shares_.sum()) <= 1 + 1e-9, "shares_")
    _need(isinstance(monitor.n_rows_, int) and monitor.n_rows_ >= 0, "n_rows_")
    _need(isinstance(monitor.last_time_, float) and not np.isnan(monitor.last_time_), "last_time_")
    _need(monitor.clock_ in ("rows", "numbers", "dates"), "clock_")
    _need(isinstance(monitor.alarms_, list) and all(type(each) is Alarm for each in monitor.alarms_), "alarms_")
    ids = monitor.recent_ids_
    sound = isinstance(ids, np.ndarray) and ids.dtype == np.uint64 and ids.ndim == 1 and len(ids) <= REMEMBERED
    _need(sound, "recent_ids_")


def check_update(monitor: Any) -> None:
    """Raise ValueError if it cannot take in further rows; a copy tries."""
    other, n = copy.deepcopy(monitor), len(POINTS)
    beside = {
        "groups": None if other.groups_ is None else ["of none"] * n,
        "time": {"rows": None, "numbers": np.arange(n), "dates": np.arange(n).astype("M8[D]")}[other.clock_],
    }
    if other.task_ == "laws":
        other.update(example_laws(), POINTS, **beside)
    else:
        k = len(other.classes_)
        other.update(np.full((n, k), 1 / k), np.resize(other.classes_, n), **beside)
    if not np.isfinite(other.e_value_):
        raise ValueError("its e-values are no numbers.")


def _need(holds: bool, name: str) -> None:
    if not holds:
        raise ValueError(f"DriftMonitor.{name} is not what a monitor keeps.")
