"""Quantile regressors: one model per level."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone

from .._checks import Array, column, to_array
from ..adapters.nested import innermost, wrapped

_UNTOLD = {"quantile": 0.9, "Quantile": 0.5}  # of LightGBM and CatBoost where no level is set


class QuantileModels(BaseEstimator):
    """One clone of a quantile regressor for each level, side by side.

    Parameters
    ----------
    estimator : regressor with a quantile level among its parameters (see `level_parameters`)
    levels : array-like (L,)

    Attributes
    ----------
    models_ : list of fitted regressors, one a level

    Examples
    --------
    >>> from sklearn.linear_model import QuantileRegressor
    >>> X, y = np.zeros((5, 1)), np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    >>> QuantileModels(QuantileRegressor(alpha=0), [0.25, 0.75]).fit(X, y).predict(X[:1]).round(6)
    array([[1., 3.]])
    """

    def __init__(self, estimator: Any, levels: Any) -> None:
        self.estimator = estimator
        self.levels = levels

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Fit one model per level."""
        copies = [clone(self.estimator).set_params(**(level_parameters(self.estimator, q) or {})) for q in self.levels]
        self.models_ = [copy.fit(X, y, **fit_params) for copy in copies]
        return self

    def predict(self, X: Any) -> Array:
        """Quantiles (n, L), one column a level, as the models give them."""
        return np.column_stack([column(model.predict(X), "predict(X)") for model in self.models_])


def level_parameters(estimator: Any, level: float) -> dict[str, Any] | None:
    """Parameters that make a regressor forecast this quantile, or None if it cannot.

    Looks into pipelines, searches and `TransformedTargetRegressor`, and knows the names of scikit-learn (``quantile``,
    ``alpha`` in boosting), LightGBM (``alpha``), XGBoost (``quantile_alpha``) and CatBoost (``loss_function``).

    >>> from sklearn.ensemble import GradientBoostingRegressor
    >>> level_parameters(GradientBoostingRegressor(), 0.9)
    {'loss': 'quantile', 'alpha': 0.9}
    """
    inside = wrapped(estimator)
    if inside is not None:
        own = level_parameters(inside[1], level)
        return None if own is None else {f"{inside[0]}__{name}": value for name, value in own.items()}
    if not hasattr(estimator, "get_params"):  # "passthrough"
        return None
    return _own_parameters(type(estimator).__module__.partition(".")[0], estimator.get_params(deep=False), float(level))


def quantile_level(estimator: Any) -> Any:
    """Level (or levels, as they are written) of the quantile that a regressor is set to forecast, or None.

    Looks into pipelines, searches, frozen models and `TransformedTargetRegressor`.

    >>> from sklearn.ensemble import GradientBoostingRegressor
    >>> quantile_level(GradientBoostingRegressor(loss="quantile", alpha=0.8))
    0.8
    """
    model = innermost(estimator)
    inside = wrapped(model)
    if inside is not None:
        return quantile_level(inside[1])
    names = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    goal = next((str(names[key]) for key in ("objective", "loss_function", "loss") if names.get(key) is not None), None)
    if goal is None:
        return names.get("quantile")  # QuantileRegressor
    if "uantile" not in goal:
        return None
    written = goal.partition("alpha=")[2]  # CatBoost writes it into the loss, Quantile:alpha=0.9
    given = [names[key] for key in ("quantile_alpha", "quantile", "alpha") if names.get(key) is not None]
    return written or (given[0] if given else _UNTOLD.get(goal, "unknown"))


def own_levels(estimator: Any) -> Array | None:
    """Levels that one model forecasts side by side, rising, or None.

    XGBoost's ``quantile_alpha=[0.1, 0.9]`` and CatBoost's ``MultiQuantile:alpha=0.1,0.9``.

    >>> from sklearn.linear_model import QuantileRegressor
    >>> own_levels(QuantileRegressor()) is None
    True
    """
    told = quantile_level(estimator)
    parts = told.partition(";")[0].split(",") if isinstance(told, str) else told
    if not isinstance(parts, (list, tuple, np.ndarray)) or np.size(parts) < 2:
        return None
    levels = to_array([float(part) for part in parts], "levels")
    return levels if np.all(np.diff(levels) > 0) else None


def _own_parameters(library: str, names: dict[str, Any], level: float) -> dict[str, Any] | None:
    if "quantile" in names:
        return {"loss": "quantile", "quantile": level} if "loss" in names else {"quantile": level}
    if library == "xgboost" or "quantile_alpha" in names or names.get("objective") == "reg:quantileerror":
        return {"objective": "reg:quantileerror", "quantile_alpha": level}
    if library == "lightgbm" or names.get("objective") == "quantile":
        return {"objective": "quantile", "alpha": level}
    if library == "catboost" or str(names.get("loss_function")).startswith("Quantile"):
        return {"loss_function": f"Quantile:alpha={level}"}
    if "alpha" in names and (names.get("loss") == "quantile" or {"loss", "n_estimators"} <= names.keys()):
        return {"loss": "quantile", "alpha": level}
    return None
