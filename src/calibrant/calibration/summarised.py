"""Calibrators to which a summary of the rows says as much as the rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .._checks import Array
from ..summaries import ScoreSummary, Summary
from .base import RegressionCalibrator
from .rows import usable_rows
from .threads import one_thread


class Summarised(ABC):
    """Fits by summaries, which merge: of chunks, of partitions, of yesterday and today.

    Attributes
    ----------
    summary_ : Summary
        What was learned from, after `fit_summary` and `partial_fit`.
    """

    summary_: Summary
    n_rows_: int

    @property
    def summary_is_enough(self) -> bool:
        """Whether these parameters need no more than a summary."""
        return True

    @property
    def _learns_from(self) -> type[Summary]:
        return ScoreSummary

    @property
    def summary_can_be_calibrated(self) -> bool:
        """Whether a summary also tells what that of the calibrated forecasts is (`calibrated_summary`)."""
        return False

    def fit_summary(self, summary: Summary) -> Self:
        """Learn from what `summarise` made of some rows, or from several such merged."""
        if summary is not vars(self).get("summary_"):  # which `partial_fit` has made
            self._require_enough()
        if not isinstance(summary, self._learns_from):
            kind = self._learns_from.__name__
            raise TypeError(f"`summary` must be a {kind}, as summarise makes it; got {type(summary).__name__}.")
        self._forget()
        with one_thread():
            self._fit_summary(summary)
        self.summary_, self.n_rows_ = summary, summary.n_rows
        return self

    @property
    def summary_is_exact(self) -> bool:
        """Whether `fit_summary` learns what `fit` does, but for rounding."""
        return False

    def fit_again(self, summaries: Sequence[Summary]) -> list[Self]:
        """Copies of this calibrator, each fitted to a summary of forecasts that one like it has calibrated before."""
        return [clone(self).fit_summary(summary) for summary in summaries]

    def _continued(self, summarise: Callable[[int | None], Summary]) -> Self:
        """Learn from more rows; what is learned is worked out when it is first asked for."""
        old = vars(self).get("summary_")
        if old is None and "n_rows_" in vars(self):
            raise ValueError("fit has seen rows that are gone; begin with partial_fit, or with fit_summary.")
        new = summarise(None if old is None else old.level)
        whole = new if old is None else old.merge(new)
        self._forget()
        self.summary_, self.n_rows_, self._is_waiting = whole, whole.n_rows, True
        return self

    def _forget(self) -> None:
        """As it was before any fit."""
        for name in [name for name in vars(self) if _is_learned(name) or name == "_is_waiting"]:
            delattr(self, name)

    def __getattr__(self, name: str) -> Any:
        """What `partial_fit` has left for later."""
        if _is_learned(name) and vars(self).pop("_is_waiting", False):
            self.fit_summary(self.summary_)
            return getattr(self, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _require_enough(self) -> None:
        if not self.summary_is_enough:
            raise ValueError(f"{self!r} needs the rows themselves: a summary is not enough. Use fit.")

    @abstractmethod
    def _fit_summary(self, summary: Any) -> None:
        """Learn from a summary; learned names end in an underscore."""


class SummarisedCalibrator(Summarised, RegressionCalibrator):
    """A calibrator of laws or points that can learn from a summary.

    Examples
    --------
    >>> from calibrant import Normal, QuantileCalibrator
    >>> monday = QuantileCalibrator().summarise(Normal([0.0, 1.0], 1.0), [0.5, 0.5])
    >>> tuesday = QuantileCalibrator().summarise(Normal([2.0], 1.0), [3.5])
    >>> QuantileCalibrator().fit_summary(monday + tuesday).n_rows_
    3
    """

    def fit(self, forecasts: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """Learn from n forecasts and their outcomes.

        Parameters
        ----------
        forecasts : Distribution or what `as_distribution` takes, n rows
        y : array-like (n,)
        sample_weight : array-like (n,), optional
        """
        self._forget()
        return super().fit(forecasts, y, sample_weight=sample_weight)

    def summarise(self, forecasts: Any, y: Any, *, sample_weight: Any = None) -> Summary:
        """All that this calibrator would learn from these rows; see `fit` for the arguments."""
        return self._summary_of(forecasts, y, sample_weight, None)

    def partial_fit(self, forecasts: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """Learn from some more rows, as if they had come with those before; see `fit` for the arguments."""
        return self._continued(lambda finest: self._summary_of(forecasts, y, sample_weight, finest))

    def _summary_of(self, forecasts: Any, y: Any, sample_weight: Any, finest: int | None) -> Summary:
        self._require_enough()
        laws = self._read(forecasts)
        rows, y, weights = usable_rows(len(laws), y, sample_weight)
        return self._summarise(laws if isinstance(rows, slice) else laws[rows], y, weights, finest)  # a slice is all

    def _summarise_each(
        self, forecasts: Any, y: Array, weights: Array | None, members: Mapping[Any, NDArray[np.intp]]
    ) -> dict[Any, Summary]:
        """Summaries of some checked rows each."""
        return {
            name: self._summarise(forecasts[mine], y[mine], None if weights is None else weights[mine], None)
            for name, mine in members.items()
        }

    @abstractmethod
    def _summarise(self, forecasts: Any, y: Array, weights: Array | None, finest: int | None) -> Summary:
        """Summary of checked rows."""


def _is_learned(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_")
