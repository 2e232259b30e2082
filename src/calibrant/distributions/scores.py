"""Normal scores of outcomes under their laws: what maps are fitted to and measures look at."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy.special import log_ndtr, ndtr

from .._checks import Array, complain
from ..numerics.products import ALONE, inner
from ..numerics.quiet import OVERFLOWS
from ..numerics.tails import score_of
from .base import Distribution

PitKind = Literal["mid", "randomised"]

_PARTS = 9  # an atom's mass is laid evenly on that many points
_FARTHEST = 1e100  # scores beyond are an error of units: their squares would overflow


def score_intervals(law: Distribution, y: Array) -> tuple[Array, Array]:
    """Normal scores of P(Y < y) and P(Y <= y); the same array twice where there are no atoms.

    Examples
    --------
    >>> from calibrant import Normal, Poisson
    >>> score_intervals(Normal([0.0], 2.0), np.array([1.0]))
    (array([0.5]), array([0.5]))
    >>> score_intervals(Poisson([1.0]), np.array([0.0]))
    (array([-inf]), array([-0.337]))
    """
    right = law._row_scores(y)
    if not law.has_atoms:
        return right, right
    return np.minimum(law._by_blocks(lambda part, v: part.to_normal(v, "left"), y), right), right


def log_pits(left: Array, right: Array, kind: PitKind, random_state: Any = None) -> tuple[Array, Array]:
    """Both log p and log(1 - p) of the PITs between two normal scores, accurate in either tail."""
    if left is right:
        return log_ndtr(right), log_ndtr(-right)
    share = 0.5 if kind == "mid" else np.random.default_rng(random_state).random(len(right))
    with np.errstate(divide="ignore"):
        rise, fall = np.log(share), np.log1p(-share)
    low = np.logaddexp(fall + log_ndtr(left), rise + log_ndtr(right))
    high = np.logaddexp(fall + log_ndtr(-left), rise + log_ndtr(-right))
    return np.minimum(low, 0.0), np.minimum(high, 0.0)


def _sum_of_squares(z: Array) -> float:
    return float(z.dot(z) if len(z) <= ALONE else inner(z, z))


def normal_scores(
    law: Distribution, y: Array, weights: Array | None = None, *, atoms: str = "spread", random_state: Any = None
) -> tuple[Array, Array | None]:
    """Normal scores of the outcomes and their weights.

    At an atom the score is an interval: its mass is spread evenly over it (nine points, a ninth of the weight each),
    or one point is drawn from it (``atoms="random"``).

    Examples
    --------
    >>> from calibrant import Normal
    >>> normal_scores(Normal([0.0, 1.0], 2.0), np.array([1.0, 1.0]))
    (array([0.5, 0. ]), None)
    """
    left, right = score_intervals(law, y)
    if left is right and OVERFLOWS.copy().run(_sum_of_squares, right) <= _FARTHEST:  # as nearly always; one pass
        return right, weights
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
    spread, shares = spread_evenly(left[split], right[split], w[split])
    return np.concatenate([right[~split], spread]), np.concatenate([w[~split], shares])


def spread_evenly(left: Array, right: Array, weights: Array) -> tuple[Array, Array]:
    """Nine scores between each two, evenly in probability, row after row, with a ninth of the weight each.

    Examples
    --------
    >>> spread_evenly(np.array([-np.inf]), np.array([np.inf]), np.array([9.0]))[0].round(1)
    array([-1.6, -1. , -0.6, -0.3,  0. ,  0.3,  0.6,  1. ,  1.6])
    """
    return spread_scores(left, right).ravel(), np.repeat(weights / _PARTS, _PARTS)


def spread_scores(left: Array, right: Array) -> Array:
    """Nine scores between two, (n, 9), which share the probability between these evenly."""
    return _between(left[:, None], right[:, None], (np.arange(_PARTS) + 0.5) / _PARTS)


def _between(left: Array, right: Array, share: Array) -> Array:
    """Score of the point at a share of the way in probability, taken in the smaller tail."""
    low = ndtr(left) + share * (ndtr(right) - ndtr(left))
    high = ndtr(-right) + (1 - share) * (ndtr(-left) - ndtr(-right))
    return score_of(low, high)
