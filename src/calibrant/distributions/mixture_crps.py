r"""CRPS of mixtures.

Normal components have a closed form (Grimit et al. 2006). In general a mixture scores better than its components do on
average, by the variance of their distribution functions, which does not depend on the outcome:

.. math:: \mathrm{CRPS}(F, y) = \sum_j w_j\,\mathrm{CRPS}(F_j, y) - \int \sum_j w_j (F_j - F)^2\,dt,\qquad
    F = \sum_j w_j F_j

so components with closed forms leave one smooth integral, for which the trapezoidal rule converges fast.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr

from .._checks import Array
from . import quadrature
from .base import Distribution
from .normal import Normal
from .rows import row_blocks
from .segments import density

if TYPE_CHECKING:
    from .mixture import Mixture

_MANY = 24  # more normal components than this are left to quadrature: pairs grow with the square
_REACH = 6.0  # scores beyond which the squares of tail probabilities vanish
_COARSE, _FINE = 64, 4096  # cells of the trapezoidal rule, first and last
_TOLERANCE = 4e-7  # of the last doubling, relative to the score
_HOPELESS = 1e-5  # a last doubling that changed more than this: components of very different scales


def crps(law: Mixture, y: Array) -> Array:
    """CRPS of one outcome per row, by the way that suits the components."""
    parts = law.components
    if len(parts) <= _MANY and all(type(part) is Normal for part in parts):
        blocks = [_normal_crps(law[rows], y[rows]) for rows in row_blocks(len(law), len(parts))]
        return np.concatenate([np.empty(0), *blocks])
    if law.has_atoms or np.any(law.tail_index < 1):
        return quadrature.crps(law, y)
    score = law._average([part.crps(y) for part in parts])
    return score - _disagreement(law, score, y)


def _normal_crps(law: Mixture, y: Array) -> Array:
    r"""Closed form; A is the expected distance of a normal variable from 0, of mean m and standard deviation s.

    .. math:: \sum_i w_i A(y-\mu_i, \sigma_i) - \frac12\sum_{ij} w_i w_j A(\mu_i-\mu_j, \sqrt{\sigma_i^2+\sigma_j^2})
    """
    loc, scale = (np.stack([getattr(part, name) for part in law.components]) for name in ("loc", "scale"))
    shares = [law._share(j) for j in range(len(loc))]
    total = np.zeros(len(y))
    for j, share in enumerate(shares):
        total += share * _expected_distance(y - loc[j], scale[j])
        total -= np.square(share) * scale[j] / np.sqrt(np.pi)
        for i in range(j):
            total -= share * shares[i] * _expected_distance(loc[i] - loc[j], np.hypot(scale[i], scale[j]))
    return total


def _expected_distance(m: Array, s: Array) -> Array:
    r"""Expected absolute value of a normal variable, :math:`2 s\varphi(m/s) + m(2\Phi(m/s) - 1)`."""
    with np.errstate(over="ignore"):
        u = m / s
    return np.asarray(2 * s * density(u) + m * (2 * ndtr(u) - 1))


@dataclass(frozen=True, eq=False)
class _Grid:
    r"""Points :math:`c + s\sinh u` of each row, u evenly spaced: dense in the middle, sparse in the tails."""

    law: Mixture
    centre: Array
    scale: Array
    low: Array
    high: Array

    @classmethod
    def over(cls, law: Mixture) -> _Grid:
        at = {z: [_at_score(part, z) for part in law.components] for z in (-_REACH, -1.0, 0.0, 1.0, _REACH)}
        centre = law._average(at[0.0])
        scale = 0.75 * (law._average(at[1.0]) - law._average(at[-1.0]))
        low, high = np.min(at[-_REACH], axis=0), np.max(at[_REACH], axis=0)
        width = np.where(high > low, high - low, 1.0)  # laws may be points to rounding
        scale = np.where(scale > 1e-9 * width, scale, width)
        return cls(law, centre, scale, np.arcsinh((low - centre) / scale), np.arcsinh((high - centre) / scale))

    def __getitem__(self, rows: Any) -> _Grid:
        return _Grid(self.law[rows], self.centre[rows], self.scale[rows], self.low[rows], self.high[rows])

    def integral(self, shares: Array) -> Array:
        """Trapezoidal sum over the points at these shares of the way; the integrand vanishes at both ends."""
        out = np.empty(len(self.centre))
        for rows in row_blocks(len(out), 4 * len(shares)):
            out[rows] = self[rows]._integral(shares)
        return out

    def _integral(self, shares: Array) -> Array:
        way = self.high - self.low
        u = self.low[:, None] + way[:, None] * shares
        t = self.centre[:, None] + self.scale[:, None] * np.sinh(u)
        values = [ndtr(part.to_normal(t)) for part in self.law.components]
        weights = [self.law._share_across(j, t) for j in range(len(values))]
        mean = np.sum([w * v for w, v in zip(weights, values, strict=True)], axis=0)
        variance = np.sum([w * np.square(v - mean) for w, v in zip(weights, values, strict=True)], axis=0)
        return np.asarray(np.mean(variance * np.cosh(u), axis=1) * self.scale * way)


def _at_score(part: Distribution, z: float) -> Array:
    return part._by_blocks(lambda law, v: law.from_normal(v), np.full(len(part), z))


def _disagreement(law: Mixture, score: Array, y: Array) -> Array:
    """Integral of the variance of the components' distribution functions, by doubling, then by quadrature."""
    grid = _Grid.over(law)
    out = grid.integral(np.arange(_COARSE) / _COARSE)
    live, cells, before, change = np.arange(len(law)), _COARSE, out, out
    while len(live) and cells < _FINE:
        before, change = change, 0.5 * (grid[live].integral((np.arange(cells) + 0.5) / cells) - out[live])
        out[live] += change
        off = np.maximum(np.abs(change), np.abs(before) / 16) > _TOLERANCE * score[live]  # one small change may be luck
        live, before, change, cells = live[off], before[off], change[off], 2 * cells
    live = live[np.maximum(np.abs(change), np.abs(before)) > _HOPELESS * score[live]]
    if len(live):
        out[live] = score[live] - quadrature.crps(law[live], y[live])
    return out
