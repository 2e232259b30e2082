"""Candidates of the stack: mixtures of normal laws in normal scores, with parameters that follow the forecast."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from ..._checks import Array, one_of
from ...calibration import RegressionCalibrator
from ...distributions import Distribution, Mixture, Normal, Recalibrated
from ...maps import AffineMap, Map, UnitTails
from ...maps.cells import Cells
from ...maps.shrunken import shrunken_affine
from ..features import distinct_rows, fit_basis, fit_features, scores_by_row
from ..posterior import Posterior

_MOST = 14  # landmarks of smooth functions
_EXACT_ROWS = 2_000  # up to that many the mode is found to many digits
FLOOR = 0.05  # least standard deviation of a component, in standard scores
_APART = 0.7  # of the two components at the start, either way
_REMOTE, _WIDEST = 1e6, 30.0  # means and log widths that a search, or a forecast far from all that were seen, may reach
_FARTHEST = 40.0  # standard scores beyond which an outcome counts as one at that distance in the fit


class ScoreMixtureCalibrator(RegressionCalibrator):
    r"""Say that the normal scores are a mixture of one or two normal laws whose parameters follow the forecast.

    .. math:: z \mid x \sim \sum_k \pi_k(x)\, N(m_k(x), s_k(x)^2), \quad s_k = 0.05 + e^{\ell_k(x)}

    x are the forecast's mean and :math:`\log\sigma`; means, :math:`\ell_k` and the logit of :math:`\pi_1` are linear in
    x, or also have a Gaussian process. The fit is the mode of the posterior density with priors N(0, 1).

    Parameters
    ----------
    n_components : {1, 2}, default 1
    functions : {"linear", "smooth"}, default "linear"
    max_rows : int, default 30 000
        Fit on at most that many rows, evenly taken from the sorted ones.

    Attributes
    ----------
    coefficients_ : ndarray (3 * n_components - 1, basis_.size)
        Of means, :math:`\ell_k` and the logit.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> mu = rng.uniform(-1.0, 1.0, 2000)
    >>> y = mu + np.exp(mu) * rng.standard_normal(2000)
    >>> ScoreMixtureCalibrator().fit(Normal(mu, 1.0), y).transform(Normal([0.0], 1.0)).std().round(1)
    array([1.])
    """

    def __init__(self, n_components: int = 1, functions: str = "linear", *, max_rows: int = 30_000) -> None:
        self.n_components = n_components
        self.functions = functions
        self.max_rows = max_rows

    def _fit(self, forecasts: Distribution, y: Array, weights: Array | None) -> None:
        one_of(self.functions, "functions", ["linear", "smooth"])
        one_of(self.n_components, "n_components", [1, 2])
        forecasts, y, weights = distinct_rows(forecasts, y, weights)
        self.features_ = fit_features(forecasts, weights)
        z, w, rows = scores_by_row(forecasts, y, weights)
        self.span_ = (float(z.min()), float(z.max()))
        x = self.features_(forecasts)[rows]
        self.basis_ = fit_basis(x, w, self.features_.lengths, most=0 if self.functions == "linear" else _MOST)
        self.location_, self.scale_ = shrunken_affine(Cells(z, w))
        u = np.clip((z - self.location_) / self.scale_, -_FARTHEST, _FARTHEST)
        part = slice(None, None, -(-len(u) // self.max_rows))
        problem = _Problem(u[part], np.ascontiguousarray(self.basis_(x[part]).T), w[part], self.n_components)
        tolerance = 1e-15 if len(u) <= _EXACT_ROWS else 1e-8
        self.coefficients_, self.n_iter_ = problem.mode(np.zeros(problem.shape), tolerance)

    def _transform(self, forecasts: Distribution) -> Distribution:
        theta = self.coefficients_ @ self.basis_(self.features_(forecasts)).T
        means, widths, log_shares = _parameters(theta, self.n_components)
        means, widths = self.location_ + self.scale_ * means, self.scale_ * widths
        parts = [self._moved(forecasts, m, s) for m, s in zip(means, widths, strict=True)]
        return parts[0] if len(parts) == 1 else Mixture(parts, np.exp(log_shares.T))

    def _moved(self, law: Distribution, mean: Array, width: Array) -> Distribution:
        """The law of y whose normal score is N(mean, width²)."""
        if isinstance(law, Normal):
            return law.rescaled(width, mean)
        fitted: Map = AffineMap(-mean / width, 1 / width)
        return Recalibrated(law, UnitTails(fitted, *self.span_) if law.has_heavy_tails else fitted)


@cache
def _at_first(count: int) -> tuple[Array, float]:
    """Means (count, 1), and the standard deviation above the least one, that make about N(0, 1)."""
    start = _APART * np.linspace(-1, 1, count)[:, None] if count > 1 else np.zeros((1, 1))
    return start, float(np.sqrt(1 - np.mean(start**2)) - FLOOR)


def _parameters(theta: Array, count: int) -> tuple[Array, Array, Array]:
    """Means, standard deviations and log shares, (count, n) each; about N(0, 1) at theta = 0."""
    start, widest = _at_first(count)
    widths = FLOOR + widest * np.exp(np.clip(theta[count : 2 * count], -_WIDEST, _WIDEST))
    means = np.clip(theta[:count], -_REMOTE, _REMOTE) + start
    if count == 1:
        return means, widths, np.zeros((1, theta.shape[1]))
    log_shares = np.stack([-np.logaddexp(0.0, -theta[4]), -np.logaddexp(0.0, theta[4])])
    return means, widths, log_shares


@dataclass(frozen=True, eq=False)
class _Problem(Posterior):
    """Scores, the basis at their forecasts (one line a function), weights, number of components."""

    u: Array
    basis: Array
    weights: Array
    count: int

    @property
    def shape(self) -> tuple[int, int]:
        """Of the coefficients: one line a parameter, one column a function."""
        return 3 * self.count - 1, len(self.basis)

    def likelihood(self, flat: Array) -> tuple[Array, Array]:
        """Log densities, and their slopes in means, log widths and the logit."""
        theta = flat.reshape(self.shape) @ self.basis
        means, widths, log_shares = _parameters(theta, self.count)
        away = (self.u - means) / widths
        square = np.square(away)
        each = log_shares - np.log(widths) - 0.5 * square
        value = each[0] if self.count == 1 else np.logaddexp(each[0], each[1])
        share = np.exp(each - value)
        slopes = theta  # overwritten
        slopes[: self.count] = share * away / widths
        slopes[self.count : 2 * self.count] = share * (square - 1) * (1 - FLOOR / widths)
        if self.count == 2:
            slopes[4] = share[0] - np.exp(log_shares[0])
        return value, slopes
