r"""Laws whose normal score is piecewise linear in y, one polyline per row.

The polyline of a row goes through the knots :math:`(x_i, t_i)` and continues beyond both ends with slope 1/spread, so
that every outcome has a finite score. Equal neighbours :math:`x_i = x_{i+1}` are vertical jumps: atoms. Equal scores
:math:`t_i = t_{i+1}` are gaps without mass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ..._checks import Array
from ..._later import later
from ...maps.base import Side
from ...numerics.blocks import row_blocks
from ...numerics.lines import Positions, count_below, pick
from ...numerics.tails import Mask, slack
from .lines import spread_out, times
from .segments import hat_products, mean_square, square_below, tail_moments

T = TypeVar("T")
_MANY = 256  # rows of a column that is worked out on its own
_ROUNDED = 1e-14  # distance of scores that are one but for rounding, of 0.05 and 0.5 - 0.9 / 2 say


@later("spread")
@dataclass(frozen=True, eq=False)
class Transport:
    r"""The polylines of n laws and everything that follows from them in closed form.

    With g the inverse polyline, :math:`Y = g(Z)` for a standard normal Z: mean and variance are sums over the segments
    of moments of a linear function of Z, and :math:`\mathrm{CRPS}(y) = \int_{-\infty}^y F^2 + \int_y^\infty (1-F)^2`
    is a sum of :math:`\Delta x_i` times the average of :math:`\Phi^2` or :math:`(1-\Phi)^2` over segment i.

    Parameters
    ----------
    knots : array (n, m)
        Non-decreasing in each row, m >= 2.
    scores : array (m,) or (n, m)
        Non-decreasing and finite; one line serves all rows, or one line per row.
    spread : array (n,)
        Inverse slope of both tails, positive.
    """

    knots: Array
    scores: Array
    spread: Array

    def __getitem__(self, rows: slice) -> Transport:
        """Polylines of these rows."""
        scores = self.scores if self.scores.ndim == 1 else self.scores[rows]
        return Transport(self.knots[rows], scores, self.spread[rows])

    # ---- the three primitives ----
    def to_normal(self, y: Array, side: Side = "right") -> Array:
        """Height of the polyline at y; at a vertical jump its lower (left) or upper (right) end."""
        y = spread_out(y, len(self.knots))
        segment = count_below(self.knots, y) - 1
        anchor, run, rise = self._segment(segment)
        with np.errstate(over="ignore"):
            z = pick(self.scores, anchor) + (y - pick(self.knots, anchor)) / run * rise
        if side == "right":
            return z
        first = np.minimum(count_below(self.knots, y, strict=True), self.knots.shape[1] - 1)
        return np.where(pick(self.knots, first) == y, pick(self.scores, first), z)

    def from_normal(self, z: Array) -> Array:
        """The smallest y at which the polyline is at least z; a score off by rounding only still meets its atom."""
        if self.scores.ndim == 1 and z.ndim == 2 and len(z) == 1 and len(self.knots) >= _MANY:
            return self._at_scores(z[0])
        z = spread_out(z, len(self.knots))
        segment = count_below(self.scores, z, strict=True) - 1
        anchor, run, rise = self._segment(segment)
        above = z - pick(self.scores, anchor)
        with np.errstate(over="ignore", invalid="ignore"):
            y = pick(self.knots, anchor) + above / rise * run
        end = np.minimum(segment + 1, self.knots.shape[1] - 1)
        y = np.where((pick(self.scores, end) == z) & (segment + 1 == end), pick(self.knots, end), y)
        near = (above > 0) & (above <= slack(z))
        return np.where(near & self._tops(anchor), pick(self.knots, anchor), y) if near.any() else y

    def _at_scores(self, z: Array) -> Array:
        """``from_normal`` at the same scores in every row, which then lie on the same segments."""
        out = np.empty((len(self.knots), len(z)))
        for column, score, segment in zip(out.T, z, count_below(self.scores, z, strict=True) - 1, strict=True):
            column[:] = self._at_score(score, int(segment))
        return out

    def _at_score(self, z: float, segment: int) -> Array:
        t, last, anchor = self.scores, self.knots.shape[1] - 1, max(segment, 0)
        start, above = self.knots[:, anchor], z - self.scores[anchor]
        if segment < last and t[segment + 1] - z <= _ROUNDED:
            y = self.knots[:, segment + 1]
        elif 0 <= above <= _ROUNDED:
            return start
        else:
            run, rise = self.spread, 1.0
            if 0 <= segment < last:
                run, rise = self.knots[:, anchor + 1] - start, t[anchor + 1] - t[anchor]
            with np.errstate(over="ignore", invalid="ignore"):
                y = start + above / rise * run
        if not 0 < above <= slack(np.asarray(z)):
            return y
        return np.where(self._tops(np.full(len(y), anchor)), start, y)

    def _tops(self, knot: Positions) -> Mask:
        """Whether these knots are upper ends of jumps."""
        before = np.maximum(knot - 1, 0)
        flat = pick(self.knots, before) == pick(self.knots, knot)
        return np.asarray(flat & (pick(self.scores, before) < pick(self.scores, knot)))

    def log_slope(self, y: Array) -> Array:
        """Log of the slope to the right of y; an atom raises."""
        y = spread_out(y, len(self.knots))
        last = self.knots.shape[1] - 1
        segment, first = count_below(self.knots, y) - 1, count_below(self.knots, y, strict=True)
        anchor, run, rise = self._segment(segment)
        refuse_atoms(y, (segment > first) & (pick(self.scores, anchor) > pick(self.scores, np.minimum(first, last))))
        with np.errstate(divide="ignore"):
            return np.log(rise) - np.log(run)

    def _segment(self, segment: Positions) -> tuple[Positions, Array, Array]:
        """The knot each segment hangs on, its width and its height; -1 is the lower tail, m - 1 the upper."""
        last = self.knots.shape[1] - 1
        anchor = np.maximum(segment, 0)
        end = np.minimum(anchor + 1, last)
        tail = (segment < 0) | (segment == last)
        spread = self.spread[:, None] if segment.ndim == 2 else self.spread
        run = np.where(tail, spread, pick(self.knots, end) - pick(self.knots, anchor))
        return anchor, run, np.where(tail, 1.0, pick(self.scores, end) - pick(self.scores, anchor))

    @property
    def has_atoms(self) -> bool:
        """Whether some polyline jumps."""
        return bool(np.any((np.diff(self.knots) == 0) & (np.diff(self.scores) > 0)))

    # ---- closed forms ----
    def mean(self) -> Array:
        """Expectations."""
        return self._in_blocks(_moments, lambda part, rows, moments: part._mean(moments))

    def std(self) -> Array:
        """Standard deviations."""
        return self._in_blocks(_moments, lambda part, rows, moments: part._std(moments))

    def crps(self, y: Array) -> Array:
        """CRPS of one outcome per row."""
        out = self._in_blocks(_averages, lambda part, rows, averages: part._whole_segments(y[rows], averages))
        for rows in row_blocks(len(y), 8):
            out[rows] += self[rows]._parts_at(y[rows])
        return out

    def _in_blocks(self, prepare: Callable[[Array], T], compute: Callable[[Transport, slice, T], Array]) -> Array:
        """Compute on blocks of rows; what is prepared from the scores is prepared once where the rows share them."""
        shared = prepare(self.scores) if self.scores.ndim == 1 else None
        out = np.empty(len(self.knots))
        for rows in row_blocks(*self.knots.shape):
            part = self[rows]
            out[rows] = compute(part, rows, prepare(part.scores) if shared is None else shared)
        return out

    def _mean(self, moments: _Moments) -> Array:
        _, drop, _ = moments.below
        _, rise, _ = moments.above
        return times(self.knots, moments.weights) + self.spread * (rise - drop)

    def _std(self, moments: _Moments) -> Array:
        with np.errstate(over="ignore", under="ignore"):
            u = (self.knots - self._mean(moments)[:, None]) / self.spread[:, None]
            total = 2 * times(u[:, :-1] * u[:, 1:], moments.products)
            (_, drop, down), (_, rise, up) = moments.below, moments.above
            total += 2 * (rise * u[:, -1] - drop * u[:, 0]) + down + up
            total += times(np.square(u), moments.squares)
            return self.spread * np.sqrt(total)

    def _whole_segments(self, y: Array, averages: tuple[Array, Array]) -> Array:
        """The CRPS integral over the range of the knots, as if F² were its average on either side of y."""
        below, above = averages
        with np.errstate(over="ignore"):
            u = self.knots - y[:, None]
        total = times(u, above)
        return total + times(np.minimum(u, 0.0, out=u), below - above)

    def _parts_at(self, y: Array) -> Array:
        """The rest of the CRPS: both tails, and what cutting a segment or a tail at y adds."""
        t = self.scores
        segment = count_below(self.knots, y) - 1
        anchor, run, rise = self._segment(segment)
        low = pick(t, anchor)
        with np.errstate(over="ignore"):
            away = y - pick(self.knots, anchor)
            z = np.clip(low + away / run * rise, -1e100, 1e100)
        out = np.asarray(self.spread * (square_below(t[..., 0]) + square_below(-t[..., -1])))
        inside = (segment >= 0) & (segment < self.knots.shape[1] - 1)
        out[inside] += _cut_segment((low[inside], z[inside], (low + rise)[inside]), away[inside], run[inside])
        side, beyond = np.where(segment < 0, -1.0, 1.0)[~inside], ~inside
        out[beyond] += _cut_tail(side * low[beyond], side * z[beyond], side * away[beyond], run[beyond])
        return out


@dataclass(frozen=True, eq=False)
class _Moments:
    """Weights of the knots in the mean, of their squares and products in the variance, and tail moments."""

    weights: Array
    squares: Array
    products: Array
    below: tuple[Array, Array, Array]
    above: tuple[Array, Array, Array]


def _moments(t: Array) -> _Moments:
    left, both, right = hat_products(t)
    below, above = tail_moments(-t[..., 0]), tail_moments(t[..., -1])
    squares = np.zeros(t.shape)
    squares[..., :-1] += left
    squares[..., 1:] += right
    squares[..., 0] += below[0]
    squares[..., -1] += above[0]
    weights = squares.copy()
    weights[..., :-1] += both
    weights[..., 1:] += both
    return _Moments(weights, squares, both, below, above)


def refuse_atoms(y: Array, atom: Mask) -> None:
    """Raise where outcomes sit on atoms, which have a probability but no density."""
    if not np.any(atom):
        return
    where = tuple(int(i) for i in np.argwhere(atom)[0])
    place = ", ".join(map(str, where))
    raise ValueError(
        f"`y` sits on an atom (tied members or quantiles) in {int(np.count_nonzero(atom))} of {atom.size} places, "
        f"first y[{place}] = {y[where]}: no density there. Use logpmf, or spread the ties."
    )


def _cut_segment(scores: tuple[Array, Array, Array], away: Array, run: Array) -> Array:
    """What cutting a segment at y adds to the averages over all of it; y lies ``away`` from its left end."""
    low, z, high = scores
    left = away * (mean_square(low, z) - mean_square(low, high))
    return left + (run - away) * (mean_square(-high, -z) - mean_square(-high, -low))


def _cut_tail(edge: Array, z: Array, away: Array, spread: Array) -> Array:
    """What an outcome beyond the last knot adds; ``edge`` and ``z`` are their scores, seen outwards."""
    return spread * (square_below(-z) - square_below(-edge)) + away * mean_square(edge, z)


def _averages(t: Array) -> tuple[Array, Array]:
    r"""Weights of the knots that give the integrals of :math:`F^2` and of :math:`(1-F)^2` over their range."""
    averages = mean_square(t[..., :-1], t[..., 1:]), mean_square(-t[..., 1:], -t[..., :-1])
    edge = np.zeros((*t.shape[:-1], 1))
    below, above = (-np.diff(average, prepend=edge, append=edge) for average in averages)
    return below, above
