"""The past of a stream in blocks of rows, as fine as a picture needs: never more than 512, twice as long when full."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._checks import Array
from .bets import SUMS

MOST = 512  # blocks


@dataclass(eq=False)
class History:
    """Blocks of equally many rows, the last one perhaps with fewer.

    Attributes
    ----------
    size : int
        Rows of a block.
    rows : int
        Rows in all.
    sums : array (512, 5)
        What sizes are worked out from, summed over each block.
    peaks : array (512, 1 + K)
        Largest log e-values: of all tests together, and of all rows by kind.
    belief : array (512,)
        Log of the believed width, or slope of log odds, after the block.
    times : array (512,)
        Of the last row; NaN where there is none.
    """

    size: int
    rows: int
    sums: Array
    peaks: Array
    belief: Array
    times: Array

    @classmethod
    def new(cls, kinds: int) -> History:
        """Without rows."""
        blank = np.full(MOST, np.nan)
        return cls(1, 0, np.zeros((MOST, SUMS)), np.full((MOST, 1 + kinds), -np.inf), blank, blank.copy())

    def __len__(self) -> int:
        """Number of blocks that have rows."""
        return -(-self.rows // self.size)

    def fits(self, kinds: int) -> bool:
        """Whether it has blocks of the right sizes, and no more rows than they hold."""
        blank = History.new(kinds)
        names = ("sums", "peaks", "belief", "times")
        pairs = [(getattr(self, name), getattr(blank, name)) for name in names]
        alike = all(isinstance(mine, np.ndarray) and mine.shape == each.shape for mine, each in pairs)
        whole = all(isinstance(each, int) for each in (self.size, self.rows))
        return alike and whole and self.size >= 1 and 0 <= self.rows <= MOST * self.size

    def _check_sound(self) -> None:
        """Raise ValueError for sums and e-values that are no numbers; times may be missing."""
        if not np.isfinite(self.sums).all() or np.isnan(self.peaks).any():
            raise ValueError("History has NaN or infinity.")

    def add(self, sums: Array, peaks: Array, belief: Array, times: Array) -> None:
        """Take in further rows."""
        end = self.rows + len(sums)
        while end > MOST * self.size:
            self._halve()
        block = np.arange(self.rows, end) // self.size
        first = np.append(0, np.flatnonzero(block[1:] > block[:-1]) + 1)
        last = np.append(first[1:], len(block)) - 1
        at = block[first]
        self.sums[at] += np.add.reduceat(sums, first, axis=0)
        self.peaks[at] = np.maximum(self.peaks[at], np.maximum.reduceat(peaks, first, axis=0))
        self.belief[at], self.times[at] = belief[last], times[last]
        self.rows = end

    def _halve(self) -> None:
        """Join blocks by two."""
        half, used = MOST // 2, len(self)
        last = np.minimum(np.arange(1, MOST, 2), max(used - 1, 0))
        blank = np.arange(half) >= -(-used // 2)
        self.sums = np.concatenate([self.sums[::2] + self.sums[1::2], np.zeros((half, SUMS))])
        joint = np.maximum(self.peaks[::2], self.peaks[1::2])
        self.peaks = np.concatenate([joint, np.full(joint.shape, -np.inf)])
        self.belief, self.times = (
            np.concatenate([np.where(blank, np.nan, each[last]), np.full(half, np.nan)])
            for each in (self.belief, self.times)
        )
        self.size *= 2
