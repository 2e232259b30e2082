"""Scaling the predicted spread: one factor, or one per level of predicted spread."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import ndtri

from .._checks import Array, count, one_of, probability
from ..calibration import RegressionCalibrator, normal_scores
from ..distributions import Distribution, LocationScale, Normal, Recalibrated
from ..maps import AffineMap, Map, UnitTails
from ..numerics.soundness import check_finite


class ScaleCalibrator(RegressionCalibrator):
    r"""Multiply the predicted spread by a factor s; the simplest cure, and hard to beat below a few hundred rows.

    - "nll": the maximum-likelihood factor, for normal laws :math:`s^2 = \frac1T\sum_t ((y_t - \mu_t)/\sigma_t)^2`;
    - "coverage": the factor for which central intervals of the given coverage contain that share of the outcomes;
    - "bins": "nll" within bins of equal size of the predicted spread, each pulled to the common factor with the
      weight of ten rows: for forecasters that overdo the differences between easy and hard cases.

    Location-scale laws stay what they are; of other laws the normal scores are scaled, which respects their support.

    How many rows do I need? The factor has a relative error of about :math:`1/\sqrt{2T}`: 50 rows give 10 %, 5 000 give
    1 %; a bin needs as many of its own.

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

    def _fit(self, forecasts: Distribution, y: Array, weights: Array | None) -> None:
        one_of(self.method, "method", ["nll", "coverage", "bins"])
        probability(self.coverage, "coverage")
        count(self.n_bins, "n_bins")
        w = np.ones(len(y)) if weights is None else weights
        self.factor_ = _factor(forecasts, y, w, self.coverage if self.method == "coverage" else None)
        self.edges_, self.factors_ = np.empty(0), np.array([self.factor_])
        if self.method == "bins":
            self.edges_ = _inner_edges(_spread(forecasts), w, self.n_bins)
            bins = self._bins(forecasts)
            self.factors_ = np.array(
                [self._bin_factor(forecasts, y, w, bins == b) for b in range(len(self.edges_) + 1)]
            )
        z = forecasts.to_normal(y)
        self.span_ = (float(z.min()), float(z.max()))

    def _bin_factor(self, forecasts: Distribution, y: Array, w: Array, mine: NDArray[np.bool_]) -> float:
        if not mine.any():
            return self.factor_
        own, rows = _factor(forecasts[mine], y[mine], w[mine], None), w[mine].sum()
        return float(np.sqrt((rows * own**2 + 10 * self.factor_**2) / (rows + 10)))

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
        factors = self.factors_[self._bins(forecasts)]
        if isinstance(forecasts, LocationScale):
            return forecasts.rescaled(factors)
        fitted: Map = AffineMap(slope=1 / factors)
        return Recalibrated(forecasts, UnitTails(fitted, *self.span_) if forecasts.has_heavy_tails else fitted)


def _spread(law: Distribution) -> Array:
    return law.scale if isinstance(law, LocationScale) else law.std()


def _inner_edges(spread: Array, w: Array, bins: int) -> Array:
    """Edges between bins of equal size, half way between neighbouring values."""
    order = np.argsort(spread, kind="stable")
    values, reached = spread[order], np.cumsum(w[order])
    last = np.searchsorted(reached, reached[-1] * np.arange(1, bins) / bins * (1 + 1e-12))
    following = np.searchsorted(values, values[last], side="right")
    inner = following < len(values)
    return np.unique(0.5 * (values[last] + values[np.minimum(following, len(values) - 1)])[inner])


def _factor(law: Distribution, y: Array, w: Array, coverage: float | None) -> float:
    """The common factor by likelihood, or by coverage of the central interval."""
    if isinstance(law, LocationScale) and not isinstance(law, Normal):
        return _location_scale_factor(law, y, w, coverage)
    z, w_z = normal_scores(law, y, w)
    if coverage is None:
        s = root_mean_square(z, w_z)
    else:
        s = _upper_quantile(np.abs(z), w if w_z is None else w_z, coverage) / ndtri(0.5 + coverage / 2)
    if not 0 < s < np.inf:
        raise ValueError(f"residuals must vary and be finite; the factor would be {s}. Were they fitted in-sample?")
    return s


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
