"""A smooth and strictly increasing curve through the blocks of isotonic regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicHermiteSpline
from scipy.special import expit

from .._checks import Array
from ..links.groups import Groups
from .base import CLIP, check_smoothing
from .binary import BinaryCalibrator, Events
from .curves import Curve

_LEAST = 1e-3  # slope added everywhere, in mean slopes of the curve
_SWEEPS, _HALVINGS = 5, 12  # rounds in which level stretches take notice of each other, and steps to the end of one
_SHORT = 1e-6  # level stretches that are none, in ranges of the blocks


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

    The rows of a block deny that probabilities rise within it. So the curve stays level from the mean of their scores
    towards an end, as far as is needed that lines instead of cubics miss the events of that half, B, by no more than
    chance does,

    .. math:: \Big|\sum_{i \in B} w_i (p_i - s)\Big| \le \sqrt{s (1 - s) \textstyle\sum_{i \in B} w_i}

    where s is the share of events in the block. Without, a block of many rows that are certainly of other classes,
    among many classes the widest, would rise halfway to the next.

    Cost where nothing is wrong, nats a row (`experiments.cost`): 0.018, 0.0098, 0.0045 at 100, 300 and 1 000 rows of
    two classes; 0.027, 0.014, 0.0059 of three.

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

    Differs from the paper in: Fritsch & Butland join given points; the blocks, the level stretches, the added slope and
    the growth beyond the ends are ours.
    """

    def __init__(self, smoothing: float = 1.0, *, scores_are: str = "probabilities", clip: float = CLIP) -> None:
        super().__init__(scores_are=scores_are, clip=clip)
        self.smoothing = smoothing

    def _fit_one(self, x: Array, events: Events, weights: Array | None) -> Curve:
        groups = Groups.of(x, events, weights)
        middle = groups.joined(np.array([0]))
        width = float(np.sqrt(groups.mass @ np.square(groups.x - middle.x) / middle.mass)[0]) or 1.0
        groups = groups.with_doubt(check_smoothing(self.smoothing))
        first = groups.starts()
        blocks = groups.joined(first)
        share = np.clip(blocks.share, CLIP, 1 - CLIP)
        odds = np.log(share) - np.log1p(-share)
        mean_slope = np.ptp(odds) / np.ptp(blocks.x) if len(odds) > 1 else 0.0
        knots = _level(groups, first, blocks.x, odds)
        new = np.append(True, np.diff(knots) > 0)
        knots, odds = knots[new], np.repeat(odds, 2)[new]
        odds += _LEAST * (mean_slope or 1 / width) * (knots - middle.x)
        return SmoothCurve(knots, odds, _slopes(knots, odds, mean_slope or _LEAST / width), width)


def _level(groups: Groups, first: NDArray[np.intp], centre: Array, odds: Array) -> Array:
    """Both ends of the level stretch around the centre of each block, (2 B,): the shortest that chance allows.

    >>> x, hits = np.array([0.0, 6.0, 7.0, 9.0, 10.0]), np.array([0.0, 0.0, 0.0, 1.0, 1.0])
    >>> groups = Groups(x, np.full(5, 100.0), 100 * hits).with_doubt(1.0)
    >>> first = groups.starts()
    >>> _level(groups, first, groups.joined(first).x, np.log([1 / 300, 200])).round(1)
    array([4.3, 6.7, 9.2, 9.5])
    """
    last = np.append(first[1:], len(groups.x)) - 1
    outer = groups.x[np.column_stack([first, last]).ravel()]
    begin = np.column_stack([first, np.searchsorted(groups.x, centre, side="right")]).ravel()
    half = np.repeat(np.arange(len(begin)), np.diff(begin, append=len(groups.x)))
    levels, centre = np.repeat(odds, 2), np.repeat(centre, 2)
    share = expit(levels)
    chance = np.sqrt(share * (1 - share) * np.bincount(half, groups.mass, len(begin)))

    def astray(knots: Array, rows: Any = slice(None)) -> NDArray[np.bool_]:
        x, of = groups.x[rows], half[rows]
        gap = groups.mass[rows] * (expit(np.interp(x, knots, levels)) - share[of])
        return np.abs(np.bincount(of, gap, len(begin))) > chance

    knots = centre
    for _ in range(_SWEEPS):
        wrong = astray(knots)
        if not wrong.any():
            break
        near, far, rows = knots, np.where(wrong, outer, knots), np.flatnonzero(wrong[half])
        for _ in range(_HALVINGS):
            between = 0.5 * (near + far)
            further = astray(between, rows)
            near, far = np.where(further, between, near), np.where(further, far, between)
        knots = far
    return np.where(np.abs(knots - centre) > _SHORT * np.ptp(centre), knots, centre)


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
