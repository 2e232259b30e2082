"""Scores of rows kept aside, and the score that a new row does not exceed with a given probability."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from .._checks import Array
from .._later import Pending, later
from .blocks import constant
from .selection import at_rank

_SLACK = 1e-12  # relative, so that 0.9 * 20 is 18


class _Unsorted(Pending):
    """Scores that are sorted when all are asked for, or a second rank: the first is found without."""

    def __init__(self, scores: Array) -> None:
        super().__init__(np.sort, scores)
        self.scores = scores
        self._found: tuple[int, float] | None = None

    def at(self, place: int) -> float:
        """The score of a rank, counted from 0."""
        if self._found is None:
            self._found = place, at_rank(self.scores, place)
        known, score = self._found
        return score if place == known else float(self.value[place])


@later("scores")
@later("mass")
@dataclass(frozen=True, eq=False)
class RankedScores:
    r"""Sorted scores of n rows with the mass up to each: their ranks, where all weigh 1.

    A new row, exchangeable with them, has any of the n + 1 ranks with the same probability. So

    .. math:: P(S_{n+1} \le S_{(k)}) \ge \frac{k}{n+1}, \quad k = \lceil c\,(n+1) \rceil,

    with equality if no two scores are equal, and :math:`S_{(n+1)} = \infty` (Vovk, Gammerman & Shafer 2005; Lei et al.
    2018). With weights :math:`w_i` and :math:`w` of the new row it is the smallest score up to which the mass reaches
    :math:`c\,(\sum_i w_i + w)` (Tibshirani et al. 2019).

    Parameters
    ----------
    scores : ndarray (n,)
        Ascending.
    mass : ndarray (n,)
        Mass up to and including each.

    Examples
    --------
    >>> ranked = RankedScores.of(np.array([3.0, 1.0, 2.0, 5.0]))
    >>> ranked.reaching(0.8), ranked.reaching(0.81)
    (array(5.), array(inf))
    """

    _ascending: ClassVar[tuple[str, ...]] = ("scores", "mass")

    scores: Array
    mass: Array

    @classmethod
    def of(cls, scores: Array, weights: Array | None = None) -> Self:
        """Sort them; rows of weight 0 are no rows."""
        if weights is None:
            pending: Any = _Unsorted(scores), Pending(np.arange, 1.0, len(scores) + 1)
            return cls(*pending)
        kept = weights > 0
        scores, weights = scores[kept], weights[kept]
        order = np.argsort(scores, kind="stable")
        return cls(scores[order], np.cumsum(weights[order]))

    def __len__(self) -> int:
        """Return the number of rows."""
        kept = vars(self)["scores"]
        return len(kept.scores if isinstance(kept, _Unsorted) else kept)

    def __getstate__(self) -> dict[str, Any]:
        """Scores and masses, sorted."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def total(self) -> float:
        """Mass of all rows."""
        return float(self.mass[-1]) if len(self.mass) else 0.0

    @cached_property
    def weights(self) -> Array:
        """Mass of each."""
        return np.diff(self.mass, prepend=0.0)

    def reaching(self, level: float, own: Any = 1.0, draw: Any = 0.0) -> Array:
        """The smallest score up to which a share ``level`` of all mass and the new row's lies; inf if none is.

        Parameters
        ----------
        level : float
        own : float or ndarray (m,)
            Mass of the new rows.
        draw : float or ndarray (m,)
            Share of this mass, drawn evenly from [0, 1), that need not be reached: without ties the probability is
            then ``level`` itself. The smallest score is always reached.
        """
        own, draw = np.asarray(own), np.asarray(draw)
        if _is_one(own) and _is_one(draw):  # one answer for all
            shape = own.shape if own.ndim else draw.shape
            reached = float(self._one_reached(level, float(own.flat[0]), float(draw.flat[0])))
            return constant(reached, *shape) if len(shape) == 1 else np.broadcast_to(reached, shape)
        return self._reached(level, own, draw)

    def _one_reached(self, level: float, own: float, draw: float) -> Any:
        kept = vars(self)["scores"]
        if not isinstance(kept, _Unsorted):
            return self._reached(level, own, draw)
        place = max(math.ceil(reach(level, len(self) + own, own * draw)) - 1, 0)
        return kept.at(place) if place < len(self) else math.inf

    def _reached(self, level: float, own: Any, draw: Any) -> Array:
        places = np.searchsorted(self.mass, reach(level, self.total + own, own * draw))
        if not len(self.scores):
            return np.full(np.shape(places), np.inf)
        beyond = places == len(self.scores)
        return np.where(beyond, np.inf, self.scores[places - beyond])

    def _check_sound(self) -> None:
        """Raise ValueError if these are no ranks: they may come from anywhere."""
        if np.ndim(self.scores) != 1 or np.shape(self.scores) != np.shape(self.mass) or np.isnan(self.scores).any():
            raise ValueError("RankedScores.scores must be numbers, as many as masses.")
        if np.any(np.diff(self.scores) < 0) or not (np.isfinite(self.mass).all() and (self.weights > 0).all()):
            raise ValueError("RankedScores.scores must not decrease, and RankedScores.mass must rise.")


def _is_one(values: Array) -> bool:
    """Whether all values are one, of which there are some."""
    return values.size > 0 and (not any(values.strides) or bool((values == values.flat[0]).all()))


def reach(level: float, total: Any, spared: Any = 0.0) -> Any:
    """The mass that is to be reached, less rounding.

    >>> reach(0.9, 20) <= 18
    True
    """
    target = level * total
    return target - _SLACK * target - spared
