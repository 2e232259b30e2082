"""Outcomes that are rounded: which part of its cell an outcome lies in, nobody knows."""

from __future__ import annotations

import numpy as np

from ..._checks import Array
from ...distributions import Distribution
from ...distributions.scores import spread_evenly
from ..features import Scores, scores_by_row

_COPIES = 10.0  # outcomes that agree, on average, from which on they are rounded
_OFF_GRID = 0.01  # of the unit, by which an outcome may miss its place
_WIDE = 0.25  # normal scores that the cell of an outcome spans, below which it is a point


def unit_of(y: Array, weights: Array) -> float:
    """The unit that outcomes are rounded to, if all are a multiple apart and ten or more agree on average; else 0.

    Examples
    --------
    >>> unit_of(np.array([5.0, 6.0, 8.0]), np.array([10.0, 30.0, 20.0]))
    1.0
    >>> unit_of(np.array([5.0, 6.0, 8.3]), np.array([10.0, 30.0, 20.0]))
    0.0
    """
    values = np.unique(y)
    if len(values) < 2 or _COPIES * len(values) > weights.sum():
        return 0.0
    places = (values - values[0]) / np.diff(values).min()
    if np.abs(places - np.round(places)).max() > _OFF_GRID:
        return 0.0
    return float((values[-1] - values[0]) / np.round(places[-1]))


def rounded_scores(law: Distribution, y: Array, weights: Array) -> Scores:
    r"""As `scores_by_row`; a rounded outcome is an atom of the mass of its cell, :math:`F(y \pm \tfrac12 unit)`.

    A smooth law of whole numbers would else be rewarded for spikes on them, and not for how often each is seen. Cells
    that are narrow beside their laws make no difference and stay points; laws with atoms tell them apart themselves.
    """
    points = scores_by_row(law, y, weights)
    unit = 0.0 if law.has_atoms else unit_of(y, weights)
    if not unit:
        return points
    left, right = (law._by_blocks(lambda part, v: part.to_normal(v), y + side * unit) for side in (-0.5, 0.5))
    if np.median(right - left) < _WIDE:
        return points
    z, w = spread_evenly(left, right, weights)
    rows = np.repeat(np.arange(len(y)), len(z) // len(y))
    return Scores(np.where(np.isfinite(z), z, points.z[rows]), w, rows)
