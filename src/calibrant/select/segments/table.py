"""Segments in which forecasts are wrong, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ..._printable import printable
from ...adapters.feature_columns import rows_in
from ...calibration.feature_table import FeatureTable
from ...metrics.catalogue import Measured
from .conditions import Condition, Mask, hold, in_words

COLUMNS = (
    "segment", "rows", "share", "kind", "fault", "estimate", "low", "high", "p_value", "adjusted", "promised",
    "observed", "observed_low", "observed_high",
)  # fmt: skip
ELSEWHERE = "elsewhere"


@dataclass(frozen=True, eq=False)
class Segment:
    """Rows that some conditions on their features hold for, and what is wrong with their forecasts.

    All numbers are of the rows that the segment was not found on.

    Attributes
    ----------
    conditions : tuple of Condition
    kind : {"bias", "width", "coverage", "confidence"}
        What is most wrong.
    fault : str
        The same in words.
    rows, share : float
        Number of rows that were measured, with their weights, and their share of all that were.
    estimate : Measured
        How wrong, with a 90 % interval: the median normal score, the real width over the forecast one, the share of
        outcomes in 90 % intervals, or how much more often an event came than was forecast.
    p_value : float
        Probability of such a fault if nothing is wrong that earlier segments do not tell.
    adjusted : float
        The same for the false discovery rate: of segments with at most this value as many are wrong on average.
    promised, observed : float, Measured
        0.9 and the share of outcomes in 90 % intervals; or the mean probability of an event and its frequency.
    gain : float
        Nats by which the measured outcomes would be more probable if the fault were mended.
    """

    conditions: tuple[Condition, ...]
    kind: str
    fault: str
    rows: float
    share: float
    estimate: Measured
    p_value: float
    adjusted: float
    promised: float
    observed: Measured
    gain: float
    table: FeatureTable = field(repr=False)

    @property
    def name(self) -> str:
        """The conditions in words, ``price > 12.5 and region = north`` say."""
        return printable(in_words(self.conditions))

    def contains(self, X: Any) -> Mask:
        """Which rows of features (n, d) are in the segment; a category that was never seen counts as missing."""
        return hold(self.conditions, self.table(X, rows_in(X)))

    def to_dict(self) -> dict[str, Any]:
        """What a line of the table says."""
        found, came = self.estimate, self.observed
        wrong = (self.kind, self.fault, found.value, found.low, found.high, self.p_value, self.adjusted)
        values = (self.name, self.rows, self.share, *wrong, self.promised, came.value, came.low, came.high)
        return dict(zip(COLUMNS, values, strict=True))

    def __str__(self) -> str:
        return f"{self.name}: {self.fault} ({self.estimate.low:.2g} to {self.estimate.high:.2g})"


@dataclass(frozen=True, eq=False, repr=False)
class Segments(Sequence[Segment]):
    """Segments in which forecasts are wrong, the worst first; prints as a table.

    Attributes
    ----------
    found : tuple of Segment
    tested : int
        How many were measured; the others may be chance.
    fdr : float
        Bound of the false discovery rate.
    rows : float
        Rows that were measured, with their weights.
    places : ndarray
        Which of the rows these are.
    """

    found: tuple[Segment, ...]
    tested: int
    fdr: float
    rows: float
    places: NDArray[np.intp]

    def labels(self, X: Any) -> NDArray[Any]:
        """For rows of features the name of the first segment that each is in, or "elsewhere": groups to calibrate.

        ``GroupedCalibrator(ScaleCalibrator()).fit(forecasts, y, groups=segments.labels(X))`` gives each a scale of its
        own.
        """
        out = np.full(rows_in(X), ELSEWHERE, dtype=object)
        for each in reversed(self.found):
            out[each.contains(X)] = each.name
        return out

    def measured_in(self, X: Any) -> list[NDArray[np.intp]]:
        """Rows of each segment, of the features that it was found with, on which it was measured."""
        here = [each.contains(X)[self.places] for each in self.found]
        return [self.places[rows] for rows in here]

    @overload
    def __getitem__(self, place: int) -> Segment: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Segment]: ...
    def __getitem__(self, place: int | slice) -> Segment | Sequence[Segment]:
        """One segment, or some."""
        return self.found[place]

    def __iter__(self) -> Iterator[Segment]:
        """Yield the segments."""
        return iter(self.found)

    def __len__(self) -> int:
        """Number of segments."""
        return len(self.found)

    def to_frame(self) -> Any:
        """Pandas frame: a row a segment."""
        import pandas as pd

        return pd.DataFrame([segment.to_dict() for segment in self.found], columns=list(COLUMNS))

    def __repr__(self) -> str:
        """The table."""
        return str(self)

    def __str__(self) -> str:
        """The table as aligned text."""
        foot = f"{self.tested} segments measured on {self.rows:g} other rows; false discoveries at most {self.fdr:.2g}"
        if not self.found:
            return f"No segment in which forecasts are wrong, as far as these rows tell.\n{foot}"
        lines = [["segment", "rows", "fault", "90 % interval", "promised", "came", "adjusted p"]]
        for each in self.found:
            ends = f"{each.estimate.low:.2g} to {each.estimate.high:.2g}"
            shares = [f"{100 * value:.0f} %" for value in (each.promised, each.observed.value)]
            lines.append([each.name, f"{each.rows:g}", each.fault, ends, *shares, _small(each.adjusted)])
        widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
        aligned = (str.ljust, str.rjust, str.ljust, *[str.rjust] * 4)
        columns = range(len(aligned))
        text = ["  ".join(aligned[k](line[k], widths[k]) for k in columns) for line in lines]
        return "\n".join([*map(str.rstrip, text), foot])


def _small(p: float) -> str:
    """A probability, of which nobody wants to see more than 99 zeros."""
    return f"{p:.2g}" if p >= 1e-99 else "< 1e-99"


def apart(masks: Sequence[Mask], weights: Any, most: float) -> list[int]:
    """Places of the masks that share at most so much with each that was kept before them.

    >>> import numpy as np
    >>> masks = [np.array([1, 1, 0], bool), np.array([1, 1, 1], bool), np.array([0, 0, 1], bool)]
    >>> apart(masks, np.ones(3), 0.5)
    [0, 2]
    """
    kept: list[int] = []
    for k, mask in enumerate(masks):
        shares = (weights[mask & masks[j]].sum() / weights[mask | masks[j]].sum() for j in kept)
        if all(share <= most for share in shares):
            kept.append(k)
    return kept
