"""What every calibrator is: it learns from forecasts and outcomes, and turns forecasts into better ones."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._checks import Array, outcomes, sample_weights
from ..adapters import as_distribution
from ..distributions import Distribution
from ..numerics.soundness import check_numbers
from .soundness import check_law_forecasts, example_laws
from .threads import one_thread

_FEWEST = 1e-9  # rows, counted with their weights


class Calibrator(BaseEstimator, ABC):
    """Learn from forecasts and outcomes how forecasts are off; `transform` puts new ones right.

    Forecasts are anything `as_distribution` takes. Rows whose outcome is missing are left out with a warning. Weights
    are frequencies: weight 2 is the row twice, weight 0 the row left out.
    """

    def fit(self, forecasts: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """Learn from n forecasts and their outcomes.

        Parameters
        ----------
        forecasts : Distribution or what `as_distribution` takes, n rows
        y : array-like (n,)
        sample_weight : array-like (n,), optional
        """
        laws = self._read(forecasts)
        rows, y, weights = usable_rows(len(laws), y, sample_weight)
        laws = laws[rows]
        with one_thread():
            self._fit(laws, y, weights)
            self._look_back(laws, y, weights)
        self.n_rows_ = len(y)
        return self

    def transform(self, forecasts: Any) -> Distribution:
        """Calibrated forecasts of the same rows."""
        check_is_fitted(self)
        return self._transform(self._read(forecasts))

    def _read(self, forecasts: Any) -> Any:
        """Forecasts in the form that this calibrator works on; must have a length and be sliceable by rows."""
        return as_distribution(forecasts)

    @abstractmethod
    def _fit(self, forecasts: Any, y: Array, weights: Array | None) -> None:
        """Learn from checked input; learned names end in an underscore."""

    def _look_back(self, forecasts: Any, y: Array, weights: Array | None) -> None:
        """Have a look at what was learned, and warn; most need none."""

    @abstractmethod
    def _transform(self, forecasts: Any) -> Distribution:
        """Calibrate checked forecasts."""

    def _examples(self) -> Any:
        """Forecasts on which one that came from anywhere is tried."""
        return example_laws()

    def _check_sound(self) -> None:
        """Raise ValueError if what was learned cannot be: it may come from anywhere."""
        check_numbers(self, missing=True)

    def _check_forecasts(self) -> None:
        """Raise ValueError if what it makes of the examples are no forecasts."""
        check_law_forecasts(self.transform(self._examples()))

    def __sklearn_is_fitted__(self) -> bool:
        """Fitted once `fit` came to its end."""
        return hasattr(self, "n_rows_")


def check_calibrator(calibrator: Any, name: str = "calibrator") -> Any:
    """Return the calibrator if it is an object with `fit` and `transform`."""
    if isinstance(calibrator, type) or not (hasattr(calibrator, "fit") and hasattr(calibrator, "transform")):
        raise TypeError(f"`{name}` must have fit and transform, like QuantileCalibrator(); got {calibrator!r}.")
    return calibrator


def read_for(calibrator: Any, forecasts: Any) -> Any:
    """Forecasts in the form that a calibrator works on: its own (points, say), or distributions."""
    read = getattr(calibrator, "_read", as_distribution)
    return read(forecasts)


def usable_rows(n: int, y: Any, sample_weight: Any) -> tuple[Any, Array, Array | None]:
    """Rows that have an outcome and a weight above 0 (a slice or a mask), with those outcomes and weights."""
    values, kept = outcomes(y, n)
    weights = sample_weights(sample_weight, n)
    if weights is not None:
        _look_like_counts(weights)
    if kept is None and (weights is None or weights.all()):
        return slice(None), values, weights
    used = np.ones(n, dtype=bool) if kept is None else kept
    if weights is not None:
        used = used & (weights > 0)
    whole = np.empty(n)
    whole[slice(None) if kept is None else kept] = values
    return used, whole[used], None if weights is None else weights[used]


def _look_like_counts(weights: Array) -> None:
    """Weights of several rows that add up to one row or less are shares; taken for frequencies they say nothing."""
    total, rows = weights.sum(), np.count_nonzero(weights)
    if total < _FEWEST:
        raise ValueError(f"`sample_weight` must add up to a number of rows; the sum over {rows} rows is {total:g}.")
    if total <= 1 + 1e-9 and rows > 1:
        warnings.warn(
            f"`sample_weight` adds up to {total:g} over {rows} rows. Weights are frequencies: weight 2 is the row "
            "twice. Shares? Multiply them by the number of rows.",
            stacklevel=4,
        )
