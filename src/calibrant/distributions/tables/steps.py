r"""Laws made of atoms: the empirical law of sorted members, and its CRPS.

.. math:: F(y) = \sum_i w_i 1\{x_i \le y\} / W,\qquad
    \mathrm{CRPS} = \sum_i \frac{w_i}{W} |x_i - y| - \sum_i \frac{w_i (C_{i-1} + C_i - W)}{N}\, x_{(i)},\qquad
    C_i = \sum_{j \le i} w_j

With :math:`N = W^2` this is the CRPS of the empirical law; the fair estimator has :math:`N = W(W-1)` (Ferro 2014) and
is unbiased for the CRPS of the law the members were drawn from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._checks import Array
from ...maps.base import Side
from ...numerics.blocks import row_blocks
from ...numerics.lines import count_below, pick
from ...numerics.tails import score_of, slack
from .lines import spread_out, times
from .weighted_members import pairs


@dataclass(frozen=True, eq=False)
class Steps:
    """Step functions through sorted members, (n, m); weights are None (equal) or (n, m), in the same order."""

    members: Array
    weights: Array | None

    def __getitem__(self, rows: slice) -> Steps:
        """Step functions of these rows."""
        return Steps(self.members[rows], None if self.weights is None else self.weights[rows])

    def shares(self) -> tuple[Array, Array]:
        """Share of the weight up to each member, and of that beyond it, (m,) or (n, m)."""
        m = self.members.shape[1]
        if self.weights is None:
            rank = np.arange(1, m + 1)
            return rank / m, (m - rank) / m
        lower, upper = np.cumsum(self.weights, axis=1), np.zeros(self.weights.shape)
        upper[:, :-1] = np.cumsum(self.weights[:, :0:-1], axis=1)[:, ::-1]
        total = lower[:, -1:]
        return lower / total, upper / total

    def to_normal(self, y: Array, side: Side = "right") -> Array:
        """Score of P(Y <= y) (right) or P(Y < y) (left)."""
        y = spread_out(y, len(self.members))
        passed = count_below(self.members, y, strict=side == "left")
        lower, upper = (pick(share, np.maximum(passed - 1, 0)) for share in self.shares())
        return np.where(np.isnan(y), np.nan, np.where(passed > 0, score_of(lower, upper), -np.inf))

    def from_normal(self, z: Array) -> Array:
        """The member whose step reaches z; a score that is off by rounding only still finds its member."""
        z = spread_out(z, len(self.members))
        passed = count_below(score_of(*self.shares()), z - slack(z), strict=True)
        y = pick(self.members, np.minimum(passed, self.members.shape[1] - 1))
        return np.where(np.isnan(z), np.nan, y)

    def mean(self) -> Array:
        """Averages of the members."""
        return self._average(self.members)

    def std(self) -> Array:
        """Standard deviations of the members; no correction, as the law is given."""
        u, size = scaled(self.members)
        with np.errstate(over="ignore"):
            return np.asarray(np.sqrt(self._average(np.square(u - self._average(u)[:, None]))) * size)

    def _average(self, table: Array) -> Array:
        if self.weights is None:
            return times(table, np.full(table.shape[1], 1 / table.shape[1]))
        return np.asarray(times(table, self.weights) / self.weights.sum(axis=1))

    def crps(self, y: Array, *, fair: bool = False) -> Array:
        """CRPS of one outcome per row: of the law itself, or the fair estimator."""
        shared = _gini_weights(self.members.shape[1], fair=fair) if self.weights is None else None
        out = np.empty(len(self.members))
        for rows in row_blocks(*self.members.shape):
            out[rows] = _crps(self[rows], y[rows], shared, fair=fair)
        return out


def _crps(law: Steps, y: Array, gini: Array | None, *, fair: bool) -> Array:
    with np.errstate(over="ignore"):
        u = law.members - y[:, None]
    spread = times(u, _weighted_gini(law.weights, fair=fair) if gini is None else gini)  # type: ignore[arg-type]
    np.abs(u, out=u)
    return np.asarray(law._average(u) - spread)


def _gini_weights(m: int, *, fair: bool) -> Array:
    pairs = m * (m - 1) if fair else m * m
    return np.asarray((2 * np.arange(1, m + 1) - m - 1) / pairs)


def _weighted_gini(weights: Array, *, fair: bool) -> Array:
    total = weights.sum(axis=1, keepdims=True)
    rank = 2 * np.cumsum(weights, axis=1) - weights - total
    return np.asarray(weights * rank / (pairs(weights) if fair else np.square(total)))


def scaled(table: Array) -> tuple[Array, Array]:
    """Each sorted line less its first entry, divided by its range: squares neither overflow nor underflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        size = table[:, -1] - table[:, 0]
        size = np.where(size > 0, size, 1.0)
        return (table - table[:, :1]) / size[:, None], size
