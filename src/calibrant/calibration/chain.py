"""Calibrators one after another."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from .._checks import Array
from ..distributions import Distribution
from .base import Calibrator, check_calibrator, read_for
from .nested import takes


class Chain(Calibrator):
    """Each calibrator is fitted to what the ones before it made of the forecasts.

    Parameters
    ----------
    calibrators : list of Calibrator

    Attributes
    ----------
    calibrators_ : list of fitted Calibrator

    Examples
    --------
    >>> from calibrant import Normal, QuantileCalibrator, ScaleCalibrator
    >>> chain = Chain([ScaleCalibrator(), QuantileCalibrator()])
    >>> chain.fit(Normal([0.0, 0.0, 0.0], 1.0), [-2.0, 0.5, 2.0]).n_rows_
    3
    """

    def __init__(self, calibrators: list[Any]) -> None:
        self.calibrators = calibrators

    def _read(self, forecasts: Any) -> Any:
        steps: Any = self.calibrators
        if not isinstance(steps, (list, tuple)) or not steps:
            raise ValueError(f"`calibrators` must be a list of at least one calibrator; got {steps!r}.")
        for i, calibrator in enumerate(steps):
            check_calibrator(calibrator, f"calibrators[{i}]")
            if takes(calibrator.fit, "groups"):
                kind = type(calibrator).__name__
                raise TypeError(
                    f"`calibrators[{i}]` is a {kind}, to which a chain gives no groups: {kind}(Chain(...))?"
                )
        return read_for(steps[0], forecasts)

    def _fit(self, forecasts: Any, y: Array, weights: Array | None) -> None:
        self.calibrators_: list[Calibrator] = []
        for calibrator in self.calibrators:
            fitted = clone(calibrator).fit(forecasts, y, sample_weight=weights)
            self.calibrators_.append(fitted)
            forecasts = fitted.transform(forecasts)

    def _examples(self) -> Any:
        examples = [step._examples() for step in self.calibrators_]
        return next((given for given in examples if not isinstance(given, Distribution)), examples[0])

    def _transform(self, forecasts: Any) -> Distribution:
        for calibrator in self.calibrators_:
            forecasts = calibrator.transform(forecasts)
        return forecasts  # type: ignore[no-any-return]
