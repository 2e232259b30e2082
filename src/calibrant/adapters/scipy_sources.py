"""Where SciPy's answers come from: classic families and new-style random variables, asked in one way."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy import stats
from scipy.special import zeta

from .._checks import Array

# What SciPy sums or searches number by number although a formula is known; arguments as SciPy takes them.
FORMULAS: dict[tuple[str, str], Callable[..., Array]] = {
    ("zipf", "sf"): lambda k, a, loc: zeta(a, np.maximum(np.floor(k - loc), 0.0) + 1) / zeta(a, 1),
    ("zipf", "cdf"): lambda k, a, loc: 1 - zeta(a, np.maximum(np.floor(k - loc), 0.0) + 1) / zeta(a, 1),
}


class Source(Protocol):
    """A family of laws that takes its parameters as arrays."""

    @property
    def name(self) -> str:
        """SciPy's name of the family."""

    @property
    def is_discrete(self) -> bool:
        """Whether the laws consist of atoms."""

    @property
    def on_integers(self) -> bool:
        """Whether the atoms are whole numbers."""

    def ask(self, what: str, columns: list[Array], *y: Array) -> Any:
        """The answer of SciPy's method ``what``."""

    def has_own(self, *what: str) -> bool:
        """Whether SciPy has a formula for one of these, no search, sum or integral point by point."""

    def place(self, parameters: Array) -> tuple[Array, Array]:
        """A point and a unit of length for each row of parameters, from where quantiles are sought."""


@dataclass(frozen=True)
class Family:
    """A classic family such as ``scipy.stats.weibull_min``."""

    family: Any
    is_discrete: bool
    on_integers: bool

    @property
    def name(self) -> str:
        """SciPy's name of the family."""
        return str(self.family.name)

    def ask(self, what: str, columns: list[Array], *y: Array) -> Any:
        """The answer of SciPy's method ``what``."""
        formula = FORMULAS.get((self.family.name, what))
        if formula is not None:
            return formula(*y, *columns)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if not self.is_discrete or not y:
                return getattr(self.family, what)(*y, *columns)
            values = np.broadcast_arrays(*y, *columns)
            flat = getattr(self.family, what)(*(each.ravel() for each in values))  # some of SciPy's loop over one axis
        return np.reshape(flat, values[0].shape)

    def has_own(self, *what: str) -> bool:
        """Whether the family overrides what SciPy does in general."""
        general = stats.rv_discrete if self.is_discrete else stats.rv_continuous
        kind = type(self.family)
        return any(
            (self.family.name, name) in FORMULAS or getattr(kind, f"_{name}") is not getattr(general, f"_{name}")
            for name in what
        )

    def place(self, parameters: Array) -> tuple[Array, Array]:
        """Loc and scale."""
        if self.is_discrete:
            return parameters[:, -1], np.ones(len(parameters))
        return parameters[:, -2], parameters[:, -1]


@dataclass(frozen=True)
class Template:
    """A new-style random variable; others of its kind are made after it."""

    variable: Any
    is_discrete: bool
    on_integers: bool

    _NAMES: ClassVar[dict[str, str]] = {
        "sf": "ccdf", "logsf": "logccdf", "ppf": "icdf", "isf": "iccdf", "var": "variance"
    }  # fmt: skip

    @property
    def name(self) -> str:
        """The name of its class."""
        return type(self.variable).__name__

    def ask(self, what: str, columns: list[Array], *y: Array) -> Any:
        """The answer of SciPy's method ``what``."""
        names = list(self.variable._original_parameters)
        variable = _remade(self.variable, dict(zip(names, columns, strict=False)))
        return getattr(variable, self._NAMES.get(what, what))(*y)

    def has_own(self, *what: str) -> bool:
        """Taken for granted."""
        return True

    def place(self, parameters: Array) -> tuple[Array, Array]:
        """The origin and 1."""
        return np.zeros(len(parameters)), np.ones(len(parameters))


def _remade(variable: Any, values: dict[str, Array]) -> Any:
    """A random variable of the same kind with other parameters; transformed ones are remade from within."""
    own = dict.fromkeys(variable._original_parameters)
    inner = getattr(variable, "_dist", None)
    if inner is None:
        return type(variable)(**{name: values[name] for name in own})
    outer = {name: values[name] for name in own if name not in inner._original_parameters}
    return type(variable)(_remade(inner, values), **outer)
