"""Scorers for scikit-learn's ``cross_validate`` and searches: callables (estimator, X, y) that ask for laws.

>>> from sklearn.model_selection import cross_validate
>>> from calibrant import CalibratedRegressor
>>> from calibrant.metrics.scorers import coverage_scorer, crps_scorer
>>> import numpy as np
>>> X = np.random.default_rng(0).normal(size=(200, 1))
>>> y = X[:, 0] + np.random.default_rng(1).normal(size=200)
>>> scoring = {"crps": crps_scorer, "coverage": coverage_scorer(0.9)}
>>> scores = cross_validate(CalibratedRegressor(), X, y, scoring=scoring, cv=2)
>>> scores["test_crps"].round(1)
array([-0.5, -0.6])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED

from .._types import Weights
from ..adapters.predicted import predicted_law
from .intervals import coverage as coverage_of
from .scores import crps, nll


class LawScorer(BaseEstimator):
    """A measure of the laws that a fitted model predicts, with the sign that makes greater better.

    Parameters
    ----------
    metric : callable (y_true, dist, sample_weight=None)
    sign : {1, -1}
    keywords : dict, optional
        For the metric.

    Notes
    -----
    Weights are passed on where scikit-learn gives them: ``scorer.set_score_request(sample_weight=True)`` with metadata
    routing.
    """

    __metadata_request__score = {"estimator": UNUSED}  # noqa: RUF012  (as scikit-learn reads it)

    def __init__(self, metric: Callable[..., Any], sign: int, keywords: dict[str, Any] | None = None) -> None:
        self.metric = metric
        self.sign = sign
        self.keywords = keywords

    def score(self, estimator: Any, X: Any, y: Any, sample_weight: Weights = None) -> float:
        """The measure of the forecasts of X, times the sign."""
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self.sign * float(self.metric(y, predicted_law(estimator, X), **weights, **(self.keywords or {})))

    def __call__(self, estimator: Any, X: Any, y_true: Any, sample_weight: Weights = None) -> float:
        """As ``score``."""
        return self.score(estimator, X, y_true, sample_weight)


def law_scorer(metric: Callable[..., Any], *, greater_is_better: bool = False, **keywords: Any) -> LawScorer:
    """Scorer of any measure of laws: ``law_scorer(metrics.interval_score, coverage=0.8)``.

    Parameters
    ----------
    metric : callable, ``(y_true, dist, *, sample_weight=None)``
        One of `calibrant.metrics` that gives one number.
    greater_is_better : bool, default False
        False: the score is minus the measure, as scikit-learn prefers the greater.
    **keywords
        For the metric.
    """
    return LawScorer(metric, 1 if greater_is_better else -1, keywords or None)


def coverage_scorer(coverage: float | None = None, *, interval: tuple[float, float] | None = None) -> LawScorer:
    """Share of outcomes inside intervals: to look at, not to choose by, as wide intervals hold all.

    Parameters
    ----------
    coverage : float, optional
        Of the central intervals; 0.9 unless told.
    interval : pair of float, optional
        Levels of the ends instead.
    """
    if interval is not None:
        return law_scorer(coverage_of, greater_is_better=True, coverage=coverage, interval=interval)
    return law_scorer(coverage_of, greater_is_better=True, coverage=0.9 if coverage is None else coverage)


crps_scorer = law_scorer(crps)
"""Minus the mean CRPS."""
nll_scorer = law_scorer(nll)
"""Minus the mean negative log likelihood."""
