"""How the output of a fitted regressor becomes a distribution."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.utils import check_array

from .._checks import Array, column, complain, finite, index_of, one_of, probabilities, to_array
from ..adapters import as_distribution
from ..adapters.nested import descend, innermost, law_method, takes
from ..distributions import Distribution, Normal, Quantiles
from .levels import QuantileModels, level_parameters, own_levels, quantile_level
from .scale import root_mean_square

KINDS = ("predict_dist", "pred_dist", "predict_proba", "return_std", "mean_variance", "quantiles", "point")
_LEAST = 1e-9  # deviations below this share of the outcomes' are raised to it
_APART = 0.01  # distance of neighbouring quantiles, as a share of a normal law's, below which they are moved apart


@dataclass(frozen=True)
class Reading:
    """A way of reading forecasts off a fitted model.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    levels : ndarray (L,), optional
        Quantile levels.
    floor : float
        Least standard deviation: a model that is sure of itself still gives a law.
    sigma : float, optional
        Standard deviation around point predictions; 1 until it is known.
    """

    kind: str
    levels: Array | None = None
    floor: float = 0.0
    sigma: float | None = None

    def __call__(self, model: Any, X: Any) -> Distribution:
        """Forecasts of the rows of X, with the index of a pandas X."""
        law = _READERS[self.kind](self, model, X)
        index = index_of(X)
        if index is not None:
            law = law[:]  # not the model's own object
            object.__setattr__(law, "_index", index)
        return law

    def with_sigma(self, law: Distribution, y: Array, weights: Array | None) -> tuple[Reading, Distribution]:
        r"""For points, :math:`\sigma^2 = \sum_t w_t (y_t-\hat y_t)^2 / \sum_t w_t`, and the forecasts scaled by it."""
        if self.kind != "point":
            return self, law
        sigma = max(root_mean_square(y - law.mean(), weights), self.floor)
        known = replace(self, sigma=sigma)
        return known, known.scaled(law)

    def scaled(self, law: Distribution) -> Distribution:
        """Point predictions that were read with a deviation of 1, with the known one."""
        return law.rescaled(self.sigma) if self.sigma is not None and isinstance(law, Normal) else law


def prepare(estimator: Any, method: str, levels: Any, y: Array) -> tuple[Any, Reading]:
    """Decide how the model will be read; the model to fit is wrapped where each quantile level needs its own."""
    one_of(method, "method", ("auto", *KINDS))
    model = innermost(estimator)
    if isinstance(estimator, type) or not (hasattr(model, "predict") or hasattr(model, "predict_dist")):
        raise TypeError(f"`estimator` must be a regressor with a predict method; got {estimator!r}.")
    own = own_levels(estimator) if levels is None and method in ("auto", "quantiles") else None
    kind = detect(estimator, levels if own is None else own) if method == "auto" else method
    if method == "auto" and kind == "point":
        _refuse_quantile(estimator, type(model).__name__)
    if kind in ("predict_dist", "pred_dist", "predict_proba") and not hasattr(model, kind):
        raise TypeError(f"method={kind!r} needs a model with {kind}; {type(model).__name__} has none.")
    if (kind == "quantiles") != (levels is not None or own is not None):
        need = "needs `levels`, [0.05, 0.5, 0.95] say" if levels is None else "takes no `levels`"
        raise ValueError(f"method={kind!r} {need}.")
    floor = max(_LEAST * root_mean_square(y - y.mean(), None), 4 * float(np.spacing(np.abs(y).max())))
    if kind != "quantiles":
        return estimator, Reading(kind, floor=floor)
    levels = np.unique(probabilities(levels if own is None else own, "levels"))
    if len(levels) < 2:
        raise ValueError(f"`levels` must have at least two different values; got {levels.tolist()}.")
    if own is None and not takes(model.predict, "quantiles") and level_parameters(estimator, 0.5) is not None:
        estimator = QuantileModels(estimator, levels)
    return estimator, Reading(kind, levels, floor)


def _refuse_quantile(estimator: Any, name: str) -> None:
    """A quantile is no forecast of the middle, unless it is the median."""
    level = quantile_level(estimator)
    if level is not None and str(level) != "0.5":
        raise ValueError(
            f"{name} is set to forecast the quantile at level {level}, which is no point forecast. Say "
            'levels=[0.05, 0.5, 0.95], and one model a level is fitted; or method="point" to take it for one.'
        )


def detect(estimator: Any, levels: Any = None) -> str:
    """Kind of forecast that a regressor gives: its richest one.

    >>> from sklearn.linear_model import BayesianRidge, Ridge
    >>> detect(BayesianRidge()), detect(Ridge())
    ('return_std', 'point')
    """
    model = innermost(estimator)
    if levels is not None:
        return "quantiles"
    named = law_method(model)
    if named is not None:
        return named
    if _loss_of(model) == "RMSEWithUncertainty":
        return "mean_variance"
    return "return_std" if takes(model.predict, "return_std") else "point"


def _loss_of(model: Any) -> Any:
    """What CatBoost learns by."""
    return model.get_params(deep=False).get("loss_function") if hasattr(model, "get_params") else None


def _read_method(reading: Reading, model: Any, X: Any) -> Distribution:
    inner, X = descend(model, X)
    return as_distribution(getattr(inner, reading.kind)(X))


def _read_mean_variance(reading: Reading, model: Any, X: Any) -> Distribution:
    """CatBoost's two columns with the loss RMSEWithUncertainty."""
    inner, X = descend(model, X)
    values = finite(to_array(inner.predict(X), "predict(X)"), "predict(X)")
    if values.ndim != 2 or values.shape[1] != 2:
        raise ValueError(f"`predict(X)` must be (n, 2), mean and variance; got shape {values.shape}.")
    complain("variance", "non-negative", values[:, 1], values[:, 1] < 0)
    return Normal(values[:, 0], np.maximum(np.sqrt(values[:, 1]), reading.floor))


def _read_return_std(reading: Reading, model: Any, X: Any) -> Distribution:
    inner, X = descend(model, X)
    with warnings.catch_warnings():
        if type(inner).__module__.startswith("sklearn.linear_model"):
            X = check_array(X)  # these compute with X as it comes, and cannot with polars or objects
            warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        mean, std = inner.predict(X, return_std=True)
    std = to_array(std, "std")
    complain("std", "non-negative", std, ~(std >= 0))
    return Normal(column(mean, "predict(X)"), np.maximum(std, reading.floor))


def _read_quantiles(reading: Reading, model: Any, X: Any) -> Distribution:
    inner, seen = descend(model, X)
    levels: Any = reading.levels
    native = takes(inner.predict, "quantiles")  # quantile forests
    output = inner.predict(seen, quantiles=list(levels)) if native else model.predict(X)
    values = to_array(output, "predict(X)")
    if values.ndim != 2 or values.shape[1] != len(levels):
        raise ValueError(
            f"`levels` needs a quantile regressor: {type(inner).__name__} has no parameter for the level that could be "
            f"set, and predicts shape {values.shape}, not one column for each of {len(levels)}. Leave `levels` out?"
        )
    return Quantiles(levels, _separated(finite(values, "predict(X)"), levels, reading.floor))


def _separated(values: Array, levels: Array, floor: float) -> Array:
    """Quantiles in increasing order; where some of a row coincide they are moved apart: the law has a density."""
    t = ndtri(levels)
    values = np.sort(values, axis=1)  # where quantiles cross, they change places
    spread = np.maximum(values[:, -1] / np.ptp(t) - values[:, 0] / np.ptp(t), floor)
    apart = _APART * spread[:, None] * t
    close = np.any(np.diff(values) < np.diff(apart), axis=1, keepdims=True)
    return np.where(close, values + apart, values)


def _read_point(reading: Reading, model: Any, X: Any) -> Distribution:
    loc = column(model.predict(X), "predict(X)")
    return Normal(loc, np.full(len(loc), 1.0 if reading.sigma is None else reading.sigma))


_READERS: dict[str, Callable[[Reading, Any, Any], Distribution]] = {
    "predict_dist": _read_method,
    "pred_dist": _read_method,
    "predict_proba": _read_method,
    "mean_variance": _read_mean_variance,
    "return_std": _read_return_std,
    "quantiles": _read_quantiles,
    "point": _read_point,
}
