"""Calibration by a sparse Gaussian-process classifier of "is the outcome below t?"."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import isotonic_regression
from scipy.special import expit, log_expit, log_ndtr

from .._checks import Array, count
from ..calibration.pit_watch import ConditionalCalibrator
from ..distributions import Distribution
from ..distributions.segmented import Segmented
from ..maps.probability_rows import ProbabilityRows, log_segment_masses
from ..numerics.blocks import row_blocks
from .features import Basis, fit_basis, merged
from .quantile import QuantileCalibrator

_FEWEST = 10  # rows up to which only the quantile map is used
_BLOCK = 512  # rows worked on at a time
_FARTHEST = 4.0  # scores are features up to here
_LENGTHS = np.array([0.7, 0.35])  # of the kernel along the score and the standardised threshold
_TEMPERS = (
    0.01,
    0.03,
    0.1,
    0.3,
    1.0,
    3.0,
    10.0,
)  # weight of a pair: the pairs of one row say the same thing several times
_MOST_KEPT = 30_000_000  # numbers kept between Newton steps
_BASE_SHARE = 0.01  # of the forecast itself in the result


class _Pairs(NamedTuple):
    """Some rows at all thresholds: basis functions, offsets logit q, whether y <= t, all flat; and which rows."""

    basis: Array
    offset: Array
    below: Array
    rows: slice


class GPCCalibrator(ConditionalCalibrator):
    r"""Learn :math:`P(Y \le t \mid q(t), t)` from all pairs of rows and thresholds.

    .. math:: \operatorname{logit} \hat q(t) = \operatorname{logit} q(t) + h(u, t), \qquad h \sim GP,
        \quad u = \Phi^{-1}(q(t))

    Song et al. (2018), section 5, with three differences: h is a sparse process (Nyström basis, RBF kernel), so that
    all N·K pairs are used where the paper stops at 5 000; it is the change to the forecast, after a quantile map
    common to all rows, so that few data leave the forecast as it is; and what it predicts along t is made monotone
    (:math:`\hat q` projected by isotonic regression, with 1 % of the forecast mixed in), so that every result is a
    proper distribution. The raw classifier is not: its finite differences are negative in many places.

    The pairs of one row are not independent; how much each counts is chosen by the log density of held-out rows.

    How many rows do I need? With 10 or fewer only the quantile map is used; some hundreds let it see a second mode.

    Cost where nothing is wrong, nats a row (`experiments.cost`): 0.013, 0.0026, 0.0003 at 100, 300 and 1 000 rows.

    Parameters
    ----------
    n_thresholds : int, default 32
        Thresholds that the classifier is trained on, evenly spaced over the range of the outcomes and half of it more
        on both sides.
    n_basis : int, default 64
        Landmarks of the sparse process.
    n_grid : int, default 256
        Thresholds that it predicts on; the forecast is rescaled between them.

    Attributes
    ----------
    quantile_ : QuantileCalibrator
        The map common to all rows.
    temper_ : float or None
        Weight of a pair; None where too few rows were seen.
    coefficients_ : ndarray
        Of the basis functions.
    pit_distances_ : tuple of float
        Largest distance of the PIT values of unseen outcomes from uniform, before and after (two halves, each
        calibrated by the other); a warning tells if it grew by more than chance explains. NaN with fewer than 40 rows.

    Examples
    --------
    >>> from calibrant import Normal
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(0, 4, 500)
    >>> y = x * rng.choice([-1.0, 1.0], 500) + 0.3 * rng.standard_normal(500)
    >>> law = GPCCalibrator().fit(Normal(x, 3.0), y).transform(Normal([3.5], 3.0))
    >>> bool(law.pdf([0.0])[0] < 0.3 * law.pdf([3.5])[0])
    True
    """

    def __init__(self, n_thresholds: int = 32, *, n_basis: int = 64, n_grid: int = 256) -> None:
        self.n_thresholds = n_thresholds
        self.n_basis = n_basis
        self.n_grid = n_grid

    def _fit(self, forecasts: Distribution, y: Array, weights: Array | None) -> None:
        for name in ("n_thresholds", "n_basis", "n_grid"):
            count(getattr(self, name), name, least=2)
        w = np.ones(len(y)) if weights is None else weights
        self.quantile_ = QuantileCalibrator().fit(forecasts, y, sample_weight=weights)
        law = self.quantile_.transform(forecasts)
        low, high = float(y.min()), float(y.max())
        reach = 0.5 * (high - low) or float(np.median(np.diff(law.interval(0.5))))
        self.range_, self.temper_ = (low - reach, high + reach), None
        if w.sum() <= _FEWEST:
            warnings.warn(f"{len(y)} rows are too few for a classifier; only the quantile map is used.", stacklevel=3)
            return
        self._basis = self._fit_basis(law, w)
        self.temper_ = self._choose_temper(law, y, w)
        self.coefficients_ = self._fit_coefficients(self._all_pairs(law, y), self.temper_ * w)

    def _refitted(self, forecasts: Distribution, y: Array, w: Array) -> GPCCalibrator:
        """Quantile map and coefficients from these rows; basis and weight of a pair stay."""
        other = copy(self)
        other.quantile_ = QuantileCalibrator().fit(forecasts, y, sample_weight=w)
        pairs = self._all_pairs(other.quantile_.transform(forecasts), y)
        other.coefficients_ = self._fit_coefficients(pairs, (self.temper_ or 0.0) * w, self.coefficients_)
        return other

    def _fit_basis(self, law: Distribution, w: Array) -> Basis:
        thin = slice(None, None, -(-len(law) // 2000))
        points = self._features(law[thin], np.linspace(*self.range_, 33))
        near = np.abs(points[:, 0]) < _FARTHEST
        distinct, mass = merged(points[near], np.repeat(w[thin], 33)[near])
        return fit_basis(points[near][distinct], mass, _LENGTHS, most=self.n_basis)

    def _features(self, law: Distribution, t: Array) -> Array:
        """(score, standardised threshold) of all pairs, (n K, 2)."""
        u = np.clip(law.to_normal(t[None, :]), -_FARTHEST, _FARTHEST)
        low, high = self.range_
        place = np.broadcast_to(4 * (t - low) / (high - low) - 2, u.shape)
        return np.column_stack([u.ravel(), place.ravel()])

    def _all_pairs(self, law: Distribution, y: Array) -> Callable[[], Iterable[_Pairs]]:
        """All pairs, block by block: kept if they are few, made anew on each pass if they are many."""
        if len(y) * self.n_thresholds * self._basis.size > _MOST_KEPT:
            return lambda: self._pairs(law, y)
        kept = list(self._pairs(law, y))
        return lambda: kept

    def _pairs(self, law: Distribution, y: Array) -> Iterator[_Pairs]:
        t = np.linspace(*self.range_, self.n_thresholds)
        for rows in row_blocks(len(y), block=_BLOCK):
            below = (y[rows, None] <= t).astype(float).ravel()
            basis = self._basis(self._features(law[rows], t))
            yield _Pairs(basis, _logit(law[rows], t).ravel(), below, rows)

    def _fit_coefficients(self, pairs: Callable[[], Iterable[_Pairs]], w: Array, start: Array | None = None) -> Array:
        """Damped Newton steps on the penalised log likelihood of all pairs; unit normal prior."""
        theta = np.zeros(self._basis.size) if start is None else start
        best, step, value = theta, np.zeros_like(theta), np.inf
        for _ in range(60):
            loss, gradient, hessian = self._derivatives(pairs(), w, theta)
            if loss > value + 1e-9 * abs(value):  # too far: half the way back
                step = 0.5 * step
                theta = best + step
                continue
            best, value, step = theta, loss, -cho_solve(cho_factor(hessian), gradient)
            if -gradient @ step < 1e-9 * max(1.0, abs(loss)):
                break
            theta = best + step
        return best

    def _derivatives(self, pairs: Iterable[_Pairs], w: Array, theta: Array) -> tuple[float, Array, Array]:
        loss, gradient, hessian = 0.5 * theta @ theta, theta.copy(), np.eye(len(theta))
        for block in pairs:
            weight = np.repeat(w[block.rows], self.n_thresholds)
            h = block.offset + block.basis @ theta
            p = expit(h)
            loss -= weight @ log_expit(np.where(block.below > 0, h, -h))
            gradient += block.basis.T @ (weight * (p - block.below))
            hessian += block.basis.T @ ((weight * p * (1 - p))[:, None] * block.basis)
        return float(loss), gradient, hessian

    def _choose_temper(self, law: Distribution, y: Array, w: Array) -> float:
        """Try each weight of a pair on two halves of at most 4 000 rows."""
        rows = np.linspace(0, len(y) - 1, min(len(y), 4000)).round().astype(np.intp)
        half = np.unique(y[rows], return_inverse=True)[1] % 2 == 0  # equal outcomes stay together
        scores = np.zeros(len(_TEMPERS))
        for train, test in ((rows[half], rows[~half]), (rows[~half], rows[half])):
            pairs, thetas = self._all_pairs(law[train], y[train]), [np.zeros(self._basis.size)]
            for temper in _TEMPERS:
                thetas.append(self._fit_coefficients(pairs, temper * w[train], thetas[-1]))
            scores += w[test] @ self._log_densities(law[test], y[test], np.column_stack(thetas[1:]))
        return _TEMPERS[int(np.argmax(scores))]

    def _log_densities(self, law: Distribution, y: Array, thetas: Array) -> Array:
        """Log densities of outcomes (n, k) under each of k columns of coefficients."""
        out = np.empty((len(law), thetas.shape[1]))
        for rows in self._blocks(law):
            knots, masses = self._masses(law[rows], thetas)
            for k, each in enumerate(masses):
                out[rows, k] = self._segmented(law[rows], knots, each).logpdf(y[rows])
        return out

    def _recalibrated(self, law: Distribution, theta: Array) -> Distribution:
        size = self.n_grid
        knots, masses = np.empty((len(law), size)), np.empty((len(law), size + 1))
        for rows in self._blocks(law):
            knots[rows], (masses[rows],) = self._masses(law[rows], theta[:, None])
        return self._segmented(law, knots, masses)

    def _masses(self, law: Distribution, thetas: Array) -> tuple[Array, list[Array]]:
        """Scores of the grid (n, K), and log masses between under each column of coefficients."""
        grid = self._grid()
        knots, offset = law.to_normal(grid[None, :]), _logit(law, grid)
        base, bent = log_segment_masses(knots), self._basis(self._features(law, grid)) @ thetas
        return knots, [_log_masses(offset + column.reshape(offset.shape), base) for column in bent.T]

    def _segmented(self, law: Distribution, knots: Array, masses: Array) -> Distribution:
        return Segmented(law, ProbabilityRows.from_log_masses(knots, masses), self._grid())

    def _grid(self) -> Array:
        return np.linspace(*self.range_, self.n_grid)

    def _blocks(self, law: Distribution) -> Iterator[slice]:
        return row_blocks(len(law), block=_BLOCK)

    def _transform(self, forecasts: Distribution) -> Distribution:
        law = self.quantile_.transform(forecasts)
        return law if self.temper_ is None else self._recalibrated(law, self.coefficients_)

    def probability(self, score: Any, t: Any) -> Array:
        r"""The classifier itself: :math:`\hat q` at pairs of :math:`u = \Phi^{-1}(q)` and t, as it is.

        For the picture of its map (Song et al. 2018, fig. 2).
        """
        u, at = np.broadcast_arrays(np.asarray(score, dtype=float), np.asarray(t, dtype=float))
        offset = log_ndtr(u) - log_ndtr(-u)
        if self.temper_ is None:
            return np.asarray(expit(offset))
        low, high = self.range_
        points = np.column_stack(
            [np.clip(u, -_FARTHEST, _FARTHEST).ravel(), (4 * (at - low) / (high - low) - 2).ravel()]
        )
        return np.asarray(expit(offset + (self._basis(points) @ self.coefficients_).reshape(u.shape)))


def _logit(law: Distribution, t: Array) -> Array:
    """Logit of the forecast's cdf, (n, K), from both tails."""
    z = np.clip(law.to_normal(t[None, :]), -1e3, 1e3)
    return np.asarray(log_ndtr(z) - log_ndtr(-z))


def _log_masses(logits: Array, base: Array) -> Array:
    """Log masses between thresholds of the monotone projection of a classifier, with a little of the base."""
    cdf = expit(logits)
    for row in np.flatnonzero((np.diff(cdf) < 0).any(axis=1)):
        cdf[row] = isotonic_regression(cdf[row]).x
    none, whole = np.zeros((len(cdf), 1)), np.ones((len(cdf), 1))
    mass = np.maximum(np.diff(np.hstack([none, cdf, whole])), 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.logaddexp(np.log1p(-_BASE_SHARE) + np.log(mass), np.log(_BASE_SHARE) + base))
