"""Intervals that hold the outcome as often as they say, for any number of rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ..._checks import Array, believed, choices, column, complain, count, number, probabilities
from ...adapters import as_distribution
from ...adapters.feature_columns import check_rows
from ...calibration import RegressionCalibrator
from ...calibration.base import read_for
from ...calibration.contract import Takes, check_calibrator, fit_with, takes_of, transform_with
from ...calibration.feature_table import features_of
from ...calibration.guarantees import GIVEN, LEARNED, interval_guarantee
from ...calibration.labels import labels_of, rows_by_label, whole_or_labels
from ...calibration.rows import usable_rows
from ...calibration.soundness import POINTS, check_law_forecasts, example_laws
from ...calibration.threads import one_thread
from ...distributions import Distribution, Normal
from ...distributions.joined import Joined
from ...numerics.blocks import constant
from ..features import centre_and_spread
from ..residual import _is_column
from ..scale import inner_edges, root_mean_square
from .part import BY_SCORE, MAPS, SCORES, Kept, Part
from .ratio import DensityRatio
from .sample import Sample, ones, some

BY = (None, "groups", "width")
ENDS = ("conservative", "random")
ALL = "all"  # the one group where there are no others


class ConformalCalibrator(RegressionCalibrator):
    r"""Intervals that hold the outcome with the probability they state, whatever the law and however few the rows.

    .. math:: P(Y \in \text{interval}(c)) \ge c, \quad
        \text{interval}(c) = [F^{-1}(\Phi(-q)),\; F^{-1}(\Phi(q))], \quad q = s_{(\lceil c(n+1) \rceil)}

    where :math:`s_i = |z_i|` are the normal scores of the outcomes of n rows kept aside, sorted, and :math:`s_{(n+1)} =
    \infty`: a new row that is exchangeable with them takes each of the n + 1 ranks with the same probability. For
    points that is split conformal prediction (Lei et al. 2018), :math:`\hat y \mp q`; for means and deviations the
    normalised form, :math:`\mu \mp q\sigma`; for quantiles, samples and other laws their own quantiles at the level
    where they turn out to hold enough.

    What `transform` gives is a `Distribution`. Its ``interval(coverage)`` carries the guarantee, of which
    ``guarantee_`` speaks: ends lie at whole ranks, outwards, and are infinite where there are too few rows for what is
    asked. Its quantiles, density and moments are those of a map of the same scores, and promise nothing;
    `metrics.coverage` and the columns ``lo-90`` and ``hi-90`` of the command line are by ``interval``.

    Around another calibrator, as in ``ConformalCalibrator(StackCalibrator())``, that one learns the shape from a part
    of the rows, and the ranks come from the rest: widths that follow the forecast, and the guarantee.

    The guarantee is over rows and new outcome together. It is lost if the ranks come from rows that the model or the
    calibrator has learned from: give rows that the model has not seen, or use `CalibratedRegressor`, with
    ``ensemble=True`` for the intervals of CV+ and jackknife+ (Barber et al. 2021).

    How many rows do I need? For coverage c at least :math:`c/(1-c)` kept aside, 9 for 90 % and 99 for 99 %, twice as
    many with ``score="signed"``, in each group; below that intervals are infinite. Given the rows, coverage varies by
    about :math:`\sqrt{c(1-c)/n}` around its mean.

    Cost where nothing is wrong, nats a row (`experiments.cost`): 0.0010, 0.0002, 0.0001 at 100, 300 and 1 000 rows of
    laws; 0.0048, 0.0015, 0.0005 of points.

    Parameters
    ----------
    calibrator : Calibrator, optional
        What learns the shape; None ranks the forecasts as they are, with all rows.
    score : {"absolute", "signed", "density", "cqr"}, default "absolute"
        - "absolute": :math:`|z|`; of outcomes on atoms, the least score whose interval holds them.
        - "signed": z itself, with ranks :math:`\lfloor (n+1)(1-c)/2 \rfloor` and :math:`\lceil (n+1)(1+c)/2 \rceil`:
          either end is missed with at most half the probability, and forecasts may lean to one side. Laws are then
          split conformal predictive systems (Vovk et al. 2018).
        - "density": :math:`-\log f(y)`, of counts :math:`-\log P(Y = y)`: intervals in which all forecasts are as
          dense, the narrowest on average (Lei, Robins & Wasserman 2013). Rows with wide forecasts are held less often
          than those with narrow ones: ``by="width"`` where that must not be.
        - "cqr": :math:`\max(F^{-1}(\frac{1-c}2) - y, y - F^{-1}(\frac{1+c}2))`, which moves both ends by one number
          (Romano, Patterson & Candès 2019); for the coverages named by ``coverage`` only.
    map : {"spline", "ecdf", "step", "identity"}, default "spline"
        What else the laws tell, as in `QuantileCalibrator`: smooth, by bent lines through the ranks over n + 1, by the
        steps themselves ("signed" only; :math:`1/(n+1)` of the mass lies at infinity), or as they were. With
        "absolute" and "cqr" the map is that of scores of either sign, so that medians stay.
    held_out : float, optional
        Share of the rows that is kept aside for the ranks, where there is a calibrator or ``by="width"``. None is a
        half; of more than 400 rows that are ranked together 200, or a fifth if that is more.
    by : {None, "groups", "width"}
        Ranks within each group (Mondrian), given by ``groups`` or by ranges of the predicted spread: the guarantee then
        holds in each. The ranges are learned from rows that are not ranked.
    n_bins : int, default 5
        Number of ranges of the predicted spread.
    coverage : float or list of float, default 0.9
        For ``score="cqr"``.
    ends : {"conservative", "random"}, default "conservative"
        Ranks rounded outwards, or up or down at random so that the probability is c and not more.
    random_state : int, Generator or None
        For the split (None is 0), and for random ends, which None draws afresh at each call.

    Attributes
    ----------
    guarantee_ : str
        What is promised of intervals, in words.
    parts_ : dict from group to Part
        Scores and map of each group; of one called "all" where there are none.
    all_rows_ : Part
        Of all rows kept aside.
    calibrator_ : Calibrator
        The fitted one, where there is one.
    edges_ : ndarray
        Between the ranges of the predicted spread.
    ratio_ : DensityRatio
        Where it is learned.
    ratio_is_ : {"given", "learned"} or None
    scale_ : float
        Root mean square of residuals, the unit of point predictions.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(0.0, 10.0, 19)
    >>> cal = ConformalCalibrator().fit(x, x + rng.normal(size=19))          # point predictions
    >>> cal.transform([5.0]).interval(0.9).round(2)
    array([[3.96, 6.04]])
    >>> cal.transform([5.0]).interval(0.99)
    array([[-inf,  inf]])
    >>> print(cal.guarantee_)
    An interval of coverage c holds the outcome with a probability of at least c, and of at most c + 0.05 if no two
    scores are equal, whatever the law, if new rows are exchangeable with the 19 kept aside. Above c = 0.95 it is
    infinite.

    Differs from the paper in: scores are normal scores of the forecast's law, so that absolute residuals, normalised
    ones and quantiles are one method, and the result is a law; conformalised quantiles as published are "cqr". Weights
    are frequencies, and multiply the ratios of Tibshirani et al. (2019). Random ends that would leave nothing are at
    the smallest score; ends of "cqr" that would cross meet in the middle. Infinite ends are given as such, even where
    the forecast's support is bounded.
    """

    def __init__(
        self,
        calibrator: Any = None,
        *,
        score: str = "absolute",
        map: str = "spline",
        held_out: float | None = None,
        by: str | None = None,
        n_bins: int = 5,
        coverage: Any = 0.9,
        ends: str = "conservative",
        random_state: Any = None,
    ) -> None:
        self.calibrator = calibrator
        self.score = score
        self.map = map
        self.held_out = held_out
        self.by = by
        self.n_bins = n_bins
        self.coverage = coverage
        self.ends = ends
        self.random_state = random_state

    @property
    def takes(self) -> Takes:  # type: ignore[override]
        """What the calibrator takes, or laws and points; groups if they are ranked by; features for a learned ratio."""
        own = Takes(("distributions", "points")) if self.calibrator is None else takes_of(self.calibrator)
        own = own.also("groups", needs=True) if self.by == "groups" else own
        return own.also("X", needs=True) if vars(self).get("ratio_") is not None else own

    def by_groups(self) -> ConformalCalibrator:
        """An unfitted copy that ranks within groups, and gives the guarantee in each."""
        copy: ConformalCalibrator = clone(self).set_params(by="groups")
        return copy

    def _read(self, forecasts: Any) -> Any:
        if self.calibrator is not None:
            return read_for(check_calibrator(self.calibrator), forecasts)
        if isinstance(forecasts, (tuple, dict, Distribution)) or not _is_column(forecasts):
            return as_distribution(forecasts)
        return column(forecasts, "forecasts")

    # ---- learning ----
    def fit(
        self,
        forecasts: Any,
        y: Any,
        *,
        groups: Any = None,
        X: Any = None,
        sample_weight: Any = None,
        ratio: Any = None,
        new_rows: Any = None,
    ) -> Self:
        """Learn from n forecasts and their outcomes.

        Parameters
        ----------
        forecasts : array-like (n,), Distribution or what `as_distribution` takes, n rows; or what the calibrator takes
        y : array-like (n,)
        groups : array-like (n,), optional
            For ``by="groups"``, and for a calibrator that takes groups.
        X : array-like or frame (n, d), optional
            Features, for a calibrator that takes them and for a ratio that is to be learned.
        sample_weight : array-like (n,), optional
            Frequencies.
        ratio : array-like (n,), optional
            How much more often rows like these occur where the forecasts will be used, up to a factor (covariate shift,
            Tibshirani et al. 2019); `transform` then wants it too.
        new_rows : array-like or frame (m, d), optional
            Features of rows as they will be: the ratio is learned from these and X, by logistic regression.
        """
        self._check()
        for name in ("ratio_", "calibrator_", "edges_", "scale_", "parts_", "mass_unit_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        table = self._read(forecasts)
        labels = self._labels(groups, len(table))
        self._check_beside(X, ratio, new_rows, len(table))
        given = None if ratio is None else _ratios(ratio, len(table))
        rows, y, weights = usable_rows(len(table), y, sample_weight)
        weights = None if weights is None else believed(weights)
        if new_rows is not None:
            self.ratio_ = DensityRatio.learn(features_of(X, rows), new_rows, weights)
            given = self.ratio_(X, len(table))
        sample = Sample(
            table[rows], y, weights, None if labels is None else labels[rows], features_of(X, rows),
            None if given is None else given[rows],
        )  # fmt: skip
        with one_thread():
            self._fit_sample(sample)
        self.ratio_is_ = LEARNED if new_rows is not None else None if ratio is None else GIVEN
        rows = [part.rows for part in self.parts_.values()]
        how = {"by": self.by, "ratio": self.ratio_is_}
        self.guarantee_ = interval_guarantee(rows, score=self.score, random=self.ends == "random", **how)
        self.n_rows_ = len(y)
        return self

    def _check(self) -> None:
        choices(
            score=(self.score, SCORES), map=(self.map, MAPS), by=(self.by, BY), ends=(self.ends, ENDS)
        )  # fmt: skip
        if self.held_out is not None:
            number(self.held_out, "held_out", above=0, below=1)
        count(self.n_bins, "n_bins")
        probabilities(self.coverage, "coverage")
        if self.map == "step" and self.score != "signed":
            raise ValueError("`map` may be 'step' with score='signed' only: the others have no ranks of either side.")
        if self.calibrator is not None and "scores" in takes_of(check_calibrator(self.calibrator)).forecasts:
            raise TypeError("`calibrator` must be one of laws or points, not of class scores. Use ConformalSets.")

    def _labels(self, groups: Any, n: int) -> Any:
        """Groups, where somebody takes them."""
        if self.by == "groups":
            return whole_or_labels(groups, n)
        if groups is not None and "groups" not in self.takes.beside:
            raise ValueError("`groups` were given, but ranks are not by group. Say by='groups'.")
        return None if groups is None else labels_of(groups, n)

    def _check_beside(self, X: Any, ratio: Any, new_rows: Any, n: int) -> None:
        """Raise ValueError for features or ratios that nobody takes, or that are lacking."""
        if ratio is not None and new_rows is not None:
            raise ValueError("give `ratio` or `new_rows`, not both: it is known, or it is learned.")
        if new_rows is not None and X is None:
            raise ValueError("`X` must be given with `new_rows`: the features of the rows of the fit.")
        if X is not None:
            check_rows(X, n)
            if new_rows is None and "X" not in self.takes.beside:
                raise ValueError("`X` was given, but nobody takes features. For a learned ratio give `new_rows` too.")

    def _fit_sample(self, sample: Sample) -> None:
        """Learn the shape from some rows, and the ranks from the rest."""
        sample = sample.owned()
        if self.calibrator is not None or self.by == "width":
            first, sample = sample.divided(self.held_out, self.random_state, together=self.by is None)
            if self.calibrator is not None:
                beside = {"groups": first.labels, "X": first.X, "sample_weight": first.weights}
                self.calibrator_ = fit_with(clone(self.calibrator), first.table, first.y, **beside)
            if self.by == "width":
                spread = centre_and_spread(self._laws(first))[1]
                self.edges_ = inner_edges(spread, ones(first.weights, len(spread)), self.n_bins)
        laws = self._laws(sample)
        coverages = tuple(probabilities(self.coverage, "coverage").tolist())
        mass = sample.weights
        if sample.ratio is not None:
            mass = sample.ratio * ones(mass, len(laws))
            self.mass_unit_ = float(mass.sum() / ones(sample.weights, len(laws)).sum())
            mass = mass / self.mass_unit_
        kept = Kept.of(laws, sample.y, mass, self.score, self.map, coverages)
        self.all_rows_ = kept.part()
        groups = self._groups(laws, sample.labels)
        named = {} if groups is None else {name: kept.part(rows) for name, rows in groups.items()}
        self.parts_ = {ALL: self.all_rows_} if groups is None else named

    def _laws(self, sample: Sample) -> Distribution:
        """Laws to be ranked: the calibrator's, or the forecasts; points with the unit of their residuals."""
        made = sample.table
        if self.calibrator is not None:
            made = transform_with(self.calibrator_, made, groups=sample.labels, X=sample.X)
        are_points = not isinstance(made, Distribution)
        if hasattr(self, "parts_") and are_points != ("scale_" in vars(self)):
            seen, got = ("laws", "points") if are_points else ("points", "laws")
            raise ValueError(f"`forecasts` must be {seen}, as in fit; got {got}.")
        if not are_points:
            return made  # type: ignore[no-any-return]
        points = np.asarray(made)
        if "scale_" not in vars(self):
            self.scale_ = root_mean_square(sample.y - points, sample.weights) or 1.0
        return Normal(points, self.scale_)

    def _groups(self, laws: Distribution, labels: Any) -> dict[Any, NDArray[np.intp]] | None:
        """Rows of each group, or None where all are one."""
        if self.by is None:
            return None
        if self.by == "width":
            labels = np.searchsorted(self.edges_, centre_and_spread(laws)[1]).astype(object)
        return rows_by_label(labels)

    # ---- forecasting ----
    def transform(self, forecasts: Any, *, groups: Any = None, X: Any = None, ratio: Any = None) -> Distribution:
        """Laws of the same rows, whose ``interval`` carries the guarantee.

        Parameters
        ----------
        forecasts : as in `fit`, m rows
        groups : array-like (m,), optional
        X : array-like or frame (m, d), optional
        ratio : array-like (m,), optional
            If one was given in `fit`.
        """
        check_is_fitted(self)
        table = self._read(forecasts)
        n = len(table)
        if (ratio is None) != (self.ratio_is_ != GIVEN):
            raise ValueError(f"`ratio` must {'' if ratio is None else 'not '}be given here, as in fit.")
        own = self._own(X, ratio, n)
        draw = constant(0.0, n)
        if self.ends == "random":
            draw = np.random.default_rng(self.random_state).random(n)
        labels = self._labels(groups, n)
        laws = self._laws(Sample(table, np.empty(0), None, labels, X))
        members = self._groups(laws, labels)
        if members is None:
            return self.parts_[ALL].law(laws, own, draw, self.guarantee_)
        parts = [
            self._part(name).law(laws[rows], some(own, rows), some(draw, rows), self.guarantee_)
            for name, rows in members.items()
        ]
        return parts[0] if len(parts) == 1 else Joined.of_groups(parts, members.values(), laws.index)

    def _part(self, name: Any) -> Part:
        return self.parts_[name] if name in self.parts_ else self.all_rows_.without_rows()

    def _own(self, X: Any, ratio: Any, n: int) -> Array:
        """Mass of new rows, in units of the mean of those kept aside."""
        if self.ratio_is_ == GIVEN:
            return _ratios(ratio, n) / self.mass_unit_
        if self.ratio_is_ == LEARNED:
            if X is None:
                raise ValueError("`X` must be given: the ratio was learned from features.")
            return self.ratio_(X, n) / self.mass_unit_
        if X is not None and "X" not in self.takes.beside:
            raise ValueError("`X` was given, but nobody takes features.")
        return constant(1.0, n)

    def _fit(self, forecasts: Any, y: Array, weights: Array | None) -> None:
        self._fit_sample(Sample(forecasts, y, weights))

    def _transform(self, forecasts: Any) -> Distribution:
        return self.transform(forecasts)

    # ---- what came from a file ----
    def _check_sound(self) -> None:
        super()._check_sound()
        for part in (self.all_rows_, *self.parts_.values()):
            if not isinstance(part, Part) or not isinstance(part.ends, tuple(BY_SCORE.values())):
                raise ValueError("ConformalCalibrator.parts_ must be ends and a map for each group.")
        if (self.by is None and ALL not in self.parts_) or not isinstance(self.guarantee_, str):
            raise ValueError("ConformalCalibrator must have a part for all rows, and words of its guarantee.")
        if self.ratio_is_ not in (None, GIVEN, LEARNED) or not (self.ratio_is_ is None or 0 < self.mass_unit_ < np.inf):
            raise ValueError("ConformalCalibrator.ratio_is_ must be None, or have a positive unit of mass.")

    def _check_forecasts(self) -> None:
        """Raise ValueError if what it makes of examples are no forecasts; of what needs more than laws, its parts."""
        if self.calibrator is not None:
            self.calibrator_._check_forecasts()
        base: Any = Normal(POINTS, self.scale_) if "scale_" in vars(self) else example_laws()
        for part in self.parts_.values():
            law = part.law(base, np.ones(len(base)), np.zeros(len(base)), "")
            check_law_forecasts(law)


def _ratios(values: Any, n: int) -> Array:
    """Ratios of densities: positive, one a row."""
    ratios = column(values, "ratio", n)
    complain("ratio", "positive", ratios, ~(ratios > 0))
    return ratios
