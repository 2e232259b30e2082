"""Many small arrays as a few long ones: a calibrator of thousands of groups has tens of thousands."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

MANY = 1000  # arrays that are each stored on their own
MOST = 500_000  # arrays that are packed
_SHORT = 1024  # numbers of an array that is packed
Index = list[Any]  # for each array the number of its member and its shape; without a shape it is all of the member


def packed(arrays: list[NDArray[Any]]) -> tuple[list[NDArray[Any]], Index]:
    """Members and index: short arrays of numbers of one type one after another, others as they are.

    >>> members, index = packed([np.zeros(2), np.ones((1, 3)), np.array(["a"]), np.array(7)])
    >>> members[0].tolist(), len(members), index
    ([0.0, 0.0, 1.0, 1.0, 1.0], 3, [[0, [2]], [0, [1, 3]], [1, None], [2, []]])
    """
    members: list[list[NDArray[Any]]] = []
    by_type: dict[str, int] = {}
    index: Index = []
    for array in arrays:
        short = array.size <= _SHORT and array.dtype.kind in "biuf"
        place = by_type.setdefault(array.dtype.str, len(members)) if short else len(members)
        if place == len(members):
            members.append([])
        members[place].append(array.ravel() if short else array)
        index.append([place, list(array.shape) if short else None])
    alone = {place for place, shape in index if shape is None}
    return [parts[0] if place in alone else np.concatenate(parts) for place, parts in enumerate(members)], index


def unpacked(members: list[NDArray[Any]], index: Any) -> list[NDArray[Any]]:
    """The arrays again; ValueError for an index that is not of these members, which may come from anywhere.

    >>> [array.tolist() for array in unpacked([np.arange(5)], [[0, [2]], [0, [1, 3]]])]
    [[0, 1], [[2, 3, 4]]]
    """
    if not isinstance(index, list) or len(index) > MOST:
        raise ValueError("its arrays are not listed, or too many.")
    ends, found = [0] * len(members), []
    for entry in index:
        place, shape = _entry(entry, len(members))
        member = members[place]
        if shape is None:
            found.append(member)
            continue
        start, ends[place] = ends[place], ends[place] + math.prod(shape)
        if member.ndim != 1 or ends[place] > len(member):
            raise ValueError("an array is not as long as it says.")
        found.append(member[start : ends[place]].reshape(shape).copy())
    return found


def _entry(entry: Any, members: int) -> tuple[int, list[int] | None]:
    """Number of the member, and shape; sides may be 0, but no array seems larger than a short one may be."""
    if not (isinstance(entry, list) and len(entry) == 2 and type(entry[0]) is int and 0 <= entry[0] < members):
        raise ValueError("an array is of no member.")
    place, shape = entry
    if shape is None:
        return place, None
    sound = isinstance(shape, list) and len(shape) <= 8 and all(type(n) is int and 0 <= n <= _SHORT for n in shape)
    if not sound or math.prod(max(side, 1) for side in shape) > _SHORT:
        raise ValueError("an array has no such shape.")
    return place, shape
