"""Scaling the predicted spread: one factor, or one per level of predicted spread."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import ndtri

from .._checks import Array, count, one_of, probability
from ..calibration import SummarisedCalibrator, normal_scores
from ..distributions import Distribution, LocationScale, Normal, Recalibrated
from ..maps import AffineMap, Map, UnitTails
from ..numerics.products import inner
from ..numerics.soundness import check_finite
from ..summaries import ScoreSummary, SpreadSummary, Summary
from ..summaries.scores import NORMAL

_TINY = 1e-290  # a sum of squares that may have lost digits
_MANY = 16_384  # rows that a summary keeps as they are: of no more, both have the same sum to the last digit
_TRUST = 10  # rows' worth of trust in the common factor, for each bin


class ScaleCalibrator(SummarisedCalibrator):
    r"""Multiply the predicted spread by a factor s; the simplest cure, and hard to beat below a few hundred rows.

    - "nll": the maximum-likelihood factor, for normal laws :math:`s^2 = \frac1T\sum_t ((y_t - \mu_t)/\sigma_t)^2`;
    - "coverage": the factor for which central intervals of the given coverage contain that share of the outcomes;
    - "bins": "nll" within bins of equal size of the predicted spread, each pulled to the common factor with the
      weight of ten rows: for forecasters that overdo the differences between easy and hard cases.

    Location-scale laws stay what they are; of other laws the normal scores are scaled, which respects their support.

    How many rows do I need? The factor has a relative error of about :math:`1/\sqrt{2T}`: 50 rows give 10 %, 5 000 give
    1 %; a bin needs as many of its own.

    A summary is enough (`summarise`, `fit_summary`, `partial_fit`). Up to 16 384 different scores, or predicted spreads
    for "bins", it gives the same factors; with more, cells about 1/2 000 wide stand for them, and the factor differs by
    less than 10⁻⁶ of itself ("nll") or a cell ("coverage"); edges of "bins" lie between cells. Laws with a location and
    a scale that are not normal must share one shape (one number of degrees of freedom, say), and need rows for "bins".

    Cost where nothing is wrong, nats a row (`experiments.cost`): 0.0046, 0.0014, 0.0005 at 100, 300 and 1 000 rows.

    Parameters
    ----------
    method : {"nll", "coverage", "bins"}, default "nll"
    coverage : float, default 0.9
        For ``method="coverage"``.
    n_bins : int, default 10
        For ``method="bins"``.

    Attributes
    ----------
    factor_ : float
        The common factor.
    edges_, factors_ : ndarray
        Inner bin edges of the predicted spread and each bin's factor (one bin for the other methods).

    Examples
    --------
    >>> ScaleCalibrator().fit(Normal([0.0, 0.0, 0.0, 0.0], 1.0), [-2.0, 2.0, 1.0, -1.0]).factor_
    1.581...
    """

    _ascending: ClassVar[tuple[str, ...]] = ("edges_",)

    def __init__(self, method: str = "nll", *, coverage: float = 0.9, n_bins: int = 10) -> None:
        self.method = method
        self.coverage = coverage
        self.n_bins = n_bins

    @property
    def summary_can_be_calibrated(self) -> bool:
        """Whether there is one factor for all rows."""
        return self.method != "bins"

    def calibrated_summary(self, summary: ScoreSummary) -> ScoreSummary:
        """The summary that the same rows have once they are calibrated."""
        return summary.mapped(lambda scores: scores / self.factor_)

    def _fit(self, forecasts: Distribution, y: Array, weights: Array | None) -> None:
        self._check()
        self._set_common(*_factor_and_span(forecasts, y, weights, self._coverage))
        if self.method == "bins":
            w = np.ones(len(y)) if weights is None else weights
            self.edges_ = inner_edges(_spread(forecasts), w, self.n_bins)
            bins = self._bins(forecasts)
            self.factors_ = np.array(
                [self._bin_factor(forecasts, y, w, bins == b) for b in range(len(self.edges_) + 1)]
            )

    def _check(self) -> None:
        one_of(self.method, "method", ["nll", "coverage", "bins"])
        probability(self.coverage, "coverage")
        count(self.n_bins, "n_bins")

    @property
    def _coverage(self) -> float | None:
        return self.coverage if self.method == "coverage" else None

    def _set_common(self, factor: float, span: tuple[float, float]) -> None:
        self.factor_, self.span_ = factor, span
        self.edges_, self.factors_ = np.empty(0), np.array([factor])

    def _bin_factor(self, forecasts: Distribution, y: Array, w: Array, mine: NDArray[np.bool_]) -> float:
        if not mine.any():
            return self.factor_
        factor, _ = _factor_and_span(forecasts[mine], y[mine], w[mine], None)
        return float(self._pulled(factor**2, w[mine].sum()))

    def _pulled(self, square: Any, rows: Any) -> Any:
        """Factors of bins from their squares, near the common one where rows are few."""
        return np.sqrt((rows * square + _TRUST * self.factor_**2) / (rows + _TRUST))

    @property
    def _learns_from(self) -> type[Summary]:
        return SpreadSummary if self.method == "bins" else ScoreSummary

    def _summarise(self, forecasts: Distribution, y: Array, weights: Array | None, finest: int | None) -> Summary:
        self._check()
        facts: dict[str, Any] = {"n_rows": len(y), "span": _span(forecasts, y), "finest": finest}
        if self.method == "bins":
            return SpreadSummary.of_rows(*_spread_and_scores(forecasts, y, weights), **facts)
        if isinstance(forecasts, LocationScale) and not isinstance(forecasts, Normal):
            shape = _one_shape(forecasts)
            facts |= {"of": f"standardised outcomes of {_family(shape)}", "shape": shape}
            return ScoreSummary.of_scores(forecasts.standardised(y), weights, **facts)
        z, w = normal_scores(forecasts, y, weights)
        return ScoreSummary.of_scores(z, w, **facts)

    def _fit_summary(self, summary: Any) -> None:
        self._check()
        if self.method == "bins":
            return self._fit_bins(summary)
        points, w = summary.points()
        law = summary.shape
        if law is None:
            summary.require(NORMAL)
            factor = _score_factor(points, w, self._coverage)
        else:
            w = np.ones(len(points)) if w is None else w
            factor = _location_scale_factor(law[np.zeros(len(points), dtype=np.intp)], points, w, self._coverage)
        return self._set_common(factor, summary.span)

    def _fit_bins(self, summary: SpreadSummary) -> None:
        spread, mass, squares = summary.table()
        self._set_common(_sound(float(np.sqrt(squares.sum() / mass.sum()))), summary.span)
        self.edges_ = inner_edges(spread, mass, self.n_bins)
        bins = np.searchsorted(self.edges_, spread, side="left")
        rows, total = (np.bincount(bins, sums, len(self.edges_) + 1) for sums in (mass, squares))
        self.factors_ = self._pulled(total / rows, rows)

    def _bins(self, forecasts: Distribution) -> NDArray[np.intp]:
        if not len(self.edges_):
            return np.zeros(len(forecasts), dtype=np.intp)
        return np.searchsorted(self.edges_, _spread(forecasts), side="left")

    def _check_sound(self) -> None:
        super()._check_sound()
        check_finite(self, "factors_")
        if self.factors_.shape != (len(self.edges_) + 1,) or not (self.factors_ > 0).all():
            raise ValueError("ScaleCalibrator.factors_ must be positive, one a bin.")

    def _transform(self, forecasts: Distribution) -> Distribution:
        factors = self.factors_[self._bins(forecasts)] if len(self.edges_) else self.factors_
        if isinstance(forecasts, LocationScale):
            return forecasts.rescaled(factors)
        fitted: Map = AffineMap(slope=1 / np.broadcast_to(factors, len(forecasts)))
        return Recalibrated(forecasts, UnitTails(fitted, *self.span_) if forecasts.has_heavy_tails else fitted)


def _spread(law: Distribution) -> Array:
    return law.scale if isinstance(law, LocationScale) else law.std()


def inner_edges(spread: Array, w: Array, bins: int) -> Array:
    """Edges between bins of equal size, half way between neighbouring values."""
    order = np.argsort(spread, kind="stable")
    values, reached = spread[order], np.cumsum(w[order])
    last = np.searchsorted(reached, reached[-1] * np.arange(1, bins) / bins * (1 + 1e-12))
    following = np.searchsorted(values, values[last], side="right")
    inner = following < len(values)
    return np.unique(0.5 * (values[last] + values[np.minimum(following, len(values) - 1)])[inner])


def _factor_and_span(
    law: Distribution, y: Array, weights: Array | None, coverage: float | None
) -> tuple[float, tuple[float, float]]:
    """The common factor by likelihood, or by coverage of the central interval; smallest and largest normal score."""
    if isinstance(law, LocationScale) and not isinstance(law, Normal):
        w = np.ones(len(y)) if weights is None else weights
        return _location_scale_factor(law, y, w, coverage), _span(law, y)
    z, w_z = normal_scores(law, y, weights)
    span = _span(law, y) if law.has_atoms else (float(z.min()), float(z.max()))
    return _score_factor(z, w_z, coverage), span


def _score_factor(z: Array, weights: Array | None, coverage: float | None) -> float:
    if coverage is None:
        return _sound(root_mean_square(z, weights))
    w = np.ones(len(z)) if weights is None else weights
    return _sound(float(_upper_quantile(np.abs(z), w, coverage) / ndtri(0.5 + coverage / 2)))


def _sound(factor: float) -> float:
    if not 0 < factor < np.inf:
        raise ValueError(
            f"residuals must vary and be finite; the factor would be {factor}. Were they fitted in-sample?"
        )
    return factor


def _span(law: Distribution, y: Array) -> tuple[float, float]:
    """Smallest and largest normal score."""
    z = law.to_normal(y)
    return float(z.min()), float(z.max())


def _one_shape(law: LocationScale) -> LocationScale:
    shape = law.shared_standard()
    if shape is None:
        raise ValueError(
            f"`forecasts` must be of one shape to be summarised; these {type(law).__name__} laws differ in more than "
            "location and scale. Use fit."
        )
    return shape


def _family(shape: LocationScale) -> str:
    """Family and what else its standard law has: StudentT(df=3.0)."""
    rest = [f"{name}={float(getattr(shape, name)[0])}" for name in shape._by_row if name not in ("loc", "scale")]
    return f"{type(shape).__name__}({', '.join(rest)})"


def _spread_and_scores(law: Distribution, y: Array, weights: Array | None) -> tuple[Array, Array, Array]:
    """Predicted spread, normal score and weight of each row, or of the points that an atom's outcome is spread over."""
    if isinstance(law, LocationScale) and not isinstance(law, Normal):
        raise ValueError(
            f'`forecasts` must not be {type(law).__name__} laws for a summary with method="bins": their factors take '
            "the rows. Use fit."
        )
    w = np.ones(len(y)) if weights is None else weights
    spread = _spread(law)
    z, own = normal_scores(law, y, w)
    if len(z) == len(y):
        return spread, z, w
    parts, carried = np.asarray(own), np.asarray(normal_scores(law, y, w * spread)[1])  # weights go with the points
    return carried / parts, z, parts


def _location_scale_factor(law: LocationScale, y: Array, w: Array, coverage: float | None) -> float:
    median = law.median()
    away = np.abs(y - median)
    if not away.any():
        raise ValueError("residuals must vary; all are 0. Were they fitted in-sample?")
    if coverage is not None:
        low, high = law.interval(coverage).T
        reach = np.where(y < median, median - low, high - median)
        return _upper_quantile(away / reach, w, coverage)
    start = np.log(np.average(away / law.scale, weights=w))
    best = minimize_scalar(
        lambda s: -float(w @ law.rescaled(np.exp(s)).logpdf(y)), bounds=(start - 4, start + 4), method="bounded",
        options={"xatol": 1e-10},
    )  # fmt: skip
    return float(np.exp(best.x))


def root_mean_square(values: Array, weights: Array | None) -> float:
    """Weighted root mean square that does not overflow."""
    if weights is None and len(values) > _MANY:
        with np.errstate(over="ignore"):
            total = inner(values, values)
        if _TINY < total < np.inf:
            return math.sqrt(total / len(values))
    largest = float(np.abs(values).max())
    if not 0 < largest < np.inf:
        return largest
    return largest * float(np.sqrt(np.average(np.square(values / largest), weights=weights)))


def _upper_quantile(values: Array, w: Array, level: float) -> float:
    """The value that a share ``level`` of T+1 rows does not exceed."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(w[order])
    place = min(int(np.searchsorted(reached, level * (reached[-1] + 1) * (1 - 1e-12))), len(values) - 1)
    return float(values[order][place])
