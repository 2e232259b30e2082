"""From point predictions to full distributions, by their residuals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from .._checks import Array, column, to_array
from ..adapters import as_distribution
from ..calibration import SummarisedCalibrator
from ..calibration.contract import Takes
from ..calibration.soundness import POINTS
from ..distributions import Distribution, LocationScale, Normal
from ..summaries import ScoreSummary
from .map_choice import check_map, has_steps, kept_state
from .quantile import QuantileCalibrator
from .scale import root_mean_square

RESIDUALS, RATIOS = "residuals", "residuals in predicted units"


class ResidualCalibrator(SummarisedCalibrator):
    r"""Turn any point prediction into a calibrated distribution (Kuleshov et al. 2018, §3.4).

    The increasing feature is :math:`\varphi = y - \mu(x)` for plain predictions, or :math:`\varphi = (y -
    \mu(x))/\sigma(x)` where a second column tells how uncertain each prediction is, in any unit; R maps it to
    probabilities. With the plain feature all intervals have one width.

    How many rows do I need? About 30 for a usable width, 200 for a shape (skew, heavy tails); see `QuantileCalibrator`.

    A summary is enough (`summarise`, `fit_summary`, `partial_fit`): with the default map the fit is that to the rows
    but for rounding, with others as in `QuantileCalibrator`.

    Parameters
    ----------
    map : str, regressor or callable, default "spline"
    ranks : {"T+1", "T"}, optional
        Both as in `QuantileCalibrator`; p is :math:`\Phi(\varphi/s)` with the root mean square s of the feature.

    Attributes
    ----------
    scale_ : float
        Root mean square of the feature.
    calibrator_ : QuantileCalibrator
        The map of the features divided by ``scale_``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=500)
    >>> y = x + rng.exponential(1.0, 500)
    >>> law = ResidualCalibrator().fit(x, y).transform([3.0])
    >>> law.mean().round(1)
    array([4.])
    """

    takes = Takes(("points", "distributions"))

    _later: ClassVar[dict[str, Any]] = {"ranks": None}  # parameters that files of earlier versions lack

    def __init__(self, map: Any = "spline", *, ranks: str | None = None) -> None:
        self.map = map
        self.ranks = ranks

    @property
    def summary_can_be_calibrated(self) -> bool:
        """Whether calibrated forecasts have no atoms of the map's own."""
        return not has_steps(self.map)

    def calibrated_summary(self, summary: ScoreSummary) -> ScoreSummary:
        """The summary that the same rows have once they are calibrated: about medians, in standard deviations."""
        law = self.calibrator_.transform(Normal([0.0], [self.scale_]))
        centre, spread = law.median()[0], law.std()[0]
        return replace(summary.mapped(lambda feature: (feature - centre) / spread), of=RATIOS)

    def _read(self, forecasts: Any) -> _Points:
        return _Points.of(forecasts)

    def _fit(self, forecasts: _Points, y: Array, weights: Array | None) -> None:
        if isinstance(self.map, str) and self.map == "spline":
            return self._fit_summary(self._summarise(forecasts, y, weights))
        feature = self._feature(forecasts, y)
        span = (float(feature.min()), float(feature.max()))
        return self._fit_feature(feature, weights, span, forecasts.has_unit, len(y))

    def _feature(self, forecasts: _Points, y: Array) -> Array:
        with np.errstate(over="ignore"):
            feature = np.asarray((y - forecasts.loc) / forecasts.unit)
        self._check_scale(1.0 if np.isfinite(feature).all() else np.inf)
        return feature

    def _summarise(
        self, forecasts: _Points, y: Array, weights: Array | None, finest: int | None = None
    ) -> ScoreSummary:
        check_map(self.map, self.ranks)
        kind = RATIOS if forecasts.has_unit else RESIDUALS
        return ScoreSummary.of_scores(self._feature(forecasts, y), weights, finest=finest, of=kind)

    def _fit_summary(self, summary: ScoreSummary) -> None:
        self._fit_feature(*summary.points(RESIDUALS, RATIOS), summary.span, summary.of == RATIOS, summary.n_rows)

    def _fit_feature(
        self, feature: Array, w: Array | None, span: tuple[float, float], has_unit: bool, n_rows: int
    ) -> None:
        self.scale_ = self._check_scale(root_mean_square(feature, w))
        self.has_unit_ = has_unit
        ends = (span[0] / self.scale_, span[1] / self.scale_)
        calibrator = QuantileCalibrator(map=self.map, ranks=self.ranks)
        self.calibrator_ = calibrator.fit_scores(feature / self.scale_, w, ends, n_rows=n_rows)

    def _check_scale(self, scale: float) -> float:
        if not 0 < scale < np.inf:
            raise ValueError(
                f"residuals must vary and be finite; their root mean square is {scale}. Were they fitted in-sample?"
            )
        return scale

    def _transform(self, forecasts: _Points) -> Distribution:
        if forecasts.has_unit != self.has_unit_:
            seen, got = ("with", "without") if self.has_unit_ else ("without", "with")
            raise ValueError(f"`forecasts` came {seen} a second column in fit and {got} one now.")
        return self.calibrator_.transform(self._law(forecasts))

    def _kept(self) -> dict[str, Any]:
        return kept_state(self, "calibrator_")

    def _examples(self) -> Any:
        return super()._examples() if self.has_unit_ else POINTS

    def _law(self, forecasts: _Points) -> Normal:
        law = Normal(forecasts.loc, self.scale_ * forecasts.unit)
        if forecasts.index is not None:
            object.__setattr__(law, "_index", forecasts.index)
        return law


class _Points:
    """Point predictions with the unit that their residuals are measured in."""

    def __init__(self, loc: Array, unit: Array, has_unit: bool, index: Any = None) -> None:
        self.loc, self.unit, self.has_unit, self.index = loc, unit, has_unit, index

    @classmethod
    def of(cls, forecasts: Any) -> _Points:
        """From a column of predictions, or from laws with a location and a scale."""
        if isinstance(forecasts, cls):
            return forecasts
        if not isinstance(forecasts, (tuple, dict, Distribution)) and _is_column(forecasts):
            loc = column(forecasts, "forecasts")
            return cls(
                loc, np.ones(len(loc)), False, getattr(forecasts, "index", None) if hasattr(forecasts, "iloc") else None
            )
        law = as_distribution(forecasts)
        if isinstance(law, LocationScale):
            return cls(law.median(), law.scale, True, law.index)
        return cls(law.median(), law.std(), True, law.index)

    def __len__(self) -> int:
        return len(self.loc)

    def __getitem__(self, rows: Any) -> _Points:
        index = None if self.index is None else self.index[rows]
        return _Points(self.loc[rows], self.unit[rows], self.has_unit, index)


def _is_column(values: Any) -> bool:
    shape = getattr(values, "shape", None)
    if shape is None:
        shape = to_array(values, "forecasts").shape if isinstance(values, list) else ()
    return len(shape) == 1 or (len(shape) == 2 and shape[1] == 1)
