"""The average of beta maps whose parameters are not known exactly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtri, ndtri_exp

from .._checks import Array
from ._solve import solve_increasing
from .base import Map, Side

_LOG_PHI0 = -0.5 * np.log(2 * np.pi)
BLOCK = 32768  # beta maps evaluated at a time: intermediate results stay in the cache
WIDE = 0.1  # posterior variance beyond which 13 nodes are too few
STEP = 1 / 16  # of the table that dense predictions interpolate in
DENSE = 4000  # points a row from which on a table, good to about 1e-5, replaces the exact values
STRAIGHT, FAR = 600.0, 37.0  # logits and scores up to here need no logarithms
MOST_KEPT = 65536  # numbers of the last call that are remembered
LINE = 1e5  # scores beyond which T(z)/z is constant
LARGEST = 300.0  # of |ln a|, |ln b|, |c|


class Rule(NamedTuple):
    """Nodes (k, 3) and positive weights (k,) for averages over three independent standard normals."""

    nodes: Array
    weights: Array


def _icosahedron() -> Rule:
    """Exact to degree 5: the centre with weight 0.4 and twelve vertices at radius √5 with 0.05 each."""
    golden = 0.5 * (1 + np.sqrt(5))
    flat = np.array([[0, s, t * golden] for s in (-1, 1) for t in (-1, 1)])
    vertices = np.vstack([np.roll(flat, shift, axis=1) for shift in range(3)])
    vertices *= np.sqrt(5) / np.linalg.norm(vertices[0])
    return Rule(np.vstack([np.zeros((1, 3)), vertices]), np.array([0.4] + [0.05] * 12))


def _gauss_hermite(points: int) -> Rule:
    x, w = np.polynomial.hermite_e.hermegauss(points)
    nodes = np.stack(np.meshgrid(x, x, x, indexing="ij"), axis=-1).reshape(-1, 3)
    weights = np.einsum("i,j,k->ijk", w, w, w).ravel()
    return Rule(nodes, weights / weights.sum())


FEW, MANY = _icosahedron(), _gauss_hermite(5)


class _Table:
    """Quintic pieces through heights and slopes (n, k) at equally spaced scores, two of them before ``first``."""

    def __init__(self, first: float, height: Array, slope: Array) -> None:
        self.first, self.count = first, height.shape[1] - 5
        d = STEP * slope
        bend = (8 * (d[:, 3:-1] - d[:, 1:-3]) - (d[:, 4:] - d[:, :-4])) / 12  # STEP² T'', good to fourth order
        p, d = height[:, 2:-2], d[:, 2:-2]
        rise, d0, d1, s0, s1 = np.diff(p), d[:, :-1], d[:, 1:], 0.5 * bend[:, :-1], 0.5 * bend[:, 1:]
        fifth = 6 * rise - 3 * (d0 + d1) - s0 + s1
        fourth = -15 * rise + 8 * d0 + 7 * d1 + 3 * s0 - 2 * s1
        third = 10 * rise - 6 * d0 - 4 * d1 - 3 * s0 + s1
        self.heights = [piece.ravel() for piece in (fifth, fourth, third, s0, d0, p[:, :-1])]
        self.slopes = [piece.ravel() / STEP for piece in (5 * fifth, 4 * fourth, 3 * third, 2 * s0, d0)]
        self.last: tuple[Array, NDArray[np.intp], Array, NDArray[np.bool_] | None] | None = None

    def knows(self, z: Array) -> bool:
        """Whether these scores are those of the last call."""
        return self.last is not None and np.array_equal(self.last[0], z)

    def place(self, z: Array) -> None:
        """Find the piece that each score (n, k) falls on, how far along it, and which fall outside (None: none)."""
        along = z * (1 / STEP)
        along -= self.first / STEP
        outside = None
        if not (along.min() >= 0 and along.max() < self.count):
            outside = ~((along >= 0) & (along < self.count))
            np.clip(along, 0.0, self.count - 1e-9, out=along)
        cell = along.astype(np.intp)
        along -= cell
        cell += self.count * np.arange(len(z))[:, None]
        self.last = (z, cell, along, outside)

    def __call__(self, cell: NDArray[np.intp], u: Array, what: int) -> Array:
        """Heights (0) or log slopes (1)."""
        pieces = self.slopes if what else self.heights
        out = np.take(pieces[0], cell)
        for piece in pieces[1:]:
            out *= u
            out += np.take(piece, cell)
        return np.log(np.maximum(out, 1e-300, out=out), out=out) if what else out


@dataclass(frozen=True, eq=False)
class AveragedBetaMap(Map):
    r"""One map a row, :math:`R(p) = E\,\sigma(a\ln p - b\ln(1-p) + c)` over normal :math:`(\ln a, \ln b, c)`.

    The average is a sum over 13 nodes (the centre and the vertices of an icosahedron), or over 5³ Gauss-Hermite nodes
    in rows where a variance exceeds 0.1. All weights are positive, so that the average of increasing maps increases.
    It is what Song et al. (2019, §4.3) predict with, where they take 64 random draws.

    Parameters
    ----------
    mean : array (n, 3)
        Means of :math:`\ln a, \ln b, c`.
    root : array (n, 3, 3)
        Lower triangular roots of their covariances.

    Examples
    --------
    >>> sure = AveragedBetaMap(np.zeros((1, 3)), np.zeros((1, 3, 3)))
    >>> sure(np.array([[-30.0, 0.0, 2.0]])).round(6)
    array([[-30.,   0.,   2.]])
    >>> unsure = AveragedBetaMap(np.zeros((1, 3)), 0.3 * np.eye(3)[None])
    >>> bool(unsure(np.array([-3.0]))[0] > -3)  # not knowing the map makes the law wider
    True
    """

    _by_row: ClassVar[tuple[str, ...]] = ("mean", "root")

    mean: Array
    root: Array

    def __call__(self, z: Array, side: Side = "right") -> Array:
        """Score of R(Φ(z)), from the smaller tail."""
        return self._at(np.asarray(z, dtype=np.float64), 0)

    def log_slope(self, z: Array) -> Array:
        """Log of the slope in normal scores."""
        return self._at(np.asarray(z, dtype=np.float64), 1)

    def inverse(self, t: Array) -> Array:
        """By guarded Newton steps."""
        t = np.asarray(t, dtype=np.float64)
        target = self._spread_out(t)

        def height_and_slope(z: Array) -> tuple[Array, Array]:
            height, log_slope = self._both(z)
            with np.errstate(over="ignore"):
                return height, np.exp(log_slope)

        parts = self._row_blocks(1 if t.ndim < 2 else t.shape[1], 16)
        if len(parts) > 1:
            whole = [self[rows].inverse(target[rows]) for rows in parts]
            return np.concatenate(whole)
        return solve_increasing(height_and_slope, target, np.clip(target, -1e3, 1e3), most=40)

    def _spread_out(self, z: Array) -> Array:
        """Write z out to (n,) or (n, k)."""
        return np.broadcast_to(z, (len(self.mean), z.shape[1]) if z.ndim == 2 else (len(self.mean),))

    def _row_blocks(self, width: int, nodes: int) -> list[slice]:
        step = max(1, BLOCK // (max(1, width) * nodes))
        return [slice(start, start + step) for start in range(0, len(self.mean), step)]

    def _at(self, z: Array, what: int) -> Array:
        if z.ndim < 2 or not z.size or (table := self._table(z)) is None or table.last is None:
            return self._remembered(z)[what]
        z, cell, along, outside = table.last
        out = table(cell, along, what)
        if outside is not None:
            for row in np.flatnonzero(outside.any(axis=1)):
                out[row, outside[row]] = self[row : row + 1]._both(z[row, outside[row]][None, :])[what]
        return out

    def _remembered(self, z: Array) -> tuple[Array, Array]:
        """Height and log slope; a density asks for one after the other."""
        last = self.__dict__.get("_last")
        if last is None or not np.array_equal(last[0], z):
            last = (z.copy(), *self._both(z))
            if z.size <= MOST_KEPT:
                object.__setattr__(self, "_last", last)
        return last[1].copy(), last[2].copy()

    def _table(self, z: Array) -> _Table | None:
        """Heights and slopes on a fine grid of scores where that is much less work than the points themselves."""
        if z.shape[1] < DENSE:
            return None
        z, kept = self._spread_out(z), self.__dict__.get("_kept")
        if isinstance(kept, _Table) and kept.knows(z):
            return kept
        low, high = np.floor(max(z.min(), -FAR)), np.ceil(min(z.max(), FAR))
        size = int((high - low) / STEP) + 2 if high > low else 0
        if not 0 < 4 * size < z.shape[1]:
            return None
        table = _Table(float(low), *self._dense(low + STEP * np.arange(-2, size + 2)))
        table.place(z)
        object.__setattr__(self, "_kept", table)
        return table

    def _dense(self, z: Array) -> tuple[Array, Array]:
        """Heights and slopes of all rows at the same scores, (n, k), by products of matrices."""
        at = (z, log_ndtr(z), log_ndtr(-z))
        height, slope = np.empty((len(self.mean), len(z))), np.empty((len(self.mean), len(z)))
        for rule, mine in self._rules():
            step = max(1, BLOCK // (len(z) * len(rule.weights)))
            for start in range(0, len(mine), step):
                rows = mine[start : start + step]
                height[rows], slope[rows] = self._dense_block(rule, rows, at)
        return height, slope

    def _dense_block(self, rule: Rule, rows: NDArray[np.intp], at: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        z, low, high = at
        lines = np.matmul(rule.nodes, np.swapaxes(self.root[rows], 1, 2)) + self.mean[rows, None, :]
        np.clip(lines, -LARGEST, LARGEST, out=lines)
        lines[:, :, :2] = np.exp(lines[:, :, :2])
        heaviest = np.abs(lines).max()
        if heaviest * (1 - min(low.min(), high.min())) > STRAIGHT:
            exact = self[rows]._both(z[None, :])
            return exact[0], np.exp(exact[1])
        slopes = np.swapaxes(rule.weights[:, None] * lines[:, :, :2], 1, 2)
        h = np.matmul(lines.reshape(-1, 3), np.stack([low, -high, np.ones(len(z))]))
        h = np.exp(h, out=h).reshape(len(rows), -1, len(z))
        above = h + 1
        np.divide(1.0, above, out=above)
        h *= above
        lower, upper = np.matmul(rule.weights, h), np.matmul(rule.weights, above)
        h *= above
        density = np.exp(_LOG_PHI0 - 0.5 * z * z - np.stack([low, high]))
        t = np.where(lower < upper, 1.0, -1.0) * ndtri(np.minimum(lower, upper))
        rate = np.einsum("riz,iz->rz", np.matmul(slopes, h), density)
        return t, rate * np.exp(0.5 * t * t - _LOG_PHI0)

    def _rules(self) -> Iterator[tuple[Rule, NDArray[np.intp]]]:
        """The rules and the rows that each is for."""
        wide = np.square(self.root).sum(axis=2).max(axis=1, initial=0.0) > WIDE
        yield FEW, np.flatnonzero(~wide)
        yield MANY, np.flatnonzero(wide)

    def _both(self, z: Array) -> tuple[Array, Array]:
        """Height and log slope at z, (n,), (n, k) or (1, k), in blocks of rows."""
        shape = self._spread_out(z).shape
        height, log_slope = np.empty(shape), np.empty(shape)
        shared = z.ndim < 1 or len(z) < len(self.mean)
        low, high = log_ndtr(z), log_ndtr(-z)
        for rule, rows in self._rules():
            step = max(1, BLOCK // (max((1, *shape[1:])) * len(rule.weights)))
            for start in range(0, len(rows), step):
                part = rows[start : start + step]
                at = (z, low, high) if shared else (z[part], low[part], high[part])
                height[part], log_slope[part] = self._block(rule, part, at)
        return height, log_slope

    def _block(self, rule: Rule, rows: NDArray[np.intp], at: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        parameters = np.einsum("rij,kj->ikr", self.root[rows], rule.nodes) + self.mean[rows].T[:, None, :]
        if at[0].ndim == 2:
            parameters = parameters[..., None]
        np.clip(parameters, -LARGEST, LARGEST, out=parameters)
        slopes = np.exp(parameters[:2])
        largest = slopes.max(axis=1)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            reach = largest[0] * at[1] + largest[1] * at[2]
            far = ~(reach > np.abs(parameters[2]).max(axis=0) - STRAIGHT) | ~(np.abs(at[0]) < FAR)
            h = slopes[0] * at[1]
            h -= slopes[1] * at[2]
            h += parameters[2]
            if not far.any():
                return _average(rule.weights, h, slopes, at)
            z, low, high = (np.broadcast_to(part, far.shape)[far] for part in at)
            steep = np.stack([np.broadcast_to(slope, h.shape)[:, far] for slope in slopes])
            exact = _log_average(rule.weights, h[:, far], steep, (z, low, high))
            height, log_slope = _average(rule.weights, h, slopes, at)
        height[far], log_slope[far] = exact
        return height, log_slope


def _average(weights: Array, h: Array, slopes: Array, at: tuple[Array, Array, Array]) -> tuple[Array, Array]:
    """Height and log slope from the averaged probabilities themselves; h is (nodes, ...) and overwritten."""
    z, low, high = at
    density = slopes[0] * np.exp(_LOG_PHI0 - 0.5 * z * z - low)
    density += slopes[1] * np.exp(_LOG_PHI0 - 0.5 * z * z - high)
    np.exp(h, out=h)
    above = h + 1
    np.divide(1.0, above, out=above)
    h *= above
    density *= h
    density *= above
    flat = (len(weights), -1)
    upper, lower, slope = ((weights @ part.reshape(flat)).reshape(h.shape[1:]) for part in (above, h, density))
    t = np.where(lower < upper, 1.0, -1.0) * ndtri(np.minimum(lower, upper))
    return t, np.log(slope) + 0.5 * t * t - _LOG_PHI0


def _log_average(weights: Array, h: Array, slopes: Array, at: tuple[Array, Array, Array]) -> tuple[Array, Array]:
    """The same from logarithms, finite as far out as scores are."""
    z, low, high = at
    share = np.log(weights).reshape(-1, *[1] * (h.ndim - 1))
    tail = np.log1p(np.exp(-np.abs(h)))
    lower = _log_sum(share + np.minimum(h, 0.0) - tail)
    upper = _log_sum(share + np.minimum(-h, 0.0) - tail)
    t = np.where(lower < upper, ndtri_exp(lower), -ndtri_exp(upper))
    size = -np.abs(h) - 2 * tail
    rise = _log_sum(share + size + np.logaddexp(np.log(slopes[0]) - low, np.log(slopes[1]) - high))
    straight = np.where(np.isinf(z), 0.0, np.log(t / z))  # where T is a line but for 1/z²
    return t, np.where(np.abs(z) > LINE, straight, rise + 0.5 * (t - z) * (t + z))


def _log_sum(x: Array) -> Array:
    """Logarithm of the sum of exponentials over the first axis."""
    most = x.max(axis=0)
    with np.errstate(invalid="ignore"):
        out = most + np.log(np.exp(x - most).sum(axis=0))
    return np.asarray(np.where(np.isinf(most), most, out))
