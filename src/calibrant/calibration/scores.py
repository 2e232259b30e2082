"""From forecasts and outcomes to the normal scores that maps are fitted to."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from .._checks import Array, complain
from ..distributions import Distribution
from ..metrics.pit_values import score_intervals

_PARTS = 9  # an atom's mass is laid evenly on that many points
_FARTHEST = 1e100  # scores beyond are an error of units: their squares would overflow


def normal_scores(
    law: Distribution, y: Array, weights: Array | None = None, *, atoms: str = "spread", random_state: Any = None
) -> tuple[Array, Array | None]:
    """Normal scores of the outcomes and their weights.

    At an atom the score is an interval: its mass is spread evenly over it (nine points, a ninth of the weight each),
    or one point is drawn from it (``atoms="random"``).
    """
    left, right = score_intervals(law, y)
    farthest = max(-left.min(initial=0.0), right.max(initial=0.0))
    if not np.isfinite(farthest):
        outside = np.isinf(right) & (left == right)  # an atom of probability 1 runs from -inf to inf
        hint = "A forecast that rules an outcome out cannot be mended."
        complain("y", "inside the support of its forecast", y, outside, hint)
    if farthest > _FARTHEST:
        far = (np.abs(right) > _FARTHEST) & (left == right)
        complain("y", f"within {_FARTHEST:g} predicted deviations of its forecast", y, far, "Another unit?")
    if left is right or not (split := left < right).any():
        return right, weights
    w = np.ones(len(y)) if weights is None else weights
    if atoms == "random":
        share = np.random.default_rng(random_state).random(len(y))
        return np.where(split, _between(left, right, share), right), weights
    shares = (np.arange(_PARTS) + 0.5) / _PARTS
    spread = _between(left[split, None], right[split, None], shares).ravel()
    return np.concatenate([right[~split], spread]), np.concatenate([w[~split], np.repeat(w[split] / _PARTS, _PARTS)])


def _between(left: Array, right: Array, share: Array) -> Array:
    """Score of the point at a share of the way in probability, taken in the smaller tail."""
    low = ndtr(left) + share * (ndtr(right) - ndtr(left))
    high = ndtr(-right) + (1 - share) * (ndtr(-left) - ndtr(-right))
    return np.where(low < high, ndtri(low), -ndtri(high))
