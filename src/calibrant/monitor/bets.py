"""Bets against forecasts: alternatives of several kinds, and what each wins or loses with an outcome."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._checks import Array

CAP = 8.0  # nats that an outcome can win
_RUIN = -700.0  # nats, of which a float can hold the exponential
SUMS = 5  # columns that sizes are worked out from; the first is 1


class Seen(NamedTuple):
    """Of n outcomes: log gains (n, A) of the alternatives, and what sizes are worked out from (n, 5)."""

    gains: Array
    sums: Array


class Bets(ABC):
    r"""Alternatives to what is forecast, of one or several kinds.

    A gain is the log of how much more probable the outcome is by the alternative, cut at 8:
    :math:`E \min(q/p, e^8) \le 1` if p is right, so that a product of gains is a test supermartingale.

    Parameters
    ----------
    kinds : tuple of str
        Which of ``KINDS`` to look for.
    tolerance : float
        Faults to put up with: gains are less by the log of the most that they would be on average under such faults.
    """

    KINDS: ClassVar[tuple[str, ...]]
    WIDTH: ClassVar[str]  # the kind whose size is believed in

    def __init__(self, kinds: tuple[str, ...], tolerance: float = 0.0) -> None:
        self.kinds = kinds  # in the order of ``KINDS``
        self.tolerance = tolerance

    @abstractmethod
    def seen(self, forecasts: Any, y: Any) -> Seen:
        """What the alternatives make of outcomes."""

    @abstractmethod
    def size(self, kind: str, sums: Array) -> float:
        """How large a fault is, from the sums since it began."""

    @abstractmethod
    def words(self, kind: str, place: int, sums: Array) -> str:
        """The same in words, of one of the alternatives of a kind."""

    def log_width(self, sums: Array) -> Array | None:
        """Log of the size that is believed in, from sums (n, 5); None where these do not tell it."""
        return None

    @abstractmethod
    def _sizes(self) -> dict[str, Array]:
        """Sizes of the alternatives of each kind."""

    @cached_property
    def members(self) -> tuple[slice, ...]:
        """Columns of each kind."""
        ends = np.cumsum(self.counts)
        return tuple(slice(int(end - count), int(end)) for count, end in zip(self.counts, ends, strict=True))

    @cached_property
    def counts(self) -> NDArray[np.intp]:
        """Number of alternatives of each kind."""
        return np.array([len(self._sizes()[kind]) for kind in self.kinds])

    @cached_property
    def count(self) -> int:
        """Number of alternatives in all."""
        return int(self.counts.sum())

    @cached_property
    def log_weights(self) -> Array:
        """Prior weights of the alternatives within their kind, (A,)."""
        return np.asarray(-np.log(np.repeat(self.counts, self.counts).astype(np.float64)))

    @cached_property
    def _columns(self) -> Any:
        """Columns of the kinds that are looked for, among those of all."""
        every = [kind for kind in self.KINDS for _ in self._sizes()[kind]]
        return slice(None) if self.kinds == self.KINDS else np.flatnonzero([kind in self.kinds for kind in every])

    def _chosen(self, gains: Array) -> Array:
        """Gains of the kinds that are looked for, cut, from those of all kinds."""
        return np.clip(gains[:, self._columns], _RUIN, CAP)

    @cached_property
    def believed(self) -> tuple[slice, Array] | None:
        """Columns of the kind whose size is believed in, and the logs of the sizes; None where it is not looked for."""
        if self.WIDTH not in self.kinds:
            return None
        return self.members[self.kinds.index(self.WIDTH)], self._sizes()[self.WIDTH]


def mean_of(table: NDArray[Any], column: int) -> float:
    """A column of sums over the number of rows."""
    return float(table[column] / max(table[0], 1.0))
