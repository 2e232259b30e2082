"""Scores of rows kept aside, and the score that a new row does not exceed with a given probability."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from .._checks import Array

_SLACK = 1e-12  # relative, so that 0.9 * 20 is 18


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
            return cls(np.sort(scores), np.arange(1.0, len(scores) + 1))
        kept = weights > 0
        scores, weights = scores[kept], weights[kept]
        order = np.argsort(scores, kind="stable")
        return cls(scores[order], np.cumsum(weights[order]))

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
        own, draw = np.broadcast_arrays(own, draw)
        if own.size and (own == own.flat[0]).all() and (draw == draw.flat[0]).all():  # one answer for all
            return np.broadcast_to(self._reached(level, own.flat[0], draw.flat[0]), own.shape)
        return self._reached(level, own, draw)

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


def reach(level: float, total: Any, spared: Any = 0.0) -> Any:
    """The mass that is to be reached, less rounding.

    >>> reach(0.9, 20) <= 18
    True
    """
    target = level * total
    return target - _SLACK * target - spared
