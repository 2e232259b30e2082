"""Bets against laws: alternatives to uniform PIT values, or standard normal scores, of outcomes."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.special import eval_legendre, ndtr, ndtri

from .._checks import Array
from ..distributions import Distribution, Normal
from ..distributions.scores import score_intervals
from ..numerics.tails import HALF_LOG_2PI, log_between
from ..select.segments.faults import FAR
from ..select.segments.measured import law_fault
from .bets import Bets, Seen, mean_of

SHIFTS = np.array([0.1, 0.2, 0.4, 0.8, 1.6, -0.1, -0.2, -0.4, -0.8, -1.6])  # of scores
LOG_SCALES = np.array([-0.8, -0.4, -0.2, 0.2, 0.4, 0.8, 1.6])
OUTLIER_SHARES, OUTLIER_SCALES = np.array([0.02, 0.1]), np.array([5.0, 2.5])
TAIL = 0.05  # of the PIT values, at either end
TAIL_ODDS = (1.0, -0.6)  # so much more, or less, than forecast
WAVES = (0.8, 0.4, -0.4, -0.8)  # of PIT densities
ORDERS = (3, 4)
_SHIFT = np.concatenate([SHIFTS, np.zeros(len(LOG_SCALES) + len(OUTLIER_SCALES))])  # of normal alternatives
_LOG_SCALE = np.concatenate([np.zeros(len(SHIFTS)), LOG_SCALES, np.log(OUTLIER_SCALES)])
_SCALE, _NORMALS = np.exp(_LOG_SCALE), len(_SHIFT)
_OUTLIERS = slice(_NORMALS - len(OUTLIER_SCALES), _NORMALS)
_TILTS = np.kron(np.eye(2), TAIL_ODDS), np.kron(np.eye(len(ORDERS)), WAVES)  # of the PIT density
_AT_FAR, _AT_MINUS_FAR = (
    0.5 * (FAR**2 - np.square((z - _SHIFT) / _SCALE)) - _LOG_SCALE for z in (FAR, -FAR)
)  # the most that a score beyond can win
_TINY, _WILD = 1e-12, 10.0
_FARTHEST = 1e3  # scores beyond count as if they were there
_THIN = 1e-6  # between two scores, below which an atom is a point


class Scores(NamedTuple):
    """Normal scores of P(Y < y) and P(Y <= y), the logs of the probability between them, and which rows are atoms."""

    left: Array
    right: Array
    atoms: Array | None  # log masses, NaN where there is none

    @classmethod
    def of(cls, law: Distribution, y: Array) -> Scores:
        """Of outcomes; scores without an atom are the same twice."""
        left, right = score_intervals(law, y)
        if left is right:
            z = np.clip(right, -_FARTHEST, _FARTHEST)
            return cls(z, z, None)
        with np.errstate(invalid="ignore"):  # outcomes that are ruled out
            point = ~(right - left > _THIN)
        left = np.where(point, np.clip(right, -_FARTHEST, _FARTHEST), np.minimum(left, _FARTHEST))
        right = np.where(point, left, np.maximum(right, -_FARTHEST))
        return cls(left, right, np.where(point, np.nan, log_between(left, right)))


class LawBets(Bets):
    r"""Alternatives to standard normal scores z and uniform PIT values p of outcomes.

    ===== =======================================================================================================
    bias  :math:`N(\pm\delta, 1)`, δ from 0.1 to 1.6
    width :math:`N(0, s^2)`, log s from -0.8 to 1.6
    tails :math:`(1 - \varepsilon) N(0, 1) + \varepsilon N(0, s^2)`; and the lowest or highest twentieth of PIT values
          twice, or 0.4 times, as frequent
    shape PIT densities :math:`1 + c P_k(2p - 1)` with the Legendre polynomials of order 3 and 4
    ===== =======================================================================================================

    An outcome on an atom wins the ratio of the atom's masses, which is the mean of the ratio over its PIT values.
    Scores beyond 5 win no more than 5 does: less than is fair, so that a wild outcome alone seldom raises an alarm.
    """

    KINDS = ("bias", "width", "tails", "shape")
    WIDTH = "width"

    def seen(self, forecasts: Distribution, y: Array) -> Seen:
        scores = Scores.of(forecasts, y)
        low, high = _tail_shares(scores)
        normal = _normal_gains(scores)
        wide = np.log(OUTLIER_SHARES) + normal[:, _OUTLIERS]
        normal[:, _OUTLIERS] = np.logaddexp(np.log1p(-OUTLIER_SHARES), wide)
        tails = (np.array([low, high]).T - TAIL) / (1 - TAIL) @ _TILTS[0]
        waves = np.array([_wave(k, scores) for k in ORDERS]).T @ _TILTS[1]
        gains = np.concatenate([normal, np.log1p(tails), np.log1p(waves)], axis=1)
        return Seen(self._chosen(gains) - self._toll, np.array([*_moments(scores), low, high]).T)

    def size(self, kind: str, sums: Array) -> float:
        """Mean score; root of the mean square of scores; share of outcomes in 90 % intervals, also of the shape."""
        if kind == "bias":
            return mean_of(sums, 1)
        if kind == "width":
            return float(np.sqrt(mean_of(sums, 2)))
        return 1 - mean_of(sums, 3) - mean_of(sums, 4)

    def log_width(self, sums: Array) -> Array:
        """Half the log of the mean square of scores."""
        return np.asarray(0.5 * np.log(np.maximum(sums[:, 2], _TINY) / np.maximum(sums[:, 0], 1.0)))

    def words(self, kind: str, place: int, sums: Array) -> str:
        if kind == "shape":
            up = place % len(WAVES) < len(WAVES) / 2
            if place < len(WAVES):
                return f"outcomes skewed {'up' if up else 'down'}"
            return f"outcomes {'more peaked' if up else 'flatter'} than forecast"
        fault = law_fault("coverage" if kind == "tails" else kind, self.size(kind, sums))
        return {"bias": "forecasts ", "width": "intervals "}.get(kind, "") + fault

    @cached_property
    def _toll(self) -> Any:
        r"""Log of the most that alternatives win on average, at least 0, over all scores that are tolerated; (A,).

        :math:`N(m, s^2)` with :math:`|m| \le \tau` and :math:`|\log s| \le \log(1 + \tau)`, at 25 places.
        """
        if not self.tolerance:
            return 0.0
        z, mass = _nodes()
        won = np.exp(LawBets(self.kinds).seen(Normal(np.zeros(len(z)), 1.0), z).gains)
        means = np.linspace(-self.tolerance, self.tolerance, 5)[:, None, None]
        scales = np.exp(np.linspace(-1, 1, 5) * np.log1p(self.tolerance))[:, None]
        density = np.exp(-0.5 * np.square((z - means) / scales) - HALF_LOG_2PI) / scales
        return np.log(np.maximum((density * mass @ won).max(axis=(0, 1)), 1.0))

    def _sizes(self) -> dict[str, Array]:
        tails = np.zeros(len(OUTLIER_SCALES) + _TILTS[0].shape[1])
        shape = np.zeros(_TILTS[1].shape[1])
        return {"bias": SHIFTS, "width": LOG_SCALES, "tails": tails, "shape": shape}


def _nodes() -> tuple[Array, Array]:
    """Nodes and weights of integrals over scores, between which gains do not jump."""
    ends = np.concatenate([[-40.0, -10.0, -FAR], np.array([-1, 1]) * -ndtri(TAIL), [FAR, 10.0, 40.0]])
    x, w = np.polynomial.legendre.leggauss(100)
    half = 0.5 * np.diff(ends)[:, None]
    return np.ravel(ends[:-1, None] + half * (1 + x)), np.ravel(half * w)


def _normal_gains(scores: Scores) -> Array:
    r"""Logs of :math:`N(\delta, s^2)` over N(0, 1), of densities or of masses of atoms."""
    z = scores.right[:, None]
    with np.errstate(invalid="ignore"):  # of atoms that reach to infinity
        gains = 0.5 * (np.square(z) - np.square((z - _SHIFT) / _SCALE)) - _LOG_SCALE
    if scores.atoms is not None:
        rows = ~np.isnan(scores.atoms)
        low, high = ((end[rows, None] - _SHIFT) / _SCALE for end in (scores.left, scores.right))
        gains[rows] = log_between(low, high) - scores.atoms[rows, None]
    for rows, limit in ((scores.left > FAR, _AT_FAR), (scores.right < -FAR, _AT_MINUS_FAR)):
        if rows.any():
            gains[rows] = np.minimum(gains[rows], limit)
    return np.asarray(gains)


def _tail_shares(scores: Scores) -> tuple[Array, Array]:
    """How much of the PIT values of each row lies in the lower and in the upper tail."""
    if scores.atoms is None:
        p = ndtr(scores.right)
        return (p < TAIL).astype(np.float64), (p > 1 - TAIL).astype(np.float64)
    return _share_below(scores.left, scores.right), _share_below(-scores.right, -scores.left)


def _share_below(left: Array, right: Array) -> Array:
    low, high = ndtr(left), ndtr(right)
    inside = np.minimum(high, TAIL) - np.minimum(low, TAIL)
    return np.where(high > low, inside / np.where(high > low, high - low, 1.0), low < TAIL)


def _wave(k: int, scores: Scores) -> Array:
    r"""Legendre polynomial of 2p - 1; on an atom its mean, :math:`\int P_k = (P_{k+1} - P_{k-1}) / (2k + 1)`."""
    x = 2 * ndtr(scores.right) - 1
    wave = eval_legendre(k, x)
    if scores.atoms is None:
        return np.asarray(wave)
    x0 = 2 * ndtr(scores.left) - 1
    wide = x - x0 > _THIN
    area = [eval_legendre(k + 1, end) - eval_legendre(k - 1, end) for end in (x0, x)]
    return np.where(wide, (area[1] - area[0]) / (2 * k + 1) / np.where(wide, x - x0, 1.0), wave)


def _moments(scores: Scores) -> tuple[Array, Array, Array]:
    """One, score and its square; on an atom their means, which are 0 and 1 in all if the law is right.

    Scores beyond 10 count as 10: a single wild one shall not make the size of a fault.
    """
    z, square = scores.right, np.square(scores.right)
    if scores.atoms is not None:
        rows = ~np.isnan(scores.atoms)
        a, b, log_mass = scores.left[rows], scores.right[rows], scores.atoms[rows]
        at_a, at_b = (np.exp(-0.5 * np.square(end) - HALF_LOG_2PI - log_mass) for end in (a, b))
        z, square = z.copy(), square.copy()
        z[rows] = at_a - at_b
        square[rows] = 1 + np.where(at_a > 0, a, 0) * at_a - np.where(at_b > 0, b, 0) * at_b
    return np.ones(len(z)), np.clip(z, -_WILD, _WILD), np.minimum(square, _WILD**2)
