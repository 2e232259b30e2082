"""What every summary is: rows, chunks, partitions and yesterday's state, added up in any order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self


class Summary(ABC):
    """All that a calibrator learns from some rows; `merge` gives that of two lots of rows together.

    Merging is associative and commutative: rows in any order, in chunks of any size, merged in any order, give the
    same counts to the last digit, and the same fit but for rounding. Weights are frequencies: 2 is the row twice.

    Attributes
    ----------
    n_rows : int
        Rows that were summarised.
    """

    n_rows: int

    def __repr__(self) -> str:
        """What is summarised."""
        return f"{type(self).__name__}({self.n_rows} rows: {self.about})"

    @property
    @abstractmethod
    def about(self) -> str:
        """What the numbers are of; summaries of different things do not merge."""

    @property
    @abstractmethod
    def level(self) -> int | None:
        """Level of the grid, which no summary that this one is merged into exceeds; None where points are kept."""

    def merge(self, other: Self) -> Self:
        """The summary of both lots of rows."""
        if type(other) is not type(self):
            raise TypeError(f"`other` must be a {type(self).__name__}; got {type(other).__name__}.")
        if other.about != self.about:
            raise ValueError(f"`other` must be of {self.about} too; it is of {other.about}.")
        return self._merged(other)

    def __add__(self, other: Self) -> Self:
        return self.merge(other)

    def decay(self, factor: float) -> Self:
        """The same with all weights times a factor above 0 and up to 1: what is old counts less."""
        if not 0 < factor <= 1:
            raise ValueError(f"`factor` must be above 0 and at most 1; got {factor!r}.")
        return self._decayed(float(factor))

    @abstractmethod
    def _merged(self, other: Any) -> Self: ...

    @abstractmethod
    def _decayed(self, factor: float) -> Self: ...
