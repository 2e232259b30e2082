"""One calibrator per group, held close to the common one where a group is small."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from .._checks import Array
from ..distributions import Distribution, concatenate
from .base import check_calibrator, read_for, usable_rows
from .labels import Labels, labels_of, rows_by_label
from .summarised_groups import PSEUDO_ROWS, SummarisedGroups


class GroupedCalibrator(SummarisedGroups, BaseEstimator):
    r"""Calibrate everything once, then each group on top of that.

    The first calibrator learns from all rows. A second one per group learns what is left in the group, from the
    group's own rows and from a few rows of the whole sample, spread evenly over its PIT values, with a total weight
    of ``strength`` rows: a group of n rows is pulled to the common calibrator with weight strength / (n + strength).
    Groups not seen in `fit` get the common one.

    How many rows do I need? None in particular: a group of 5 stays with the common map, one of 200 speaks for
    itself with nine tenths of the weight.

    A summary is enough (`summarise`, `fit_summary`, `partial_fit`) for `QuantileCalibrator`, but for ``map="step"``,
    and for `ScaleCalibrator`, but for "bins": one for each group, as far from the fit to the rows as theirs. Outcomes
    on atoms are then spread before the common map and not after it, which may move probabilities by a hundredth.

    Parameters
    ----------
    calibrator : Calibrator
        What to fit, `QuantileCalibrator` say.
    strength : float, default 20
        Weight, in rows, of the common calibrator.

    Attributes
    ----------
    common_ : fitted Calibrator
    calibrators_ : dict from group to fitted Calibrator

    Examples
    --------
    >>> from calibrant import Normal, QuantileCalibrator
    >>> rng = np.random.default_rng(0)
    >>> shop = np.repeat(["a", "b"], 500)
    >>> y = rng.normal(0.0, np.where(shop == "a", 1.0, 4.0))
    >>> cal = GroupedCalibrator(QuantileCalibrator()).fit(Normal(np.zeros(1000), 1.0), y, groups=shop)
    >>> cal.transform(Normal([0.0, 0.0], 1.0), groups=["a", "b"]).std().round(0)
    array([1., 4.])
    """

    def __init__(self, calibrator: Any, strength: float = 20.0) -> None:
        self.calibrator = calibrator
        self.strength = strength

    def fit(self, forecasts: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> Self:
        """Learn from n forecasts, their outcomes and the group of each row."""
        self._forget()
        laws = read_for(check_calibrator(self.calibrator), forecasts)
        labels = labels_of(groups, len(laws))
        self._check_strength()
        rows, y, weights = usable_rows(len(laws), y, sample_weight)
        laws, labels = laws[rows], labels[rows]
        self.common_ = clone(self.calibrator).fit(laws, y, sample_weight=weights)
        self._fit_groups(self.common_.transform(laws), y, labels, np.ones(len(y)) if weights is None else weights)
        self.n_rows_ = len(y)
        return self

    def _fit_groups(self, laws: Distribution, y: Array, labels: Labels, weights: Array) -> None:
        ranked = np.argsort(laws.to_normal(y), kind="stable")
        places = (np.arange(PSEUDO_ROWS) + 0.5) / PSEUDO_ROWS * weights.sum()
        pseudo = ranked[np.minimum(np.searchsorted(np.cumsum(weights[ranked]), places), len(y) - 1)]
        pull = np.full(PSEUDO_ROWS, self.strength / PSEUDO_ROWS)
        self.calibrators_ = {}
        for name, mine in rows_by_label(labels).items():
            rows, w = np.concatenate([mine, pseudo]), np.concatenate([weights[mine], pull])
            self.calibrators_[name] = clone(self.calibrator).fit(laws[rows], y[rows], sample_weight=w)

    def transform(self, forecasts: Any, *, groups: Any = None) -> Distribution:
        """Calibrated forecasts, each by its group's calibrator."""
        check_is_fitted(self)
        laws = read_for(self.calibrator, forecasts)
        members = rows_by_label(labels_of(groups, len(laws)))
        common = self.common_.transform(laws)
        parts = []
        for name, rows in members.items():
            own = self.calibrators_.get(name)
            parts.append(common[rows] if own is None else own.transform(common[rows]))
        return concatenate(parts)[np.argsort(np.concatenate(list(members.values())))] if parts else common

    def __sklearn_is_fitted__(self) -> bool:
        """Fitted once `fit` came to its end."""
        return hasattr(self, "n_rows_")
