"""How much more often features occur where forecasts will be used than among the rows kept aside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.linear_model import LogisticRegression

from ..._checks import Array
from ...adapters.feature_columns import rows_in
from ...calibration.feature_table import FeatureTable
from ...numerics.soundness import check_finite

_LARGEST = 20.0  # log ratio, either way


@dataclass(frozen=True, eq=False)
class DensityRatio:
    r"""The ratio :math:`q(x)/p(x)` of densities up to a factor, by logistic regression of new rows against old ones.

    .. math:: w(x) = e^{b^T (x - m)/s}

    Tibshirani et al. (2019), §2.3: a classifier's odds are a ratio of densities up to a factor, and a factor is no
    matter. Missing values, and categories by their numbers, count as the mean.

    Parameters
    ----------
    table : FeatureTable
    centre, spread, slopes : ndarray (d,)
    """

    table: FeatureTable
    centre: Array
    spread: Array
    slopes: Array

    @classmethod
    def learn(cls, X: Any, new_rows: Any, weights: Array | None) -> Self:
        """From rows that were learned from, with weights, and rows as they will be."""
        n, m = rows_in(X), rows_in(new_rows)
        if not m:
            raise ValueError("`new_rows` must have at least one row; it is empty.")
        table = FeatureTable.learn(X, n)
        values = np.vstack([table(X, n), table(new_rows, m)])
        known = np.isfinite(values)
        count = np.maximum(known.sum(axis=0), 1)
        centre = np.where(known, values, 0.0).sum(axis=0) / count
        spread = np.sqrt(np.square(np.where(known, values - centre, 0.0)).sum(axis=0) / count)
        spread = np.where(spread > 0, spread, 1.0)
        w = np.concatenate([np.ones(n) if weights is None else weights, np.ones(m)])
        standard = np.where(known, (values - centre) / spread, 0.0)
        model = LogisticRegression().fit(standard, np.repeat([0, 1], [n, m]), sample_weight=w)
        return cls(table, centre, spread, np.asarray(model.coef_[0], dtype=np.float64))

    def __call__(self, X: Any, rows: int) -> Array:
        """Ratios of n rows."""
        values = self.table(X, rows)
        standard = np.where(np.isfinite(values), (values - self.centre) / self.spread, 0.0)
        return np.asarray(np.exp(np.clip(standard @ self.slopes, -_LARGEST, _LARGEST)))

    def _check_sound(self) -> None:
        """Raise ValueError if this is no ratio: it may come from anywhere."""
        check_finite(self, "centre", "spread", "slopes")
        if {np.shape(part) for part in (self.centre, self.spread, self.slopes)} != {(len(self.table),)}:
            raise ValueError("DensityRatio must have a centre, a spread and a slope for each column.")
        if not (self.spread > 0).all():
            raise ValueError("DensityRatio.spread must be positive.")
