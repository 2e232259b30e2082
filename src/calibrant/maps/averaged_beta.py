"""The average of beta maps whose parameters are not known exactly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri_exp

from .._checks import Array
from ..numerics.blocks import row_blocks
from ..numerics.roots import HeightAndSlope, Where, solve_increasing
from ..numerics.tails import HALF_LOG_2PI, log_tails, score_of
from .base import Map, Side, log_density_of

What = Literal["height", "log_slope", "log_density"]

BLOCK = 65536  # beta maps evaluated at a time: intermediate results stay in the cache
SHARED = 24576  # the same at scores that all rows have: less memory comes and goes
WIDE = 0.1  # posterior variance beyond which 13 nodes are too few
STEP, STEEP = 1 / 8, 3.2  # of the table that dense predictions interpolate in, for a and b up to here
DENSE = 4000  # points a row from which on a table, good to about 1e-5, replaces the exact values
STRAIGHT, FAR = 600.0, 37.0  # logits and scores up to here need no logarithms
LINE = 1e5  # scores beyond which T(z)/z is constant
MET = 1e-7  # of a score before the last Newton step, which squares what is left
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
    """Cubic pieces, two a step, through values (n, k) at equally spaced nodes; the first and last four only help."""

    def __init__(self, nodes: Array, values: Array) -> None:
        self.first, self.rate = nodes[4], 2 / (nodes[1] - nodes[0])
        fine = _halved(values)
        slope = (8 * (fine[:, 3:-1] - fine[:, 1:-3]) - (fine[:, 4:] - fine[:, :-4])) / 12  # good to fourth order
        start, rise = fine[:, 2:-3], np.diff(fine[:, 2:-2])
        here, there = slope[:, :-1], slope[:, 1:]
        pieces = (here + there - 2 * rise, 3 * rise - 2 * here - there, here, start)
        self.pieces, self.count = [np.ascontiguousarray(piece).ravel() for piece in pieces], start.shape[1]

    def __call__(self, z: Array) -> tuple[Array, NDArray[np.bool_] | None]:
        """Values at scores (n, k), and which of these lie outside the table (None: none)."""
        along = z * self.rate
        along -= self.first * self.rate
        outside = None
        if not (along.min() >= 0 and along.max() < self.count):
            outside = ~((along >= 0) & (along < self.count))
            along[outside] = 0.0
        cell = along.astype(np.intp)
        along -= cell
        cell += self.count * np.arange(len(z))[:, None]
        out, part = np.take(self.pieces[0], cell), np.empty(z.shape)
        for piece in self.pieces[1:]:
            out *= along
            out += np.take(piece, cell, out=part, mode="clip")
        return out, outside


def _halved(values: Array) -> Array:
    """Values (n, 2k - 13) at the nodes but the outer three and midway, there by the polynomial through the next 8."""
    k = values.shape[1]
    out = np.empty((len(values), 2 * k - 13))
    out[:, ::2] = values[:, 3:-3]
    pairs = [values[:, 3 - j : k - 4 - j] + values[:, 4 + j : k - 3 + j] for j in range(4)]
    out[:, 1::2] = (1225 * pairs[0] - 245 * pairs[1] + 49 * pairs[2] - 5 * pairs[3]) / 2048
    return out


class _Maps(NamedTuple):
    """Beta maps of n rows, k each, and their weights."""

    weights: Array  # (k,)
    slopes: Array  # a and b, (2, k, n)
    shifts: Array  # c, (k, n)

    def solver(self, width: int) -> HeightAndSlope:
        """Averages at scores (n, width) or (n,), or at some of these, and their slopes."""

        def height_and_slope(z: Array, where: Where) -> tuple[Array, Array]:
            maps = self if isinstance(where, slice) else self._of_rows(where // width)
            height, log_slope = maps.both((z, *log_tails(z)))
            with np.errstate(over="ignore"):
                return height, np.exp(log_slope)

        return height_and_slope

    def _of_rows(self, rows: NDArray[np.intp]) -> _Maps:
        return _Maps(self.weights, self.slopes[:, :, rows], self.shifts[:, rows])

    def both(self, at: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        """Height and log slope of the averages at scores and their log tails, (n,), (n, j) or (1, j)."""
        slopes, shifts = self.slopes, self.shifts
        if at[0].ndim == 2:
            slopes, shifts = slopes[..., None], shifts[..., None]
        largest = slopes.max(axis=1)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            reach = largest[0] * at[1] + largest[1] * at[2]
            far = ~(reach > np.abs(shifts).max(axis=0) - STRAIGHT) | ~(np.abs(at[0]) < FAR)
            h = slopes[0] * at[1]
            h -= slopes[1] * at[2]
            h += shifts
            if not far.any():
                return _average(self.weights, h, slopes, at)
            z, low, high = (np.broadcast_to(part, far.shape)[far] for part in at)
            steep = np.stack([np.broadcast_to(slope, h.shape)[:, far] for slope in slopes])
            exact = _log_average(self.weights, h[:, far], steep, (z, low, high))
            height, log_slope = _average(self.weights, h, slopes, at)
        height[far], log_slope[far] = exact
        return height, log_slope


@dataclass(frozen=True, eq=False, repr=False)
class AveragedBetaMap(Map):
    r"""One map a row, :math:`R(p) = E\,\sigma(a\ln p - b\ln(1-p) + c)` over normal :math:`(\ln a, \ln b, c)`.

    The average is a sum over 13 nodes (the centre and the vertices of an icosahedron), or over 5³ Gauss-Hermite nodes
    in rows where a variance exceeds 0.1. All weights are positive, so that the average of increasing maps increases.
    It is what Song et al. (2019, §4.3) predict with: their integral of eq. 7 over the posterior of the latents, eq. 12.

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

    Differs from the paper in: fixed nodes, where the average there is over random draws (64 a training batch; how many
    for a prediction is not said); the calibrated law itself, where theirs is known at 4 096 points.
    """

    _by_row: ClassVar[tuple[str, ...]] = ("mean", "root")

    mean: Array
    root: Array

    def __call__(self, z: Array, side: Side = "right") -> Array:
        """Score of R(Φ(z)), from the smaller tail."""
        return self._at(z, "height")

    def log_slope(self, z: Array) -> Array:
        """Log of the slope in normal scores."""
        return self._at(z, "log_slope")

    def value_and_log_slope(self, z: Array) -> tuple[Array, Array]:
        """Both from one average, but for points so many that each has a table of its own."""
        z = np.asarray(z, dtype=np.float64)
        tabulated = z.ndim == 2 and self._nodes(z) is not None
        return (self(z), self.log_slope(z)) if tabulated else self._both(z)

    def log_density(self, z: Array) -> Array:
        """Log slope less half the squared score."""
        return self._at(z, "log_density")

    def inverse(self, t: Array) -> Array:
        """By guarded Newton steps."""
        t = np.asarray(t, dtype=np.float64)
        target = self._spread_out(t)
        width = target.shape[1] if target.ndim == 2 else 1
        out = np.empty(target.shape)
        for rule, mine in self._rules():
            for block in row_blocks(len(mine), width * len(rule.weights), BLOCK):
                rows = mine[block]
                maps, start = self._maps(rule, rows), np.clip(target[rows], -1e3, 1e3)
                out[rows] = solve_increasing(maps.solver(width), target[rows], start, met=MET, most=40)
        return out

    def _spread_out(self, z: Array) -> Array:
        """Write z out to (n,) or (n, k)."""
        return np.broadcast_to(z, (len(self.mean), z.shape[1]) if z.ndim == 2 else (len(self.mean),))

    def _at(self, z: Array, what: What) -> Array:
        z = np.asarray(z, dtype=np.float64)
        if z.ndim < 2 or (nodes := self._nodes(z)) is None:
            return _chosen(*self._both(z), what)
        z = self._spread_out(z)
        out, outside = _Table(nodes, self._dense(nodes, what))(z)
        if outside is not None:
            for row in np.flatnonzero(outside.any(axis=1)):
                far = z[row, outside[row]][None, :]
                out[row, outside[row]] = _chosen(*self[row : row + 1]._both(far), what)
        return out

    def _nodes(self, z: Array) -> Array | None:
        """Scores to tabulate at, where that is much less work than the points (n, k) themselves."""
        if z.shape[1] < DENSE or not z.size:
            return None
        low, high = np.floor(max(z.min(), -FAR)), np.ceil(min(z.max(), FAR))
        spread = np.sqrt(np.square(self.root[:, :2]).sum(axis=2))
        steepest = np.exp(np.minimum((self.mean[:, :2] + np.sqrt(5) * spread).max(), LARGEST))
        step = STEP / np.ceil(steepest / STEEP)
        size = (high - low) / step + 1
        return low + step * np.arange(-4, int(size) + 5) if 1 < 4 * size < z.shape[1] else None

    def _dense(self, z: Array, what: What) -> Array:
        """All rows at the same scores, (n, k), by products of matrices."""
        at = (z, *log_tails(z))
        out = np.empty((len(self.mean), len(z)))
        for rule, mine in self._rules():
            for part in row_blocks(len(mine), len(z) * len(rule.weights), SHARED):
                rows = mine[part]
                out[rows] = self._dense_block(rule, rows, at, what)
        return out

    def probabilities(self, z: Array) -> tuple[Array, Array]:
        """The averages themselves, where all rows have the same scores."""
        if z.ndim < 2 or len(z) > 1:
            return super().probabilities(z)
        at, out = (z[0], *log_tails(z[0])), np.empty((2, len(self.mean), z.shape[1]))
        for rule, mine in self._rules():
            for part in row_blocks(len(mine), z.shape[1] * len(rule.weights), SHARED):
                rows = mine[part]
                if (found := self._dense_parts(rule, rows, at)) is None:
                    out[:, rows] = super(AveragedBetaMap, self[rows]).probabilities(z)
                else:
                    out[:, rows] = rule.weights @ found[1], rule.weights @ found[2]
        return out[0], out[1]

    def _dense_parts(
        self, rule: Rule, rows: NDArray[np.intp], at: tuple[Array, Array, Array]
    ) -> tuple[Array, Array, Array] | None:
        """Parameters of the rule's maps, and what these give below and above; None where that needs logarithms."""
        z, low, high = at
        lines = np.matmul(rule.nodes, np.swapaxes(self.root[rows], 1, 2)) + self.mean[rows, None, :]
        np.clip(lines, -LARGEST, LARGEST, out=lines)
        lines[:, :, :2] = np.exp(lines[:, :, :2])
        if max(np.abs(lines).max(), 1.0) * (1 - min(low.min(), high.min())) > STRAIGHT:
            return None
        h = np.matmul(lines.reshape(-1, 3), np.stack([low, -high, np.ones(len(z))]))
        h = np.exp(h, out=h).reshape(len(rows), -1, len(z))
        above = h + 1
        np.divide(1.0, above, out=above)
        h *= above
        return lines, h, above

    def _dense_block(self, rule: Rule, rows: NDArray[np.intp], at: tuple[Array, Array, Array], what: What) -> Array:
        z, low, high = at
        if (found := self._dense_parts(rule, rows, at)) is None:
            return _chosen(*self[rows]._both(z[None, :]), what)
        lines, h, above = found
        height = np.zeros(()) if what == "log_density" else score_of(rule.weights @ h, rule.weights @ above)
        if what == "height":
            return height
        h *= above
        slopes = np.swapaxes(rule.weights[:, None] * lines[:, :, :2], 1, 2)
        rate = np.einsum("riz,iz->rz", slopes @ h, np.exp(-np.stack([low, high])))
        return np.asarray(np.log(rate) + 0.5 * (height * height - z * z))

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
        low, high = log_tails(z)
        for rule, rows in self._rules():
            for block in row_blocks(len(rows), max((1, *shape[1:])) * len(rule.weights), BLOCK):
                part = rows[block]
                at = (z, low, high) if shared else (z[part], low[part], high[part])
                height[part], log_slope[part] = self._maps(rule, part).both(at)
        return height, log_slope

    def _maps(self, rule: Rule, rows: NDArray[np.intp]) -> _Maps:
        """The rule's maps for these rows."""
        parameters = np.einsum("rij,kj->ikr", self.root[rows], rule.nodes) + self.mean[rows].T[:, None, :]
        np.clip(parameters, -LARGEST, LARGEST, out=parameters)
        return _Maps(rule.weights, np.exp(parameters[:2]), parameters[2])


def _chosen(height: Array, log_slope: Array, what: What) -> Array:
    if what == "log_density":
        return log_density_of(height, log_slope)
    return height if what == "height" else log_slope


def _average(weights: Array, h: Array, slopes: Array, at: tuple[Array, Array, Array]) -> tuple[Array, Array]:
    """Height and log slope from the averaged probabilities themselves; h is (nodes, ...) and overwritten."""
    z, low, high = at
    density = slopes[0] * np.exp(-HALF_LOG_2PI - 0.5 * z * z - low)
    density += slopes[1] * np.exp(-HALF_LOG_2PI - 0.5 * z * z - high)
    np.exp(h, out=h)
    above = h + 1
    np.divide(1.0, above, out=above)
    h *= above
    density *= h
    density *= above
    flat = (len(weights), -1)
    upper, lower, slope = ((weights @ part.reshape(flat)).reshape(h.shape[1:]) for part in (above, h, density))
    t = score_of(lower, upper)
    return t, np.log(slope) + 0.5 * t * t + HALF_LOG_2PI


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
