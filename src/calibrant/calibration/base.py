"""What every calibrator is: it learns from forecasts and outcomes, and turns forecasts into better ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._checks import COPIES, MOST_EACH, Array, believed
from ..adapters import as_distribution
from ..adapters.feature_columns import check_rows
from ..distributions import Distribution
from ..numerics.soundness import check_numbers
from .contract import Takes
from .feature_table import features_of
from .rows import outcomes_of_a_forecast, usable_rows
from .soundness import check_law_forecasts, example_laws
from .threads import one_thread


class Calibrator(BaseEstimator, ABC):
    """Learn from forecasts and outcomes how forecasts are off; `transform` puts new ones right.

    Rows whose outcome is missing are left out with a warning. Weights are frequencies: weight 2 is the row twice,
    weight 0 the row left out.

    Attributes
    ----------
    takes : Takes
        Kinds of forecasts that it works on, and what it can use beside them.
    n_rows_ : int
        Rows that were learned from.
    """

    takes: Takes = Takes()
    n_rows_: int

    @abstractmethod
    def fit(self, forecasts: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """Learn from n forecasts and their outcomes.

        Parameters
        ----------
        forecasts : what ``takes`` says, n rows
        y : array-like (n,)
        sample_weight : array-like (n,), optional
        """

    @abstractmethod
    def transform(self, forecasts: Any) -> Any:
        """Calibrated forecasts of the same rows."""

    def _read(self, forecasts: Any) -> Any:
        """Forecasts in the form that this calibrator works on; must have a length and be sliceable by rows."""
        return forecasts if isinstance(forecasts, Distribution) else as_distribution(forecasts)

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


class RegressionCalibrator(Calibrator):
    """A calibrator whose outcomes are numbers; a subclass gives `_fit` and `_transform`, which see checked input.

    Forecasts are anything `as_distribution` takes, unless a subclass reads them otherwise.
    """

    _copies: ClassVar[float] = COPIES  # of a row of vast weight that are believed, where its forecast has few outcomes

    def fit(self, forecasts: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """Learn from n forecasts and their outcomes.

        Parameters
        ----------
        forecasts : Distribution or what `as_distribution` takes, n rows
        y : array-like (n,)
        sample_weight : array-like (n,), optional
        """
        return self._fit_usable(forecasts, y, sample_weight)

    def _fit_usable(self, forecasts: Any, y: Any, sample_weight: Any, X: Any = None) -> Self:
        """Check what was given, and learn from the rows that can be used and their features, if there are any."""
        laws = self._read(forecasts)
        rows, y, weights = usable_rows(len(laws), y, sample_weight)
        if X is not None:
            check_rows(X, len(laws))
        beside = {} if X is None else {"X": features_of(X, rows)}
        laws = laws[rows]
        if weights is not None and weights.mean() > MOST_EACH:
            weights = believed(weights, outcomes=outcomes_of_a_forecast(laws, y), copies=self._copies)
        with one_thread():
            self._fit(laws, y, weights, **beside)
            self._look_back(laws, y, weights)
        self.n_rows_ = len(y)
        return self

    def transform(self, forecasts: Any) -> Distribution:
        """Calibrated forecasts of the same rows."""
        check_is_fitted(self)
        return self._transform(self._read(forecasts))

    @abstractmethod
    def _fit(self, forecasts: Any, y: Array, weights: Array | None) -> None:
        """Learn from checked input; learned names end in an underscore."""

    def _look_back(self, forecasts: Any, y: Array, weights: Array | None) -> None:
        """Have a look at what was learned, and warn; most need none."""

    @abstractmethod
    def _transform(self, forecasts: Any) -> Distribution:
        """Calibrate checked forecasts."""


def read_for(calibrator: Any, forecasts: Any) -> Any:
    """Forecasts in the form that a calibrator works on: its own (points, say), or distributions."""
    read = getattr(calibrator, "_read", as_distribution)
    return read(forecasts)
