"""Distributions of SciPy, frozen and new-style."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from .._checks import Array, to_array
from ..distributions.base import Distribution
from ..distributions.families.beta import Beta
from ..distributions.families.gamma import Gamma
from ..distributions.families.gev import GEV
from ..distributions.families.gpd import GPD
from ..distributions.families.gumbel import Gumbel
from ..distributions.families.laplace import Laplace
from ..distributions.families.logistic import Logistic
from ..distributions.families.lognormal import LogNormal
from ..distributions.families.negative_binomial import NegativeBinomial
from ..distributions.families.normal import Normal
from ..distributions.families.poisson import Poisson
from ..distributions.families.skew_normal import SkewNormal
from ..distributions.families.student_t import StudentT
from ..distributions.mixture.law import Mixture
from ..distributions.shifted import Shifted
from ..distributions.tables.ensemble import Ensemble
from ..distributions.tables.histogram import Histogram
from ..distributions.truncated import Truncated
from .scipy_law import ScipyLaw
from .scipy_sources import Family, Template


def _lognormal(s: Array, scale: Array) -> Distribution:
    with np.errstate(divide="ignore", invalid="ignore"):
        return LogNormal(np.log(scale), s)


def _truncated(low: Array, high: Array, loc: Array, scale: Array) -> Distribution:
    return Truncated(Normal(loc, scale), loc + low * scale, loc + high * scale)


# Families with a class of their own. The first take SciPy's shapes, loc and scale.
ANYWHERE: dict[str, Callable[..., Distribution]] = {
    "norm": Normal,
    "laplace": Laplace,
    "gumbel_r": Gumbel,
    "logistic": Logistic,
    "t": lambda df, loc, scale: StudentT(loc, scale, df),
    "cauchy": lambda loc, scale: StudentT(loc, scale, np.ones(len(loc))),
    "uniform": lambda loc, scale: Histogram(np.column_stack([loc, loc + scale]), np.ones((len(loc), 1))),
    "truncnorm": _truncated,
    "beta": lambda a, b, loc, scale: Beta(a, b, loc, loc + scale),
    "genextreme": lambda c, loc, scale: GEV(loc, scale, -c),
    "genpareto": lambda c, loc, scale: GPD(loc, scale, c),
    "skewnorm": lambda a, loc, scale: SkewNormal(loc, scale, a),
}
# The second take shapes and scale, or for counts the shapes, and start at 0: loc must be 0.
FROM_ZERO: dict[str, Callable[..., Distribution]] = {
    "lognorm": _lognormal,
    "gamma": Gamma,
    "expon": lambda scale: Gamma(np.ones(len(scale)), scale),
    "poisson": Poisson,
    "nbinom": lambda n, p: NegativeBinomial(n * (1 - p) / p, 1 / n),
}
# Other names of the same laws; outcomes lie on a line, not on a circle.
ALIASES: dict[str, tuple[Any, tuple[float, ...]]] = {
    "vonmises": (stats.vonmises_line, ()),
    "norminvgauss": (stats.genhyperbolic, (-0.5,)),  # the shapes that come before its own
}
# Families that do not answer row by row, or only after long.
REFUSED = {
    "studentized_range": "SciPy takes 10 ms for each of its probabilities. Use Quantiles of it",
    "poisson_binom": "its probabilities are one law's, not one per row. Use Ensemble(kind='discrete') with weights",
}


def from_scipy(obj: Any) -> Distribution | None:
    """A frozen law such as ``stats.norm(loc, scale)``, or a new-style one such as ``stats.Normal(mu=mu)``."""
    if isinstance(obj, stats.distributions.rv_frozen):
        return _from_frozen(obj)
    if isinstance(obj, stats.rv_continuous | stats.rv_discrete):
        raise TypeError(f"scipy.stats.{obj.name} is a family; freeze it with parameters, one per row: {obj.name}(...).")
    if any(kind.__module__ == "scipy.stats._probability_distribution" for kind in type(obj).__mro__):
        return _from_variable(obj)
    return None


def _from_frozen(obj: Any) -> Distribution:
    family = obj.dist
    if family.name in REFUSED:
        raise TypeError(f"cannot use scipy's {family.name}: {REFUSED[family.name]}.")
    shapes, loc, scale = family._parse_args(*obj.args, **obj.kwds)
    family, first = ALIASES.get(family.name, (family, ()))
    shapes = (*first, *shapes)
    discrete = isinstance(family, stats.rv_discrete)
    columns = _columns([*shapes, loc] if discrete else [*shapes, loc, scale], family.name)
    place = len(shapes)  # of loc
    if family.name in ANYWHERE:
        return ANYWHERE[family.name](*columns)
    if family.name in FROM_ZERO and not np.any(columns[place]):
        return FROM_ZERO[family.name](*columns[:place], *columns[place + 1 :])
    if discrete and not np.all(np.asarray(getattr(family, "xk", 0)) % 1 == 0):
        return Ensemble(family.xk + columns[place][:, None], weights=family.pk, kind="discrete")
    if discrete and np.any(columns[place] % 1):
        shift, columns[place] = columns[place] % 1, np.floor(columns[place])
        return Shifted(ScipyLaw(Family(family, True, True), np.column_stack(columns)), shift)
    return ScipyLaw(Family(family, discrete, discrete), np.column_stack(columns))


def _from_variable(obj: Any) -> Distribution:
    name = type(obj).__name__
    if name == "Mixture":
        return Mixture(tuple(_from_variable(part) for part in obj.components), weights=obj.weights)
    if not hasattr(obj, "_original_parameters"):
        raise TypeError(f"cannot read SciPy's {name} row by row; use a frozen scipy.stats law instead.")
    parameters = obj._original_parameters
    if name == "TruncatedDistribution":
        inner = _from_variable(obj._dist)
        return Truncated(inner, *(_columns([parameters[end], np.zeros(len(inner))], name)[0] for end in ("lb", "ub")))
    if name in ("Normal", "StandardNormal"):
        return Normal(*_columns([parameters.get("mu", 0.0), parameters.get("sigma", 1.0)], name))
    family = _family_of(type(obj))
    if family is not None:
        return _from_frozen(family(**parameters))
    discrete = any(kind.__name__ == "DiscreteDistribution" for kind in type(obj).__mro__)
    columns = _columns(list(parameters.values()) or [0.0], name)
    return ScipyLaw(Template(obj, discrete, discrete), np.column_stack(columns))


def _family_of(kind: type) -> Any:
    """The family behind a class that ``stats.make_distribution`` made, whose formulas are that family's methods."""
    formulas = [getattr(kind, f"_{what}_formula", None) for what in ("cdf", "logpdf", "pdf", "logpmf", "pmf")]
    owners = [getattr(formula, "__self__", None) for formula in formulas]
    return next((owner for owner in owners if isinstance(owner, stats.rv_continuous | stats.rv_discrete)), None)


def _columns(values: list[Any], name: str) -> list[Array]:
    """Parameters as float columns of one length."""
    arrays = [to_array(value, name) for value in values]
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    if len(shape) > 1:
        raise ValueError(
            f"the parameters of scipy's {name} must be scalars or 1-dimensional; together they have shape {shape}."
        )
    return [np.broadcast_to(array, shape or (1,)) for array in arrays]
