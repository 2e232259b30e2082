"""What all measures of predictive laws share: checked pairs of outcomes and laws, weighted means, blocks of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from scipy.special import ndtri

from .._checks import (
    Array,
    column,
    complain,
    count,
    is_column,
    is_finite,
    nonempty,
    probabilities,
    same_length,
    sample_weights,
)
from ..adapters.registry import lent_distribution
from ..distributions.base import Distribution
from ..numerics.blocks import BLOCK, row_blocks
from ..numerics.products import inner
from ..numerics.quiet import NOT_NUMBERS

Forecasts = TypeVar("Forecasts", Distribution, Array)
Score = Callable[[Distribution, Array], Array]
BinLabels = np.ndarray[Any, np.dtype[np.intp]]
EPS = float(np.finfo(np.float64).eps)


def paired(y_true: Any, dist: Any, sample_weight: Any = None) -> tuple[Array, Distribution, Array | None]:
    """Outcomes, laws and weights of one length; rows of weight 0 are as if they were not there.

    Stated quantiles stand for laws in the scores that ask for no more.
    """
    plain = is_column(y_true) and y_true.size and is_finite(y_true)  # as nearly always
    y = y_true if plain else nonempty(column(y_true, "y_true"), "y_true")
    law: Any = dist if hasattr(dist, "from_normal") else lent_distribution(dist)  # of a law, or stated
    if len(y) != len(law):
        same_length(y, "y_true", len(law))
    return (y, law, None) if sample_weight is None else with_weight(y, law, sample_weights(sample_weight, len(y)))


def with_weight(y: Array, forecasts: Forecasts, weights: Array | None) -> tuple[Array, Forecasts, Array | None]:
    """The rows whose weight is not 0."""
    if weights is None or weights.all():
        return y, forecasts, weights
    keep = weights > 0
    return y[keep], forecasts[keep], weights[keep]


def mean_score(score: Score, y_true: Any, dist: Any, sample_weight: Any, per_row: bool) -> float | Array:
    """The mean of a score over the rows, or the scores themselves."""
    if sample_weight is not None:
        no_weights_per_row(sample_weight, per_row)
    y, law, weights = paired(y_true, dist, sample_weight)
    scores = score(law, y)
    return scores if per_row else average(scores, weights)


def no_weights_per_row(sample_weight: Any, per_row: bool) -> None:
    """Weights shape a mean; they cannot shape the values of single rows."""
    if per_row and sample_weight is not None:
        raise ValueError("`sample_weight` must be None with per_row=True: the values of single rows have no weights.")


def average(values: Array, weights: Array | None) -> float:
    """Weighted mean of one value per row."""
    return float(NOT_NUMBERS.copy().run(_mean, values, weights))


def _mean(values: Array, weights: Array | None) -> Any:
    return np.add.reduce(values) / len(values) if weights is None else inner(values, weights) / weights.sum()


def total(y: Array, weights: Array | None) -> float:
    """Number of rows, counted with their weights."""
    return float(len(y) if weights is None else weights.sum())


def by_blocks(score: Score, law: Distribution, y: Array, width: int = 1) -> Array:
    """One value per row of a score whose intermediate results are (rows, width)."""
    if len(y) * width <= 4 * BLOCK:
        return score(law, y)
    out = np.empty(len(y))
    for rows in row_blocks(len(y), width):
        out[rows] = score(law[rows], y[rows])
    return out


def level_grid(levels: Any, *, open_ends: bool = False) -> Array:
    """Increasing probability levels; an integer m stands for 1/m, 2/m, ..., 1."""
    if isinstance(levels, (int, np.integer)):
        return np.arange(1, count(levels, "levels") + 1) / levels
    grid = nonempty(probabilities(levels, "levels", open_ends=open_ends), "levels")
    complain("levels", "increasing", grid, np.diff(grid, prepend=-1.0) <= 0)
    return grid


def level_scores(levels: Array) -> Array:
    """Normal scores of levels, with the ends at -inf and inf."""
    return np.asarray(ndtri(levels))


def equal_mass_bins(values: Array, weights: Array | None, n_bins: int, noise: Array | None = None) -> BinLabels:
    """BinLabels 0, 1, ... of bins with (nearly) equal numbers of rows, by increasing value; equal values share a bin.

    The middle rank of a value decides its bin, so that neither the order of rows nor writing a row twice instead of
    giving it weight 2 changes anything. Values within ``noise`` (a few rounding errors unless told) of their neighbour
    count as equal. Bins that stay empty are not counted.
    """
    count(n_bins, "n_bins")
    order = np.argsort(values, kind="stable")
    slack = (8 * EPS * np.abs(values) if noise is None else noise)[order]
    apart = np.diff(values[order]) > np.maximum(slack[1:], slack[:-1])
    group = np.concatenate([[0], np.cumsum(apart)])
    mass = np.bincount(group, None if weights is None else weights[order])
    upper = np.cumsum(mass)
    middle = (upper - 0.5 * mass) / upper[-1]
    coarse = np.minimum((middle * n_bins).astype(np.intp), n_bins - 1)
    dense = np.cumsum(np.diff(coarse, prepend=coarse[0]) > 0)
    labels = np.empty(len(values), dtype=np.intp)
    labels[order] = dense[group]
    return labels
