"""Mixtures of laws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from ..._checks import Array, complain, count, finite, to_array
from ..._types import Numbers
from ...maps.base import Side
from ...numerics.brackets import smallest_atom_reaching, smallest_reaching
from ...numerics.roots import Where
from ...numerics.tails import TINY, log_slope_of, score_of_logs, slack
from ..base import Distribution, across
from ..tables.lines import SharedOrByRow, spread_out
from .crps import crps
from .quantiles import by_newton


@dataclass(frozen=True, eq=False, repr=False)
class Mixture(SharedOrByRow):
    r"""Weighted averages of distribution functions, :math:`F(y) = \sum_j w_j F_j(y)`, as K-fold calibrators give them.

    Parameters
    ----------
    components : sequence of Distribution
        All with n rows.
    weights : None, array-like (c,) or (n, c)
        Non-negative, shared or per row; divided by their sum. None: equal.

    Examples
    --------
    >>> from calibrant import Normal
    >>> law = Mixture([Normal([0.0, 0.0], 1.0), Normal([4.0, 0.0], 1.0)], weights=[0.25, 0.75])
    >>> law.mean(), law.var()
    (array([3., 0.]), array([4., 1.]))
    """

    _by_row: ClassVar[tuple[str, ...]] = ()
    _maybe_by_row: ClassVar[tuple[str, ...]] = ("weights",)

    components: tuple[Distribution, ...]
    weights: Array | None

    def __init__(self, components: Sequence[Distribution], weights: Numbers | None = None) -> None:
        """Check that components and weights fit together; normalise the weights."""
        components = tuple(components)
        if not components or not all(isinstance(law, Distribution) for law in components):
            kinds = ", ".join(type(law).__name__ for law in components) or "none"
            raise TypeError(
                f"`components` must be one or more distributions; got {kinds}. Wrap them with as_distribution."
            )
        lengths = sorted({len(law) for law in components})
        if len(lengths) > 1:
            raise ValueError(f"`components` must all have as many rows; got {', '.join(map(str, lengths))}.")
        object.__setattr__(self, "components", components)
        object.__setattr__(self, "weights", _shares(weights, lengths[0], len(components)))

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.components[0])

    @property
    def index(self) -> Any:
        """Its own, or the first index among the components."""
        known = (law.index for law in self.components if law.index is not None)
        return next(known, None) if self._index is None else self._index

    @property
    def has_atoms(self) -> bool:
        """Whether any component has atoms."""
        return any(law.has_atoms for law in self.components)

    @property
    def is_discrete(self) -> bool:
        """Whether all components are discrete."""
        return all(law.is_discrete for law in self.components)

    @property
    def on_integers(self) -> bool:
        """Whether all components are counts."""
        return all(law.on_integers for law in self.components)

    @property
    def tail_index(self) -> Array:
        """The heaviest tail of each row's components."""
        return np.asarray(self._over(lambda law: law.tail_index, np.inf).min(axis=0))

    @property
    def support(self) -> tuple[Array, Array]:
        """From the lowest to the highest end of each row's components."""
        low = self._over(lambda law: law.support[0], np.inf).min(axis=0)
        return low, self._over(lambda law: law.support[1], -np.inf).max(axis=0)

    def _over(self, ask: Any, absent: float) -> Array:
        """What each component answers, (c, n); ``absent`` where it has no weight."""
        return np.stack([np.where(self._share(j) > 0, ask(law), absent) for j, law in enumerate(self.components)])

    def _share(self, j: int) -> Array:
        """Weight of component j, a scalar or (n,)."""
        return np.asarray(self.weights[..., j])  # type: ignore[index]

    def _share_across(self, j: int, y: Array) -> Array:
        share = self._share(j)
        return across(share, y) if share.ndim else share

    def _flat(self) -> Mixture:
        """The same laws with the components of components that are mixtures themselves."""
        if not any(isinstance(law, Mixture) for law in self.components):
            return self
        parts: list[Distribution] = []
        shares: list[Array] = []
        for j, law in enumerate(self.components):
            inner = law._flat() if isinstance(law, Mixture) else None
            parts += [law] if inner is None else inner.components
            within = [np.ones(())] if inner is None else [inner._share(k) for k in range(len(inner.components))]
            shares += [self._share(j) * share for share in within]
        return Mixture(parts, np.stack(np.broadcast_arrays(*shares), axis=-1))

    def _kinks(self) -> Array:
        return np.hstack([law._kinks() for law in self.components])

    # ---- the three primitives ----
    def to_normal(self, y: Array, side: Side = "right") -> Array:
        """Score of the average of the distribution functions, from the smaller tail; in logs where it underflows."""
        y = spread_out(y, len(self))
        scores = [law.to_normal(y, side) for law in self.components]
        lower, upper = np.zeros(y.shape), np.zeros(y.shape)
        for j, z in enumerate(scores):
            small = ndtr(-np.abs(z))
            large, weight = 1 - small, self._share_across(j, y)
            negative = z < 0
            lower += weight * np.where(negative, small, large)
            upper += weight * np.where(negative, large, small)
        low = lower < upper
        tail = np.where(low, lower, upper)
        out = np.asarray(np.where(low, 1.0, -1.0) * ndtri(tail))
        tiny = tail < TINY
        if tiny.any():
            shares = [np.broadcast_to(self._share_across(j, y), y.shape)[tiny] for j in range(len(scores))]
            out[tiny] = _far_score([z[tiny] for z in scores], shares)
        return out

    def from_normal(self, z: Array) -> Array:
        """Quantiles; of smooth laws by Newton steps, of others between the lowest and highest of the components."""
        z = spread_out(z, len(self))
        if (found := by_newton(self, z)) is None:
            return self._by_search(z)
        out, rest = found
        if rest.any():
            rows = np.nonzero(rest)[0]
            out[rest] = self[rows]._by_search(z[rest])
        return out

    def _by_search(self, z: Array) -> Array:
        """Quantiles between the lowest and the highest quantile of the components."""
        quantiles = [law.from_normal(z) for law in self.components]
        low, high, guess = quantiles[0].copy(), quantiles[0].copy(), np.zeros(z.shape)
        for j, q in enumerate(quantiles):
            share = self._share_across(j, z)
            with np.errstate(invalid="ignore"):
                guess += np.where(share > 0, share * q, 0.0)
            if j:
                np.copyto(low, q, where=q < low)
                np.copyto(high, q, where=q > high)
        if not self.has_atoms:
            return smallest_reaching(self._score_at, z, (low, high, guess), flats=self._may_be_flat())
        eased = z - slack(z)
        if self.is_discrete:
            return smallest_atom_reaching((self._left_score, self.to_normal), eased, (low, high), self._snapped)
        reached = smallest_reaching(self._score_at, eased, (low, high, guess), flats=True)
        return self._onto_atoms(reached, eased, high - low)

    def log_slope(self, y: Array) -> Array:
        """Log density of the mixture less that of its normal score."""
        return self.score_and_log_slope(y)[1]

    def score_and_log_slope(self, y: Array) -> tuple[Array, Array]:
        """Scores, and slopes from these and the density."""
        y = spread_out(y, len(self))
        z = self.to_normal(y)
        return z, log_slope_of(_log_density(self, y), z)

    def logpdf(self, y: Any) -> Array:
        """Log of the average density."""
        return self._by_blocks(_log_density, self._points(y))

    def _score_at(self, y: Array, rows: Where) -> Array:
        """Scores of points in all rows, or in some."""
        return (self if isinstance(rows, slice) else self[rows]).to_normal(y)

    def _left_score(self, y: Array) -> Array:
        return self.to_normal(y, "left")

    def _may_be_flat(self) -> bool:
        """Whether there may be gaps: only laws with ends leave any."""
        low, high = self.support
        return bool(np.isfinite(low).any() or np.isfinite(high).any())

    def _snapped(self, y: Array) -> Array:
        """The last atom up to y of any component, all of them discrete."""
        last = np.full(y.shape, -np.inf)
        for law in self.components:
            atom = law.from_normal(law.to_normal(y))
            np.copyto(last, atom, where=(atom <= y) & (atom > last))
        return np.where(np.isfinite(last), last, y)

    def _onto_atoms(self, y: Array, z: Array, width: Array) -> Array:
        """Move quantiles that sit on an atom but for rounding onto it."""
        for law in self.components:
            if law.has_atoms:
                atom = law.from_normal(law.to_normal(y))
                near = (atom != y) & (np.abs(atom - y) <= 1e-12 * np.maximum(np.abs(y), width))
                if near.any():
                    y = np.where(near & (self.to_normal(np.where(near, atom, y)) >= z), atom, y)
        return y

    # ---- moments, scores, samples ----
    def mean(self) -> Array:
        """Weighted means."""
        return self._average([law.mean() for law in self.components])

    def var(self) -> Array:
        """Within and between the components; inf where one of them has no variance."""
        with np.errstate(over="ignore", under="ignore"):
            return np.square(self.std())

    def std(self) -> Array:
        """Within and between the components; squares are taken in units of the largest part, lest they overflow."""
        means, within = [law.mean() for law in self.components], [law.std() for law in self.components]
        centre, shares = self._average(means), [self._share(j) for j in range(len(means))]
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            parts = [*within, *(np.abs(m - centre) for m in means)]
            parts = [np.where(w > 0, part, 0.0) for w, part in zip([*shares, *shares], parts, strict=True)]
            size = np.maximum(np.max(parts, axis=0), np.finfo(float).tiny)
            total = np.sum(
                [w * np.square(part / size) for w, part in zip([*shares, *shares], parts, strict=True)], axis=0
            )
            return np.where(np.isfinite(size), size * np.sqrt(total), np.inf)

    def _average(self, values: list[Array]) -> Array:
        out = np.zeros(len(self))
        for j, value in enumerate(values):
            share = self._share(j)
            with np.errstate(invalid="ignore", over="ignore"):
                out += np.where(share > 0, share * value, 0.0)
        return out

    def crps(self, y: Any) -> Array:
        """CRPS; in closed form for normal components."""
        return crps(self, self._outcomes(y))

    def sample(self, size: int = 1, random_state: Any = None) -> Array:
        """Independent draws, (n, size): a component by its weight, then a value from it."""
        rng = np.random.default_rng(random_state)
        shares = np.broadcast_to(self.weights, (len(self), len(self.components)))  # type: ignore[arg-type]
        shape = (len(self), count(size, "size", least=0))
        level, z = rng.random(shape), rng.standard_normal(shape)
        out, reached = np.empty(z.shape), np.zeros(len(self))
        last = np.full(z.shape, True)
        for j, law in enumerate(self.components):
            reached = reached + shares[:, j]
            mine = last & ((level < reached[:, None]) | (j == len(self.components) - 1))
            np.copyto(out, law._by_blocks(lambda part, v: part.from_normal(v), z), where=mine)
            last &= ~mine
        return out


def _shares(values: Any, n: int, c: int) -> Array:
    if values is None:
        return np.full(c, 1 / c)
    weights = finite(to_array(values, "weights"), "weights")
    if weights.shape not in ((c,), (n, c)):
        raise ValueError(
            f"`weights` must be ({c},) or ({n}, {c}) for {c} components of {n} rows; got shape {weights.shape}."
        )
    complain("weights", "non-negative", weights, weights < 0)
    total = weights.sum(axis=-1, keepdims=True)
    complain("sum of weights", "positive", total, ~(total > 0))
    return np.asarray(weights / total)


def _far_score(scores: list[Array], shares: list[Array]) -> Array:
    """Scores where the smaller tail underflows, from the sums of the tails in logs."""
    with np.errstate(divide="ignore"):
        logs = [np.log(share) for share in shares]
    lower = np.logaddexp.reduce([w + log_ndtr(z) for w, z in zip(logs, scores, strict=True)])
    upper = np.logaddexp.reduce([w + log_ndtr(-z) for w, z in zip(logs, scores, strict=True)])
    return score_of_logs(lower, upper)


def _log_density(law: Mixture, y: Array) -> Array:
    """Log of the weighted sum of densities, about the largest of them."""
    y = spread_out(y, len(law))
    densities = []
    for j, part in enumerate(law.components):
        with np.errstate(divide="ignore"):
            densities.append(part.logpdf(y) + np.log(law._share_across(j, y)))
    top = np.max(np.stack(densities), axis=0)
    base = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore", under="ignore", over="ignore"):
        return base + np.log(sum(np.exp(density - base) for density in densities))
