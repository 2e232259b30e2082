"""Long frames of forecasts in, the same frames calibrated out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from .._checks import Array, probability
from ..calibration import GroupedCalibrator, HorizonCalibrator
from ..calibration.contract import check_calibrator, fit_with, takes_of, transform_with
from ..distributions import Distribution, Quantiles
from ..regression import QuantileCalibrator, ResidualCalibrator
from .frames import columns_of, horizons, numbers_of, values_of, with_columns
from .models import ModelColumns, models_in


class FrameCalibrator(BaseEstimator):
    r"""Calibrate forecasts of time series in long frames, as statsforecast, mlforecast and neuralforecast make them.

    `fit` takes what their ``cross_validation`` gives: a row for each series (``unique_id``), time (``ds``) and origin
    (``cutoff``), with outcomes (``y``) and the forecasts of one or several models, ``AutoARIMA``,
    ``AutoARIMA-lo-90``, ``AutoARIMA-hi-90``. `transform` takes what ``forecast`` or ``predict`` gives and returns the
    same frame, its quantiles and medians calibrated; of point forecasts, the ends of intervals are added. Each model
    is calibrated on its own, each step ahead by itself with what it needs from its neighbours (`HorizonCalibrator`),
    all series together. Sums over series (hierarchies) are not looked at.

    Cost where nothing is wrong: that of the calibrator (`experiments.cost`).

    Parameters
    ----------
    calibrator : Calibrator, optional
        `QuantileCalibrator` for intervals and quantiles, `ResidualCalibrator` for point forecasts if None.
    coverages : sequence of float, default (0.8, 0.95)
        Intervals to add to point forecasts; frames that have intervals keep theirs.
    by_horizon : bool, default True
        Whether each step ahead has a correction of its own.
    by_series : bool, default False
        Whether each series has one, held close to the common one (`GroupedCalibrator`).
    models : sequence of str, optional
        Models to calibrate; all that are found if None.
    id_col, time_col, target_col, cutoff_col : str
        Names of columns, as in the packages.

    Attributes
    ----------
    models_ : dict from model to fitted Calibrator
    n_rows_ : int
        Rows that had an outcome.

    Examples
    --------
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> cv = pd.DataFrame({"unique_id": "shop", "ds": np.tile([1, 2], 400), "cutoff": np.repeat(np.arange(400), 2)})
    >>> cv["ds"] += cv["cutoff"]
    >>> cv["y"] = rng.normal(0.0, np.tile([1.0, 2.0], 400))
    >>> cv = cv.assign(**{"M": 0.0, "M-lo-90": -1.645, "M-hi-90": 1.645})  # right one step ahead, half as wide as two
    >>> new = pd.DataFrame({"unique_id": "shop", "ds": [500, 501], "M": 0.0, "M-lo-90": -1.645, "M-hi-90": 1.645})
    >>> FrameCalibrator().fit(cv).transform(new)["M-hi-90"].round(1).tolist()
    [1.6, 3.3]
    """

    def __init__(
        self,
        calibrator: Any = None,
        *,
        coverages: Sequence[float] = (0.8, 0.95),
        by_horizon: bool = True,
        by_series: bool = False,
        models: Sequence[str] | None = None,
        id_col: str = "unique_id",
        time_col: str = "ds",
        target_col: str = "y",
        cutoff_col: str = "cutoff",
    ) -> None:
        self.calibrator = calibrator
        self.coverages = coverages
        self.by_horizon = by_horizon
        self.by_series = by_series
        self.models = models
        self.id_col = id_col
        self.time_col = time_col
        self.target_col = target_col
        self.cutoff_col = cutoff_col

    def fit(self, frame: Any) -> Self:
        """Learn from forecasts of the past and their outcomes.

        Parameters
        ----------
        frame : pandas, polars or pyarrow frame
            Series, time, outcome and forecasts; with the origin of each forecast (``cutoff``) where there are several.
        """
        y, beside = numbers_of(frame, self.target_col), self._beside(frame)
        fitted: dict[str, Any] = {}
        for model in self._models(frame, self.models):
            forecasts, seen = self._forecasts(frame, model)
            seen &= ~np.isnan(y)
            if not seen.any():
                raise ValueError(f"`{model.columns[0]}` must have a forecast and an outcome in some row; it has none.")
            given = {name: values[seen] for name, values in beside.items()}
            fitted[model.name] = fit_with(self._calibrator(model), forecasts[seen], y[seen], **given)
        self.models_, self.n_rows_ = fitted, int((~np.isnan(y)).sum())
        return self

    def transform(self, frame: Any) -> Any:
        """The same frame, calibrated; rows whose forecasts are missing stay as they are."""
        check_is_fitted(self)
        beside, new = self._beside(frame), {}
        for model in self._models(frame, list(self.models_)):
            forecasts, seen = self._forecasts(frame, model)
            given = {name: values[seen] for name, values in beside.items()}
            law = transform_with(self.models_[model.name], forecasts[seen], **given)
            for name, level in self._added(model).items():
                column = numbers_of(frame, name).copy() if name in columns_of(frame) else np.full(len(seen), np.nan)
                column[seen] = law.quantiles([level])[:, 0]
                new[name] = column
        return with_columns(frame, new)

    def fit_transform(self, frame: Any) -> Any:
        """Calibrate the forecasts of the same frame that is learned from: in sample, to look at."""
        return self.fit(frame).transform(frame)

    def __sklearn_is_fitted__(self) -> bool:
        """Fitted once `fit` came to its end."""
        return hasattr(self, "n_rows_")

    def _check_sound(self) -> None:
        """Raise ValueError if what was learned cannot be: it may come from anywhere."""
        models: Any = self.models_
        if not isinstance(models, dict) or not all(isinstance(name, str) for name in models):
            raise ValueError("`models_` must be calibrators by name.")

    def _check_forecasts(self) -> None:
        """Raise ValueError if the parts make no forecasts."""
        for part in self.models_.values():
            part._check_forecasts()

    # ---- parts ----
    def _models(self, frame: Any, wanted: Sequence[str] | None) -> list[ModelColumns]:
        """Models in a frame; every other column has a name of its own."""
        known = {self.id_col, self.time_col, self.target_col, self.cutoff_col, "horizon", "index"}
        names = [name for name in columns_of(frame) if name not in known]
        found = models_in(names, wanted)
        if not found:
            raise ValueError(f"the frame has no forecasts: columns are {', '.join(columns_of(frame)[:12])}.")
        return found

    def _beside(self, frame: Any) -> dict[str, Any]:
        """Horizons and series of the rows, where they are needed."""
        names = columns_of(frame)
        series = values_of(frame, self.id_col)
        found: dict[str, Any] = {}
        if self.by_horizon and "horizon" in names:
            found["horizon"] = numbers_of(frame, "horizon")
        elif self.by_horizon:
            origin = values_of(frame, self.cutoff_col) if self.cutoff_col in names else None
            found["horizon"] = horizons(series, values_of(frame, self.time_col), origin)
        return {**found, "groups": series} if self.by_series else found

    def _calibrator(self, model: ModelColumns) -> Any:
        default = QuantileCalibrator() if model.levels else ResidualCalibrator()
        made = default if self.calibrator is None else clone(check_calibrator(self.calibrator))
        if not model.levels and "points" not in takes_of(made).forecasts:
            raise ValueError(f"`{model.name}` is a point forecast, and {made!r} needs laws. Use ResidualCalibrator.")
        made = GroupedCalibrator(made) if self.by_series else made
        return HorizonCalibrator(made) if self.by_horizon else made

    def _forecasts(self, frame: Any, model: ModelColumns) -> tuple[Any, Any]:
        """Forecasts as laws or points, and the rows that have one."""
        values = np.column_stack([numbers_of(frame, name) for name in model.columns])
        seen = np.isfinite(values).all(axis=1)
        if not model.levels:
            return values[:, 0], seen
        return _Rows(np.array(model.levels), values), seen

    def _added(self, model: ModelColumns) -> dict[str, float]:
        """Columns to write, with their levels."""
        if model.levels:
            return dict(zip(model.columns, model.levels, strict=True))
        shares = [probability(share, "coverages") for share in self.coverages]
        lows = {f"{model.name}-lo-{100 * share:.6g}": 0.5 - share / 2 for share in reversed(shares)}
        return {**lows, **{f"{model.name}-hi-{100 * share:.6g}": 0.5 + share / 2 for share in shares}}


class _Rows:
    """Quantiles of which some rows may be missing: laws once those are chosen that are not."""

    def __init__(self, levels: Array, values: Array) -> None:
        self.levels, self.values = levels, values

    def __getitem__(self, rows: Any) -> Distribution:
        return Quantiles(self.levels, self.values[rows])
