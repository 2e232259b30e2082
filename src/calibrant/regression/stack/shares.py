"""Shares of the candidates of a stack: those under which unseen outcomes are most probable."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from ..._checks import Array
from ..held_out import ONE_SPLIT, base_premium

_TRUST = 0.1  # rows' worth of weight given in advance to each candidate
_NEAR = 3.0  # nats below the best at which a favoured candidate has 1/e of the favour that the best would have
_CHANCE, _CLEAR = 2.0, 6.0  # nats on held-out rows, all together: chance seldom gains more, and hardly ever more
_TRUST_IN_BASE = 2.0  # rows' worth, up to the former; it fades until the latter
_LEAST = 0.02  # candidates with less weight are dropped
_TINY = float(np.finfo(float).tiny)
_LEAST_OF_FEW = 0.05  # and with less than that where the base is clearly wrong and rows are few


def ways_to_share(
    logs: Array, weights: Array, careful: NDArray[np.bool_], rows: float, favour: Array | float = 0.0
) -> Iterator[Array]:
    """Shares of candidates, the base first, from log densities (n, c) of unseen outcomes.

    ``favour`` (c,) are rows' worth of trust in some, the more of which counts, the nearer they are to the best. Where
    the mixture clearly beats the base, all compete; if bold ones then have weight, the careful ones alone are a second
    way. Else careful ones only are weighed, and the base is trusted the more, the less the mixture gains.

    >>> careful, favour = np.array([True, True, False]), np.array([0.0, 2.0, 0.0])
    >>> [way.round(2) for way in ways_to_share(np.zeros((9, 3)), np.ones(9), careful, 9.0, favour)]
    [array([0.49, 0.51, 0.  ])]
    """
    least = _LEAST_OF_FEW if rows < ONE_SPLIT else _LEAST
    trust = np.full(logs.shape[1], _TRUST)
    trust += favour * np.exp(-_behind(logs, weights, careful) / _NEAR)
    shares = best_shares(logs, weights, trust)
    gained = weights @ gain(logs[:, 0], logsumexp(logs, axis=1, b=shares))
    if gained <= _CLEAR:
        trust[0], least = np.interp(gained, [_CHANCE, _CLEAR], [_TRUST_IN_BASE, _TRUST]), _LEAST
        shares = _of_some(logs, weights, trust, careful)
    yield kept(shares, rows, least)
    if (kept(shares, rows, least)[~careful] > 0).any():
        yield kept(_of_some(logs, weights, trust, careful), rows, least)


def _behind(logs: Array, weights: Array, careful: NDArray[np.bool_]) -> Array:
    """Nats by which candidates are behind the best of the careful ones, at least 0."""
    likelihood = weights @ np.maximum(logs, np.log(_TINY))
    return np.asarray(np.maximum(likelihood[careful].max() - likelihood, 0.0))


def _of_some(logs: Array, weights: Array, trust: Array, some: NDArray[np.bool_]) -> Array:
    """Best shares of some candidates; the others have none."""
    shares = np.zeros(len(some))
    shares[some] = best_shares(logs[:, some], weights, trust[some])
    return shares


def best_shares(logs: Array, weights: Array, trust: Array) -> Array:
    r"""Weights of a mixture with the highest likelihood, by EM; ``trust`` are pseudo-counts.

    Parameters
    ----------
    logs : ndarray (n, c)
        Log densities of n outcomes under c laws.
    weights : ndarray (n,)
    trust : ndarray (c,)

    Examples
    --------
    >>> best_shares(np.log([[0.9, 0.1], [0.9, 0.1], [0.1, 0.9]]), np.ones(3), np.zeros(2)).round(3)
    array([0.708, 0.292])
    """
    top = logs.max(axis=1, keepdims=True)
    density = np.exp(logs - np.where(np.isfinite(top), top, 0.0)).T
    shares, total = np.full(len(density), 1 / len(density)), weights.sum() + trust.sum()
    for _ in range(5000):
        mixed = np.maximum(shares @ density, _TINY)
        updated = (shares * (density @ (weights / mixed)) + trust) / total
        change = np.abs(updated - shares).max()
        shares = updated / updated.sum()
        if change < 1e-9:
            break
    return shares


def kept(shares: Array, rows: float, least: float = _LEAST) -> Array:
    """Small shares go, the base keeps its premium."""
    left = np.where(shares < least, 0.0, shares)
    left[0] = max(left[0], base_premium(rows) * left.sum())
    return np.asarray(left / left.sum())


def gain(before: Array, after: Array) -> Array:
    """Differences of logs; 0 where both are the log of 0."""
    with np.errstate(invalid="ignore"):
        gain = after - before
    return np.where(np.isnan(gain), 0.0, gain)
