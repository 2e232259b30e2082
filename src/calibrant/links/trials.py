"""Rows of binary problems, as they are or collected in bins of the logit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._checks import Array

FARTHEST = 30.0  # logits beyond are taken for this one: the probability is 1e-13
_CORNERS = np.array([-FARTHEST, -8.0, 4.0, FARTHEST])  # bins are narrow in between, where probabilities move
_STARTS = np.array([0, 176, 944, 1024])
N_BINS = int(_STARTS[-1])
_EDGES = np.interp(np.arange(N_BINS + 1), _STARTS, _CORNERS)


@dataclass(frozen=True, eq=False)
class Trials:
    """K binary problems with M points each.

    Parameters
    ----------
    logits : array (K, M)
        Logits of the forecast probabilities.
    rows, events : array (K, M)
        Weight of all rows at each point, and of those in which the event happened.
    """

    logits: Array
    rows: Array
    events: Array

    @classmethod
    def of_column(cls, logits: Array, events: Array, weights: Array | None = None) -> Trials:
        """One problem from a column of logits and one of outcomes 0 or 1."""
        w = np.ones(len(logits)) if weights is None else weights
        return cls(_near(logits)[None, :], w[None, :], (w * events)[None, :])

    @classmethod
    def one_of_many(cls, logits: Array, which: NDArray[np.intp], weights: Array) -> Trials:
        """K problems from logits (n, K), the event of each row being ``which`` (n,)."""
        x = np.ascontiguousarray(_near(logits).T)
        events = np.zeros(x.shape)
        events[which, np.arange(x.shape[1])] = weights
        return cls(x, np.broadcast_to(weights, x.shape), events)


Blocks = Iterable[tuple[Array, NDArray[np.intp], Array]]


def binned(blocks: Blocks, problems: int, *, apart: bool = True) -> Trials:
    """Collect blocks of (logits (n, K), event of each row (n,), weights (n,)) in 1 024 bins per problem.

    >>> few = binned([(np.array([[0.0, -1.0], [0.01, -1.0]]), np.array([0, 1]), np.ones(2))], 2)
    >>> few.rows.sum(axis=1), few.events.sum(axis=1)
    (array([2., 2.]), array([1., 1.]))
    """
    return trials_of(bin_sums(blocks, problems), apart=apart)


def bin_sums(blocks: Blocks, problems: int) -> Array:
    """Sums over the bins, (4, K, 1 024): weights, weights times logits, and both of the rows with the event."""
    size = problems * N_BINS
    sums = np.zeros((4, size))
    mass, moment, hit, hit_moment = sums
    offset = np.arange(problems) * N_BINS
    for logits, which, weights in blocks:
        x = _near(logits)
        cell = _cells(x) + offset
        w = np.repeat(weights, problems)
        mass += np.bincount(cell.ravel(), w, size)
        moment += np.bincount(cell.ravel(), w * x.ravel(), size)
        lines = np.arange(len(which))
        mine, own = cell[lines, which], x[lines, which]
        hit += np.bincount(mine, weights, size)
        hit_moment += np.bincount(mine, weights * own, size)
    return sums.reshape(4, problems, N_BINS)


def trials_of(sums: Array, *, apart: bool = True) -> Trials:
    """The bins as trials.

    Rows with and without event are averaged apart, so that the first moments of both are exact; fits that count the
    events of neighbouring points need them together.
    """
    mass, moment, hit, hit_moment = sums
    if not apart:
        return _points(mass, moment, hit)
    miss = np.where(mass - hit > 1e-9 * mass, mass - hit, 0.0)
    parts = (
        _without_gaps(_points(miss, moment - hit_moment, np.zeros_like(hit))),
        _without_gaps(_points(hit, hit_moment, hit)),
    )
    return Trials(*(np.hstack(pair) for pair in zip(*((p.logits, p.rows, p.events) for p in parts), strict=True)))


def _points(mass: Array, moment: Array, hit: Array) -> Trials:
    """The mean of each bin, without the bins that are empty in all problems."""
    with np.errstate(divide="ignore", invalid="ignore"):
        x = np.where(mass > 0, moment / mass, _EDGES[1:])
    x = np.clip(x, _EDGES[:-1], _EDGES[1:])  # differences of sums may carry rounding
    used = mass.any(axis=0)
    return Trials(x[:, used], mass[:, used], hit[:, used])


def _without_gaps(trials: Trials) -> Trials:
    """The same with the points that have rows first in each problem, and only as many columns as the longest needs."""
    there = trials.rows > 0
    order = np.argsort(~there, axis=1, kind="stable")[:, : int(there.sum(axis=1).max(initial=0))]
    return Trials(*(np.take_along_axis(each, order, axis=1) for each in (trials.logits, trials.rows, trials.events)))


def _cells(x: Array) -> NDArray[np.intp]:
    """Number of the bin of each logit: three straight pieces."""
    rate = np.diff(_STARTS) / np.diff(_CORNERS)
    place = rate[0] * (np.minimum(x, _CORNERS[1]) - _CORNERS[0])
    place += rate[1] * (np.clip(x, _CORNERS[1], _CORNERS[2]) - _CORNERS[1])
    if x.max(initial=-FARTHEST) > _CORNERS[2]:
        place += rate[2] * (np.maximum(x, _CORNERS[2]) - _CORNERS[2])
    cell: NDArray[np.intp] = place.astype(np.intp)
    return np.minimum(cell, N_BINS - 1, out=cell)


def _near(logits: Array) -> Array:
    return np.clip(logits, -FARTHEST, FARTHEST)
