"""What a monitor is given: forecasts and outcomes in the order of time, with groups, and each row once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._checks import Array
from ..adapters.class_labels import Classes
from ..adapters.class_scores import ClassScores
from ..adapters.places import times_of
from ..calibration.labels import Labels, labels_of
from ..calibration.online.memory import hashes_of
from ..calibration.rows import labelled_rows, usable_rows
from ..distributions import Distribution
from ..metrics.classes.forecasts import ClassForecasts
from ..select.reading import read_forecasts

Digests = NDArray[np.uint64]
REMEMBERED = 100_000  # ids


class Batch(NamedTuple):
    """Rows that have an outcome, in the order of time.

    Attributes
    ----------
    forecasts : Distribution, or probabilities (n,) of an event
    y : ndarray (n,)
        Outcomes; or whether the event came.
    task : {"laws", "events", "tops"}
    classes : ndarray or None
    labels : ndarray or None
        Groups.
    times : ndarray (n,)
        Numbers, or microseconds since 1970; NaN where no time was given.
    clock : {"rows", "numbers", "dates"}
    ids : ndarray or None
        Numbers that stand for the ids of the rows.
    """

    forecasts: Any
    y: NDArray[Any]
    task: str
    classes: Classes | None
    labels: Labels | None
    times: Array
    clock: str
    ids: Digests | None


@dataclass(frozen=True, eq=False)
class Reader:
    """How rows are read: what forecasts are, the classes if they are known, and the ids that came lately."""

    task: str
    classes: Any
    recent: Digests

    def __call__(self, given: Any, y: Any, *, groups: Any, time: Any, ids: Any) -> Batch:
        """Check and sort what was given; rows whose outcome is missing are left out with a warning."""
        forecasts = read_forecasts(given, y, self.task)
        n = len(forecasts)
        labels = None if groups is None else labels_of(groups, n)
        times, clock = _times(time, n)
        digests = None if ids is None else hashes_of(ids, n)
        rows, kept, outcomes, what, known = _outcomes(forecasts, y, self.classes)
        at = np.arange(n)[rows]
        order = at if digests is None else at[first_seen(digests[at], self.recent)]
        if clock != "rows":
            order = order[np.argsort(times[order], kind="stable")]
        taken = np.searchsorted(at, order)
        labels, digests = (None if each is None else each[order] for each in (labels, digests))
        return Batch(kept[taken], outcomes[taken], what, known, labels, times[order], clock, digests)


def _outcomes(forecasts: Any, y: Any, classes: Any) -> tuple[Any, Any, NDArray[Any], str, Classes | None]:
    """Which rows have an outcome; laws, or probabilities of an event, and outcomes of these rows; what they are."""
    if isinstance(forecasts, Distribution):
        rows, values, _ = usable_rows(len(forecasts), y, None)
        return rows, forecasts if isinstance(rows, slice) else forecasts[rows], values, "laws", None
    table: ClassScores = forecasts if classes is None else forecasts.in_order_of(classes)
    rows, known, codes, _ = labelled_rows(table, y, None, classes, fewest=1)
    of_classes = ClassForecasts(table.probabilities()[rows], codes, None, known)
    event = of_classes.column(1) if len(known) == 2 else of_classes.top()
    return rows, event.p, event.events, "events" if len(known) == 2 else "tops", known


def _times(time: Any, rows: int) -> tuple[Array, str]:
    """Times as numbers that floats hold exactly, and what they are."""
    if time is None:
        return np.full(rows, np.nan), "rows"
    return times_of(time, rows)


def first_seen(digests: Digests, before: Digests) -> NDArray[np.bool_]:
    """Which rows come for the first time, here and among those before."""
    fresh = np.zeros(len(digests), dtype=bool)
    fresh[np.unique(digests, return_index=True)[1]] = True
    return fresh & ~np.isin(digests, before)
