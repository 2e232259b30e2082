"""How dense a law is on the way to its mode: what decides which values are in its narrowest intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._checks import Array
from ..numerics.tails import HALF_LOG_2PI
from .base import Distribution
from .scores import score_intervals

_STEP, _FARTHEST = 0.125, 5.0  # between normal scores at which densities are looked at, and the last of these
_SCORES = np.arange(-_FARTHEST, _FARTHEST + _STEP / 2, _STEP)
PLACES = len(_SCORES)
_BEYOND = 1e150  # of which the square is finite
_DEEPEST = 1e4  # below its mode, where a density is taken for 0


@dataclass(frozen=True, eq=False)
class Envelope:
    r"""The log density, or log probability of whole numbers, made unimodal: what it reaches on the way to the mode.

    .. math:: e(z) = \min\Bigl(\max_{z' \le z} \ell(z'),\; \max_{z' \ge z} \ell(z')\Bigr), \qquad
        \ell(z) = \log f(F^{-1}(\Phi(z)))

    over normal scores from -5 to 5, with straight lines between them and parabolas :math:`-z^2/2` beyond. So
    :math:`\{z : e(z) \ge t\}` is an interval for every t, and these are nested: exactly, however coarse the scores are.

    Parameters
    ----------
    up, down : ndarray (n, K)
        The largest log density up to each score, and from each score on.
    """

    up: Array
    down: Array

    @classmethod
    def of(cls, law: Distribution) -> Envelope:
        """Of each row; whole numbers by their probabilities."""
        check_has_levels(law)
        height = _heights(law)
        height = np.maximum(height, height.max(axis=1, keepdims=True) - _DEEPEST)
        return cls(np.maximum.accumulate(height, axis=1), np.maximum.accumulate(height[:, ::-1], axis=1)[:, ::-1])

    def at(self, z: Array) -> Array:
        """The envelope of each row at its own score, (n,)."""
        inside = np.clip(z, -_FARTHEST, _FARTHEST)
        place = np.minimum(((inside + _FARTHEST) / _STEP).astype(np.intp), PLACES - 2)
        share, rows = (inside - _SCORES[place]) / _STEP, np.arange(len(z))
        up, down = ((1 - share) * side[rows, place] + share * side[rows, place + 1] for side in (self.up, self.down))
        beyond = np.square(np.minimum(np.abs(z), _BEYOND)) - np.square(inside)
        return np.asarray(np.minimum(up, down) - 0.5 * beyond)

    def scores_above(self, level: Array) -> tuple[Array, Array]:
        """The first and last score of each row at which the envelope is at least a level, (n, m) each.

        Both are that of the mode where nothing is as dense.
        """
        mirrored, level = self.down[:, ::-1], np.minimum(level, self.up[:, -1:])
        return _first(self.up, level), -_first(mirrored, level)


def check_has_levels(law: Distribution) -> None:
    """Raise ValueError for laws of which neither densities nor probabilities of whole numbers can be compared."""
    if law.has_atoms and not (law.is_discrete and law.on_integers):
        raise ValueError(
            "forecasts must have densities, or be of counts: single values have probability here, which no density is "
            'as large as. Use score="absolute".'
        )


def middle_scores(law: Distribution, y: Array) -> Array:
    """Normal scores of outcomes; of whole numbers the middle of theirs."""
    left, right = score_intervals(law, y)
    if left is right:
        return right
    return 0.5 * (np.clip(left, -_FARTHEST, _FARTHEST) + np.clip(right, -_FARTHEST, _FARTHEST))


def _heights(law: Distribution) -> Array:
    """Log densities at the scores, or log probabilities of the numbers there."""
    y = law.from_normal(np.broadcast_to(_SCORES, (len(law), PLACES)))
    if law.has_atoms:
        return law.logpmf(y)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        height = law.log_slope(y) - 0.5 * np.square(_SCORES) - HALF_LOG_2PI
    return np.asarray(np.clip(np.nan_to_num(height, nan=-np.inf), -1e300, 1e300))


def _first(rising: Array, level: Array) -> Array:
    """The first score at which heights that rise reach a level, (n, m)."""
    place: NDArray[np.intp] = np.zeros(level.shape, dtype=np.intp)
    for column in rising.T:
        place += column[:, None] < level
    after = np.minimum(place, PLACES - 1)
    before = np.maximum(after - 1, 0)
    low, high = np.take_along_axis(rising, before, axis=1), np.take_along_axis(rising, after, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(high > low, (level - low) / (high - low), 1.0)
    beyond = -np.sqrt(_FARTHEST**2 + 2 * np.maximum(rising[:, :1] - level, 0.0))
    return np.where(place == 0, beyond, _SCORES[before] + share * _STEP)
