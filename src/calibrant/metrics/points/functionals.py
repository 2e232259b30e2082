"""What a point forecast is meant to be: the mean, a quantile or an expectile of what comes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from ..._checks import Array, one_of, probability
from ...distributions.base import Distribution
from ...distributions.integrals.expectiles import expectile
from ...numerics.rising import rising_expectiles, rising_quantiles

FunctionalName = Literal["mean", "median", "quantile", "expectile"]
FUNCTIONALS = ("mean", "median", "quantile", "expectile")


@dataclass(frozen=True, slots=True)
class Functional:
    """A quantile, or an expectile, of a level; the median and the mean are those of level 1/2.

    Examples
    --------
    >>> Functional.named("mean", None)
    Functional(is_quantile=False, level=0.5)
    """

    is_quantile: bool
    level: float

    @classmethod
    def named(cls, functional: Any, level: Any) -> Self:
        """The functional of a name; only quantiles and expectiles have a level."""
        one_of(functional, "functional", FUNCTIONALS)
        if (level is None) == (functional in ("quantile", "expectile")):
            raise ValueError(f'`level` must be given with functional="quantile" or "expectile", only; got {level!r}.')
        return cls(functional in ("median", "quantile"), 0.5 if level is None else probability(level, "level"))

    def of(self, forecasts: Any) -> Any:
        """Points as they are; of laws those that they state."""
        if not isinstance(forecasts, Distribution):
            return forecasts
        if self.is_quantile:
            return forecasts.median() if self.level == 0.5 else forecasts.ppf(self.level)
        return expectile(forecasts, self.level)

    def identification(self, y: Array, x: Array) -> Array:
        r"""Values with mean 0 if x is right: :math:`1\{y \le x\} - \tau`, or :math:`2|1\{y \le x\} - \tau|(x - y)`."""
        if self.is_quantile:
            return np.asarray((y <= x) - self.level, dtype=np.float64)
        return self._twice_asymmetric(y, x) * (x - y)

    def losses(self, y: Array, x: Array) -> Array:
        r"""Pinball losses, or :math:`2|1\{y \le x\} - \tau| (x - y)^2`, of each row."""
        with np.errstate(over="ignore"):
            if self.is_quantile:
                return np.asarray(np.maximum(self.level * (y - x), (self.level - 1) * (y - x)))
            return np.asarray(self._twice_asymmetric(y, x) * np.square(x - y))

    def rising(self, group: Any, y: Array, weights: Array | None) -> Array:
        """One value a group, rising with the number of the group, with the least mean loss."""
        fit = rising_quantiles if self.is_quantile else rising_expectiles
        return fit(group, y, np.ones(len(y)) if weights is None else weights, self.level)

    def _twice_asymmetric(self, y: Array, x: Array) -> Array:
        return np.asarray(2 * np.abs((y <= x) - self.level))
