r"""Moments and CRPS of any law by quadrature over y, split where the law is not smooth.

With a centre c (the median), :math:`E Y = c + \int_c^\infty (1-F) - \int_{-\infty}^c F`,
:math:`E(Y-c)^2 = 2\int_c^\infty (y-c)(1-F) + 2\int_{-\infty}^c (c-y) F` and
:math:`\mathrm{CRPS}(y) = \int_{-\infty}^y F^2 + \int_y^\infty (1-F)^2`. Integrals of smooth laws are adaptive
Gauss-Kronrod (7, 15) over many panels at a time; those of counts are exact sums. Where a law's own noise stops halving
from helping, what was reached is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from ..._checks import Array
from ...numerics.blocks import BLOCK, row_blocks
from ..base import Distribution

# An integrand takes the distance u from the centre, the cdf and the sf of one block of points, and gives m values each.
Integrand = Callable[[Array, Array, Array], Array]

_HALF = np.array([0.3, 0.7, 1.1, 1.6, 2.2, 3.0, 4.0, 5.2, 6.5, 8.0, 10.0, 12.5, 16.0, 21.0, 28.0, 37.0])
EDGE_SCORES = np.concatenate([-_HALF[::-1], [0.0], _HALF])  # panels end at these normal scores

_X = np.array([0.991455371120812639206854697526329, 0.949107912342758524526189684047851,
               0.864864423359769072789712788640926, 0.741531185599394439863864773280788,
               0.586087235467691130294144691693013, 0.405845151377397166906606412076961,
               0.207784955007898467600689403773245])  # fmt: skip
_K = np.array([0.022935322010529224963732008058970, 0.063092092629978553290700663189204,
               0.104790010322250183839876322541518, 0.140653259715525918745189590510238,
               0.169004726639267902826583426598550, 0.190350578064785409913256402421014,
               0.204432940075298892414161999234649])  # fmt: skip
_G = np.array([0.0, 0.129484966168869693270611432679082, 0.0, 0.279705391489276667901467771423780,
               0.0, 0.381830050505118944950369775488975, 0.0])  # fmt: skip
NODES = np.concatenate([-_X, [0.0], _X[::-1]])
KRONROD = np.concatenate([_K, [0.209482141084727828012999174891714], _K[::-1]])
GAUSS = np.concatenate([_G, [0.417959183673469387755102040816327], _G[::-1]])
TOLERANCE, DEEPEST = 1e-10, 48
NOISE, BUSY = 1e-6, 30  # a row this noisy with that many panels at work is done
MANY, MOST = 200, 2000  # panels of a law with kinks all over, whose errors cancel; more than the most are never halved
ROWS = 1024  # integrated at a time
FARTHEST = 1e150  # units from the centre; squares stay finite


def mean(law: Distribution) -> Array:
    """Expectations of each law; inf where the tail index is at most 1."""
    frame = _Frame.of(law, law.median())
    with np.errstate(over="ignore", invalid="ignore"):
        out = frame.centre + frame.unit * _integral(law, frame, _first_moment)[0]
    return np.where(law.tail_index <= 1, np.inf, out)


def variance(law: Distribution) -> Array:
    """Variances of each law; inf where the tail index is at most 2."""
    frame = _Frame.of(law, law.median())
    first, second = _integral(law, frame, _both_moments)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        out = np.square(frame.unit * np.sqrt(np.maximum(second - np.square(first), 0.0)))
    return np.where(law.tail_index <= 2, np.inf, out)


def crps(law: Distribution, y: Array) -> Array:
    """CRPS of one outcome per row; inf where the tail index is at most 1/2."""
    frame = _Frame.of(law, np.asarray(y, dtype=float))
    with np.errstate(over="ignore", invalid="ignore"):
        out = frame.unit * _integral(law, frame, _squared_error)[0]
    return np.where(law.tail_index <= 0.5, np.inf, out)


def deviations(law: Distribution, y: Array) -> Array:
    """E(y - Y)+ and E(Y - y)+ of one point per row, (2, n)."""
    frame = _Frame.of(law, y)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(frame.unit * _integral(law, frame, _both_sides))


def _both_sides(u: Array, cdf: Array, sf: Array) -> Array:
    return np.stack([np.where(u < 0, cdf, 0.0), np.where(u < 0, 0.0, sf)])


def _first_moment(u: Array, cdf: Array, sf: Array) -> Array:
    return np.where(u < 0, -cdf, sf)[None]


def _both_moments(u: Array, cdf: Array, sf: Array) -> Array:
    first = np.where(u < 0, -cdf, sf)
    return np.stack([first, 2 * u * first])


def _squared_error(u: Array, cdf: Array, sf: Array) -> Array:
    return np.square(np.where(u < 0, cdf, sf))[None]


@dataclass(frozen=True, eq=False)
class _Frame:
    """Where each row's integral is centred and in what unit it is measured: u = (y - centre) / unit."""

    centre: Array
    unit: Array

    @classmethod
    def of(cls, law: Distribution, centre: Array) -> _Frame:
        """Half the width of the central 68 %, or 1 where that is nothing, or for counts."""
        if law.on_integers:
            return cls(centre, np.ones(len(law)))
        low, high = law._by_blocks(lambda part, z: part.from_normal(z), np.array([[-1.0, 1.0]])).T
        unit = 0.5 * high - 0.5 * low
        return cls(centre, np.where(unit > 0, unit, 1.0))

    def __getitem__(self, rows: Any) -> _Frame:
        """The frames of these rows."""
        return _Frame(self.centre[rows], self.unit[rows])


def _integral(law: Distribution, frame: _Frame, integrand: Integrand) -> Array:
    """Integrate over the whole line, (m, n), in blocks of rows."""
    whole = _sum_over_counts if law.on_integers else _adaptive
    with np.errstate(all="ignore"):
        parts = [whole(law[rows], frame[rows], integrand) for rows in row_blocks(len(law), block=ROWS)]
    return np.hstack(parts) if parts else np.empty((2, 0))


def _adaptive(law: Distribution, frame: _Frame, integrand: Integrand) -> Array:
    """Adaptive Gauss-Kronrod on all panels of all rows at once: those that are not yet accurate are halved."""
    n = len(law)
    rows, left, right = _panels(law, frame)
    total, size, rest = np.zeros((1, n)), np.zeros((1, n)), np.full(n, np.inf)
    for depth in range(DEEPEST):
        wide = right > left
        rows, left, right = rows[wide], left[wide], right[wide]
        if not len(rows):
            break
        value, error = _kronrod(law, frame, integrand, (rows, left, right))
        size = np.maximum(size, _by_row(rows, np.abs(value), n))
        done = (error <= TOLERANCE * size[:, rows]).all(axis=0) | (depth == DEEPEST - 1)
        ended, rest = _ended(rows[~done], (error / size[:, rows]).max(axis=0)[~done], rest)
        done |= ended[rows]
        total = total + _by_row(rows[done], value[:, done], n)
        middle = 0.5 * (left + right)[~done]
        rows = np.repeat(rows[~done], 2)
        left = np.column_stack([left[~done], middle]).ravel()
        right = np.column_stack([middle, right[~done]]).ravel()
    return total


def _panels(law: Distribution, frame: _Frame) -> tuple[NDArray[np.intp], Array, Array]:
    """Rows and ends of the first panels: between quantiles, at kinks and at the centre."""
    edges = np.hstack([law.from_normal(EDGE_SCORES[None, :]), law._kinks(), frame.centre[:, None]])
    edges = edges / frame.unit[:, None] - (frame.centre / frame.unit)[:, None]
    edges = np.sort(np.clip(edges, -FARTHEST, FARTHEST), axis=1)
    return np.repeat(np.arange(len(law)), edges.shape[1] - 1), edges[:, :-1].ravel(), edges[:, 1:].ravel()


def _by_row(rows: NDArray[np.intp], values: Array, n: int) -> Array:
    """Sums of (m, panels) by row, (m, n)."""
    return np.stack([np.bincount(rows, line, minlength=n) for line in values])


def _ended(rows: NDArray[np.intp], errors: Array, before: Array) -> tuple[NDArray[np.bool_], Array]:
    """Rows that halving does not help, and the relative error of all: many panels, little left, and hardly less."""
    busy = np.bincount(rows, minlength=len(before))
    rest = np.asarray(np.bincount(rows, errors, minlength=len(before)), dtype=np.float64)
    cancelled = np.sqrt(np.bincount(rows, np.square(errors), minlength=len(before)))
    kinked = (busy > MANY) & (cancelled < NOISE) | (busy > MOST)
    return (busy > BUSY) & (rest < NOISE) & (rest > 0.4 * before) | kinked, rest


def _kronrod(
    law: Distribution, frame: _Frame, integrand: Integrand, panels: tuple[NDArray[np.intp], Array, Array]
) -> tuple[Array, Array]:
    """Values and error estimates of each panel, (m, panels)."""
    rows, left, right = panels
    values, errors = [], []
    for part in row_blocks(len(rows), len(NODES), BLOCK):
        half = 0.5 * (right[part] - left[part])
        u = (left[part] + half)[:, None] + half[:, None] * NODES
        own = frame[rows[part]]
        z = law[rows[part]].to_normal(own.centre[:, None] + own.unit[:, None] * u)
        f = integrand(u, ndtr(z), ndtr(-z))
        values.append(half * (f @ KRONROD))
        errors.append(np.abs(values[-1] - half * (f @ GAUSS)))
    return np.hstack(values), np.hstack(errors)


def _sum_over_counts(law: Distribution, frame: _Frame, integrand: Integrand) -> Array:
    """Exact for counts: F is constant between whole numbers, and the integrand linear on each side of the centre."""
    centre = frame.centre
    low = np.floor(np.minimum(law.from_normal(np.full(len(law), -9.0)), centre))
    high = np.ceil(np.maximum(law.from_normal(np.full(len(law), 9.0)), centre)) + 1
    out = np.zeros((1, len(law)))
    width = int((high - low).max(initial=0))
    step = max(1, BLOCK // len(law))
    for start in range(0, width, step):
        k = low[:, None] + np.arange(start, min(start + step, width), dtype=np.float64)
        cell = law.to_normal(k)
        cdf, sf = ndtr(cell), ndtr(-cell)
        c = centre[:, None]
        cut = np.clip(c, k, k + 1)  # the centre may lie inside a cell
        left = (cut - k) * integrand(0.5 * (k + cut) - c, cdf, sf)
        right = (k + 1 - cut) * integrand(0.5 * (cut + k + 1) - c, cdf, sf)
        out = out + (left + right).sum(axis=-1)
    return out
