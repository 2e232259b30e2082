"""Distributions of torch, without importing it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._checks import Array, to_array
from ..distributions.base import Distribution
from ..distributions.families.gamma import Gamma
from ..distributions.families.laplace import Laplace
from ..distributions.families.lognormal import LogNormal
from ..distributions.families.negative_binomial import NegativeBinomial
from ..distributions.families.normal import Normal
from ..distributions.families.poisson import Poisson
from ..distributions.families.student_t import StudentT
from ..distributions.mixture.law import Mixture
from ..distributions.tables.histogram import Histogram

Maker = Callable[..., Distribution]

# Name of the class: its parameters, and the law they make.
LAWS: dict[str, tuple[tuple[str, ...], Maker]] = {
    "Normal": (("loc", "scale"), Normal),
    "StudentT": (("loc", "scale", "df"), StudentT),
    "Cauchy": (("loc", "scale"), lambda loc, scale: StudentT(loc, scale, np.ones(loc.shape))),
    "Laplace": (("loc", "scale"), Laplace),
    "LogNormal": (("loc", "scale"), LogNormal),
    "Gamma": (("concentration", "rate"), lambda shape, rate: Gamma(shape, 1 / rate)),
    "Exponential": (("rate",), lambda rate: Gamma(np.ones(rate.shape), 1 / rate)),
    "Poisson": (("rate",), Poisson),
    "NegativeBinomial": (("total_count", "probs"), lambda n, p: NegativeBinomial(n * p / (1 - p), 1 / n)),
    "Uniform": (("low", "high"), lambda low, high: Histogram(np.column_stack([low, high]), np.ones((low.size, 1)))),
}


def from_torch(obj: Any) -> Distribution | None:
    """A ``torch.distributions`` object with batch shape (n,), (n, 1) or (); ``Independent`` is unwrapped."""
    if not any(kind.__module__.startswith("torch.distributions") for kind in type(obj).__mro__):
        return None
    name = type(obj).__name__
    if name == "Independent":
        return from_torch(obj.base_dist)
    if name == "MixtureSameFamily":
        return _mixture(obj)
    columns, make = _columns(obj)
    return make(*(_one_dimensional(column, name) for column in columns))


def _columns(obj: Any) -> tuple[list[Array], Maker]:
    """Parameters of the object, all of its batch shape, and the law they make."""
    kind = next((kind.__name__ for kind in type(obj).__mro__ if kind.__name__ in LAWS), None)
    if kind is None:
        raise TypeError(
            f"torch's {type(obj).__name__} is not known; known are {', '.join(sorted(LAWS))} and their mixtures."
        )
    names, make = LAWS[kind]
    columns = [to_array(getattr(obj, name), name) for name in names]
    return list(np.broadcast_arrays(*columns, np.empty(tuple(obj.batch_shape)))[:-1]), make


def _mixture(obj: Any) -> Distribution:
    parts = obj.component_distribution
    while type(parts).__name__ == "Independent":
        parts = parts.base_dist
    columns, make = _columns(parts)
    weights = to_array(obj.mixture_distribution.probs, "weights")
    axis = weights.ndim - 1  # components lie along the last axis of the batch
    columns = [column.reshape(*weights.shape, -1)[..., 0] for column in columns]
    parameters = [
        [_one_dimensional(np.take(column, j, axis=axis), "mixture") for column in columns]
        for j in range(weights.shape[-1])
    ]
    return Mixture(tuple(make(*own) for own in parameters), weights=weights.reshape(-1, weights.shape[-1]))


def _one_dimensional(column: Array, name: str) -> Array:
    if column.ndim > 1 and column.size != len(column):
        raise ValueError(f"torch's {name} must have batch shape (n,), (n, 1) or (); got {column.shape}.")
    return column.reshape(-1)
