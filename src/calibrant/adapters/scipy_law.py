"""Any law of SciPy as a distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy.special import ndtr

from .._checks import Array
from ..distributions.base import Distribution, across
from ..distributions.tables.lines import spread_out
from ..maps.base import Side
from ..numerics.tails import TINY, log_slope_of, score_of, score_of_logs, slack


class Source(Protocol):
    """Where the answers come from: a family of laws that takes its parameters as arrays."""

    @property
    def is_discrete(self) -> bool:
        """Whether the laws consist of atoms."""

    @property
    def on_integers(self) -> bool:
        """Whether the atoms are whole numbers."""

    def ask(self, what: str, columns: list[Array], *y: Array) -> Any:
        """The answer of SciPy's method ``what``."""


@dataclass(frozen=True)
class Family:
    """A classic family such as ``scipy.stats.weibull_min``."""

    family: Any
    is_discrete: bool
    on_integers: bool

    def ask(self, what: str, columns: list[Array], *y: Array) -> Any:
        """The answer of SciPy's method ``what``."""
        return getattr(self.family, what)(*y, *columns)


@dataclass(frozen=True)
class Template:
    """A new-style random variable; others of its kind are made after it."""

    variable: Any
    is_discrete: bool
    on_integers: bool

    _NAMES: ClassVar[dict[str, str]] = {
        "sf": "ccdf", "logsf": "logccdf", "ppf": "icdf", "isf": "iccdf", "var": "variance"
    }  # fmt: skip

    def ask(self, what: str, columns: list[Array], *y: Array) -> Any:
        """The answer of SciPy's method ``what``."""
        names = list(self.variable._original_parameters)
        variable = _remade(self.variable, dict(zip(names, columns, strict=False)))
        return getattr(variable, self._NAMES.get(what, what))(*y)


def _remade(variable: Any, values: dict[str, Array]) -> Any:
    """A random variable of the same kind with other parameters; transformed ones are remade from within."""
    own = dict.fromkeys(variable._original_parameters)
    inner = getattr(variable, "_dist", None)
    if inner is None:
        return type(variable)(**{name: values[name] for name in own})
    outer = {name: values[name] for name in own if name not in inner._original_parameters}
    return type(variable)(_remade(inner, values), **outer)


@dataclass(frozen=True, eq=False, repr=False)
class ScipyLaw(Distribution):
    """Laws of a SciPy family that has no class here; as accurate as SciPy is.

    Examples
    --------
    >>> from scipy import stats
    >>> from calibrant import as_distribution
    >>> as_distribution(stats.moyal(loc=[0.0, 1.0])).median()
    array([0.788, 1.788])
    """

    _by_row: ClassVar[tuple[str, ...]] = ("parameters",)

    source: Source
    parameters: Array  # (n, p), in the order of SciPy's arguments

    def __post_init__(self) -> None:
        """Check that SciPy takes the parameters."""
        bad = np.isnan(self._ask("cdf", np.zeros(len(self))))
        if bad.any():
            row = int(np.argmax(bad))
            raise ValueError(
                f"SciPy does not take the parameters of {int(bad.sum())} of {len(bad)} rows, first row {row}: "
                f"{self.parameters[row].tolist()}. A scale that is not positive?"
            )

    def _ask(self, what: str, *y: Array) -> Array:
        like = y[0] if y else np.empty(0)
        columns = [across(column, like) for column in self.parameters.T]
        with np.errstate(all="ignore"):
            return np.asarray(self.source.ask(what, columns, *y), dtype=float)

    @property
    def has_atoms(self) -> bool:
        """Discrete families."""
        return self.source.is_discrete

    @property
    def is_discrete(self) -> bool:
        """Discrete families."""
        return self.source.is_discrete

    @property
    def on_integers(self) -> bool:
        """Discrete families on whole numbers."""
        return self.source.on_integers

    @property
    def support(self) -> tuple[Array, Array]:
        """As SciPy says."""
        with np.errstate(all="ignore"):
            low, high = self.source.ask("support", list(self.parameters.T))
        n = len(self)
        return np.broadcast_to(np.asarray(low, dtype=float), n).copy(), np.broadcast_to(
            np.asarray(high, dtype=float), n
        ).copy()

    @property
    def tail_index(self) -> Array:
        """Where SciPy knows no variance: the slope of log tail probability in log y far out; else inf."""
        mean, var = self._moment("mean"), self._moment("var")
        heavy = ~np.isfinite(var)
        if not heavy.any():
            return np.full(len(self), np.inf)
        index = np.minimum(self._tail_slope("isf", 1.0), self._tail_slope("ppf", -1.0))
        return np.where(
            heavy, np.clip(index, np.where(np.isfinite(mean), 1.0, 0.0), np.where(np.isfinite(mean), 2.0, 1.0)), np.inf
        )

    def _tail_slope(self, what: str, sign: float) -> Array:
        near, far = (sign * self._ask(what, np.full(len(self), p)) for p in (1e-9, 1e-13))
        with np.errstate(all="ignore"):
            slope = np.log(1e4) / np.log(far / near)
        return np.where((near > 0) & (far > near), slope, np.inf)

    def to_normal(self, y: Array, side: Side = "right") -> Array:
        """Score from the smaller tail, in logs where it underflows."""
        y = spread_out(y, len(self))
        if side == "left" and self.is_discrete:
            y = np.nextafter(y, -np.inf)
        lower, upper = self._ask("cdf", y), self._ask("sf", y)
        z = score_of(lower, upper)
        tiny = np.minimum(lower, upper) < TINY
        if tiny.any():
            z = np.where(tiny, score_of_logs(self._ask("logcdf", y), self._ask("logsf", y)), z)
        return z

    def from_normal(self, z: Array) -> Array:
        """SciPy's quantiles, from the smaller tail."""
        z = spread_out(z, len(self))
        if self.is_discrete:
            z = z - slack(z)
        return np.where(z < 0, self._ask("ppf", ndtr(np.minimum(z, 0.0))), self._ask("isf", ndtr(-np.maximum(z, 0.0))))

    def log_slope(self, y: Array) -> Array:
        """Log density less that of the score."""
        return self.score_and_log_slope(y)[1]

    def score_and_log_slope(self, y: Array) -> tuple[Array, Array]:
        """Scores, and slopes from these and the density."""
        y = spread_out(y, len(self))
        z = self.to_normal(y)
        return z, log_slope_of(self._density(y), z)

    def _density(self, y: Array) -> Array:
        if self.is_discrete:
            raise ValueError("a discrete law has no density: use logpmf.")
        return self._ask("logpdf", spread_out(y, len(self)))

    def logpdf(self, y: Any) -> Array:
        """SciPy's log density."""
        return self._by_blocks(ScipyLaw._density, self._points(y))

    def logpmf(self, y: Any) -> Array:
        """SciPy's log probability of single values."""
        if not self.is_discrete:
            return super().logpmf(y)
        return self._by_blocks(lambda law, v: law._ask("logpmf", spread_out(v, len(law))), self._points(y))

    def mean(self) -> Array:
        """SciPy's means; inf where there is none."""
        return np.where(np.isnan(self._moment("mean")), np.inf, self._moment("mean"))

    def var(self) -> Array:
        """SciPy's variances; inf where there is none."""
        return np.where(np.isnan(self._moment("var")), np.inf, self._moment("var"))

    def _moment(self, what: str) -> Array:
        return np.asarray(np.broadcast_to(self._ask(what), (len(self),)))
