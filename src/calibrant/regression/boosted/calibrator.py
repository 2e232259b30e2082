"""A calibrator that sees the features: the cure for segments in which forecasts are off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..._checks import Array, believed, number
from ...calibration import RegressionCalibrator
from ...calibration.boosting.features import given, standardised, standards
from ...calibration.boosting.from_lightgbm import need_lightgbm
from ...calibration.boosting.growing import Growth
from ...calibration.contract import Takes
from ...calibration.feature_table import FeatureTable
from ...calibration.soundness import check_law_forecasts
from ...distributions import Distribution, Recalibrated
from ...maps import Map, PiecewiseLinearMap, UnitTails
from ...numerics.copies import merged
from ...numerics.forest import MOST_LEAVES, Forest
from ...numerics.soundness import check_finite
from ..features import weighted_quantiles
from ..quantile import QuantileCalibrator
from .learning import NU, Learned, bend, learn, shifts, skew_map
from .rounding import rounded_scores
from .trees import Sample, no_trees

FEWEST_ROWS = 40  # different ones, below which no trees are grown
_FOLDS = 5
_MOST_ROWS = 50_000  # different ones that trees are grown from
_PATIENCE = 3  # looks at unseen rows without gain after which no more trees are grown
_MOST_COPIES = 10.0  # of a row, on average, that are believed
_DIGITS = 9  # to which copies of a row agree
_INSTEAD = "StackCalibrator"


class BoostedCalibrator(RegressionCalibrator):
    r"""Learn from features how forecasts are off: shift, stretch and skew them by boosted trees, then map the rest.

    .. math:: F(y \mid x) = \Phi(T(a + b\,S_{\varepsilon(x)}(r))), \quad r = \frac{u - m(x)}{e^{g(\ell(x))}},
        \quad u = \frac{z - a}{b}, \quad z = \Phi^{-1}(F_0(y))

    a and b are the likeliest location and scale of the scores z of all rows, S is `SkewMap` and T the map of
    `QuantileCalibrator`. The location m, log scale :math:`\ell` and skew :math:`\varepsilon` are sums of small trees on
    the features X, the forecast's median and the log of its 16-84 % width. They start at 0, the forecast as it is, and
    follow the likelihood of u under Student's t with :math:`\nu` degrees of freedom by Newton steps: LightGBM with
    :math:`w = (\nu+1)/(\nu+r^2)`, slopes :math:`-wr/s` and :math:`1-wr^2`, and the curvatures
    :math:`(\nu+1)/((\nu+3)s^2)` and :math:`2\nu/(\nu+3)`, where :math:`r = (u-m)/s` and :math:`s = e^\ell`. Then come
    trees for the skew of what is left.

    Five folds tell how many rounds: the loss of unseen rows is looked at every 20 rounds, and no tree is kept unless
    they gain more than one standard error, for the skew three. The five models are averaged. Trees that stop early say
    too little: m and :math:`\ell` are stretched by two factors of at least 1, :math:`\ell` goes through an increasing
    bent line g, and T is fitted, all to unseen rows. Tails are heavier, :math:`\nu = 4`, where what is left of unseen
    rows is likelier so by more than one standard error, and 8 elsewhere. Without trees it is `QuantileCalibrator`. Of
    more than 50 000 different rows trees are grown from a sample of so many.

    Outcomes that are rounded, as grades are, say nothing of where in its cell each lies: where all are multiples of a
    unit apart, ten or more agree on average, and cells are wide beside their laws, z is spread evenly in probability
    between :math:`F_0(y \pm \tfrac12 unit)`, as it is over an atom.

    How many rows do I need? A segment is found once it has about a hundred rows; with fewer than 40 rows no trees are
    grown. Columns of X may be numbers, texts or categories, and may be missing; a category that was not there in `fit`
    is a missing value. `fit` needs LightGBM (``pip install 'calibrant[boost]'``), `transform` does not.

    Cost where nothing is wrong, nats a row (`experiments.cost`): 0.0050, 0.0006, 0.0001 at 100, 300 and 1 000 rows.

    Parameters
    ----------
    n_rounds : int, default 600
        Most rounds, each with a tree for m and one for :math:`\ell`; and most for the skew.
    rate : float, optional
        Share of each Newton step that is taken. None is 0.05, and more with more than 7 500 rows, up to 0.2 with
        30 000: fewer trees then say as much.
    n_leaves : int, default 8
        Most leaves of a tree, 2 to 8.
    min_rows : int, default 20
        Fewest rows of a leaf; with fewer than 400 rows a twentieth of them.
    nu : float, optional
        Degrees of freedom: the smaller, the less far-off outcomes say. None is 8, or 4 where unseen rows say so.
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
    nu_ : float
        Degrees of freedom that were taken.
    stretch_ : ndarray (2,)
        The factors of m and :math:`\ell`.
    line_ : PiecewiseLinearMap or None
        The bent line g; None where there are no trees.
    skew_ : Forest or None
        Trees for the skew; None where unseen rows see none.
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
    _later: ClassVar[dict[str, Any]] = {"line_": None, "skew_": None}

    def __init__(
        self,
        n_rounds: int = 600,
        *,
        rate: float | None = None,
        n_leaves: int = MOST_LEAVES,
        min_rows: int = 20,
        nu: float | None = None,
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
        self._growth(), self._nu()
        return self._fit_usable(forecasts, y, sample_weight, given(X, _INSTEAD))

    def transform(self, forecasts: Any, *, X: Any = None) -> Distribution:
        """Calibrated forecasts of the same rows, whose features are X, columns as in `fit`."""
        check_is_fitted(self)
        return self._transform(self._read(forecasts), given(X, _INSTEAD))

    def _fit(self, forecasts: Distribution, y: Array, weights: Array | None, X: Any = None) -> None:
        need_lightgbm()
        self.table_ = FeatureTable.learn(X, len(y))
        raw = self._raw(forecasts, X)
        self.centres_, self.spreads_ = standards(raw, self._sizes)
        how = self._growth()
        sample = _sample(forecasts, y, weights, standardised(raw, self.centres_, self.spreads_))
        self.span_ = (float(sample.z.min()), float(sample.z.max()))
        sample = sample.thinned(how.seed)
        centre, half = sample.standards()
        learned = self._learn(sample, centre, half, how)
        self.n_rounds_, self.forest_, self.stretch_, _, self.gain_ = learned.trees
        self.location_, self.scale_ = centre + half * learned.location, half * learned.scale
        self.nu_, self.line_, self.skew_ = learned.nu, learned.line, learned.skew
        if not self._has_trees:
            self.rest_ = QuantileCalibrator().fit(forecasts, y, sample_weight=weights)
            return
        self.skew_span_ = _ends(centre + half * learned.straight)
        v = centre + half * learned.scores
        heavy = forecasts.has_heavy_tails
        self.rest_ = QuantileCalibrator().fit_scores(v, sample.weights, _ends(v), n_rows=len(y), heavy_tails=heavy)

    def _growth(self) -> Growth:
        return Growth.of(self, _PATIENCE)

    def _nu(self) -> float | None:
        return None if self.nu is None else number(self.nu, "nu", least=1)

    def _learn(self, sample: _Scores, centre: float, half: float, how: Growth) -> Learned:
        lines = int(sample.rows.max()) + 1
        if lines < FEWEST_ROWS or half <= 0:
            none = no_trees(len(sample.z), self._sizes)
            return Learned(self._nu() or NU, 0.0, 1.0, none, None, None, sample.z, sample.z)
        fold = np.random.default_rng(how.seed).permutation(lines) % _FOLDS
        weights = believed(sample.weights, _MOST_COPIES * lines / len(sample.z))
        u = (sample.z - centre) / half
        return learn(Sample(u, weights, sample.x[sample.rows], fold[sample.rows]), self._sizes, how, self._nu())

    @property
    def _has_trees(self) -> bool:
        return bool(self.n_rounds_) or self.skew_ is not None

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
        if not self._has_trees:
            self.table_(X, len(forecasts))
            return self.rest_.transform(forecasts)
        x = standardised(self._raw(forecasts, X), self.centres_, self.spreads_)
        said = bend(self.stretch_ * self.forest_(x), self.line_)
        made = self._mapped(forecasts, shifts(said, self.location_, self.scale_), self.span_)
        if self.skew_ is not None:
            made = self._mapped(made, skew_map(self.skew_(x), self.location_, self.scale_), self.skew_span_)
        return self.rest_.transform(made)

    @staticmethod
    def _mapped(forecasts: Distribution, map_: Map, span: tuple[float, float]) -> Distribution:
        return Recalibrated(forecasts, UnitTails(map_, *span) if forecasts.has_heavy_tails else map_)

    # ---- soundness ----
    def _check_sound(self) -> None:
        super()._check_sound()
        check_finite(self, "location_", "scale_", "stretch_", "centres_", "spreads_", "span_")
        for wrong, what in self._faults():
            if wrong:
                raise ValueError(f"BoostedCalibrator: {what}.")

    def _faults(self) -> Iterator[tuple[bool, str]]:
        yield not isinstance(self.skew_, Forest | None), "its skew trees must be trees"
        yield not isinstance(self.line_, PiecewiseLinearMap | None), "its line must be a line"
        forests = [(self.forest_, 2)] + ([] if self.skew_ is None else [(self.skew_, 1)])
        there = all(np.array_equal(forest.categories, self._sizes) for forest, _ in forests)
        yield not there or np.shape(self.stretch_) != (2,), "its trees must be on its features"
        wrong = np.shape(self.centres_) != self._sizes.shape or np.shape(self.spreads_) != self._sizes.shape
        wrong = wrong or not (np.asarray(self.spreads_) > 0).all() or any(f.n_outputs != k for f, k in forests)
        yield wrong, "spreads must be positive, one a feature"
        yield bool(self._has_trees and not self.scale_ > 0), "the scale must be positive"
        if self.skew_ is not None:
            check_finite(self, "skew_span_")

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

    def thinned(self, seed: int) -> _Scores:
        """The scores of a sample of the lines, if there are very many."""
        lines = len(self.x)
        if lines <= _MOST_ROWS:
            return self
        kept = np.sort(np.random.default_rng(seed).choice(lines, _MOST_ROWS, replace=False))
        mine = np.isin(self.rows, kept)
        return _Scores(self.z[mine], self.weights[mine], np.searchsorted(kept, self.rows[mine]), self.x[kept])


def _ends(values: Array) -> tuple[float, float]:
    return float(values.min()), float(values.max())


def _sample(forecasts: Distribution, y: Array, weights: Array | None, x: Array) -> _Scores:
    """Scores of rows that differ, sorted, with their weights: copies of a row are one line, in one fold."""
    w = np.ones(len(y)) if weights is None else weights
    z = forecasts._by_blocks(lambda part, v: part.to_normal(v), y)
    lines = np.column_stack([np.where(np.isnan(x), np.inf, x), z])
    kept, w = merged(np.round(lines, _DIGITS), w)
    return _Scores(*rounded_scores(forecasts[kept], y[kept], w), x[kept])
