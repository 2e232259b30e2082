"""Pairs of rows and thresholds that a classifier learns from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._checks import Array
from ...distributions import Distribution


class Table(NamedTuple):
    """Scores of the thresholds, whether y <= t, and weights, each (n, K)."""

    z: Array
    below: Array
    weights: Array


def all_pairs(law: Distribution, y: Array, weights: Array, t: Array) -> Table:
    """Of n rows and K thresholds.

    >>> from calibrant import Normal
    >>> all_pairs(Normal([0.0, 1.0], 1.0), np.array([0.5, 2.5]), np.ones(2), np.array([0.0, 1.0])).below
    array([[0., 1.],
           [0., 0.]])
    """
    z = law.to_normal(t[None, :])
    return Table(z, (y[:, None] <= t).astype(float), np.broadcast_to(weights[:, None], z.shape))


def drawn_pairs(law: Distribution, y: Array, weights: Array, t: Array, most: int) -> Table:
    """At most so many: as many rows for each threshold, drawn for each anew (by seed 0)."""
    each = max(most // len(t), 1)
    if len(y) <= each:
        return all_pairs(law, y, weights, t)
    rng = np.random.default_rng(0)
    rows = np.column_stack([np.sort(rng.choice(len(y), each, replace=False)) for _ in t])
    z = np.column_stack([law[mine].to_normal(np.full(each, at)) for mine, at in zip(rows.T, t, strict=True)])
    return Table(z, (y[rows] <= t).astype(float), weights[rows])
