"""A monotone flow whose coefficients are functions of the forecast: calibration of whole distributions."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_ndtr

from .._checks import Array
from ..calibration import Calibrator
from ..distributions import Distribution, Recalibrated
from ..maps import Map, UnitTails
from ..maps.cells import Cells
from ..maps.flow import FlowMap, hazard
from ..maps.shrunken import shrunken_affine
from .features import distinct_rows, fit_basis, fit_features, scores_by_row

FEWEST_ROWS = 10
_REACH = 2.0  # the steps' centres span this many standard scores either way
_OVERLAP = 0.4  # width of a step over the distance between centres
_LOG_HEIGHT = -3.0  # a priori, so that little is added to the beta map
_LINEAR, _PROCESS = 0.5, 0.7  # prior standard deviations of slopes and process
_FARTHEST = 40.0  # standard scores beyond which an outcome counts as one at that distance in the fit
_WARM_ROWS = 5_000  # beyond, the fit starts from the solution on that many rows
_EXACT_ROWS = 2_000  # up to that many the mode is found to many digits, beyond to about 1e-5 nats a row


class FlowCalibrator(Calibrator):
    r"""Learn, for each forecast, an increasing map with as many shapes as steps: it can make two modes out of one.

    .. math:: F = \sigma(h), \quad
        h = a\ln q - b\ln(1-q) + c + \sum_{j=1}^J e^{w_j}\,[\sigma((u-\kappa_j)/s) - \tfrac12]

    u is the base's normal score after a shrunken change of location and scale, :math:`q = \Phi(u)`; :math:`\log a`,
    :math:`\log b`, c and all :math:`w_j` are functions of the forecast's mean and :math:`\log\sigma` (constant, slope,
    and a Gaussian process by Nyström's method, with normal priors). The fit maximises the exact posterior density:
    there are no thresholds, and every result is a proper law. It is the monotone form of the classifier on (q, t) of
    Song et al. (2018), §5, whose raw output need not increase in t; without steps it is the beta map of Song et al.
    (2019), §4.

    How many rows do I need? Alone it overfits small sets: on forecasts that are right already it costs about 0.04 nats
    at 300 rows. From 1 000 rows on, or where shapes are clearly wrong, it pays; below, `StackCalibrator` weighs it
    against simpler ones. With fewer than 10 rows forecasts are left as they are, with a warning.

    Parameters
    ----------
    n_bumps : int, default 8
        J, the number of smooth steps.
    max_rows : int, default 30 000
        Fit on at most that many rows, drawn at random: more hardly change the coefficients.
    random_state : int, Generator or None
        For that draw.

    Attributes
    ----------
    features_ : ForecastFeatures
        What is seen of a forecast.
    basis_ : Basis
        Functions of the features.
    coefficients_ : ndarray (3 + n_bumps, basis_.size)
        Of log a, log b, c and the :math:`w_j`.
    location_, scale_ : float
        Of the scores, before the flow.
    n_iter_ : int
        Steps of the fit.

    Examples
    --------
    >>> from calibrant import Normal
    >>> rng = np.random.default_rng(0)
    >>> mu = rng.uniform(0.0, 10.0, 1000)
    >>> y = mu * rng.choice([0.0, 2.0], 1000) + rng.normal(size=1000)  # right in the mean, but one of two
    >>> law = FlowCalibrator().fit(Normal(mu, 5.0), y).transform(Normal([9.0], 5.0))
    >>> law.cdf(np.array([[4.0, 9.0, 14.0]])).round(1)
    array([[0.5, 0.5, 0.5]])
    """

    def __init__(self, n_bumps: int = 8, *, max_rows: int = 30_000, random_state: Any = None) -> None:
        self.n_bumps = n_bumps
        self.max_rows = max_rows
        self.random_state = random_state

    def _fit(self, forecasts: Distribution, y: Array, weights: Array | None) -> None:
        _whole(self.n_bumps, "n_bumps", 0)
        _whole(self.max_rows, "max_rows", FEWEST_ROWS)
        forecasts, y, weights = self._thinned(forecasts, y, weights)
        forecasts, y, weights = distinct_rows(forecasts, y, weights)
        z, w, rows = scores_by_row(forecasts, y, weights)
        self.span_ = (float(z.min()), float(z.max()))
        self.features_ = fit_features(forecasts, weights)
        x = self.features_(forecasts)[rows]
        self.basis_ = fit_basis(x, w, self.features_.lengths, linear=_LINEAR, process=_PROCESS)
        self.location_, self.scale_ = shrunken_affine(Cells(z, w))
        self.centres_ = np.linspace(-_REACH, _REACH, self.n_bumps)
        self.width_ = _OVERLAP * 2 * _REACH / max(self.n_bumps - 1, 1)
        self.identity_ = bool(w.sum() < FEWEST_ROWS)
        if self.identity_:
            self._stay_as_it_is(w.sum())
            return
        u = np.clip((z - self.location_) / self.scale_, -_FARTHEST, _FARTHEST)
        self.coefficients_, self.n_iter_ = self._maximise(u, self.basis_(x), w)

    def _thinned(
        self, forecasts: Distribution, y: Array, weights: Array | None
    ) -> tuple[Distribution, Array, Array | None]:
        if len(y) <= self.max_rows:
            return forecasts, y, weights
        rng = np.random.default_rng(self.random_state if self.random_state is not None else 0)
        rows = np.sort(rng.choice(len(y), self.max_rows, replace=False))
        return forecasts[rows], y[rows], None if weights is None else weights[rows]

    def _stay_as_it_is(self, rows: float) -> None:
        warnings.warn(
            f"too few rows to learn from: {rows:g}; forecasts stay as they are. {FEWEST_ROWS} are the fewest, "
            f"a few hundred are better.",
            stacklevel=4,
        )
        self.location_, self.scale_ = 0.0, 1.0
        self.coefficients_, self.n_iter_ = np.zeros((3 + self.n_bumps, self.basis_.size)), 0

    def _maximise(self, u: Array, basis: Array, w: Array) -> tuple[Array, int]:
        """Coefficients at the mode of the posterior density."""
        start, steps = np.zeros((3 + self.n_bumps, basis.shape[1])), 0
        pace = -(-len(u) // _WARM_ROWS)
        if pace > 1:  # every pace-th row, as many times its weight
            part = slice(pace // 2, None, pace)
            start, steps = self._maximise(u[part], basis[part], pace * w[part])
        problem = _Problem.of(u, basis, w, self.centres_, self.width_)
        tolerance = 1e-16 if len(u) <= _EXACT_ROWS else 3e-7
        best = minimize(
            problem.loss, start.ravel(), jac=True, method="L-BFGS-B",
            options={"maxiter": 2000, "maxfun": 4000, "maxcor": 20, "ftol": tolerance, "gtol": 1e-9},
        )  # fmt: skip
        return best.x.reshape(start.shape), steps + int(best.nit)

    def _transform(self, forecasts: Distribution) -> Distribution:
        theta = self.basis_(self.features_(forecasts)) @ self.coefficients_.T
        n = len(theta)
        log_heights = theta[:, 3:] + (-np.inf if self.identity_ else _LOG_HEIGHT)
        width, location, scale = (np.broadcast_to(v, n) for v in (self.width_, self.location_, self.scale_))
        centres, (a, b) = np.broadcast_to(self.centres_, log_heights.shape), np.exp(theta[:, :2].T)
        fitted: Map = FlowMap(a, b, theta[:, 2], np.exp(log_heights), centres, width, location, scale)
        return Recalibrated(forecasts, UnitTails(fitted, *self.span_) if forecasts.has_heavy_tails else fitted)


@dataclass(frozen=True, eq=False)
class _Problem:
    """Scores as the likelihood needs them, and the basis at their forecasts; one column a row of data."""

    basis: Array
    weights: Array
    logs: tuple[Array, Array]  # ln Φ(±u)
    hazards: tuple[Array, Array]  # their slopes, up to sign
    steps: Array  # σ((u-κ)/s) - 1/2, (J, n)
    rises: Array  # and slopes

    @classmethod
    def of(cls, u: Array, basis: Array, weights: Array, centres: Array, width: float) -> _Problem:
        """From scores (n,) and basis (n, size)."""
        step = expit((u - centres[:, None]) / width)
        logs, hazards = (log_ndtr(u), log_ndtr(-u)), (hazard(-u), hazard(u))
        return cls(np.ascontiguousarray(basis.T), weights, logs, hazards, step - 0.5, step * (1 - step) / width)

    @property
    def shape(self) -> tuple[int, int]:
        """Of the coefficients: one line a parameter of the map, one column a function."""
        return 3 + len(self.steps), len(self.basis)

    def loss(self, flat: Array) -> tuple[float, Array]:
        r"""Minus the log posterior, :math:`-\sum w [\ln\sigma'(h) + \ln h'] + \frac12|\theta|^2`, per row."""
        theta = flat.reshape(self.shape) @ self.basis
        theta[3:] += _LOG_HEIGHT
        c = theta[2].copy()
        factor = np.exp(theta, out=theta)
        a, b, heights = factor[0], factor[1], factor[3:]
        (low, high), (below, above) = self.logs, self.hazards
        h = a * low - b * high + c + (heights * self.steps).sum(axis=0)
        slope = a * below + b * above + (heights * self.rises).sum(axis=0)
        size, t, inverse = np.abs(h), np.tanh(0.5 * h), 1 / slope
        likelihood = self.weights @ (np.log(slope) - size - 2 * np.log1p(np.exp(-size)))
        factor[0] *= inverse * below - t * low
        factor[1] *= inverse * above + t * high
        factor[2] = -t
        heights *= inverse * self.rises - t * self.steps
        factor *= self.weights
        gradient, total = (factor @ self.basis.T).ravel(), self.weights.sum()
        return float(0.5 * flat @ flat - likelihood) / total, (flat - gradient) / total


def _whole(value: Any, name: str, least: int) -> None:
    if value != int(value) or value < least:
        raise ValueError(f"`{name}` must be a whole number of at least {least}; got {value!r}.")
