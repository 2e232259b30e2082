"""Which rows have been learned: by their names, and by their times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._checks import plain_array
from ..labels import Labels, labels_of

MOST = 32_768  # names that are remembered
_FEW, _LARGEST = 8, 2**64 - 1  # names that are not worth an array, and what a hash is below
_SEED, _PRIME, _TURN = np.uint64(0xCBF29CE484222325), np.uint64(0x9E3779B97F4A7C15), np.uint64(29)

Hashes = NDArray[np.uint64]
Mask = NDArray[np.bool_]


@dataclass(eq=False)
class Memory:
    """Hashes of the last names, the oldest first.

    Examples
    --------
    >>> memory = Memory()
    >>> memory.new(hashes_of(["a", "b", "a"], 3)).tolist()
    [True, True, False]
    >>> memory.keep(hashes_of(["a"], 1))
    >>> memory.new(hashes_of(["b", "a"], 2)).tolist()
    [True, False]
    """

    hashes: Hashes = field(default_factory=lambda: np.empty(0, np.uint64))
    _known: set[int] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        """Look up quickly what is remembered."""
        self._known = set(self.hashes.tolist())

    def _check_sound(self) -> None:
        """Raise ValueError if this is no memory: it may come from anywhere."""
        if self.hashes.dtype != np.uint64 or self.hashes.ndim != 1 or len(self.hashes) > MOST:
            raise ValueError(f"names must be remembered by {MOST} whole numbers at most.")

    def new(self, hashes: Hashes) -> Mask:
        """Which rows are not remembered, and come for the first time here."""
        fresh = np.ones(len(hashes), dtype=bool)
        if self._known:
            fresh = np.array([name not in self._known for name in hashes.tolist()], dtype=bool)
        if len(hashes) > 1:
            first = np.zeros(len(hashes), dtype=bool)
            first[np.unique(hashes, return_index=True)[1]] = True
            fresh &= first
        return fresh

    def keep(self, hashes: Hashes) -> None:
        """Remember these, and forget the oldest where they are too many."""
        hashes = hashes[-MOST:]
        whole = np.concatenate([self.hashes, hashes])
        self._known.update(hashes.tolist())
        self._known.difference_update(whole[:-MOST].tolist())
        self.hashes = whole[-MOST:]


def hashes_of(ids: Any, rows: int) -> Hashes:
    """A whole number for each name, the same on every machine; 1 of any column of numbers is the text "1".

    >>> bool(np.all(hashes_of([7, 8], 2) == hashes_of(["7", "8"], 2)))
    True
    """
    names: Any = plain_array(ids)
    if names.dtype.kind != "U" or names.shape != (rows,):
        known = names.dtype.kind in "iu" and names.shape == (rows,)
        names = np.array([str(name) for name in (names.tolist() if known else _whole(labels_of(ids, rows, "ids")))])
    if rows <= _FEW:
        return np.array([_hash(name) for name in names.tolist()], dtype=np.uint64)
    letters = np.ascontiguousarray(names).view(np.uint32).reshape(rows, -1)
    found = np.full(rows, _SEED)
    for column in letters.T.astype(np.uint64):
        mixed = (found ^ column) * _PRIME
        found = np.where(column > 0, mixed ^ (mixed >> _TURN), found)
    return found


def _hash(text: str) -> int:
    """The same of one text."""
    found = int(_SEED)
    for letter in text:
        mixed = ((found ^ ord(letter)) * int(_PRIME)) & _LARGEST
        found = mixed ^ (mixed >> int(_TURN))
    return found


def _whole(labels: Labels) -> Iterator[Any]:
    return (int(name) if isinstance(name, float) and name.is_integer() else name for name in labels)
