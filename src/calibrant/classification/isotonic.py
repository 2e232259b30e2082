"""Isotonic regression: the increasing curve nearest to the outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._checks import Array
from ..links.groups import Groups
from ..numerics.lookup import bent_line
from .base import CLIP, check_smoothing
from .binary import Events, RankCalibrator
from .curves import Curve

_SMALLEST = 1e-290


@dataclass(frozen=True, eq=False)
class BentCurve(Curve):
    """Straight pieces between knots, constant beyond them."""

    _ascending: ClassVar[tuple[str, ...]] = ("knots",)

    knots: Array
    values: Array

    def __call__(self, x: Array) -> Array:
        """Probabilities of scores (n,)."""
        return bent_line(_snapped(x), _snapped(self.knots), self.values)


def _snapped(x: Array) -> Array:
    """Scores so small that a slope between two of them overflows are 0."""
    return np.where(np.abs(x) < _SMALLEST, 0.0, x)


class IsotonicCalibrator(RankCalibrator):
    r"""Pooled adjacent violators: blocks of neighbouring scores, each with its share of events.

    .. math:: p^* = \arg\min_{p_1\le\dots\le p_n}\sum_i w_i (y_i - p_i)^2

    Ayer et al. (1955), Zadrozny & Elkan (2002), Bella et al. (2010); straight lines between blocks, as in scikit-learn.
    Blocks without any event, or with nothing else, would give probabilities of 0 and 1, and then infinite log loss on
    new rows. So the curve is fitted as if one more event had the lowest score, and one more row without event the
    highest: a first block of n rows without event gets :math:`1/(n + 1)`. This is worth most with few rows.

    Cost where nothing is wrong, nats a row (`experiments.cost`): 0.030, 0.016, 0.0068 at 100, 300 and 1 000 rows of two
    classes; 0.042, 0.022, 0.0088 of three.

    Parameters
    ----------
    smoothing : float
        Weight of these two rows; 0 is the textbook form.
    scores_are : {"probabilities", "logits", "margins"}
    clip : float
        Probabilities stay in [clip, 1 - clip].

    Attributes
    ----------
    curves_ : list of BentCurve
        One for two classes, else one a class.

    Examples
    --------
    >>> cal = IsotonicCalibrator(smoothing=0).fit([0.1, 0.3, 0.4, 0.6, 0.9], [0, 1, 0, 1, 1])
    >>> cal.transform([0.35, 0.5, 0.9])[:, 1]
    array([0.5 , 0.75, 1.  ])
    >>> cal.set_params(smoothing=1.0).fit([0.1, 0.3, 0.4, 0.6, 0.9], [0, 1, 0, 1, 1]).transform([0.1, 0.9])[:, 1]
    array([0.5  , 0.667])

    Differs from the paper in: the two rows, unless ``smoothing=0``, and the lines between blocks. The chapter's formula
    and worked example pool the *scores* of neighbours, the formula two at a time; it is their events that are pooled.
    """

    def __init__(self, smoothing: float = 1.0, *, scores_are: str = "probabilities", clip: float = CLIP) -> None:
        super().__init__(scores_are=scores_are, clip=clip)
        self.smoothing = smoothing

    def _fit_one(self, x: Array, events: Events, weights: Array | None) -> Curve:
        groups = Groups.of(x, events, weights).with_doubt(check_smoothing(self.smoothing))
        first = groups.starts()
        last = np.append(first[1:], len(groups.x)) - 1
        ends = np.column_stack([first, last]).ravel()
        keep = np.concatenate([[True], ends[1:] != ends[:-1]])  # blocks of one score have one knot
        return BentCurve(groups.x[ends[keep]], np.repeat(groups.joined(first).share, 2)[keep])
