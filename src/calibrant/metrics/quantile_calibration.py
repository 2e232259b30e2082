"""Quantile calibration: nominal against observed levels, the error, and what noise alone makes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from .._checks import Array, count, one_of
from .._types import Numbers, Weights
from ..distributions.scores import score_intervals
from ..numerics.blocks import row_blocks
from ._inputs import level_grid, level_scores, paired

Scores = tuple[Array, Array]  # of P(Y < y) and of P(Y <= y); the same array twice where there are no atoms
Weighting = Literal["uniform", "counts"]


def calibration_curve(
    y_true: Numbers, dist: Any, *, levels: Numbers = 10, sample_weight: Weights = None
) -> tuple[Array, Array]:
    r"""Nominal levels :math:`p_j` and observed frequencies :math:`\hat p_j`; equal if the forecasts are calibrated.

    .. math:: \hat p_j = \tfrac1T \#\{t : F_t(y_t) \le p_j\}

    Kuleshov et al. (2018), eq. 8. An outcome on an atom counts with the share of its PIT interval
    :math:`[P_t(Y<y_t), P_t(Y\le y_t)]` that lies below :math:`p_j`, the expectation under randomisation.

    Parameters
    ----------
    y_true, dist, sample_weight
        As in :func:`nll`.
    levels : int or array-like (m,)
        Levels :math:`p_j`; an integer m stands for 1/m, 2/m, ..., 1.

    Returns
    -------
    levels, observed : arrays (m,)

    Examples
    --------
    >>> from calibrant import Normal, metrics
    >>> metrics.calibration_curve([-1.0, 0.0, 3.0, 0.1], Normal([0.0] * 4, 1.0), levels=[0.2, 0.5, 0.9])
    (array([0.2, 0.5, 0.9]), array([0.25, 0.5 , 0.75]))
    """
    grid = level_grid(levels)
    y, law, weights = paired(y_true, dist, sample_weight)
    return grid, observed_levels(score_intervals(law, y), grid, weights).frequency[0]


def calibration_error(
    y_true: Numbers,
    dist: Any,
    *,
    levels: Numbers = 10,
    weights: Weighting = "uniform",
    debiased: bool = False,
    sample_weight: Weights = None,
) -> float:
    r"""Weighted squared distance between nominal and observed quantile levels; 0 is perfect.

    .. math:: \sum_j w_j (p_j - \hat p_j)^2,\quad \hat p_j = \tfrac1T \#\{t : F_t(y_t) \le p_j\}

    Kuleshov et al. (2018), eq. 8-9. A perfect forecaster does not score 0 but :func:`calibration_floor` in expectation.

    Parameters
    ----------
    y_true, dist, levels, sample_weight
        As in :func:`calibration_curve`.
    weights : {"uniform", "counts"}
        :math:`w_j = 1`, or :math:`w_j \propto \hat p_j` with :math:`\sum_j w_j = m`, which takes importance from
        the lower levels.
    debiased : bool
        Subtract from each squared distance its noise :math:`\hat p_j(1 - \hat p_j)/(T - 1)`. The expectation is then
        the squared distance of infinitely many rows, 0 for a perfect forecaster; single values can be negative.

    Examples
    --------
    >>> from calibrant import Normal, metrics
    >>> metrics.calibration_error([-1.0, 0.0, 3.0, 0.1], Normal([0.0] * 4, 1.0), levels=[0.2, 0.5, 0.9])
    0.025
    """
    grid = level_grid(levels)
    y, law, mass = paired(y_true, dist, sample_weight)
    observed = observed_levels(score_intervals(law, y), grid, mass)
    squares = observed.squared_distances(grid, debiased)
    return float((level_weights(observed.frequency, weights) * squares)[0].sum())


def calibration_floor(
    n_test: float, n_cal: float | None = None, *, levels: Numbers = 10, weights: Weighting = "uniform", n_bins: int = 1
) -> float:
    r"""The calibration error that a perfect forecaster has in expectation, from counting noise alone.

    .. math:: \sum_j w_j\, p_j (1 - p_j) \left(\frac G{n_\text{test}} + \frac1{n_\text{cal}}\right)

    With 10 levels and uniform weights it is 1.65 / n_test. It is exact for continuous laws and independent rows, an
    upper bound for laws with atoms.

    Parameters
    ----------
    n_test : float
        Number of rows the error is measured on; with weights their sum.
    n_cal : float, optional
        Number of rows a full-resolution quantile map was fitted on; None for forecasts that were not fitted to data.
    levels, weights
        As in :func:`calibration_error`.
    n_bins : int
        Number G of groups of similar forecasts, as in :func:`distribution_calibration_error`.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.calibration_floor(40)
    0.04125
    """
    for name, rows in (("n_test", n_test), ("n_cal", n_cal)):
        if rows is not None and not rows > 0:
            raise ValueError(f"`{name}` must be positive; got {rows}.")
    grid = level_grid(levels)
    noise = count(n_bins, "n_bins") / n_test + (0.0 if n_cal is None else 1 / n_cal)
    return float(np.sum(level_weights(grid, weights) * grid * (1 - grid)) * noise)


@dataclass(frozen=True, slots=True)
class ObservedLevels:
    """Observed frequencies at m levels in G groups: mean and mean square of what each row counts, both (G, m)."""

    frequency: Array
    square: Array
    rows: Array  # (G,) numbers of rows, counted with their weights

    def squared_distances(self, levels: Array, debiased: bool) -> Array:
        """(p - p̂)², less its noise where asked, (G, m)."""
        squares = np.square(levels - self.frequency)
        if not debiased:
            return squares
        if not (self.rows > 1).all():
            raise ValueError(f"`debiased` needs more than one row in a group; the smallest has {self.rows.min():g}.")
        return squares - (self.square - np.square(self.frequency)) / (self.rows[:, None] - 1)


def observed_levels(scores: Scores, levels: Array, weights: Array | None, labels: Any = None) -> ObservedLevels:
    """Observed frequencies, in all rows or in the groups labelled 0, 1, ...; from the outcomes' normal scores."""
    left, right = scores
    groups = 1 if labels is None else int(labels.max()) + 1
    labels = np.zeros(len(right), dtype=np.intp) if labels is None else labels
    rows = np.bincount(labels, weights, minlength=groups).astype(np.float64)
    counted = _count_below if left is right or np.array_equal(left, right) else _count_shares
    first, second = counted(scores, levels, weights, labels, groups)
    return ObservedLevels(first / rows[:, None], second / rows[:, None], rows)


def frequencies_of_weights(scores: Scores, levels: Array) -> Callable[[Array], Array]:
    """Observed frequencies (m,) as a function of the rows' weights: where rows lie is looked up once for all of them.

    >>> z = level_scores(np.array([0.1, 0.4, 0.6]))
    >>> frequencies_of_weights((z, z), np.array([0.5, 1.0]))(np.array([1.0, 0.0, 3.0]))
    array([0.25, 1.  ])
    """
    left, right = scores
    if not (left is right or np.array_equal(left, right)):
        return lambda weights: observed_levels(scores, levels, weights).frequency[0]
    place, cells = _first_level(right, levels), len(levels) + 1
    return lambda weights: np.cumsum(np.bincount(place, weights, minlength=cells))[:-1] / weights.sum()


def level_weights(frequency: Array, weights: Weighting) -> Array:
    """Unit weights, or weights proportional to the frequencies with the same sum."""
    one_of(weights, "weights", ("uniform", "counts"))
    if weights == "uniform":
        return np.ones(frequency.shape)
    means = frequency.mean(axis=-1, keepdims=True)
    return np.asarray(np.divide(frequency, means, out=np.ones_like(frequency), where=means > 0))


def _count_below(scores: Scores, levels: Array, weights: Array | None, labels: Any, groups: int) -> tuple[Array, Array]:
    """Laws without atoms: one search per row, one histogram."""
    cells = len(levels) + 1
    counts = np.bincount(labels * cells + _first_level(scores[1], levels), weights, minlength=groups * cells)
    below = np.cumsum(counts.reshape(groups, cells), axis=1)[:, :-1].astype(np.float64)
    return below, below


def _first_level(z: Array, levels: Array) -> NDArray[np.intp]:
    """Number of the first level that an outcome with this score does not exceed."""
    return np.searchsorted(level_scores(levels), z, side="left")


def _count_shares(
    scores: Scores, levels: Array, weights: Array | None, labels: Any, groups: int
) -> tuple[Array, Array]:
    """Laws with atoms: each row counts with the share of its PIT interval below the level."""
    first, second = np.zeros((groups, len(levels))), np.zeros((groups, len(levels)))
    left, right = (ndtr(z) for z in scores)
    for rows in row_blocks(len(right), len(levels)):
        width = right[rows, None] - left[rows, None]
        over = levels - left[rows, None]
        share = np.where(width > 0, np.clip(over / np.where(width > 0, width, 1.0), 0, 1), over >= 0)
        weighted = share if weights is None else share * weights[rows, None]
        np.add.at(first, labels[rows], weighted)
        np.add.at(second, labels[rows], weighted * share)
    return first, second
