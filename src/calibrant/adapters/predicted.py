"""Laws that a fitted model of any library predicts."""

from __future__ import annotations

from typing import Any

from ..distributions.base import Distribution
from .nested import descend, law_method
from .registry import as_distribution


def predicted_law(model: Any, X: Any) -> Distribution:
    """The laws that a fitted model predicts, the last step of a pipeline or the best model of a search too.

    By ``predict_dist``, by ``pred_dist`` as in NGBoost, or by ``predict_proba`` of skpro's regressors.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from calibrant import CalibratedRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 1))
    >>> model = make_pipeline(StandardScaler(), CalibratedRegressor()).fit(X, X[:, 0])
    >>> len(predicted_law(model, X[:3]))
    3
    """
    method = law_method(model)
    if method is None:
        raise TypeError(
            f"`model` must have predict_dist; {type(model).__name__} does not. Wrap it: CalibratedRegressor(model)."
        )
    inner, seen = descend(model, X)
    return as_distribution(getattr(inner, method)(seen))
