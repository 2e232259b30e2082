"""Probabilities of segments of the outcome, and which segment the outcome was in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from .._checks import Array
from .base import Summary

_SOME = np.linspace(-4.0, 4.0, 33)  # scores that tell one map from another


@dataclass(frozen=True, eq=False, repr=False)
class SegmentSummary(Summary):
    """Weights of rows and of events by bins of the logit of each segment's probability, after a map of all forecasts.

    Parameters
    ----------
    sums : array (4, K + 1, bins)
        Weights, weights times logits, and both of the rows with the event.
    n_rows : int
    thresholds : array (K,)
    quantile : fitted calibrator or None
        Has the map; summaries merge only if theirs are the same.

    Examples
    --------
    >>> from calibrant import DensityCalibrator, Normal, QuantileCalibrator
    >>> law, y = Normal([0.0, 1.0, 2.0], 1.0), [0.5, 0.5, 3.5]
    >>> second_pass = DensityCalibrator(thresholds=[0.0, 1.0]).begin(QuantileCalibrator().summarise(law, y))
    >>> part = second_pass.summarise(law, y)
    >>> (part + part).n_rows, (part + part).sums[2].sum(axis=1)  # rows, and events in each segment
    (6, array([0., 4., 2.]))
    """

    sums: Array
    n_rows: int
    thresholds: Array
    quantile: Any

    @property
    def about(self) -> str:
        """What the sums are of."""
        return f"{len(self.thresholds) + 1} segments"

    @property
    def level(self) -> int | None:
        """The bins are always the same."""
        return None

    def _merged(self, other: SegmentSummary) -> Self:
        if not np.array_equal(self.thresholds, other.thresholds):
            raise ValueError("`other` must have the same thresholds.")
        if not np.array_equal(self._mapped(), other._mapped()):
            raise ValueError("`other` must be of the same first pass: its map is another.")
        return replace(self, sums=self.sums + other.sums, n_rows=self.n_rows + other.n_rows)

    def _mapped(self) -> Array:
        return _SOME if self.quantile is None else np.asarray(self.quantile.map_(_SOME))

    def _decayed(self, factor: float) -> Self:
        return replace(self, sums=factor * self.sums)
