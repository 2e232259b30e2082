"""Rows in bins of their forecast probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..._checks import Array, count, one_of
from .._inputs import BinLabels, equal_mass_bins
from .forecasts import EventForecasts

Binning = Literal["width", "right", "mass"]


@dataclass(frozen=True, slots=True, eq=False)
class ForecastBins:
    """Number of each row's bin (n,); weight, mean forecast and share of events of the bins, empty ones NaN."""

    labels: BinLabels
    mass: Array
    forecast: Array
    share: Array

    @classmethod
    def of(cls, forecasts: EventForecasts, bins: Binning, n_bins: int) -> ForecastBins:
        """Bins of equal width, closed below ("width") or above ("right"), or of (nearly) equal numbers of rows.

        >>> half = EventForecasts(np.array([0.2, 0.5, 1.0]), np.array([False, True, True]), None)
        >>> ForecastBins.of(half, "width", 2).labels
        array([0, 1, 1])
        """
        one_of(bins, "bins", ("width", "right", "mass"))
        count(n_bins, "n_bins")
        p, weights = forecasts.p, forecasts.weights
        if bins == "mass":
            labels = equal_mass_bins(p, weights, n_bins)
        else:
            labels = equal_width_bins(p, n_bins) if bins == "width" else right_closed_bins(p, n_bins)
        mass = np.bincount(labels, weights, n_bins).astype(np.float64)
        total = np.bincount(labels, p if weights is None else weights * p, n_bins)
        hits = np.bincount(labels, forecasts.events if weights is None else weights * forecasts.events, n_bins)
        with np.errstate(invalid="ignore"):
            return cls(labels, mass, total / mass, hits / mass)

    @property
    def used(self) -> ForecastBins:
        """Without the empty bins; the rows' labels are those of all."""
        some = self.mass > 0
        return ForecastBins(self.labels, self.mass[some], self.forecast[some], self.share[some])


def equal_width_bins(p: Array, n_bins: int) -> BinLabels:
    r"""Bin :math:`\lfloor p B \rfloor`: an inner edge belongs to the bin above it, p = 1 to the last bin.

    >>> equal_width_bins(np.array([0.0, 0.1, 0.99, 1.0]), 10)
    array([0, 1, 9, 9])
    """
    labels: BinLabels = (p * n_bins).astype(np.intp)
    return np.minimum(labels, n_bins - 1, out=labels)


def right_closed_bins(p: Array, n_bins: int) -> BinLabels:
    """Bins [0, 1/B], (1/B, 2/B], ... of Kuleshov et al. (2018), §2.2: an inner edge belongs to the bin below it.

    >>> right_closed_bins(np.array([0.0, 0.1, 0.3, 0.31, 1.0]), 10)
    array([0, 0, 2, 3, 9])
    """
    return np.searchsorted(np.arange(1, n_bins) / n_bins, p, side="left")
