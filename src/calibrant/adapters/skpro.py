"""Distributions of skpro, without importing it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._checks import Array, to_array
from ..distributions.base import Distribution
from ..distributions.families.laplace import Laplace
from ..distributions.families.logistic import Logistic
from ..distributions.families.lognormal import LogNormal
from ..distributions.families.normal import Normal
from ..distributions.families.student_t import StudentT
from ..distributions.mixture.law import Mixture
from ..distributions.tables.ensemble import Ensemble
from ..distributions.tables.histogram import Histogram
from .fine_quantiles import LEVELS, through_quantiles
from .scipy import from_scipy

# Name of the class: its parameters, and the law they make.
LAWS: dict[str, tuple[tuple[str, ...], Callable[..., Distribution]]] = {
    "Normal": (("mu", "sigma"), Normal),
    "Laplace": (("mu", "scale"), Laplace),
    "Logistic": (("mu", "scale"), Logistic),
    "LogNormal": (("mu", "sigma"), LogNormal),
    "TDistribution": (("mu", "sigma", "df"), StudentT),
    "Uniform": (("lower", "upper"), lambda low, high: Histogram(np.column_stack([low, high]), np.ones((low.size, 1)))),
}


def from_skpro(obj: Any) -> Distribution | None:
    """What skpro's ``predict_proba`` gives, of shape (n, 1) or (): its law by name, through SciPy, or by quantiles."""
    if not any(kind.__module__.startswith("skpro.distributions") for kind in type(obj).__mro__):
        return None
    if len(obj.shape) > 1 and obj.shape[1] != 1:
        raise ValueError(f"skpro's {type(obj).__name__} must have one column; got shape {obj.shape}. Select one.")
    law = _law(obj)
    if getattr(obj, "index", None) is not None and len(obj.shape):
        law = law[:]
        object.__setattr__(law, "_index", obj.index)
    return law


def _law(obj: Any) -> Distribution:
    name = type(obj).__name__
    if isinstance(getattr(obj, "law", None), Distribution):  # what `as_skpro` made
        return obj.law  # type: ignore[no-any-return]
    if name in LAWS:
        names, make = LAWS[name]
        return make(*(_column(getattr(obj, parameter), obj.shape, parameter) for parameter in names))
    if hasattr(obj, "_get_scipy_object"):
        return _from_adapter(obj)
    if name == "Mixture":
        parts = [part[-1] if isinstance(part, tuple) else part for part in obj.distributions]
        return Mixture(tuple(_law(part) for part in parts), weights=obj.weights)
    if name == "Empirical" and len(obj.shape):
        return _samples(obj)
    return through_quantiles(to_array(obj.quantile(list(LEVELS)), "quantiles").reshape(-1, len(LEVELS)))


def _from_adapter(obj: Any) -> Distribution:
    """Families that ask SciPy themselves."""
    given, named = obj._get_scipy_param()
    values = [_column(value, obj.shape, "parameters") for value in given]
    keywords = {name: _column(value, obj.shape, name) for name, value in named.items()}
    law = from_scipy(obj._get_scipy_object()(*values, **keywords))
    if law is None:
        raise TypeError(f"skpro's {type(obj).__name__} is not known.")
    return law


def _samples(obj: Any) -> Distribution:
    """Samples in a frame whose index is (sample, row)."""
    wide = obj.spl.iloc[:, 0].unstack(0).loc[obj.index]
    if obj.weights is None:
        return Ensemble(wide.to_numpy())
    return Ensemble(wide.to_numpy(), weights=obj.weights.unstack(0).loc[wide.index].to_numpy())


def _column(value: Any, shape: tuple[int, ...], name: str) -> Array:
    return np.broadcast_to(to_array(value, name), shape).reshape(-1)
