r"""Ranks of weighted ensemble members.

A member of weight w takes the ranks from :math:`C + 1` to :math:`C + w` of :math:`W + 1`, where C is the weight below
it and W the total: a whole weight w is the member w times. One of weight w < 1 takes the middle of these,
:math:`C + (w + 1)/2`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..._checks import Array, finite
from ...numerics.tails import Mask, score_of
from .neighbours import Knots, of_weighted


@dataclass(frozen=True, eq=False)
class WeightedMembers:
    """Sorted members with their weights, and the knots and scores of the polylines."""

    samples: Array
    weights: Array
    knots: Array
    scores: Array
    spread: Array
    tied: Mask

    @classmethod
    def of(cls, samples: Array, weights: Array) -> WeightedMembers:
        """Sort and rank the members; those of weight 0 may be missing (NaN)."""
        samples = finite(np.where(weights > 0, samples, 0.0), "samples", "Missing members? Give them weight 0.")
        order = np.argsort(samples, axis=1, kind="stable")
        x, w = np.take_along_axis(samples, order, axis=1), np.take_along_axis(weights, order, axis=1)
        place, leading = _neighbours(w > 0)
        x = np.take_along_axis(x, place, axis=1)
        counts = as_counts(w)
        low, high = (np.take_along_axis(side, place, axis=1) for side in _ranks(counts))
        low, high = np.where((w > 0) | leading, low, high), np.where(leading, low, high)
        levels = np.stack([low, high], axis=2).reshape(len(x), 2 * x.shape[1]) / (counts.sum(axis=1, keepdims=True) + 1)
        knots = np.repeat(x, 2, axis=1)
        tied = ((np.diff(knots) == 0) & (np.diff(levels) > 0)).any(axis=1)
        knots, scores = of_weighted((x, counts), Knots(knots, score_of(levels, 1 - levels)), tied)
        return cls(x, w, knots, scores, _deviation(x, counts), tied)


def are_probabilities(weights: Array) -> Mask:
    """Rows that sum to 1, (n, 1): a single member could not be meant."""
    return np.asarray(np.abs(weights.sum(axis=1, keepdims=True) - 1) < 1e-9)


def as_counts(weights: Array) -> Array:
    """Frequencies as they are; probabilities divided by their largest, so that equal ones count 1 each."""
    return np.where(are_probabilities(weights), weights / weights.max(axis=1, keepdims=True), weights)


def pairs(weights: Array) -> Array:
    """Weight of all pairs of different members, (n, 1): W(W-1), or for probabilities the sum of p_i p_j, i ≠ j."""
    total = weights.sum(axis=1, keepdims=True)
    same = np.where(are_probabilities(weights), np.square(weights).sum(axis=1, keepdims=True), total)
    return np.asarray(np.square(total) - same)


def _neighbours(there: Mask) -> tuple[NDArray[np.intp], Mask]:
    """For each member the nearest one of positive weight at or below it, or, where there is none, the first of all."""
    place = np.maximum.accumulate(np.where(there, np.arange(there.shape[1]), -1), axis=1)
    leading = place < 0
    return np.where(leading, np.argmax(there, axis=1)[:, None], place), leading


def _ranks(counts: Array) -> tuple[Array, Array]:
    middle = np.cumsum(counts, axis=1) + 0.5 * (1 - counts)
    half = 0.5 * np.maximum(counts - 1, 0.0)
    return middle - half, middle + half


def _deviation(x: Array, counts: Array) -> Array:
    """Standard deviations with W - 1."""
    size = np.where(x[:, -1] > x[:, 0], x[:, -1] - x[:, 0], 1.0)
    u, total = (x - x[:, :1]) / size[:, None], counts.sum(axis=1)
    centred = u - (np.einsum("ij,ij->i", u, counts) / total)[:, None]
    square = np.einsum("ij,ij,ij->i", centred, centred, counts) / np.maximum(total - 1, 0.5 * total)
    return np.asarray(size * np.sqrt(square))
