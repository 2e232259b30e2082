"""Rows of forecasts with outcomes, and what calibrators make of rows that they have not seen."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .._checks import Array
from ..adapters.class_scores import ClassScores
from ..calibration.contract import fit_with, transform_with
from ..calibration.rows import labelled_rows, usable_rows
from ..distributions import Distribution, concatenate

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Cases:
    """Forecasts and outcomes of the rows that have an outcome and a weight; ``rows`` are their numbers.

    ``groups`` are for calibrators that treat groups differently.
    """

    forecasts: Any
    y: NDArray[Any]
    weights: Array | None
    rows: Rows
    classes: NDArray[Any] | None = None
    groups: NDArray[Any] | None = None

    @classmethod
    def of(cls, forecasts: Distribution | ClassScores | Array, y: Any, sample_weight: Any = None) -> Cases:
        """Read laws or points with numbers, or class scores with labels."""
        if isinstance(forecasts, ClassScores):
            rows, classes, codes, weights = labelled_rows(forecasts, y, sample_weight)
            numbers = np.arange(len(forecasts))[rows]
            return cls(forecasts[rows], classes[codes], weights, numbers, classes)
        rows, outcomes, weights = usable_rows(len(forecasts), y, sample_weight)
        return cls(forecasts[rows], outcomes, weights, np.arange(len(forecasts))[rows])

    @property
    def task(self) -> str:
        """What kind of forecasts these are."""
        return "regression" if self.classes is None else "classification"

    def __len__(self) -> int:
        return len(self.y)

    def weights_of(self, rows: Any) -> Array | None:
        """Weights of these rows."""
        return None if self.weights is None else self.weights[rows]

    def fitted(self, calibrator: Any, rows: Any = slice(None)) -> Any:
        """A clone of the calibrator, fitted to these rows."""
        groups = None if self.groups is None else self.groups[rows]
        weights = self.weights_of(rows)
        beside = {"groups": groups, "classes": self.classes}
        return fit_with(clone(calibrator), self.forecasts[rows], self.y[rows], sample_weight=weights, **beside)

    def out_of_fold(self, calibrator: Any, splits: list[tuple[Rows, Rows]]) -> Any:
        """Calibrated forecasts of the test rows of all splits, one after another."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of small folds; the fit to all rows speaks
            parts = [self._transformed(self.fitted(calibrator, train), test) for train, test in splits]
        return concatenate(parts) if isinstance(parts[0], Distribution) else np.concatenate(parts)

    def _transformed(self, fitted: Any, rows: Any) -> Any:
        return transform_with(fitted, self.forecasts[rows], groups=None if self.groups is None else self.groups[rows])

    def splits(self, cv: int, axis: Any = None) -> list[tuple[Rows, Rows]]:
        """Random folds with equal shares of the classes, or, along an axis, blocks after their training rows."""
        n = len(self)
        if axis is not None:
            order = np.argsort(axis, kind="stable")
            edges = np.linspace(n / (cv + 1), n, cv + 1).round().astype(int)
            return [(order[:a], order[a:b]) for a, b in pairwise(edges)]
        order = np.random.default_rng(0).permutation(n)
        if self.classes is not None:
            order = order[np.argsort(self.y[order], kind="stable")]
        fold = np.empty(n, dtype=np.intp)
        fold[order] = np.arange(n) % min(cv, n)
        return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(min(cv, n))]
