"""A smooth and strictly increasing curve through the blocks of isotonic regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.interpolate import CubicHermiteSpline
from scipy.special import expit

from .._checks import Array
from ..links.groups import Groups
from .base import CLIP, check_smoothing
from .binary import BinaryCalibrator, Events
from .curves import Curve

_LEAST = 1e-3  # slope added everywhere, in mean slopes of the curve


@dataclass(frozen=True, eq=False)
class SmoothCurve(Curve):
    r"""Log odds: cubic between knots, beyond them growing with the logarithm of the distance in units of ``width``."""

    _ascending: ClassVar[tuple[str, ...]] = ("knots",)

    knots: Array
    values: Array
    slopes: Array
    width: float

    def __call__(self, x: Array) -> Array:
        """Probabilities of scores (n,)."""
        inside = np.clip(x, self.knots[0], self.knots[-1])
        beyond = (x - inside) / self.width
        slope = np.where(beyond < 0, self.slopes[0], self.slopes[-1]) * self.width
        return np.asarray(expit(self._between(inside) + slope * np.sign(beyond) * np.log1p(np.abs(beyond))))

    def _between(self, x: Array) -> Array:
        if len(self.knots) == 1:
            return np.full(len(x), self.values[0])
        return np.asarray(CubicHermiteSpline(self.knots, self.values, self.slopes)(x))


class SmoothIsotonicCalibrator(BinaryCalibrator):
    r"""Isotonic regression made smooth and strict: it never ties what the classifier told apart.

    The log odds of the blocks of `IsotonicCalibrator`, at the mean of their scores, are joined by the monotone cubic
    of Fritsch & Butland (1984), plus a slope of a thousandth of the mean slope, so that the ranking of two classes, and
    with it the area under the ROC curve, stays exactly what it was. Beyond the first and last block the log odds grow
    with the logarithm of the distance.

    Cost where nothing is wrong, nats a row (`experiments.cost`): 0.017, 0.0094, 0.0044 at 100, 300 and 1 000 rows of
    two classes; 0.024, 0.014, 0.0057 of three.

    Parameters
    ----------
    smoothing : float
        Weight of one more event at the lowest score and one more row without event at the highest.
    scores_are : {"probabilities", "logits", "margins"}
        The curve is one of log odds; of margins as they are.
    clip : float
        Probabilities stay in [clip, 1 - clip], those given and those returned.

    Attributes
    ----------
    curves_ : list of SmoothCurve
        One for two classes, else one a class.

    Examples
    --------
    >>> cal = SmoothIsotonicCalibrator().fit([0.1, 0.3, 0.4, 0.6, 0.9], [0, 1, 0, 1, 1])
    >>> cal.transform([0.1, 0.35, 0.36, 0.9, 0.95])[:, 1].round(3)
    array([0.464, 0.545, 0.548, 0.692, 0.714])
    """

    def __init__(self, smoothing: float = 1.0, *, scores_are: str = "probabilities", clip: float = CLIP) -> None:
        super().__init__(scores_are=scores_are, clip=clip)
        self.smoothing = smoothing

    def _fit_one(self, x: Array, events: Events, weights: Array | None) -> Curve:
        groups = Groups.of(x, events, weights)
        middle = groups.joined(np.array([0]))
        width = float(np.sqrt(groups.mass @ np.square(groups.x - middle.x) / middle.mass)[0]) or 1.0
        blocks = groups.with_doubt(check_smoothing(self.smoothing)).pooled()
        share = np.clip(blocks.share, CLIP, 1 - CLIP)
        odds = np.log(share) - np.log1p(-share)
        mean_slope = np.ptp(odds) / np.ptp(blocks.x) if len(odds) > 1 else 0.0
        odds += _LEAST * (mean_slope or 1 / width) * (blocks.x - middle.x)
        return SmoothCurve(blocks.x, odds, _slopes(blocks.x, odds, mean_slope or _LEAST / width), width)


def _slopes(x: Array, y: Array, most: float) -> Array:
    """Weighted harmonic means of the slopes on both sides; at the ends the one slope there is, but not too steep.

    >>> _slopes(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 4.0]), 2.0)
    array([1. , 1.5, 2. ])
    """
    if len(x) == 1:
        return np.array([most])
    step = np.diff(x)
    slope = np.diff(y) / step
    left, right = 2 * step[1:] + step[:-1], step[1:] + 2 * step[:-1]
    inner = (left + right) / (left / slope[:-1] + right / slope[1:])
    return np.concatenate([[min(slope[0], most)], inner, [min(slope[-1], most)]])
