"""What conditional calibrators see of a forecast: standardised features and a smooth basis of functions of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from .._checks import COPIES, Array, believed
from ..calibration import normal_scores
from ..distributions import Distribution, LocationScale
from ..numerics.blocks import BLOCK, row_blocks

CLIP, CLIP_ROWS = 0.002, 3  # share and number of rows on each side beyond which a feature is held constant
LEAST_SPREAD = 0.05  # standard deviation of log σ below which it is no feature
LEAST_SCALE = 0.3  # log σ is divided by at least this: small differences between folds are no signal
LENGTHS = (0.75, 1.0)  # of the kernel along the standardised mean and log σ
ROWS_PER_LANDMARK = 30
FEWEST_LANDMARKS = 5
_ROUNDING = 1e-9  # in normal scores, and relative in spreads
_MOST_COPIES = 10.0  # of a row, on average, that maps which change with the forecast learn from
_CONSTANT = 1e-9  # relative spread of means that is rounding
_JITTER = 1e-6


class Scores(NamedTuple):
    """Normal scores of the outcomes, their weights, and the row each belongs to (an atom's row has several)."""

    z: Array
    weights: Array
    rows: NDArray[np.intp]


def scores_by_row(law: Distribution, y: Array, weights: Array) -> Scores:
    """As `normal_scores`, with the row of each score."""
    z, spread = normal_scores(law, y, weights)
    rows = np.arange(len(y))
    if len(z) > len(y):
        split = law.to_normal(y, "left") < law.to_normal(y)
        parts = (len(z) - np.count_nonzero(~split)) // np.count_nonzero(split)
        rows = np.concatenate([rows[~split], np.repeat(rows[split], parts)])
    return Scores(z, weights if spread is None else spread, rows)


def distinct_rows(
    law: Distribution, y: Array, weights: Array | None, copies: float = COPIES
) -> tuple[Distribution, Array, Array]:
    """Forecasts and outcomes in sorted order, equal ones once, with their weights, on average ten at most."""
    rows, w = distinct(law, y, weights, copies=copies)
    return law[rows], y[rows], w


def distinct(
    law: Distribution, y: Array, weights: Array | None, beside: Array | None = None, copies: float = COPIES
) -> tuple[NDArray[np.intp], Array]:
    """Places of rows whose forecast, outcome or numbers beside (n, d) differ, sorted; weights, on average ten at most.

    Equal up to rounding: a model may forecast two copies of a row with the last digit different. Where a few points
    stand for very many rows (weights of a survey), maps that change with the forecast would learn the points by heart:
    60 rows of weight 1e4 cost .2 nats a row, and thirty times the seconds. Weights beyond ten are
    therefore believed for the outcomes that a forecast has (`believed`).
    """
    w = np.ones(len(y)) if weights is None else weights
    scores = law._by_blocks(lambda part, v: part.to_normal(v), y)
    centre, spread = centre_and_spread(law)
    table = np.empty((len(y), 0)) if beside is None else np.where(np.isnan(beside), np.inf, beside)
    order = np.lexsort([scores, y, *table.T[::-1], spread, centre])
    steps = [np.abs(np.diff(column[order])) for column in (y, scores, spread)]
    near = _ROUNDING * np.abs(spread[order][1:])
    apart = (steps[0] > 0) | ~(steps[1] <= _ROUNDING) | (steps[2] > near)
    apart |= (table[order][1:] != table[order][:-1]).any(axis=1)
    first = np.flatnonzero(np.concatenate([[True], apart]))
    forecasts = 1 + np.count_nonzero((np.diff(centre[order]) > near) | (steps[2] > near))
    each = np.add.reduceat(w[order], first)
    return order[first], believed(each, _MOST_COPIES, outcomes=len(first) / forecasts, copies=copies)


def weighted_quantiles(values: Array, weights: Array, levels: Array) -> Array:
    """The smallest values reached by these shares of the weight."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    place = np.searchsorted(reached, levels * reached[-1] * (1 - 1e-12))
    return np.asarray(values[order][place])


def centre_and_spread(law: Distribution) -> tuple[Array, Array]:
    """Location and scale of each forecast: its own parameters, else mean and standard deviation, else quantiles."""
    if isinstance(law, LocationScale):
        return law.loc, law.scale
    centre, spread = law.mean(), law.std()
    if not (np.isfinite(centre).all() and np.isfinite(spread).all()):
        low, centre, high = law._by_blocks(lambda part, z: part.from_normal(z), np.array([[-1.0, 0.0, 1.0]])).T
        spread = 0.5 * (high - low)
    return centre, np.maximum(spread, np.finfo(float).tiny)


@dataclass(frozen=True, eq=False)
class ForecastFeatures:
    r"""Standardised mean and :math:`\log\sigma / \max(sd, 0.3)` of a forecast, held constant beyond the outermost rows.

    These are the outer 0.2 % on each side, but at least three: what a single row far from all others shows is not
    continued beyond it. A feature that hardly varies is left out: constant means, or :math:`\log\sigma` with sd below
    0.05.

    Parameters
    ----------
    kept : tuple of int
        Which of (mean, log σ) are features.
    location, scale, low, high : ndarray (len(kept),)
    """

    kept: tuple[int, ...]
    location: Array
    scale: Array
    low: Array
    high: Array

    @property
    def lengths(self) -> Array:
        """Length scales of a kernel over these features."""
        return np.array([LENGTHS[k] for k in self.kept])

    def __call__(self, law: Distribution) -> Array:
        """Features of forecasts, (n, d); d may be 0."""
        raw = _raw(law)[:, list(self.kept)]
        return np.clip((raw - self.location) / self.scale, self.low, self.high)


def fit_features(law: Distribution, weights: Array) -> ForecastFeatures:
    """Learn location, scale and range of the features from n forecasts.

    Examples
    --------
    >>> from calibrant import Normal
    >>> law = Normal([1.0, 2.0, 3.0], 0.5)
    >>> fit_features(law, np.ones(3))(law).ravel().round(2)
    array([-1.22,  0.  ,  1.22])
    """
    raw, total = _raw(law), weights.sum()
    unit = np.maximum(np.abs(raw).max(axis=0), np.finfo(float).tiny)  # squares of large means stay finite
    location = weights @ (raw / unit) / total
    spread = np.sqrt(weights @ np.square(raw / unit - location) / total)
    location, spread = location * unit, spread * unit
    kept = tuple(k for k, used in enumerate((spread[0] > _CONSTANT * unit[0], spread[1] >= LEAST_SPREAD)) if used)
    scale = np.maximum(spread, [0.0, LEAST_SCALE])
    outer = min(max(CLIP, CLIP_ROWS / total), 0.25)
    ends = np.array([outer, 1 - outer])
    ranges = [(weighted_quantiles(raw[:, k], weights, ends) - location[k]) / scale[k] for k in kept]
    low, high = np.reshape(ranges, (len(kept), 2)).T
    chosen = list(kept)
    return ForecastFeatures(kept, location[chosen], scale[chosen], low, high)


def _raw(law: Distribution) -> Array:
    centre, spread = centre_and_spread(law)
    return np.column_stack([centre, np.log(spread)])


@dataclass(frozen=True, eq=False)
class Basis:
    r"""Functions of the features with unit prior: constant, linear, and a Gaussian process by Nyström's method.

    .. math:: B(x) = [1,\; \alpha x,\; \beta L^{-1} k(x)], \quad k_m(x) = \exp(-\tfrac12 |(x - c_m)/\ell|^2),
        \quad LL^T = k(c, c)

    With coefficients N(0, 1) the last part is a process with kernel :math:`\beta^2 k` on the landmarks :math:`c`.

    Parameters
    ----------
    landmarks : ndarray (m, d)
    lengths : ndarray (d,)
    whitening : ndarray (m, m)
        :math:`L^{-T}`.
    linear, process : float, default 1
        Prior standard deviations :math:`\alpha` and :math:`\beta` of slopes and process.
    """

    landmarks: Array
    lengths: Array
    whitening: Array
    linear: float = 1.0
    process: float = 1.0

    @property
    def size(self) -> int:
        """Number of functions."""
        return 1 + int(self.landmarks.shape[1]) + len(self.landmarks)

    def __call__(self, x: Array) -> Array:
        """Values of the functions, (n, size)."""
        out = np.empty((len(x), self.size))
        out[:, 0] = 1.0
        out[:, 1 : 1 + x.shape[1]] = self.linear * x
        if len(self.landmarks):
            whitening = self.process * self.whitening
            for rows in row_blocks(len(x), len(self.landmarks)):
                out[rows, 1 + x.shape[1] :] = _kernel(x[rows], self.landmarks, self.lengths) @ whitening
        return out

    def combined(self, x: Array, coefficients: Array) -> Array:
        """Sums (n, k) of the functions with coefficients (size, k); the functions themselves are not formed."""
        d = x.shape[1]
        out = np.asarray(coefficients[0] + self.linear * x @ coefficients[1 : 1 + d])
        if len(self.landmarks):
            shares = self.process * self.whitening @ coefficients[1 + d :]
            for rows in row_blocks(len(x), len(self.landmarks), BLOCK):
                out[rows] += _kernel(x[rows], self.landmarks, self.lengths) @ shares
        return out

    def crossed(self, first: Array, second: Array, coefficients: Array) -> Array:
        """Sums (n, m) of the functions of two features, at all pairs of n and m values of these."""
        left, right = (
            _kernel(x[:, None], self.landmarks[:, [d]], self.lengths[[d]]) for d, x in enumerate((first, second))
        )
        out = np.asarray(left @ (self.process * self.whitening @ coefficients[3:] * right).T)
        out += (coefficients[0] + self.linear * coefficients[1] * first)[:, None]
        out += self.linear * coefficients[2] * second
        return out


def fit_basis(
    x: Array, weights: Array, lengths: Array, *, most: int | None = None, linear: float = 1.0, process: float = 1.0
) -> Basis:
    """Landmarks are the means of cells of equal weight, one per 30 rows, 5 to ``most`` of them (10, 28 or 48).

    Examples
    --------
    >>> x = np.linspace(-1.0, 1.0, 300)[:, None]
    >>> basis = fit_basis(x, np.ones(300), np.array([0.75]))
    >>> basis(x).shape, basis.landmarks[[0, -1], 0].round(2)
    ((300, 12), array([-0.9,  0.9]))
    """
    d, total = x.shape[1], weights.sum()
    if most is None:
        most = 0 if d == 0 else 10 if d == 1 else 28 if total < 8000 else 48
    count = int(min(max(total / ROWS_PER_LANDMARK, FEWEST_LANDMARKS), most)) if d else 0
    cells = _cell_means(x / lengths, weights, count) if count else []
    landmarks = lengths * np.unique(np.array(cells).reshape(-1, d), axis=0) if cells else np.empty((0, d))
    if not len(landmarks):
        return Basis(landmarks, lengths, np.empty((0, 0)), linear, process)
    gram = _kernel(landmarks, landmarks, lengths) + _JITTER * np.eye(len(landmarks))
    root = cholesky(gram, lower=True)
    whitening = solve_triangular(root, np.eye(len(landmarks)), lower=True).T
    return Basis(landmarks, lengths, whitening, linear, process)


def _kernel(x: Array, landmarks: Array, lengths: Array) -> Array:
    half = np.zeros((len(x), len(landmarks)))
    for one, other in zip((x / lengths).T, (landmarks / lengths).T, strict=True):
        away = one[:, None] - other
        half += np.multiply(away, away, out=away)
    half *= -0.5
    return np.exp(half, out=half)


def _cell_means(x: Array, weights: Array, count: int) -> list[Array]:
    """Halve the rows along their widest feature until there are ``count`` cells; the means of the cells."""
    total = weights.sum()
    mean = weights @ x / total
    if count == 1 or len(x) < 2:
        return [mean]
    widest = int(np.argmax(weights @ np.square(x - mean)))
    order = np.argsort(x[:, widest], kind="stable")
    left = count // 2
    cut = int(np.searchsorted(np.cumsum(weights[order]), left / count * total * (1 - 1e-12))) + 1
    cut = min(max(cut, 1), len(x) - 1)
    parts = ((order[:cut], left), (order[cut:], count - left))
    return [cell for rows, share in parts for cell in _cell_means(x[rows], weights[rows], share)]
