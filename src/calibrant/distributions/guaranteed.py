"""Laws whose intervals hold the outcome with a probability that is promised for any number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from .._checks import Array, probability
from .._later import later
from ..numerics.blocks import BLOCK, row_blocks
from ..numerics.ranked_scores import reach
from .base import Distribution
from .joined import Joined
from .mixture.law import Mixture
from .recalibrated import Recalibrated

_AT_ONCE = 2 * BLOCK  # rows whose intervals stay in the cache
_SAME = 1e-9  # distance of coverages that are one
_BLOCK = 2**22  # numbers worked on at a time where the ends of all rows are laid side by side


class Ends(Protocol):
    """How far from a forecast the ends of an interval lie: what is learned from rows kept aside."""

    @property
    def size(self) -> int:
        """Number of rows kept aside."""

    def interval(self, base: Distribution, coverage: float, own: Array, draw: Array) -> Array:
        """Ends (n, 2) for forecasts of n rows, their mass, and the shares of it that need not be reached."""

    def places(self, base: Distribution, coverage: float) -> tuple[tuple[Array, Array], tuple[Array, Array], float]:
        """Lower ends that each of m rows kept aside would give, (n, m), and their mass; upper ones; what is reached."""


@later("map")
@dataclass(frozen=True, eq=False, repr=False)
class Guaranteed(Recalibrated):
    """A law seen through a map whose intervals are ranks of scores of rows kept aside.

    Quantiles, densities and moments are those of the map; `interval` lies outwards at whole ranks, and is infinite
    where there are not enough rows for what is asked.

    Parameters
    ----------
    base : Distribution
    map : Map, or Pending one
        Shared by all rows; made when it is first asked for, as intervals do not need it.
    ends : Ends
    own : ndarray (n,)
        Mass of each row, 1 unless rows kept aside have other weights.
    draw : ndarray (n,)
        Shares of it that need not be reached; 0 for intervals that hold at least what they promise.
    guarantee : str
        What is promised of `interval`, in words.
    """

    _by_row: ClassVar[tuple[str, ...]] = ("own", "draw")

    ends: Any
    own: Array
    draw: Array
    guarantee: str

    def __post_init__(self) -> None:
        """The map is not looked at yet."""

    @classmethod
    def _join(cls, laws: Sequence[Self]) -> Self | None:
        return super()._join(laws) if all(law.ends is laws[0].ends for law in laws) else None

    def interval(self, coverage: float = 0.9) -> Array:
        """Intervals (n, 2) that hold the outcome with at least this probability; infinite where nothing less does."""
        c = probability(coverage, "coverage")
        if 0 < len(self) <= _AT_ONCE:
            return np.asarray(self.ends.interval(self.base, c, self.own, self.draw))
        out = np.empty((len(self), 2))
        for rows in row_blocks(len(self), block=_AT_ONCE):
            out[rows] = self.ends.interval(self.base[rows], c, self.own[rows], self.draw[rows])
        return out


@dataclass(frozen=True, eq=False, repr=False)
class Promised(Recalibrated):
    """A law seen through a map, some of whose intervals must hold nothing for their promise to be kept in the long run.

    Parameters
    ----------
    base : Distribution
    map : Map
    ends : dict from float to pair of float
        Scores of the base at the ends of the intervals that are promised, by coverage; of an interval that holds
        nothing the lower one is not below the upper one.
    """

    ends: dict[float, tuple[float, float]]

    def interval(self, coverage: float = 0.9) -> Array:
        """Central intervals (n, 2); the ends of an empty one cross."""
        c = probability(coverage, "coverage")
        scores = next((pair for known, pair in self.ends.items() if abs(known - c) < _SAME), None)
        if scores is None:
            return super().interval(c)
        ends = self.base._by_blocks(lambda law, z: law.from_normal(z), np.array([scores]))
        if scores[0] < scores[1]:
            return ends
        above = np.nextafter(ends[:, 1], np.inf)  # so that an outcome between them lies on one side of all that met
        return np.column_stack([np.nextafter(above, np.inf), above])


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Pooled(Mixture):
    r"""The mixture of the laws of several folds, with intervals from the ends of all rows of all folds: CV+.

    .. math:: \left[\,\lfloor (1-c)(n+1) \rfloor\text{-th smallest of } l_{k(i)}(x, s_i),\;
        \lceil c\,(n+1) \rceil\text{-th smallest of } u_{k(i)}(x, s_i)\right]

    where :math:`l_k(x, s)` and :math:`u_k(x, s)` are the ends that the forecast of fold k for x has at score s: for
    points :math:`\mu_k(x) \mp s`. Barber et al. (2021): it holds the outcome with probability at least
    :math:`1 - 2(1-c)` but for a term of the order of :math:`1/\sqrt n`, which is 0 with a fold a row (jackknife+); in
    practice about c. With ends of either side ("signed") it is :math:`(1+c)/2` in the place of c.
    """

    @property
    def guarantee(self) -> str:
        """What is promised of `interval`, in words."""
        return (
            "An interval of coverage c holds the outcome with a probability of at least 1 - 2(1 - c), less a term of "
            "the order of one over the root of the number of rows (none with a fold a row), and in practice about c, "
            "if new rows are exchangeable with those of the fit and the model does not look at their order (CV+)."
        )

    def interval(self, coverage: float = 0.9) -> Array:
        """Intervals (n, 2) from the ends of all rows kept aside."""
        c = probability(coverage, "coverage")
        laws: Any = self.components
        out = np.empty((len(self), 2))
        for rows in row_blocks(len(self), sum(law.ends.size for law in laws), _BLOCK):
            lower, upper, (level, *_) = zip(*(law.ends.places(law.base[rows], c) for law in laws), strict=True)
            own, draw = laws[0].own[rows], laws[0].draw[rows]
            low = -_reaching([(-values, weights) for values, weights in lower], level, own, draw)
            out[rows] = np.column_stack([low, _reaching(list(upper), level, own, draw)])
        return out


def _reaching(parts: list[tuple[Array, Array]], level: float, own: Array, draw: Array) -> Array:
    """The smallest value of each row, among those of all parts, up to which the mass is reached; inf if none is."""
    values, weights = np.hstack([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
    target = reach(level, weights.sum() + own, own * draw)
    if (weights == 1).all() and (target == target[0]).all():
        place = max(int(np.ceil(target[0])) - 1, 0)
        whole = place < len(weights)
        return np.partition(values, place, axis=1)[:, place] if whole else np.full(len(values), np.inf)
    order = np.argsort(values, axis=1)
    short = (np.cumsum(weights[order], axis=1) < target[:, None]).sum(axis=1)
    ordered = np.hstack([np.take_along_axis(values, order, axis=1), np.full((len(values), 1), np.inf)])
    return np.asarray(ordered[np.arange(len(values)), short])


def mixed(laws: Sequence[Distribution]) -> Distribution:
    """The law of one fold, or the mixture of those of several; with intervals by CV+ where their own are by ranks."""
    if len(laws) == 1:
        return laws[0]
    if all(type(law) is Guaranteed for law in laws):
        return Pooled(laws)
    groups: Any = laws
    if all(type(law) is Joined and all(type(part) is Guaranteed for part in law.parts) for law in groups):
        codes, places = ([getattr(law, name) for law in groups] for name in ("code", "place"))
        if all(np.array_equal(each, column[0]) for column in (codes, places) for each in column):
            parts = zip(*(law.parts for law in groups), strict=True)
            return Joined(tuple(Pooled(part) for part in parts), codes[0], places[0])
    return Mixture(tuple(laws))


def is_guaranteed(law: Any) -> bool:
    """Whether the intervals of a law, or of some of its rows, are not the quantiles at (1 ∓ c)/2.

    >>> from calibrant import Normal
    >>> is_guaranteed(Normal([0.0], 1.0))
    False
    """
    return isinstance(law, (Guaranteed, Pooled, Promised)) or (
        isinstance(law, Joined) and any(map(is_guaranteed, law.parts))
    )
