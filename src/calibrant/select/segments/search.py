"""The search for segments: sums over bins of features and of pairs of features, never over rows and candidates."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._checks import Array
from .conditions import Condition, FeatureBins, Mask, between, hold
from .faults import Faults

MOST_PAIRED = 40  # features of which all pairs are looked at; of more, those that tell most by themselves
BEAM = 5  # segments that get a further condition
Features = tuple[int, ...]
Codes = list[NDArray[np.intp]]
_PASSES = 2  # over the thresholds of a segment


class Found(NamedTuple):
    """A segment that may be wrong, in which way, and its nats less those of the best of so many by chance."""

    worth: float
    gain: float
    kind: str
    conditions: tuple[Condition, ...]


class Search:
    """Segments of the rows of a table in which forecasts are most wrong.

    Every segment with at most two conditions is looked at, by sums over the bins of each pair of features; further
    conditions are added to the best of them. A segment is worth its gain less the log of the number of segments with as
    many conditions: of two that gain the same, the simpler one is found.

    Parameters
    ----------
    bins : list of FeatureBins
    numbers : ndarray (n, d)
    faults : Faults
    max_conditions : int
    min_rows : float
        Weight that a segment must have.
    """

    def __init__(
        self, bins: list[FeatureBins], numbers: Array, faults: Faults, max_conditions: int, min_rows: float
    ) -> None:
        self.bins, self.numbers, self.faults = bins, numbers, faults
        self.depth, self.min_rows = max_conditions, min_rows
        codes = [each.codes for each in bins]
        self.singles = [self._summed((f,), codes, faults.columns) for f in range(len(bins))]
        paired = self._paired() if max_conditions > 1 else []
        two = combinations_with_replacement(paired, 2)
        self.pairs = {pair: self._summed(pair, codes, faults.columns) for pair in two}
        sizes = [len(each.conditions) for each in bins]
        one, both = max(sum(sizes), 1), max(sum(sizes[f] * sizes[g] for f, g in self.pairs), 1)
        self.log_many = np.log([1.0, one, *(both * float(one) ** k for k in range(self.depth))])

    # ---- sums ----
    def _summed(self, features: Features, codes: Codes, columns: Array) -> Array:
        """Sums of columns (s, m) over the bins of a feature, or of two, of m rows with these codes."""
        first, last = features[0], features[-1]
        shape: tuple[int, ...] = (self.bins[first].members.shape[1],)
        cell = codes[first]
        if first != last:
            shape = (*shape, self.bins[last].members.shape[1])
            cell = cell * shape[1] + codes[last]
        size = shape[0] * shape[-1] if first != last else shape[0]
        return np.array([np.bincount(cell, column, size) for column in columns]).reshape(-1, *shape)

    def mend(self, rows: Mask) -> None:
        """Take a segment for calibrated from now on."""
        mended, places = self.faults.mended(rows), np.flatnonzero(rows)
        change = mended.columns[:, places] - self.faults.columns[:, places]
        codes = [each.codes[places] for each in self.bins]
        self.faults = mended
        for f, sums in enumerate(self.singles):
            sums += self._summed((f,), codes, change)
        for pair, sums in self.pairs.items():
            sums += self._summed(pair, codes, change)

    def _gains(self, sums: Array) -> Array:
        """Nats by kind; nothing where there are too few rows."""
        return np.asarray(np.where(sums[0] >= self.min_rows * (1 - 1e-9), self.faults.gains(sums), -np.inf))

    def _paired(self) -> list[int]:
        members = (each.members.T for each in self.bins)
        best = [self._gains(sums @ m).max(initial=-np.inf) for sums, m in zip(self.singles, members, strict=True)]
        return sorted(np.argsort(-np.array(best), kind="stable")[:MOST_PAIRED].tolist())

    # ---- candidates ----
    def best(self) -> Found | None:
        """The segment that is most worth mending, its thresholds as good as they can be."""
        found = [self._whole(), *self._of_one(()), *self._of_two()]
        for _ in range(self.depth - 2):
            longest = max(len(each.conditions) for each in found)
            beam = sorted((each for each in found if len(each.conditions) == longest), key=lambda each: -each.gain)
            found += [further for each in beam[:BEAM] for further in self._of_one(each.conditions)]
        first = max(found, key=lambda each: each.worth)
        return self._refined(first) if np.isfinite(first.worth) and first.gain > 0 else None

    def _found(self, gains: Array, conditions: list[tuple[Condition, ...]]) -> Found:
        """The best of some candidates, whose gains are (k, number of candidates)."""
        kind, place = np.unravel_index(np.argmax(gains), gains.shape)
        chosen = conditions[place]
        gain = float(gains[kind, place])
        return Found(gain - float(self.log_many[len(chosen)]), gain, self.faults.kinds[kind], chosen)

    def _whole(self) -> Found:
        return self._found(self._gains(self.faults.columns.sum(axis=1))[:, None], [()])

    def _of_one(self, others: tuple[Condition, ...]) -> list[Found]:
        """The best condition on each feature, beside others."""
        rows = np.flatnonzero(hold(others, self.numbers)) if others else None
        codes = [] if rows is None else [each.codes[rows] for each in self.bins]
        columns = None if rows is None else self.faults.columns[:, rows]
        found = []
        for f, each in enumerate(self.bins):
            if each.conditions:
                sums = self.singles[f] if columns is None else self._summed((f,), codes, columns)
                longer = [(*others, condition) for condition in each.conditions]
                found.append(self._found(self._gains(sums @ each.members.T), longer))
        return found

    def _of_two(self) -> list[Found]:
        """The best pair of conditions on each pair of features, or on one of them."""
        found = []
        for (f, g), sums in self.pairs.items():
            first, last = self.bins[f], self.bins[g]
            if not (first.conditions and last.conditions):
                continue
            if f == g:
                over = first.members @ (sums[:, :, None] * last.members.T)
            else:
                over = first.members @ sums @ last.members.T
            gains = self._gains(over)
            _, c, d = np.unravel_index(np.argmax(gains), gains.shape)
            chosen = (first.conditions[c], last.conditions[d])
            found.append(self._found(gains[:, c, d][:, None], [chosen]))
        return found

    # ---- thresholds ----
    def _refined(self, found: Found) -> Found:
        """Move each threshold to where the gain is largest."""
        for _ in range(_PASSES):
            for k, condition in enumerate(found.conditions):
                if condition.relation in (">", "<="):
                    found = self._moved(found, k)
        return found

    def _moved(self, found: Found, k: int) -> Found:
        condition = found.conditions[k]
        rows = hold([*found.conditions[:k], *found.conditions[k + 1 :]], self.numbers)
        rows &= ~np.isnan(self.numbers[:, condition.place])
        x, columns = self.numbers[rows, condition.place], self.faults.columns[:, rows]
        order: NDArray[np.intp] = np.argsort(x, kind="stable")
        x, below = x[order], np.cumsum(columns[:, order], axis=1)
        ends = np.flatnonzero(np.diff(x) > 0)
        if not len(ends):
            return found
        sums = below[:, ends] if condition.relation == "<=" else below[:, -1:] - below[:, ends]
        gains = self._gains(sums)[self.faults.kinds.index(found.kind)]
        best = int(np.argmax(gains))
        if not gains[best] > found.gain:
            return found
        moved = condition.moved(between(x[ends[best]], x[ends[best] + 1]))
        conditions = (*found.conditions[:k], moved, *found.conditions[k + 1 :])
        gain = float(gains[best])
        return Found(found.worth + gain - found.gain, gain, found.kind, conditions)
