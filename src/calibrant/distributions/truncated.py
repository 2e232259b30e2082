"""Laws cut to an interval."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.special import log_ndtr

from .._checks import Array, complain, own_array
from .._types import Numbers
from ..maps.base import Side
from ..numerics.tails import Mask, log_between, log_slope_of, score_of_logs
from .base import Distribution, across
from .integrals.cut_laws import Cuts, has_closed_form, truncated_crps, truncated_mean, truncated_var, where_clear
from .tables.lines import spread_out


@dataclass(frozen=True, eq=False, repr=False)
class Truncated(Distribution):
    r"""A law given that it lies in [lower, upper]: :math:`F'(y) = (F(y) - F(a^-))/(F(b) - F(a^-))`.

    The way to bound a law. Probabilities are differences of logs in the smaller tail, so that an interval far out in a
    tail keeps its digits. The interval is closed: atoms on its ends stay.

    Parameters
    ----------
    base : Distribution
    lower, upper : array-like (n,) or scalar
        Ends of the support; infinite ends leave that side as it is.

    Examples
    --------
    >>> from calibrant import Normal
    >>> law = Truncated(Normal([0.0, -12.0], 1.0), lower=0.0)
    >>> law.median()
    array([0.674, 0.057])
    """

    _by_row: ClassVar[tuple[str, ...]] = ("lower", "upper", "z_lower", "z_upper", "log_mass")

    base: Distribution
    lower: Array
    upper: Array
    z_lower: Array
    z_upper: Array
    log_mass: Array

    def __init__(self, base: Distribution, lower: Numbers = -np.inf, upper: Numbers = np.inf) -> None:
        """Check that every interval is one and carries mass."""
        low, high = cut_ends(base, lower, upper)
        z_lower, z_upper = base.to_normal(low, "left"), base.to_normal(high)
        log_mass = log_between(z_lower, z_upper)
        _refuse(
            ~np.isfinite(log_mass),
            "`lower` and `upper` must leave the base some probability; they do not in",
            low,
            high,
        )
        ends = {"base": base, "lower": low, "upper": high}
        for name, value in (ends | {"z_lower": z_lower, "z_upper": z_upper, "log_mass": log_mass}).items():
            object.__setattr__(self, name, value)

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
    def on_integers(self) -> bool:
        """Whether the base is on the integers."""
        return self.base.on_integers

    @property
    def tail_index(self) -> Array:
        """The base's where a tail is left, inf where both ends are finite."""
        low, high = self.support
        return np.where(np.isfinite(low) & np.isfinite(high), np.inf, self.base.tail_index)

    @property
    def support(self) -> tuple[Array, Array]:
        """The part of the base's support within the interval."""
        low, high = self.base.support
        return np.maximum(low, self.lower), np.minimum(high, self.upper)

    def _kinks(self) -> Array:
        ends = np.column_stack(self.support)
        inner = np.clip(self.base._kinks(), self.lower[:, None], self.upper[:, None])
        return np.hstack([inner, np.where(np.isfinite(ends), ends, self._middle())])

    def _middle(self) -> Array:
        return self.from_normal(np.zeros(len(self)))[:, None]

    def to_normal(self, y: Array, side: Side = "right") -> Array:
        """Score of the share of the interval's probability below y; ±inf outside."""
        y = spread_out(y, len(self))
        low, high, log_mass = (across(v, y) for v in (self.z_lower, self.z_upper, self.log_mass))
        z = np.clip(self.base.to_normal(y, side), low, high)
        return score_of_logs(log_between(low, z) - log_mass, log_between(z, high) - log_mass)

    def from_normal(self, z: Array) -> Array:
        """The base's quantile at the score that has this share of the interval's probability below it."""
        z = spread_out(z, len(self))
        low, high, log_mass = (across(v, z) for v in (self.z_lower, self.z_upper, self.log_mass))
        below = np.logaddexp(log_ndtr(low), log_mass + log_ndtr(z))
        above = np.logaddexp(log_ndtr(-high), log_mass + log_ndtr(-z))
        inner = self.base.from_normal(np.clip(score_of_logs(below, above), low, high))
        low_end, high_end = (across(v, z) for v in self.support)
        inner = np.where(np.isinf(z), np.where(z > 0, high_end, low_end), inner)
        return np.clip(inner, low_end, high_end)

    def log_slope(self, y: Array) -> Array:
        """Log density of the base given the interval, less that of the score."""
        return self.score_and_log_slope(y)[1]

    def score_and_log_slope(self, y: Array) -> tuple[Array, Array]:
        """Scores, and slopes from these and the density."""
        y = spread_out(y, len(self))
        z = self.to_normal(y)
        return z, log_slope_of(_log_density(self, y), z)

    def logpdf(self, y: Any) -> Array:
        """Log density of the base, raised by the probability cut away; -inf outside."""
        return self._by_blocks(_log_density, self._points(y))

    def mean(self) -> Array:
        """Expectations; closed forms for normal, logistic and t laws."""
        return self._closed(False, lambda law, cuts: law.base.unstandardised(truncated_mean(cuts)), Distribution.mean)

    def var(self) -> Array:
        """Variances; closed forms for normal, logistic and t laws."""
        return np.square(self.std())

    def std(self) -> Array:
        """Standard deviations; closed forms for normal, logistic and t laws."""
        return self._closed(True, lambda law, cuts: law.base.scale * np.sqrt(truncated_var(cuts)), _std)

    def crps(self, y: Any) -> Array:
        r"""CRPS; closed forms for normal, logistic and t laws (Jordan, Krüger & Lerch 2019, appendix A)."""
        return self._by_blocks(_crps, self._outcomes(y))

    @cached_property
    def _cuts(self) -> Cuts:
        return Cuts.of(self.base, self.lower, self.upper)  # type: ignore[arg-type]

    def _closed(self, second: bool, closed: Any, by_quadrature: Any) -> Array:
        """Closed forms where there are some, quadrature elsewhere."""
        if not has_closed_form(self.base):
            return np.asarray(by_quadrature(self))
        cuts = self._cuts
        clear = cuts.clear(second=second)
        return where_clear(self, clear, lambda law, i: closed(law, cuts[i]), lambda law, i: by_quadrature(law))


def _std(law: Truncated) -> Array:
    return np.sqrt(Distribution.var(law))


def _crps(law: Truncated, y: Array) -> Array:
    if not has_closed_form(law.base):
        return Distribution.crps(law, y)

    cuts = law._cuts

    def closed(part: Any, rows: Mask) -> Array:
        return np.asarray(part.base.scale * truncated_crps(cuts[rows], part.base.standardised(y[rows])))

    return where_clear(law, cuts.clear(), closed, lambda part, rows: Distribution.crps(part, y[rows]))


def _log_density(law: Truncated, y: Array) -> Array:
    y = spread_out(y, len(law))
    outside = (y < across(law.lower, y)) | (y > across(law.upper, y))
    inner = np.where(outside, across(law._middle()[:, 0], y), y)
    return np.where(outside, -np.inf, law.base.logpdf(inner) - across(law.log_mass, y))


def cut_ends(base: Any, lower: Any, upper: Any) -> tuple[Array, Array]:
    """Both ends of each row's interval; raise where they are none."""
    if not isinstance(base, Distribution):
        raise TypeError(f"`base` must be a distribution; got {type(base).__name__}. Wrap it with as_distribution.")
    low, high = _ends(lower, "lower", len(base)), _ends(upper, "upper", len(base))
    _refuse(low > high, "`lower` must not exceed `upper`; it does in", low, high)
    return low, high


def _ends(values: Any, name: str, n: int) -> Array:
    ends = own_array(values, name)
    if ends.ndim == 2 and ends.shape[1] == 1:
        ends = ends[:, 0]
    if ends.shape not in ((), (n,)):
        raise ValueError(f"`{name}` must be a scalar or ({n},) for {n} forecasts; got shape {ends.shape}.")
    ends = np.broadcast_to(ends, (n,))
    complain(name, "a number", ends, np.isnan(ends))
    return ends


def _refuse(bad: Mask, rule: str, lower: Array, upper: Array) -> None:
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(f"{rule} {int(bad.sum())} of {len(bad)} rows, first row {row}: [{lower[row]}, {upper[row]}].")
