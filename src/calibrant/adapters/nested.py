"""Looking inside pipelines, searches, frozen models and models of a transformed target."""

from __future__ import annotations

from inspect import signature
from typing import Any

from sklearn.compose import TransformedTargetRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline


def takes(function: Any, name: str) -> bool:
    """Whether a function has a parameter of this name.

    >>> takes(lambda X, groups=None: X, "groups")
    True
    """
    try:
        return name in signature(function).parameters
    except (TypeError, ValueError):  # not callable, or written in C without a signature
        return False


def is_search(model: Any) -> bool:
    """Whether a model is a search over parameters, scikit-learn's or one made like it."""
    return all(hasattr(model, name) for name in ("estimator", "refit", "error_score"))


def innermost(model: Any) -> Any:
    """The model that makes the predictions: last step of a pipeline, best (or to be searched) model, frozen model.

    >>> from sklearn.linear_model import BayesianRidge
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> innermost(FrozenEstimator(make_pipeline(StandardScaler(), BayesianRidge())))
    BayesianRidge()
    """
    while True:
        if isinstance(model, FrozenEstimator):
            model = model.estimator
        elif isinstance(model, Pipeline):
            model = model.steps[-1][1]
        elif is_search(model):
            model = getattr(model, "best_estimator_", model.estimator)
        else:
            return model


def descend(model: Any, X: Any) -> tuple[Any, Any]:
    """The innermost model of a fitted one, and X as it sees it after the pipelines' transformers."""
    while True:
        if isinstance(model, FrozenEstimator):
            model = model.estimator
        elif isinstance(model, Pipeline):
            X = model[:-1].transform(X) if len(model.steps) > 1 else X
            model = model.steps[-1][1]
        elif is_search(model):
            model = model.best_estimator_
        else:
            return model, X


def law_method(model: Any) -> str | None:
    """Name of the method by which the innermost model states laws, or None: skpro's regressors state them as proba.

    >>> law_method(FrozenEstimator(Pipeline([("last", "passthrough")]))) is None
    True
    """
    model = innermost(model)
    found = next((name for name in ("predict_dist", "pred_dist") if hasattr(model, name)), None)
    if found is None and any(kind.__module__.startswith("skpro.") for kind in type(model).__mro__):
        return "predict_proba"
    return found


def wrapped(estimator: Any) -> tuple[str, Any] | None:
    """Parameter name and value of the estimator inside, or None where there is none whose parameters could be set."""
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return name, last
    if isinstance(estimator, FrozenEstimator):
        return None
    if is_search(estimator):
        return "estimator", estimator.estimator
    if isinstance(estimator, TransformedTargetRegressor) and estimator.regressor is not None:
        return "regressor", estimator.regressor
    return None


def weight_name(estimator: Any) -> str | None:
    """Name under which ``estimator.fit`` takes sample weights, or None.

    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> weight_name(make_pipeline(StandardScaler(), Ridge()))
    'ridge__sample_weight'
    """
    inside = wrapped(estimator)
    if inside is None:
        return "sample_weight" if takes(getattr(estimator, "fit", None), "sample_weight") else None
    name = weight_name(inside[1])
    return f"{inside[0]}__{name}" if name and isinstance(estimator, Pipeline) else name
