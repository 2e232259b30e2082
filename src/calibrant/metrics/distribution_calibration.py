"""Distribution calibration: the calibration error among instances that received similar forecasts."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._checks import Array, complain, count, plain_array, to_array
from .._types import Labels, Numbers, Weights
from ..adapters.class_labels import missing_labels
from ..distributions.base import Distribution
from ..distributions.scores import score_intervals
from ._inputs import EPS, BinLabels, equal_mass_bins, level_grid, paired
from .quantile_calibration import Weighting, level_weights, observed_levels


def distribution_calibration_error(
    y_true: Numbers,
    dist: Any,
    *,
    n_bins: tuple[int, int] = (5, 4),
    groups: Labels | None = None,
    levels: Numbers = 10,
    weights: Weighting = "uniform",
    debiased: bool = False,
    sample_weight: Weights = None,
) -> float:
    r"""Calibration error within groups of similar forecasts, averaged over the groups; 0 is perfect.

    .. math:: \sum_g \frac{n_g}n \sum_j w_j (p_j - \hat p_{gj})^2, \quad
        \hat p_{gj} = \tfrac1{n_g} \#\{t \in g : F_t(y_t) \le p_j\}

    Estimates how far the forecasts are from distribution calibration, :math:`p(Y = y \mid S = s) = s(y)` (Song et al.
    2019, eq. 4), which :func:`calibration_error` cannot see: errors of opposite sign in different groups cancel there.
    A group stands for "the same forecast". Groups are formed deterministically from the forecasts alone: a strata of
    equal size by the median, each cut into b strata of equal size by the spread (half the distance between the
    quantiles of normal scores -1 and 1; a normal law's standard deviation). Equal values stay together, so there may
    be fewer.
    A perfect forecaster scores ``calibration_floor(n, n_bins=number of groups)`` in expectation.

    Parameters
    ----------
    y_true, dist, sample_weight
        As in :func:`nll`.
    n_bins : (int, int)
        Numbers (a, b) of strata.
    groups : array-like (n,), optional
        A label for each row: calibration within these groups instead.
    levels, weights, debiased
        As in :func:`calibration_error`, applied in each group.

    Examples
    --------
    All outcomes below the median in one half and above it in the other: calibrated on the whole, not within the groups.

    >>> import numpy as np
    >>> from calibrant import Normal, metrics
    >>> law = Normal(np.repeat([0.0, 100.0], 50), 1.0)
    >>> y = law.ppf(np.linspace(0.005, 0.995, 100))
    >>> round(metrics.calibration_error(y, law), 6)
    0.0
    >>> metrics.distribution_calibration_error(y, law)
    0.85
    """
    grid = level_grid(levels)
    y, law, mass = paired(y_true, dist, sample_weight)
    strata = _two_counts(n_bins)
    labels = similar_forecasts(law, mass, strata) if groups is None else _labels(groups, law, mass, sample_weight)
    observed = observed_levels(score_intervals(law, y), grid, mass, labels)
    squares = observed.squared_distances(grid, debiased)
    errors = (level_weights(observed.frequency, weights) * squares).sum(axis=1)
    return float(np.dot(errors, observed.rows) / observed.rows.sum())


def similar_forecasts(law: Distribution, weights: Array | None, strata: tuple[int, int]) -> BinLabels:
    """Labels 0, 1, ... of groups of similar forecasts: strata of the median, cut into strata of the spread."""
    low, middle, high = law._by_blocks(lambda part, z: part.from_normal(z), np.array([[-1.0, 0.0, 1.0]])).T
    noise = 8 * EPS * np.maximum(np.abs(low), np.abs(high))
    coarse = equal_mass_bins(middle, weights, strata[0], noise)
    spread = 0.5 * (high - low)
    labels = np.empty(len(law), dtype=np.intp)
    used = 0
    for stratum in range(int(coarse.max()) + 1):
        rows = np.flatnonzero(coarse == stratum)
        fine = equal_mass_bins(spread[rows], None if weights is None else weights[rows], strata[1], noise[rows])
        labels[rows] = used + fine
        used += int(fine.max()) + 1
    return labels


def _two_counts(n_bins: Any) -> tuple[int, int]:
    if not isinstance(n_bins, (tuple, list)) or len(n_bins) != 2:
        raise ValueError(f"`n_bins` must be two numbers of strata, (5, 4) say; got {n_bins!r}.")
    return count(n_bins[0], "n_bins"), count(n_bins[1], "n_bins")


def _labels(groups: Any, law: Distribution, weights: Array | None, sample_weight: Any) -> BinLabels:
    rows = len(law) if sample_weight is None else np.size(sample_weight)
    labels = plain_array(groups)
    if labels.shape != (rows,):
        raise ValueError(f"`groups` must have a label for each of {rows} rows; got shape {labels.shape}.")
    complain("groups", "labels", labels, missing_labels(labels), "A group of their own? Give it a name.")
    kept = labels if weights is None else labels[to_array(sample_weight, "sample_weight").ravel() > 0]
    return np.asarray(np.unique(kept, return_inverse=True)[1], dtype=np.intp)
