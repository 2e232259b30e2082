"""Many tests at one level: streams of all rows and of groups share it, and so do their kinds of faults."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._checks import Array
from .streams import Onset, Path, Rows

_HIGHEST = np.log(1e15)
_LEAST = 1e-300


class Part(NamedTuple):
    """Steps of a stream within a batch: the rows, of the batch, with which they end, and what they did."""

    stream: int
    ends: Rows
    path: Path


class Finding(NamedTuple):
    """A fault that a test found: after which row of the batch, in which stream, of what kind, and since when."""

    end: int
    stream: int
    kind: int
    log_e: float
    onset: Onset


def group_share(known: int, new: int) -> float:
    r"""Share of the groups' half of the level that each of m new groups gets, when G are known.

    :math:`\frac1m (\frac1{G+1} - \frac1{G+m+1})`: however many come, all shares add up to less than 1; groups that come
    first and together get 1 / (m + 1) each.

    >>> group_share(0, 9), group_share(0, 1), group_share(1, 1)
    (0.1, 0.5, 0.1667)
    """
    return (1 / (known + 1) - 1 / (known + new + 1)) / new


def log_mean_e(log_e: Array) -> Array:
    """Log e-values of a stream, the mean over kinds, from the logs (n, K) by kind."""
    return np.asarray(np.logaddexp.reduce(log_e, axis=1) - np.log(log_e.shape[1]))


def together(parts: list[Part], shares: Array, before: Array, rows: int) -> Array:
    r"""Log of the mixture of all e-values after each row of a batch (n,), from the logs of streams before it.

    :math:`\sum_i v_i E_i + 1 - \sum_i v_i`, where v are the shares; e-values of groups beyond 1e15 count as that.
    """
    first, *groups = parts
    held = shares[1:] @ np.exp(np.minimum(before[1:], _HIGHEST)) + 1 - shares.sum()
    change = np.zeros(rows)
    for stream, ends, path in groups:
        values = np.exp(np.minimum(np.append(before[stream], log_mean_e(path.log_e)), _HIGHEST))
        np.add.at(change, ends, shares[stream] * np.diff(values))
    own = np.full(rows, before[0])
    own[first.ends] = log_mean_e(first.path.log_e)
    if len(first.ends) < rows:  # between the ends of steps nothing changes
        last = np.searchsorted(first.ends, np.arange(rows), side="right") - 1
        own = np.where(last >= 0, own[first.ends[np.maximum(last, 0)]], before[0])
    return np.asarray(np.logaddexp(np.log(shares[0]) + own, np.log(np.maximum(held + np.cumsum(change), _LEAST))))


def own_findings(parts: list[Part], shares: Array, raised: NDArray[np.bool_], level: float) -> Iterator[Finding]:
    """Tests whose own e-value passes 1 / (its share of the level), and those of the kinds that raised an alarm before.

    By the union bound all of them together raise a false alarm with a probability of at most the level. One fault makes
    several kinds of tests win: only one that explains more than those before it is news.
    """
    for stream, ends, path in parts:
        log_e = path.log_e + np.log(shares[stream] / path.log_e.shape[1])
        over, known = log_e >= -np.log(level), raised[stream].copy()
        while not known.all():
            news = over & ~known
            if known.any():
                news &= log_e > log_e[:, known].max(axis=1, keepdims=True)
            if not news.any():
                break
            step = int(np.argmax(news.any(axis=1)))
            kind = int(np.argmax(np.where(news[step], log_e[step], -np.inf)))
            known[kind] = True
            yield Finding(int(ends[step]), stream, kind, float(log_e[step, kind]), path.onset(step, kind))


def strongest(parts: list[Part], shares: Array, end: int, log_e: float) -> Finding:
    """The test that speaks loudest after a row; the evidence is that of all together."""
    steps = [int(np.searchsorted(part.ends, end, side="right")) - 1 for part in parts]
    own = np.array([part.path.log_e_after(step) for part, step in zip(parts, steps, strict=True)])
    own += np.log(shares[[part.stream for part in parts]])[:, None]
    loudest, kind = np.unravel_index(np.argmax(own), own.shape)
    part = parts[loudest]
    return Finding(end, part.stream, int(kind), log_e, part.path.onset(steps[loudest], int(kind)))
