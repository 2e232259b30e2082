r"""Knots of smooth ensembles: means of neighbouring members.

A polyline through every one of m members has a slope as uneven as the gaps between neighbours: its log density is about
0.42 nats too low on average, however many members there are. So neighbours are taken together, about
:math:`1.4\sqrt m` groups, in the middle more to a group than at the ends,

.. math:: g(u) = \lfloor \tfrac K\pi \arccos(1 - 2u) \rfloor,

where u is the share of the members below the middle of one. A knot is the mean of the members of a group and of their
scores. Where members are equal, and so are atoms, and where they are ten at most, each is a knot of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ..._checks import Array
from ...numerics.blocks import row_blocks
from ...numerics.tails import Mask

_FEWEST, _GROUPS = 10, 1.4  # groups of any ensemble, and of one by the root of its size
Whole = NDArray[np.intp]


class Knots(NamedTuple):
    """Knots (n, k), and their scores (k,) or (n, k)."""

    knots: Array
    scores: Array


def of_members(samples: Array, tied: Mask) -> Knots | None:
    """Of sorted members (n, m) that count alike; None where each one is a knot. Marks rows whose knots are equal."""
    n, m = samples.shape
    if m <= _FEWEST:
        return None
    first = np.unique(_group((np.arange(m) + 0.5) / m, _number(m)), return_index=True)[1]
    size = np.diff(first, append=m)
    share, scores = 1 / np.repeat(size, size), ndtri(np.arange(1, m + 1) / (m + 1))
    knots = np.empty((n, len(first)))
    for rows in row_blocks(n, m):
        np.add.reduceat(samples[rows] * share, first, axis=1, out=knots[rows])
    tied |= ~(np.diff(knots) > 0).all(axis=1)
    grouped = Knots(knots, np.add.reduceat(scores * share, first))
    return _beside_all(grouped, Knots(samples, scores), tied) if tied.any() else grouped


def of_weighted(members: tuple[Array, Array], each: Knots, tied: Mask) -> Knots:
    """Of sorted members (n, m) and their counts, of which ``each`` has the knots, two a member."""
    x, counts = members
    below, total = np.cumsum(counts, axis=1) - counts, counts.sum(axis=1, keepdims=True)
    there = counts > 0
    number = np.where(there.sum(axis=1, keepdims=True) <= _FEWEST, 0, _number(total))
    group = np.where(number > 0, _group((below + counts / 2) / total, number), np.cumsum(there, axis=1) - 1)
    width = int(group.max()) + 1
    place = (np.arange(len(x))[:, None] * width + np.maximum(group, 0)).ravel()
    sums: list[Array] = [
        np.bincount(place, (counts * values).ravel(), len(x) * width).astype(np.float64).reshape(len(x), width)
        for values in (np.ones_like(x), x, each.scores[:, ::2])
    ]
    full = _nearest_full(sums[0] > 0)
    mass, knots, scores = (np.take_along_axis(values, full, axis=1) for values in sums)
    knots, scores = knots / mass, scores / mass
    tied |= ((np.diff(knots) <= 0) & (np.diff(scores) > 0)).any(axis=1)
    return _beside_all(Knots(knots, scores), each, tied) if tied.any() else Knots(knots, scores)


def _number(members: Array | int) -> Array:
    """Groups for so many members."""
    return np.maximum(_FEWEST, np.floor(_GROUPS * np.sqrt(members)))


def _group(share: Array, number: Array) -> Whole:
    return np.floor(number / np.pi * np.arccos(np.clip(1 - 2 * share, -1.0, 1.0))).astype(np.intp)


def _nearest_full(full: Mask) -> Whole:
    """For each group the nearest one with members at or below it, or else the first of all."""
    place = np.maximum.accumulate(np.where(full, np.arange(full.shape[1]), -1), axis=1)
    return np.where(place < 0, np.argmax(full, axis=1)[:, None], place)


def _beside_all(grouped: Knots, each: Knots, tied: Mask) -> Knots:
    """A knot a member where some are equal, those of groups elsewhere, the last one repeated."""
    wide = each.knots.shape[1]
    last = np.minimum(np.arange(wide), grouped.knots.shape[1] - 1)
    return Knots(
        *(
            np.where(tied[:, None], np.broadcast_to(some, (len(tied), wide)), few[..., last])
            for few, some in zip(grouped, each, strict=True)
        )
    )
