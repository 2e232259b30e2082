"""Laws moved to another place."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._checks import Array, column
from ..maps.base import Side
from .base import Distribution, across
from .location_scale import LocationScale
from .recalibrated import Recalibrated
from .tables.ensemble import Ensemble


@dataclass(frozen=True, eq=False, repr=False)
class Shifted(Distribution):
    r"""The law of :math:`Y + c`: :math:`F'(y) = F(y - c)`. The support moves along.

    Parameters
    ----------
    base : Distribution
    shift : array-like (n,)

    Examples
    --------
    >>> from calibrant import Gamma
    >>> law = Shifted(Gamma([2.0, 3.0], 1.0), [10.0, 20.0])
    >>> law.mean()
    array([12., 23.])
    """

    _by_row: ClassVar[tuple[str, ...]] = ("shift",)

    base: Distribution
    shift: Array

    def __post_init__(self) -> None:
        """Check that there is one shift per row."""
        if not isinstance(self.base, Distribution):
            raise TypeError(
                f"`base` must be a distribution; got {type(self.base).__name__}. Wrap it with as_distribution."
            )
        object.__setattr__(self, "shift", column(self.shift, "shift", len(self.base)))

    @property
    def index(self) -> Any:
        """Its own, or that of the base."""
        return self.base.index if self._index is None else self._index

    @property
    def has_atoms(self) -> bool:
        """Whether the base has atoms."""
        return self.base.has_atoms

    @property
    def is_discrete(self) -> bool:
        """Whether the base is discrete."""
        return self.base.is_discrete

    @property
    def tail_index(self) -> Array:
        """The base's."""
        return self.base.tail_index

    @property
    def support(self) -> tuple[Array, Array]:
        """The base's, moved."""
        low, high = self.base.support
        return low + self.shift, high + self.shift

    def _kinks(self) -> Array:
        return self.base._kinks() + self.shift[:, None]

    def to_normal(self, y: Array, side: Side = "right") -> Array:
        """Normal scores of y - shift."""
        return self.base.to_normal(y - across(self.shift, y), side)

    def from_normal(self, z: Array) -> Array:
        """The base's quantiles, moved."""
        return self.base.from_normal(z) + across(self.shift, z)

    def log_slope(self, y: Array) -> Array:
        """The base's at y - shift."""
        return self.base.log_slope(y - across(self.shift, y))

    def score_and_log_slope(self, y: Array) -> tuple[Array, Array]:
        """The base's at y - shift."""
        return self.base.score_and_log_slope(y - across(self.shift, y))

    def logpdf(self, y: Any) -> Array:
        """The base's at y - shift."""
        y = self._points(y)
        return self.base.logpdf(y - across(self.shift, y))

    def mean(self) -> Array:
        """The base's, moved."""
        return self.base.mean() + self.shift

    def var(self) -> Array:
        """The base's."""
        return self.base.var()

    def crps(self, y: Any) -> Array:
        """The base's at y - shift."""
        return self.base.crps(self._outcomes(y) - self.shift)


def moved(law: Distribution, shift: Array) -> Distribution:
    """The laws of Y + shift, in their own form where they have one.

    >>> from calibrant import Normal
    >>> moved(Normal([0.0, 1.0], 1.0), np.array([5.0, 6.0])).loc
    array([5., 7.])
    """
    if law.on_integers:
        raise TypeError("laws of counts cannot be moved: their outcomes are whole numbers. Use QuantileCalibrator.")
    if isinstance(law, LocationScale):
        there: Distribution = law.rescaled(1.0)
        object.__setattr__(there, "loc", law.loc + shift)
        return there
    if isinstance(law, Recalibrated):
        there = dataclasses.replace(law, base=moved(law.base, shift))
    elif isinstance(law, Ensemble) and law.weights is None:
        there = Ensemble(law.samples + np.asarray(shift)[:, None], kind=law.kind)
    elif isinstance(law, Shifted):
        there = Shifted(law.base, law.shift + shift)
    else:
        there = Shifted(law, shift)
    if law.index is not None:
        object.__setattr__(there, "_index", law.index)
    return there
