"""Laws whose outcomes beyond a cut are seen on the cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._checks import Array
from .._types import Numbers
from ..maps.base import Side
from .base import Distribution, across
from .integrals.cut_laws import Cuts, censored_crps, censored_mean, censored_var, has_closed_form, where_clear
from .integrals.upper_tails import has_tails
from .tables.lines import spread_out
from .tables.transport import refuse_atoms
from .truncated import cut_ends


@dataclass(frozen=True, eq=False, repr=False)
class Censored(Distribution):
    r"""The law of :math:`\min(\max(Y, a), b)`: what lies beyond a cut is seen on it, as a point mass.

    Rain that is never below 0, sales that end with the stock, readings at the limits of an instrument. Between the cuts
    the density is the base's; the log score is the density inside and the mass on the cuts.

    Parameters
    ----------
    base : Distribution
    lower, upper : array-like (n,) or scalar
        Cuts; infinite ones leave that side as it is.

    Examples
    --------
    >>> from calibrant import Normal
    >>> law = Censored(Normal([0.0, 1.0], 1.0), lower=0.0)
    >>> law.cdf(0.0)
    array([0.5  , 0.159])
    >>> law.mean()
    array([0.399, 1.083])
    """

    _by_row: ClassVar[tuple[str, ...]] = ("lower", "upper")

    base: Distribution
    lower: Array
    upper: Array

    def __init__(self, base: Distribution, lower: Numbers = -np.inf, upper: Numbers = np.inf) -> None:
        """Check that every interval is one."""
        low, high = cut_ends(base, lower, upper)
        for name, value in (("base", base), ("lower", low), ("upper", high)):
            object.__setattr__(self, name, value)

    @classmethod
    def _example(cls, rng: np.random.Generator, rows: int) -> Censored:
        from .families.normal import Normal

        return cls(Normal(rng.normal(1, 1, rows), rng.uniform(0.5, 2, rows)), 0.0, 3.0)

    @property
    def index(self) -> Any:
        """Its own, or that of the base."""
        return self.base.index if self._index is None else self._index

    @property
    def has_atoms(self) -> bool:
        """Always, unless no cut is finite."""
        return bool(self.base.has_atoms or np.isfinite(self.lower).any() or np.isfinite(self.upper).any())

    @property
    def is_discrete(self) -> bool:
        """Whether the base is discrete."""
        return self.base.is_discrete

    @property
    def on_integers(self) -> bool:
        """Whether the base is on the integers, and the cuts too."""
        ends = np.concatenate([self.lower, self.upper])
        return self.base.on_integers and not np.any(ends[np.isfinite(ends)] % 1)

    @property
    def tail_index(self) -> Array:
        """The base's where a tail is left, inf where both ends are finite."""
        low, high = self.support
        return np.where(np.isfinite(low) & np.isfinite(high), np.inf, self.base.tail_index)

    @property
    def support(self) -> tuple[Array, Array]:
        """The base's, each end moved into the interval."""
        low, high = self.base.support
        return np.clip(low, self.lower, self.upper), np.clip(high, self.lower, self.upper)

    def _kinks(self) -> Array:
        ends = np.column_stack(self.support)
        middle = self.from_normal(np.zeros(len(self)))[:, None]
        inner = np.clip(self.base._kinks(), self.lower[:, None], self.upper[:, None])
        return np.hstack([inner, np.where(np.isfinite(ends), ends, middle)])

    def to_normal(self, y: Array, side: Side = "right") -> Array:
        """The base's scores between the cuts, -inf below and inf above; a cut holds all that lies beyond it."""
        y = spread_out(y, len(self))
        low, high = across(self.lower, y), across(self.upper, y)
        z = self.base.to_normal(y, side)
        if side == "right":
            return np.where(y < low, -np.inf, np.where(y >= high, np.inf, z))
        return np.where(y <= low, -np.inf, np.where(y > high, np.inf, z))

    def from_normal(self, z: Array) -> Array:
        """The base's quantiles, moved into the interval."""
        z = spread_out(z, len(self))
        return np.clip(self.base.from_normal(z), across(self.lower, z), across(self.upper, z))

    def log_slope(self, y: Array) -> Array:
        """The base's between the cuts, -inf outside; a cut raises."""
        return self.score_and_log_slope(y)[1]

    def score_and_log_slope(self, y: Array) -> tuple[Array, Array]:
        """The base's between the cuts; a cut raises."""
        y = spread_out(y, len(self))
        low, high = across(self.lower, y), across(self.upper, y)
        refuse_atoms(y, (np.isfinite(y) & ((y == low) | (y == high))) & (self.to_normal(y, "left") < self.to_normal(y)))
        outside = (y <= low) | (y >= high)
        middle = across(self.from_normal(np.zeros(len(self))), y)
        z, log_slope = self.base.score_and_log_slope(np.where(outside, middle, y))
        return np.where(outside, self.to_normal(y), z), np.where(outside, -np.inf, log_slope)

    def mean(self) -> Array:
        """Expectations; closed forms for normal, logistic and t laws."""
        closed = lambda law, rows: law.base.unstandardised(censored_mean(law.base, *law._standard_cuts()))  # noqa: E731
        return where_clear(self, self._clear(), closed, lambda law, rows: Distribution.mean(law))

    def var(self) -> Array:
        """Variances; closed forms for normal, logistic and t laws."""
        return np.square(self.std())

    def std(self) -> Array:
        """Standard deviations; closed forms for normal, logistic and t laws."""
        closed = lambda law, rows: law.base.scale * np.sqrt(censored_var(Cuts.of(law.base, law.lower, law.upper)))  # noqa: E731
        return where_clear(self, self._clear(second=True), closed, lambda law, rows: np.sqrt(Distribution.var(law)))

    def crps(self, y: Any) -> Array:
        r"""CRPS; closed forms for normal, logistic and t laws (Jordan, Krüger & Lerch 2019, appendix A)."""
        return self._by_blocks(_crps, self._outcomes(y))

    def _standard_cuts(self) -> tuple[Array, Array]:
        base: Any = self.base
        return base.standardised(self.lower), base.standardised(self.upper)

    def _clear(self, *, second: bool = False) -> Any:
        return has_tails(self.base, second=second) if has_closed_form(self.base) else np.full(len(self), False)


def _crps(law: Censored, y: Array) -> Array:
    def closed(part: Any, rows: Any) -> Array:
        a, b = part._standard_cuts()
        return np.asarray(part.base.scale * censored_crps(part.base, a, b, part.base.standardised(y[rows])))

    return where_clear(law, law._clear(), closed, lambda part, rows: Distribution.crps(part, y[rows]))
