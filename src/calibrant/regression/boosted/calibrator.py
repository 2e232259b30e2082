"""A calibrator that sees the features: the cure for segments in which forecasts are off."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..._checks import Array, believed, number
from ...adapters.feature_columns import check_rows
from ...calibration import RegressionCalibrator
from ...calibration.boosting.features import given, standardised, standards
from ...calibration.boosting.from_lightgbm import need_lightgbm
from ...calibration.boosting.growing import Grown, Growth, Part, boost, nothing
from ...calibration.contract import Takes
from ...calibration.feature_table import FeatureTable, features_of
from ...calibration.pit_watch import effective_rows
from ...calibration.rows import usable_rows
from ...calibration.soundness import check_law_forecasts
from ...calibration.threads import one_thread
from ...distributions import Distribution, Recalibrated
from ...maps import AffineMap, Map, UnitTails
from ...numerics.copies import merged
from ...numerics.forest import MOST_LEAVES
from ...numerics.soundness import check_finite
from ..features import scores_by_row, weighted_quantiles
from ..quantile import QuantileCalibrator
from .objective import StudentLikelihood, scales, stretches

FEWEST_ROWS = 40  # different ones, below which no trees are grown
_FOLDS = 5
_FARTHEST = 40.0  # standard scores beyond which an outcome counts as one at that distance in the fit
_MOST_COPIES = 10.0  # of a row, on average, that are believed
_DIGITS = 9  # to which copies of a row agree
_INSTEAD = "StackCalibrator"


class BoostedCalibrator(RegressionCalibrator):
    r"""Learn from features how forecasts are off: shift and stretch them by boosted trees, then map the rest.

    .. math:: F(y \mid x) = \Phi(T(v)), \quad v = a + b\,\frac{u - m(x)}{e^{\ell(x)}}, \quad u = \frac{z - a}{b},
        \quad z = \Phi^{-1}(F_0(y))

    a and b are the median and half the width of the middle 68 % of the scores z of all rows, and T is the map of
    `QuantileCalibrator`. The location m and log scale :math:`\ell` are sums of small trees on the features X, the
    forecast's median and the log of its 16-84 % width. They start at 0, the forecast as it is, and follow the
    likelihood of u under Student's t with :math:`\nu` degrees of freedom by Newton steps: LightGBM with
    :math:`w = (\nu+1)/(\nu+r^2)`, slopes :math:`-wr/s` and :math:`1-wr^2`, and the curvatures
    :math:`(\nu+1)/((\nu+3)s^2)` and :math:`2\nu/(\nu+3)`, where :math:`r = (u-m)/s` and :math:`s = e^\ell`.

    Five folds tell how many rounds: the loss of unseen rows is looked at every 20 rounds, and no tree is kept unless
    they gain more than one standard error. The five models are averaged; m and :math:`\ell` are stretched by two
    factors of at least 1, and T is fitted, both to unseen rows. Without trees it is `QuantileCalibrator`.

    How many rows do I need? A segment is found once it has about a hundred rows; with fewer than 40 rows no trees are
    grown. Columns of X may be numbers, texts or categories, and may be missing; a category that was not there in `fit`
    is a missing value. `fit` needs LightGBM (``pip install 'calibrant[boost]'``), `transform` does not.

    Cost where nothing is wrong, nats a row (`experiments.cost`): 0.0070, 0.0016, 0.0004 at 100, 300 and 1 000 rows.

    Parameters
    ----------
    n_rounds : int, default 600
        Most rounds, each with a tree for m and one for :math:`\ell`.
    rate : float, default 0.05
        Share of each Newton step that is taken.
    n_leaves : int, default 8
        Most leaves of a tree, 2 to 8.
    min_rows : int, default 20
        Fewest rows of a leaf; with fewer than 400 rows a twentieth of them.
    nu : float, default 8
        Degrees of freedom: the smaller, the less far-off outcomes say.
    random_state : int, Generator or None
        For folds and samples of rows and features; None is 0.
    n_jobs : int, optional
        Threads of LightGBM; None is 1. The result does not depend on it.

    Attributes
    ----------
    n_rounds_ : int
        Rounds that are kept; 0 where features tell nothing.
    gain_ : float
        Nats a row that these gained on unseen rows, before stretching.
    stretch_ : ndarray (2,)
        The factors of m and :math:`\ell`.
    table_ : FeatureTable
        Names and categories of the columns of X.
    forest_ : Forest
        The trees, as arrays.
    rest_ : QuantileCalibrator
        The map T.

    Examples
    --------
    >>> from calibrant import Normal
    >>> rng = np.random.default_rng(0)
    >>> region = rng.choice(["north", "south"], 1000)
    >>> y = rng.normal(0.0, np.where(region == "north", 1.0, 3.0))
    >>> cal = BoostedCalibrator().fit(Normal(np.zeros(1000), 1.0), y, X=region[:, None])
    >>> cal.transform(Normal([0.0, 0.0], 1.0), X=[["north"], ["south"]]).std().round(0)
    array([1., 3.])

    Differs from the paper in: there is none; boosting a location and a scale by Newton steps is known from Duan et al.
    (2020), who boost from a constant and not from a forecast.
    """

    takes = Takes().also("X", needs=True)

    def __init__(
        self,
        n_rounds: int = 600,
        *,
        rate: float = 0.05,
        n_leaves: int = MOST_LEAVES,
        min_rows: int = 20,
        nu: float = 8.0,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.rate = rate
        self.n_leaves = n_leaves
        self.min_rows = min_rows
        self.nu = nu
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, forecasts: Any, y: Any, *, X: Any = None, sample_weight: Any = None) -> Self:
        """Learn from n forecasts, their outcomes and their features.

        Parameters
        ----------
        forecasts : Distribution or what `as_distribution` takes, n rows
        y : array-like (n,)
        X : array-like or frame (n, d)
        sample_weight : array-like (n,), optional
        """
        Growth.of(self), self._nu()
        laws = self._read(forecasts)
        rows, y, weights = usable_rows(len(laws), y, sample_weight)
        check_rows(given(X, _INSTEAD), len(laws))
        with one_thread():
            self._fit(laws[rows], y, None if weights is None else believed(weights), features_of(X, rows))
        self.n_rows_ = len(y)
        return self

    def transform(self, forecasts: Any, *, X: Any = None) -> Distribution:
        """Calibrated forecasts of the same rows, whose features are X, columns as in `fit`."""
        check_is_fitted(self)
        return self._transform(self._read(forecasts), given(X, _INSTEAD))

    def _fit(self, forecasts: Distribution, y: Array, weights: Array | None, X: Any = None) -> None:
        need_lightgbm()
        self.table_ = FeatureTable.learn(X, len(y))
        raw = self._raw(forecasts, X)
        self.centres_, self.spreads_ = standards(raw, self._sizes)
        sample = _sample(forecasts, y, weights, standardised(raw, self.centres_, self.spreads_))
        self.span_ = (float(sample.z.min()), float(sample.z.max()))
        self.location_, self.scale_ = sample.standards()
        grown = self._grow(sample, Growth.of(self))
        self.n_rounds_, self.forest_, unseen, self.gain_ = grown
        if not self.n_rounds_:
            self.stretch_ = np.ones(2)
            self.rest_ = QuantileCalibrator().fit(forecasts, y, sample_weight=weights)
            return
        likelihood = self._likelihood(sample)
        self.stretch_ = stretches(likelihood.u, unseen, likelihood.weights, likelihood.nu)
        v = self._shifts(self.stretch_ * unseen)(sample.z)
        ends = (float(v.min()), float(v.max()))
        heavy = forecasts.has_heavy_tails
        self.rest_ = QuantileCalibrator().fit_scores(v, sample.weights, ends, n_rows=len(y), heavy_tails=heavy)

    def _nu(self) -> float:
        return number(self.nu, "nu", least=1)

    def _likelihood(self, sample: _Scores) -> StudentLikelihood:
        u = np.clip((sample.z - self.location_) / self.scale_, -_FARTHEST, _FARTHEST)
        weights = believed(sample.weights, _MOST_COPIES * (int(sample.rows.max()) + 1) / len(u))
        return StudentLikelihood(u, weights, self._nu())

    def _grow(self, sample: _Scores, how: Growth) -> Grown:
        lines = int(sample.rows.max()) + 1
        if lines < FEWEST_ROWS or self.scale_ <= 0:
            return nothing(len(sample.z), self._sizes, 2)
        likelihood = self._likelihood(sample)
        fold = (np.random.default_rng(how.seed).permutation(lines) % _FOLDS)[sample.rows]
        parts = []
        for k in range(_FOLDS):
            train = np.flatnonzero(fold != k)
            parts.append(Part(train, likelihood[train], np.flatnonzero(fold == k)))
        rows = effective_rows(likelihood.weights)
        return boost(sample.x[sample.rows], self._sizes, parts, likelihood, 2, rows, how)

    # ---- features ----
    @property
    def _sizes(self) -> NDArray[np.intp]:
        """Numbers of categories of all that trees see; the last two are of the forecast."""
        return np.concatenate([self.table_.sizes, np.zeros(2, dtype=np.intp)])

    def _raw(self, forecasts: Distribution, X: Any) -> Array:
        table = self.table_(X, len(forecasts))
        low, centre, high = forecasts._by_blocks(lambda part, z: part.from_normal(z), np.array([[-1.0, 0.0, 1.0]])).T
        return np.column_stack([table, centre, np.log(np.maximum(high - low, np.finfo(float).tiny))])

    # ---- forecasts ----
    def _transform(self, forecasts: Distribution, X: Any = None) -> Distribution:
        if not self.n_rounds_:
            self.table_(X, len(forecasts))
            return self.rest_.transform(forecasts)
        said = self.stretch_ * self.forest_(standardised(self._raw(forecasts, X), self.centres_, self.spreads_))
        shifts: Map = self._shifts(said)
        if forecasts.has_heavy_tails:
            shifts = UnitTails(shifts, *self.span_)
        return self.rest_.transform(Recalibrated(forecasts, shifts))

    def _shifts(self, said: Array) -> AffineMap:
        r""":math:`z \mapsto a + (z - a - bm)/s`, one a row."""
        scale = scales(said[:, 1])
        return AffineMap(self.location_ - (self.location_ + self.scale_ * said[:, 0]) / scale, 1 / scale)

    # ---- soundness ----
    def _check_sound(self) -> None:
        super()._check_sound()
        check_finite(self, "location_", "scale_", "stretch_", "centres_", "spreads_", "span_")
        if not np.array_equal(self.forest_.categories, self._sizes) or np.shape(self.stretch_) != (2,):
            raise ValueError("BoostedCalibrator: its trees must be on its features.")
        wrong = np.shape(self.centres_) != self._sizes.shape or np.shape(self.spreads_) != self._sizes.shape
        if wrong or not (np.asarray(self.spreads_) > 0).all() or self.forest_.n_outputs != 2:
            raise ValueError("BoostedCalibrator: spreads must be positive, one a feature.")

    def _check_forecasts(self) -> None:
        """Raise ValueError if what it makes of the examples, with all features missing, are no forecasts."""
        laws = self._examples()
        check_law_forecasts(self.transform(laws, X=np.full((len(laws), len(self.table_)), np.nan)))


class _Scores(NamedTuple):
    """Scores with their weights and the line of ``x`` each belongs to."""

    z: Array
    weights: Array
    rows: NDArray[np.intp]
    x: Array

    def standards(self) -> tuple[float, float]:
        """Median, and half the width of the middle 68 %."""
        low, middle, high = weighted_quantiles(self.z, self.weights, np.array([0.16, 0.5, 0.84]))
        return float(middle), float(0.5 * (high - low))


def _sample(forecasts: Distribution, y: Array, weights: Array | None, x: Array) -> _Scores:
    """Scores of rows that differ, sorted, with their weights: copies of a row are one line, in one fold."""
    w = np.ones(len(y)) if weights is None else weights
    z = forecasts._by_blocks(lambda part, v: part.to_normal(v), y)
    lines = np.column_stack([np.where(np.isnan(x), np.inf, x), z])
    kept, w = merged(np.round(lines, _DIGITS), w)
    return _Scores(*scores_by_row(forecasts[kept], y[kept], w), x[kept])
