"""What a reliability diagram shows: observed frequencies, and those of perfect forecasters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.optimize import isotonic_regression

from .._checks import Array, count, one_of
from ..adapters.class_labels import as_labels, encode
from ..links.groups import Groups
from ..metrics._inputs import equal_mass_bins
from ..metrics.classes.bins import Binning, ForecastBins
from ..metrics.classes.forecasts import EventForecasts, class_forecasts
from ._envelope import rank_envelope

Bins = int | tuple[int, Literal["left", "right"]] | Literal["mass", "pav"]
BINS = 10  # of equal mass
DRAWS = 4999  # perfect forecasters that the band is made of
CELLS = 512  # distinct forecasts of theirs at most
PLACES = 64  # where the band is computed at most; more would need more draws
SEED = 20210223  # the same band every time


@dataclass(frozen=True, eq=False)
class Frequencies:
    """Forecast probabilities in increasing order, observed frequency beside each, and number of rows."""

    forecast: Array
    observed: Array
    mass: Array

    @property
    def error(self) -> float:
        """Mean distance of forecast and frequency."""
        return float(np.average(np.abs(self.observed - self.forecast), weights=self.mass))

    def corners(self) -> tuple[Array, Array]:
        """Forecast and frequency without the inner points of level stretches."""
        inner = self.observed[1:-1]
        bend = np.concatenate([[True], (inner != self.observed[:-2]) | (inner != self.observed[2:]), [True]])
        bend = bend[-len(self.observed) :]
        return self.forecast[bend], self.observed[bend]


def chosen_event(y_true: Any, y_proba: Any, label: Any, sample_weight: Any) -> EventForecasts:
    """Forecasts of one class, of the second of two, or that the most probable one is right."""
    forecasts = class_forecasts(y_true, y_proba, None, sample_weight)
    if label is not None:
        return forecasts.column(int(encode(as_labels([label], "label"), forecasts.classes, "label")[0]))
    return forecasts.column(1) if forecasts.n_classes == 2 else forecasts.top()


def frequencies(event: EventForecasts, n_bins: Bins) -> Frequencies:
    """Observed frequencies in bins, or by pooled adjacent violators."""
    if isinstance(n_bins, str):
        one_of(n_bins, "n_bins", ("mass", "pav"))
    if n_bins == "pav":
        groups = Groups.of(event.p, event.events, event.weights)
        return Frequencies(groups.x, groups.rising(), groups.mass)
    used = ForecastBins.of(event, *(("mass", BINS) if n_bins == "mass" else width_bins(n_bins))).used
    return Frequencies(used.forecast, used.share, used.mass)


def width_bins(n_bins: Any) -> tuple[Binning, int]:
    """Which bins of equal width, and how many; ten where they are to be of another kind.

    >>> width_bins(5), width_bins((5, "right")), width_bins("pav")
    (('width', 5), ('right', 5), ('width', 10))
    """
    if isinstance(n_bins, str):
        return "width", BINS
    if not isinstance(n_bins, tuple):
        return "width", count(n_bins, "n_bins")
    if len(n_bins) != 2 or n_bins[1] not in ("left", "right"):
        raise ValueError(f'`n_bins` must be a number, (number, "left" or "right"), "mass" or "pav"; got {n_bins!r}.')
    return "right" if n_bins[1] == "right" else "width", count(n_bins[0], "n_bins")


def perfect_forecasters(curve: Frequencies, pav: bool, coverage: float) -> tuple[Array, Array, Array, float]:
    """Forecasts, lower and upper frequency of the band that holds a perfect forecaster's whole curve; its mean error.

    Outcomes are drawn with the forecast probabilities, again and again.
    """
    p, mass = _cells(curve.forecast, curve.mass)
    rows = np.maximum(np.round(mass), 1)
    drawn = np.random.default_rng(SEED).binomial(rows.astype(np.int64), np.clip(p, 0, 1), (DRAWS, len(p))) / rows
    if pav:
        drawn = np.array([isotonic_regression(line, weights=rows).x for line in drawn])
    floor = float(np.mean(np.abs(drawn - p) @ mass) / mass.sum())
    places = np.unique(np.linspace(0, len(p) - 1, PLACES).round().astype(np.intp))
    return p[places], *rank_envelope(drawn[:, places], coverage), floor


def _cells(p: Array, mass: Array) -> tuple[Array, Array]:
    """Distinct forecasts, neighbours taken together where they are many."""
    if len(p) <= CELLS:
        return p, mass
    labels = equal_mass_bins(p, mass, CELLS)
    whole = np.bincount(labels, mass).astype(np.float64)
    return np.bincount(labels, mass * p) / whole, whole
