"""A monotone flow whose coefficients are functions of the forecast: calibration of whole distributions."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr
from sklearn.base import clone

from .._checks import Array, count, one_of
from ..calibration import RegressionCalibrator
from ..calibration.pit_watch import ConditionalCalibrator, unwatched
from ..distributions import Distribution, Mixture, Recalibrated
from ..maps import Map, UnitTails
from ..maps.cells import Cells
from ..maps.flow import FlowMap, HatFlowMap, hat_ends, hat_step, smooth_step
from ..maps.shrunken import shrunken_affine
from ..numerics.tails import normal_hazard
from .features import distinct_rows, fit_basis, fit_features, scores_by_row, weighted_quantiles
from .held_out import TRUST_IN_BASE, base_premium, drawn_rows, held_out_splits
from .posterior import Posterior

FEWEST_ROWS = 11
_REACH = 2.0  # the steps' centres span this many standard scores either way
_HATS_REACH, _EVEN = 2.5, 0.5  # and knots of hats, as far as they are spread evenly; the rest follows the scores
_OVERLAP = 0.4  # width of a step over the distance between centres
_LOG_HEIGHT = -3.0  # a priori, so that little is added to the beta map
_LINEAR, _PROCESS = 0.5, 0.7  # prior standard deviations of slopes and process
_LARGEST = 30.0  # absolute value of log a, log b, c and the w, whatever their functions say far out
_FARTHEST = 40.0  # standard scores beyond which an outcome counts as one at that distance in the fit
_WARM_ROWS = 5_000  # beyond, the fit starts from the solution on that many rows
_EXACT_ROWS = 2_000  # up to that many the mode is found to many digits, beyond to about 1e-5 nats a row
_MANY_COPIES = 2.5  # that a row stands for, on average, beyond which the last digits take long and tell nothing
_EXACT, _CLOSE, _NEAR, _ROUGH = 1e-16, 3e-7, 1e-6, 1e-5  # relative changes of the loss at which a fit ends
HELD_OUT = "held-out"
_FOLDS = 4
_PENALTIES = (64.0, 16.0, 4.0, 1.0)  # that compete on held-out rows, and shares of the base
_LOST = 6.0  # nats on held-out rows by which a penalty is behind another before smaller ones are not tried
_SHARES = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)


class _Sample(NamedTuple):
    """Scores with their weights, the row of each, and the basis at its forecast."""

    z: Array
    weights: Array
    rows: NDArray[np.intp]
    basis: Array

    def part(self, rows: NDArray[np.intp]) -> _Sample:
        """The scores of some rows."""
        mine = np.isin(self.rows, rows)
        return _Sample(self.z[mine], self.weights[mine], self.rows[mine], self.basis[mine])

    @property
    def has_many_copies(self) -> bool:
        """Whether a row stands for several others."""
        return bool(self.weights.sum() > _MANY_COPIES * len(np.unique(self.rows)))

    def affine(self) -> tuple[float, float]:
        """Shrunken location and scale of the scores."""
        return shrunken_affine(Cells(self.z, self.weights))

    def standardised(self, location: float, scale: float) -> Array:
        """Scores as the flow sees them."""
        return np.clip((self.z - location) / scale, -_FARTHEST, _FARTHEST)


class FlowCalibrator(ConditionalCalibrator):
    r"""Learn, for each forecast, an increasing map with as many shapes as steps: it can make two modes out of one.

    .. math:: F = \sigma(h), \quad
        h = a\ln q - b\ln(1-q) + c + \sum_{j=1}^J e^{w_j}\,[\sigma((u-\kappa_j)/s) - \tfrac12]

    u is the base's normal score after a shrunken change of location and scale, :math:`q = \Phi(u)`; :math:`\log a`,
    :math:`\log b`, c and all :math:`w_j` are functions of the forecast's mean and :math:`\log\sigma` (constant, slope,
    and a Gaussian process by Nyström's method, with normal priors). The fit maximises the exact posterior density:
    there are no thresholds, and every result is a proper law. It is the monotone form of the classifier on (q, t) of
    Song et al. (2018), §5, whose raw output need not increase in t; without steps it is the beta map of Song et al.
    (2019), §4.

    So many shapes overfit small sets, so the default is cautious: the result is the mixture
    :math:`(1-\omega)F + \omega F_0` with the forecast :math:`F_0` as it is, and :math:`\omega` and how much the map may
    change from one forecast to another are those under which held-out outcomes are most probable (four folds; from
    2 000 rows on one split), with one outcome's worth of trust in :math:`F_0` in advance.

    How many rows do I need? Two modes are found from about a hundred rows on. With 10 or fewer rows
    forecasts are left as they are, with a warning.

    Cost where nothing is wrong, nats a row (`experiments.cost`): 0.0043, 0.0015, 0.0005 at 100, 300 and 1 000 rows.

    Parameters
    ----------
    n_bumps : int, default 8
        J, the number of smooth steps.
    bumps : {"smooth", "hats"}, default "smooth"
        - "smooth": logistic steps of one width, evenly spread over ± 2 standard scores, as above.
        - "hats": the steps rise as hats, highest at one of ``n_bumps`` knots and 0 at the next, and knots lie closer
          where there are more scores: halfway between their quantiles and an even spread. Sharp edges, narrow peaks
          and several modes are followed more closely from about 2 000 rows on (12 knots are good); heavy tails less.
    penalty : "held-out" or float, default "held-out"
        The prior variances of slopes and processes are divided by it: the larger, the more alike the maps of all
        forecasts. A number is taken as it is and leaves no share to the forecast itself: at 1 it costs 0.04 nats at
        300 rows where nothing is wrong.
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
    coefficients_ : ndarray (3 + n_bumps, n_basis)
        Of log a, log b, c and the :math:`w_j`.
    location_, scale_ : float
        Of the scores, before the flow.
    penalty_, base_share_ : float
        The penalty, and :math:`\omega`, the share of the forecast itself.
    n_iter_ : int
        Steps of the fit.
    rows_learned_ : int or None
        Rows that it learned from, at most ``max_rows``; None in files of earlier versions.
    pit_distances_ : tuple of float
        Largest distance of the PIT values of unseen outcomes from uniform, before and after (two halves, each
        calibrated by the other; where weights are vast, with the penalty and share of all); a warning tells if it grew
        by more than chance explains. NaN with fewer than 40 rows.

    Examples
    --------
    >>> from calibrant import Normal
    >>> rng = np.random.default_rng(0)
    >>> mu = rng.uniform(0.0, 10.0, 300)
    >>> y = mu * rng.choice([0.0, 2.0], 300) + rng.normal(size=300)  # right in the mean, but one of two
    >>> law = FlowCalibrator().fit(Normal(mu, 5.0), y).transform(Normal([9.0], 5.0))
    >>> law.cdf(np.array([[4.0, 9.0, 14.0]])).round(1)
    array([[0.5, 0.5, 0.5]])

    Differs from the paper in: the classifier on (q, t) of Song et al. (2018), §5, is any that is given; here it is one
    that increases in t, fitted by the density and not at thresholds, with smooth steps or hats in u.
    """

    _ascending: ClassVar[tuple[str, ...]] = ("centres_",)
    _later: ClassVar[dict[str, Any]] = {"bumps": "smooth", "rows_learned_": None}  # lacking in earlier files

    def __init__(
        self,
        n_bumps: int = 8,
        *,
        bumps: str = "smooth",
        penalty: float | str = HELD_OUT,
        max_rows: int = 30_000,
        random_state: Any = None,
    ) -> None:
        self.n_bumps = n_bumps
        self.bumps = bumps
        self.penalty = penalty
        self.max_rows = max_rows
        self.random_state = random_state

    def _fit(self, forecasts: Distribution, y: Array, weights: Array | None) -> None:
        self._check()
        forecasts, y, weights = self._thinned(forecasts, y, weights)
        self.rows_learned_: int | None = len(y)
        forecasts, y, weights = distinct_rows(forecasts, y, weights)
        z, w, rows = scores_by_row(forecasts, y, weights)
        self.span_ = (float(z.min()), float(z.max()))
        self.features_ = fit_features(forecasts, weights)
        x = self.features_(forecasts)[rows]
        self.basis_ = fit_basis(x, w, self.features_.lengths, linear=_LINEAR, process=_PROCESS)
        sample = _Sample(z, w, rows, self.basis_(x))
        self._place_bumps(sample)
        if w.sum() < FEWEST_ROWS:
            self._stay_as_it_is(w.sum())
            return
        chosen = self._choose(sample) if self.penalty == HELD_OUT else (float(self.penalty), 0.0)
        self.penalty_, self.base_share_ = chosen
        self.location_, self.scale_ = sample.affine()
        prior = self._prior(self.penalty_)
        u = sample.standardised(self.location_, self.scale_)
        exact = _EXACT if len(u) <= _EXACT_ROWS else _CLOSE
        tolerance = _ROUGH if sample.has_many_copies else exact
        found, self.n_iter_ = self._mode(u, sample.basis * prior, w, tolerance)
        self.coefficients_ = found * prior

    def _place_bumps(self, sample: _Sample) -> None:
        """Centres and width of smooth steps, or the knots of hats."""
        if self.bumps == "smooth":
            self.centres_ = np.linspace(-_REACH, _REACH, self.n_bumps)
            self.width_: float | None = _OVERLAP * 2 * _REACH / max(self.n_bumps - 1, 1)
            return
        levels = (np.arange(self.n_bumps) + 0.5) / self.n_bumps
        own = weighted_quantiles(sample.standardised(*sample.affine()), sample.weights, levels)
        self.centres_ = (1 - _EVEN) * own + _EVEN * np.linspace(-_HATS_REACH, _HATS_REACH, self.n_bumps)
        self.width_ = None

    def _check(self) -> None:
        one_of(self.bumps, "bumps", ("smooth", "hats"))
        count(self.n_bumps, "n_bumps", least=0 if self.bumps == "smooth" else 2)
        count(self.max_rows, "max_rows", least=FEWEST_ROWS)
        if self.penalty != HELD_OUT and not (isinstance(self.penalty, (int, float)) and self.penalty > 0):
            raise ValueError(f"`penalty` must be {HELD_OUT!r} or a positive number; got {self.penalty!r}.")

    def _prior(self, penalty: float) -> Array:
        """Factors on the prior standard deviations of the basis functions; the constant keeps its own."""
        return np.array([1.0] + [penalty**-0.5] * (self.basis_.size - 1))

    def _thinned(
        self, forecasts: Distribution, y: Array, weights: Array | None
    ) -> tuple[Distribution, Array, Array | None]:
        rows = drawn_rows(len(y), self.max_rows, self.random_state)
        return forecasts[rows], y[rows], None if weights is None else weights[rows]

    def _stay_as_it_is(self, rows: float) -> None:
        warnings.warn(
            f"too few rows to learn from: {rows:g}; forecasts stay as they are. {FEWEST_ROWS} are the fewest, "
            f"a few hundred are better.",
            stacklevel=4,
        )
        self.location_, self.scale_, self.penalty_, self.base_share_ = 0.0, 1.0, np.inf, 1.0
        self.coefficients_, self.n_iter_ = np.zeros((3 + self.n_bumps, self.basis_.size)), 0

    def _choose(self, sample: _Sample) -> tuple[float, float]:
        """Penalty and share of the base under which held-out outcomes are most probable.

        Penalties become smaller until one has clearly lost: what follows only fits the rows seen more closely.
        """
        folds = [
            self._fold(sample.part(train), sample.part(test))
            for train, test in held_out_splits(int(sample.rows.max()) + 1, self.random_state, _FOLDS)
        ]
        w = np.concatenate([fold.new.weights for fold in folds])
        shares = np.array([base_premium(sample.weights.sum()), *_SHARES])
        best, chosen = -np.inf, (_PENALTIES[0], 1.0)
        for penalty in _PENALTIES if self.basis_.size > 1 else (1.0,):
            gain = np.concatenate([fold.gain(self._prior(penalty)) for fold in folds])
            with np.errstate(divide="ignore"):
                mixed = np.logaddexp(np.log1p(-shares)[:, None] + gain, np.log(shares)[:, None]) @ w
            mixed += TRUST_IN_BASE * np.log(shares)
            share = int(np.argmax(mixed))
            if mixed[share] > best:
                best, chosen = float(mixed[share]), (penalty, float(shares[share]))
            elif mixed[share] < best - _LOST:
                break
        return chosen

    def _refitted(self, forecasts: Distribution, y: Array, w: Array) -> RegressionCalibrator:
        """A copy that has learned from these rows only; penalty and share stay where a row stands for many."""
        if self.penalty != HELD_OUT or distinct_rows(forecasts, y, w)[2].mean() <= _MANY_COPIES:
            return super()._refitted(forecasts, y, w)
        with unwatched():
            made: FlowCalibrator = clone(self).set_params(penalty=self.penalty_).fit(forecasts, y, sample_weight=w)
        made.base_share_ = self.base_share_
        return made

    def _fold(self, seen: _Sample, unseen: _Sample) -> _Fold:
        location, scale = seen.affine()
        old, new = (
            _Problem.of(part.standardised(location, scale), part.basis, part.weights, self.centres_, self.width_)
            for part in (seen, unseen)
        )
        base = -0.5 * np.square(unseen.z) - 0.5 * np.log(2 * np.pi)
        tolerance = _ROUGH if seen.has_many_copies else _NEAR
        return _Fold(old, new, base + np.log(scale), np.zeros(old.shape), tolerance)

    def _mode(self, u: Array, basis: Array, w: Array, tolerance: float) -> tuple[Array, int]:
        """Coefficients at the mode of the posterior density."""
        start, steps = np.zeros((3 + self.n_bumps, basis.shape[1])), 0
        pace = -(-len(u) // _WARM_ROWS)
        if pace > 1:  # every pace-th row, as many times its weight
            part = slice(pace // 2, None, pace)
            start, steps = self._mode(u[part], basis[part], pace * w[part], _CLOSE)
        problem = _Problem.of(u, basis, w, self.centres_, self.width_)
        found, more = problem.mode(start, tolerance)
        return found, steps + more

    def _transform(self, forecasts: Distribution) -> Distribution:
        if self.base_share_ == 1:
            return forecasts
        theta = np.clip(self.basis_(self.features_(forecasts)) @ self.coefficients_.T, -_LARGEST, _LARGEST)
        n = len(theta)
        heights = np.exp(theta[:, 3:] + _LOG_HEIGHT)
        centres, (a, b), c = np.broadcast_to(self.centres_, heights.shape), np.exp(theta[:, :2].T), theta[:, 2]
        location, scale = (np.broadcast_to(v, n) for v in (self.location_, self.scale_))
        fitted: Map = (
            HatFlowMap(a, b, c, heights, centres, location, scale)
            if self.width_ is None
            else FlowMap(a, b, c, heights, centres, np.broadcast_to(self.width_, n), location, scale)
        )
        law = Recalibrated(forecasts, UnitTails(fitted, *self.span_) if forecasts.has_heavy_tails else fitted)
        if self.base_share_ == 0:
            return law
        return Mixture([forecasts, law], np.array([self.base_share_, 1 - self.base_share_]))


@dataclass(frozen=True, eq=False)
class _Problem(Posterior):
    """Scores as the likelihood needs them, and the basis at their forecasts; one column a row of data."""

    basis: Array
    weights: Array
    logs: tuple[Array, Array]  # ln Φ(±u)
    hazards: tuple[Array, Array]  # their slopes, up to sign
    steps: Array  # σ((u-κ)/s) - 1/2, or what hats rise to, (J, n)
    rises: Array  # and slopes

    @classmethod
    def of(cls, u: Array, basis: Array, weights: Array, centres: Array, width: float | None) -> _Problem:
        """From scores (n,) and basis (n, size); steps without a width are those of hats."""
        if width is None:
            low, high = hat_ends(centres)
            steps = hat_step(u, *(each[:, None] for each in (low, centres, high)))
        else:
            steps = smooth_step(u, centres[:, None], width)
        logs, hazards = (log_ndtr(u), log_ndtr(-u)), (normal_hazard(-u), normal_hazard(u))
        return cls(np.ascontiguousarray(basis.T), weights, logs, hazards, *steps)

    @property
    def shape(self) -> tuple[int, int]:
        """Of the coefficients: one line a parameter of the map, one column a function."""
        return 3 + len(self.steps), len(self.basis)

    def scaled(self, prior: Array) -> _Problem:
        """The problem whose coefficients are those of this one over prior standard deviations."""
        return replace(self, basis=self.basis * prior[:, None])

    def likelihood(self, flat: Array) -> tuple[Array, Array]:
        r""":math:`\ln\sigma'(h) + \ln h'` of every row, and its slopes in log a, log b, c and the w."""
        theta = np.clip(flat.reshape(self.shape) @ self.basis, -_LARGEST, _LARGEST)
        theta[3:] += _LOG_HEIGHT
        c = theta[2].copy()
        factor = np.exp(np.minimum(theta, _LARGEST, out=theta), out=theta)
        a, b, heights = factor[0], factor[1], factor[3:]
        (low, high), (below, above) = self.logs, self.hazards
        h = a * low - b * high + c + (heights * self.steps).sum(axis=0)
        slope = a * below + b * above + (heights * self.rises).sum(axis=0)
        size, t, inverse = np.abs(h), np.tanh(0.5 * h), 1 / slope
        value = np.log(slope) - size - 2 * np.log1p(np.exp(-size))
        factor[0] *= inverse * below - t * low
        factor[1] *= inverse * above + t * high
        factor[2] = -t
        heights *= inverse * self.rises - t * self.steps
        return value, factor


@dataclass(eq=False)
class _Fold:
    """Rows seen and unseen, log densities of the latter under the base, in units of the map, and where fits stand."""

    old: _Problem
    new: _Problem
    base: Array
    coefficients: Array
    tolerance: float

    def gain(self, prior: Array) -> Array:
        """Log densities of unseen scores after a fit with these prior standard deviations, over the base's."""
        found, _ = self.old.scaled(prior).mode(self.coefficients / prior, self.tolerance)
        self.coefficients = prior * found
        return np.asarray(self.new.likelihood(self.coefficients.ravel())[0] - self.base)
