"""A mixture of laws of scores, seen as one map."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.special import log_ndtr, ndtr

from .._checks import Array
from ..numerics.blocks import row_blocks
from ..numerics.tails import score_of, score_of_logs
from .affine import AffineMap
from .base import Map, Side

_SMALLEST = 1e-200  # tails below are worked out in logs
_AROUND = np.array([-4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 4.0])  # scales from a law's middle where integrals are split
_ROUGH = np.sinh(np.linspace(-3.0, 3.0, 41))  # where roots are looked for first
_SEEN = 1e-3  # share of a law whose places are looked at in integrals
_APART = 0.25  # of the narrowest law, or of 1: places that are nearer to each other count once
_REPEATED = 64  # scores, beyond which equal ones are solved once


@dataclass(frozen=True, eq=False, repr=False)
class MixedMap(Map):
    r"""Scores of a mixture of normal laws and of maps' laws.

    .. math:: T(z) = \Phi^{-1}\Big(\sum_k w_k\,\Phi\big((z - m_k)/s_k\big) + \sum_j v_j\,\Phi(T_j(z))\Big)

    The density is that of the mixture, exactly; both tails are worked out from the smaller one.

    Parameters
    ----------
    shares, locations, scales : array (K,)
        Weights, middles and widths of the normal laws.
    maps : tuple of Map
        Shared by all rows.
    map_shares : array (M,)
        Weights of their laws; all weights together are 1.

    Examples
    --------
    >>> two = MixedMap(np.array([0.5, 0.5]), np.array([-2.0, 2.0]), np.array([1.0, 1.0]))
    >>> two(np.array([0.0, 2.0])).round(3), two.inverse(np.array([0.0]))
    (array([0.   , 0.674]), array([0.]))
    """

    shares: Array
    locations: Array
    scales: Array
    maps: tuple[Map, ...] = ()
    map_shares: Array = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        """Check that the parts belong together and are a mixture."""
        weights = np.concatenate([self.shares, self.map_shares])
        if len({len(self.shares), len(self.locations), len(self.scales)}) > 1 or len(self.maps) != len(self.map_shares):
            raise ValueError("`shares` must have one entry for each law.")
        if not (np.all(weights >= 0) and abs(weights.sum() - 1) < 1e-6):
            raise ValueError(f"`shares` must be weights that add up to 1; the sum is {weights.sum():g}.")
        if not np.all(self.scales > 0) or any(part.rows is not None or part.has_steps for part in self.maps):
            raise ValueError("`scales` must be positive and `maps` smooth, the same for all rows.")

    @classmethod
    def _example(cls, rng: np.random.Generator, rows: int) -> MixedMap:
        shares = rng.dirichlet(np.ones(rows + 1))
        bent = AffineMap(0.3, float(np.exp(rng.normal(0.0, 0.3))))
        return cls(shares[1:], rng.normal(0.0, 1.0, rows), np.exp(rng.normal(0.0, 0.5, rows)), (bent,), shares[:1])

    @property
    def bends(self) -> Array:
        """Places in the middles and tails of the laws, and where the maps bend, not too many of them."""
        seen = self.shares > _SEEN
        near = self.locations[seen, None] + self.scales[seen, None] * _AROUND
        bent = [part.bends for part, share in zip(self.maps, self.map_shares, strict=True) if share > _SEEN]
        places = np.unique(np.concatenate([near.ravel(), *bent]))
        cells = np.floor(places / (_APART * min(1.0, self.scales[seen].min(initial=1.0))))
        return places[np.unique(cells, return_index=True)[1]]

    def __call__(self, z: Array, side: Side = "right") -> Array:
        """T(z)."""
        z = np.asarray(z, dtype=np.float64)
        flat, out = z.ravel(), np.empty(z.size)
        for part in row_blocks(z.size, len(self.shares) + 1):
            out[part] = self._heights(flat[part])
        return out.reshape(z.shape)

    def log_slope(self, z: Array) -> Array:
        """log T'(z)."""
        return self.value_and_log_slope(z)[1]

    def value_and_log_slope(self, z: Array) -> tuple[Array, Array]:
        """Both from one look at the laws."""
        z = np.asarray(z, dtype=np.float64)
        flat, out = z.ravel(), np.empty((2, z.size))
        for part in row_blocks(z.size, len(self.shares) + 1):
            out[:, part] = self._parts(flat[part])
        return out[0].reshape(z.shape), out[1].reshape(z.shape)

    def inverse(self, t: Array) -> Array:
        """The z with T(z) = t."""
        t = np.asarray(t, dtype=np.float64)
        if t.size > _REPEATED:
            values, places = np.unique(t, return_inverse=True)
            return self._inverse(values)[places].reshape(t.shape)
        return self._inverse(t)

    def _inverse(self, t: Array) -> Array:
        places, heights = self._rough
        start = np.interp(t, heights, places)

        def height(part: MixedMap, z: Array) -> tuple[Array, Array]:
            value, log_slope = part.value_and_log_slope(z)
            with np.errstate(over="ignore", under="ignore"):
                return value, np.exp(log_slope)

        return self._solve(height, t, start, close=1e-12)

    @cached_property
    def _rough(self) -> tuple[Array, Array]:
        """Some places and the scores there, from which roots are sought."""
        shares = self.shares / max(self.shares.sum(), 1e-300)
        middle = float(shares @ self.locations)
        width = np.sqrt(float(shares @ (np.square(self.scales) + np.square(self.locations - middle)))) + 1e-3
        places = middle + width * _ROUGH
        return places, self(places)

    def _heights(self, z: Array) -> Array:
        """Scores."""
        scores = np.concatenate([self._standardised(z), *(part(z)[None, :] for part in self.maps)])
        low, high = _tails(self._weights, scores)
        out = score_of(low, high)
        if (far := np.minimum(low, high) < _SMALLEST).any():
            out[far] = _far_heights(self._weights, scores[:, far])
        return np.where(np.isinf(z), z, out)

    def _parts(self, z: Array) -> tuple[Array, Array]:
        """Scores and log slopes."""
        t = [self._standardised(z)]
        slopes = [np.broadcast_to(-np.log(self.scales)[:, None], t[0].shape)]
        for part in self.maps:
            score, bent = part.value_and_log_slope(z)
            t.append(score[None, :])
            slopes.append(bent[None, :])
        shares, scores, logs = self._weights, np.concatenate(t), np.concatenate(slopes)
        low, high = _tails(shares, scores)
        out = score_of(low, high)
        with np.errstate(divide="ignore", over="ignore", under="ignore", invalid="ignore"):
            rise = np.log(shares @ np.exp(logs - 0.5 * np.square(scores))) + 0.5 * np.square(out)
            if (far := np.minimum(low, high) < _SMALLEST).any():
                out[far] = _far_heights(shares, scores[:, far])
                density = _log_sum(np.log(shares)[:, None] + logs[:, far] - 0.5 * np.square(scores[:, far]))
                rise[far] = density + 0.5 * np.square(out[far])
        ends = np.isinf(z)
        return np.where(ends, z, out), np.where(ends, logs.min(axis=0), rise)

    @cached_property
    def _weights(self) -> Array:
        return np.append(self.shares, self.map_shares)

    def _standardised(self, z: Array) -> Array:
        return np.asarray((z - self.locations[:, None]) / self.scales[:, None])


def _tails(shares: Array, scores: Array) -> tuple[Array, Array]:
    """Probabilities below and above; the smaller one is not a difference."""
    low = np.asarray(shares @ ndtr(scores))
    high = 1.0 - low
    if (small := low > 0.5).all():
        high = np.asarray(shares @ ndtr(-scores))
    elif small.any():
        high[small] = shares @ ndtr(-scores[:, small])
    return low, high


def _far_heights(shares: Array, scores: Array) -> Array:
    """Scores of the mixture where probabilities are too small for floats."""
    with np.errstate(divide="ignore"):
        weight = np.log(shares)[:, None]
        low, high = (_log_sum(weight + log_ndtr(side * scores)) for side in (1, -1))
    return score_of_logs(np.minimum(low, 0.0), np.minimum(high, 0.0))


def _log_sum(logs: Array) -> Array:
    """Log of the sum of exponentials over the first axis."""
    top = logs.max(axis=0)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore", under="ignore"):
        return np.asarray(top + np.log(np.exp(logs - top).sum(axis=0)))
