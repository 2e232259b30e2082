"""Distributions of torch, without importing it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from .._checks import Array, to_array
from ..distributions.base import Distribution
from ..distributions.families.gamma import Gamma
from ..distributions.families.gumbel import Gumbel
from ..distributions.families.laplace import Laplace
from ..distributions.families.lognormal import LogNormal
from ..distributions.families.negative_binomial import NegativeBinomial
from ..distributions.families.normal import Normal
from ..distributions.families.poisson import Poisson
from ..distributions.families.student_t import StudentT
from ..distributions.location_scale import LocationScale
from ..distributions.mixture.law import Mixture
from ..distributions.tables.histogram import Histogram
from .fine_quantiles import LEVELS, through_quantiles
from .scipy import from_scipy

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
    "Beta": (("concentration1", "concentration0"), lambda a, b: _of_scipy(stats.beta(a, b))),
    "Weibull": (("scale", "concentration"), lambda scale, c: _of_scipy(stats.weibull_min(c, scale=scale))),
    "Gumbel": (("loc", "scale"), Gumbel),
    "HalfNormal": (("scale",), lambda scale: _of_scipy(stats.halfnorm(scale=scale))),
    "HalfCauchy": (("scale",), lambda scale: _of_scipy(stats.halfcauchy(scale=scale))),
    "Pareto": (("scale", "alpha"), lambda scale, alpha: _of_scipy(stats.pareto(alpha, scale=scale))),
    "Uniform": (("low", "high"), lambda low, high: Histogram(np.column_stack([low, high]), np.ones((low.size, 1)))),
}


def _of_scipy(frozen: Any) -> Distribution:
    law: Any = from_scipy(frozen)
    return law  # type: ignore[no-any-return]


def from_torch(obj: Any) -> Distribution | None:
    """A ``torch.distributions`` object with batch shape (n,), (n, 1) or (); ``Independent`` is unwrapped."""
    if not any(kind.__module__.startswith("torch.distributions") for kind in type(obj).__mro__):
        return None
    name = type(obj).__name__
    if name == "Independent":
        return from_torch(obj.base_dist)
    if name == "MixtureSameFamily":
        return _mixture(obj)
    kinds = {kind.__name__ for kind in type(obj).__mro__}
    if "TransformedDistribution" in kinds and not kinds & LAWS.keys() and not obj.event_shape:
        return _transformed(obj)
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


def _transformed(obj: Any) -> Distribution:
    """Exactly where each step keeps the family, else through many quantiles of the base, sent through the steps."""
    base: Any = from_torch(obj.base_dist)
    law: Distribution | None = base
    for step in obj.transforms:
        law = None if law is None else _stepped(law, step)
    if law is not None:
        return law
    values = _tensor_like(obj)(base.quantiles(LEVELS).T).reshape(-1, *obj.base_dist.batch_shape)
    for step in obj.transforms:
        if not step.bijective:
            raise TypeError(f"torch's {type(step).__name__} is not monotone; the law after it is not known.")
        values = step(values)
    return through_quantiles(to_array(values, "quantiles").reshape(len(LEVELS), -1).T)


def _tensor_like(obj: Any) -> Any:
    """What makes a tensor of an array, on the device where the parameters are."""
    while hasattr(obj, "base_dist"):
        obj = obj.base_dist
    return next(value for value in vars(obj).values() if hasattr(value, "new_tensor")).double().new_tensor


def _stepped(law: Distribution, step: Any) -> Distribution | None:
    """The law after one monotone step, where it has a name."""
    name = type(step).__name__
    if name == "ExpTransform" and isinstance(law, Normal):
        return LogNormal(law.loc, law.scale)
    if name == "AffineTransform" and isinstance(law, LocationScale):
        shift, factor = (np.broadcast_to(to_array(v, name).reshape(-1), (len(law),)) for v in (step.loc, step.scale))
        moved = law[:]
        if (factor > 0).all():
            object.__setattr__(moved, "loc", shift + factor * law.loc)
            object.__setattr__(moved, "scale", factor * law.scale)
            return moved
    return None


def _one_dimensional(column: Array, name: str) -> Array:
    if column.ndim > 1 and column.size != len(column):
        raise ValueError(f"torch's {name} must have batch shape (n,), (n, 1) or (); got {column.shape}.")
    return column.reshape(-1)
