"""Isotonic calibration of binary probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import expit

from .._checks import Array
from .base import Link
from .binning import count_events, most_probable_trust
from .trials import Trials

_BINS = 10


@dataclass(frozen=True, eq=False)
class IsotonicLink(Link):
    r"""Increasing, through the blocks of pooled adjacent violators, never exactly 0 or 1.

    A block with k events where e are expected moves its mean forecast probability by :math:`(k+\alpha)/(e+\alpha)`,
    with less trust α in proportion for blocks that expect less than a tenth of all events, as their neighbours bear
    them out; between blocks the log odds are interpolated, beyond them they keep their distance from the forecast's.

    Parameters
    ----------
    knots, values : list of K arrays
        Log odds of the forecasts and of the outcomes of the blocks.

    Examples
    --------
    >>> link = IsotonicLink([np.array([-1.0, 1.0])], [np.array([-2.0, 1.0])])
    >>> link.log_odds(np.array([[-3.0], [0.0], [4.0]])).ravel()
    array([-4. , -0.5,  4. ])
    """

    _ascending: ClassVar[tuple[str, ...]] = ("knots",)

    knots: list[Array]
    values: list[Array]

    @classmethod
    def fit(cls, trials: Trials, *, penalty: float | str = "evidence") -> Self:
        """Pool adjacent violators.

        Parameters
        ----------
        trials : Trials
        penalty : float or "evidence"
            α, or the one that makes the outcomes most probable in ten bins of each problem.
        """
        trust = most_probable_trust(*count_events(trials, _BINS)[1:]) if penalty == "evidence" else float(penalty)
        lines = zip(trials.logits, trials.rows, trials.events, strict=True)
        pairs = [_blocks(*line, trust) for line in lines]
        return cls([x for x, _ in pairs], [v for _, v in pairs])

    def log_odds(self, logits: Array) -> Array:
        """The bent line through the blocks, with slope 1 beyond."""
        out = np.empty(logits.shape)
        for j, (knots, values) in enumerate(zip(self.knots, self.values, strict=True)):
            x = logits[:, j]
            inside = np.clip(x, knots[0], knots[-1])
            with np.errstate(invalid="ignore"):
                out[:, j] = np.interp(inside, knots, values) + np.where(x == inside, 0.0, x - inside)
        return out


def _blocks(x: Array, rows: Array, events: Array, trust: Any) -> tuple[Array, Array]:
    """Log odds of the mean forecast and of the corrected share of each block."""
    used = np.flatnonzero(rows > 0)
    _, inverse = np.unique(x[used], return_inverse=True)
    mass, hits = np.bincount(inverse, rows[used]), np.bincount(inverse, events[used])
    first = isotonic_regression(hits / mass, weights=mass).blocks[:-1]
    mass, hits = np.add.reduceat(mass, first), np.add.reduceat(hits, first)
    mean = np.add.reduceat(np.bincount(inverse, rows[used] * expit(x[used])), first) / mass
    expected = mass * mean
    trust = trust * np.minimum(1.0, expected * _BINS / expected.sum())
    share = np.minimum(mean * (hits + trust) / (expected + trust), 1 - 1e-9)
    return _logit(mean), np.maximum.accumulate(_logit(share))


def _logit(p: Array) -> Array:
    return np.asarray(np.log(p) - np.log1p(-p))
