"""Any law of SciPy as a distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtr, ndtri

from .._checks import Array
from ..distributions.base import Distribution, across
from ..distributions.tables.lines import spread_out
from ..maps.base import Side
from ..numerics.tails import TINY, log_slope_of, score_of, score_of_logs, slack
from .scipy_counts import count_ends, crps_of_counts, refuse_wide
from .scipy_search import sought_quantiles
from .scipy_sources import Source

NEAR = 5.0  # scores up to which 1 - p has digits enough to say where an upper quantile lies
CLEAR = 6.5  # the score beyond which 1 - p has few digits left
SLOW = ("ksone", "kstwo", "levy_stable")  # families that take an integral or a long sum for each probability
DOUBTFUL = ("kappa4",)  # whose moments SciPy integrates one by one, and takes for infinite where they are not
ONE_BY_ONE = ("levy_stable",)  # whose moments SciPy gives for one law at a time


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
        """The slope of log tail probability in log y far out, where SciPy knows no finite variance; else inf."""
        known = self._knows_moments()
        heavy = ~np.isfinite(self._moment("var")) if known else np.full(len(self), True)
        if not heavy.any():
            return np.full(len(self), np.inf)
        index = self._tail_slope()
        index = np.where(np.abs(index - np.round(2 * index) / 2) < 1e-3, np.round(2 * index) / 2, index)
        if not known:
            return np.where(index < 2.5, index, np.inf)
        exists = np.isfinite(self._moment("mean"))
        return np.where(heavy, np.clip(index, np.where(exists, 1.0, 0.0), np.where(exists, 2.0, 1.0)), np.inf)

    def _tail_slope(self) -> Array:
        """The smaller of both sides."""
        middle = self.from_normal(np.zeros(len(self)))[:, None]
        out = np.full(len(self), np.inf)
        for sign, clear in zip((-1.0, 1.0), np.abs(self._clear_scores()), strict=True):
            levels = np.array([[1e-9, 1e-13]] if clear == np.inf else [[1e-6, 1e-9]])
            near, far = np.abs(self.from_normal(-sign * ndtri(levels)) - middle).T
            with np.errstate(all="ignore"):
                slope = np.log(levels[0, 0] / levels[0, 1]) / np.log(far / near)
            out = np.where((near > 0) & (far > near), np.minimum(out, slope), out)
        return out

    def to_normal(self, y: Array, side: Side = "right") -> Array:
        """Score from the smaller tail, in logs where it underflows."""
        y = spread_out(y, len(self))
        if self.is_discrete:
            y = np.floor(y) if side == "right" else np.ceil(y) - 1
        lower, upper = self._tails(y)
        z = score_of(lower, upper)
        tiny = np.minimum(lower, upper) < TINY
        if tiny.any() and self.source.has_own("logcdf", "logsf"):
            far = score_of_logs(self._ask("logcdf", y), self._ask("logsf", y))
            z = np.where(tiny & ~np.isnan(far), far, z)
        return z

    def _tails(self, y: Array) -> tuple[Array, Array]:
        """P(Y <= y) and P(Y > y): both where SciPy has a formula, else one from the other."""
        has_cdf, has_sf = self.source.has_own("cdf"), self.source.has_own("sf")
        lower = self._share("cdf", y, 1.0) if has_cdf or not has_sf else 1 - self._share("sf", y, -1.0)
        return lower, self._share("sf", y, -1.0) if has_sf else 1 - lower

    def _share(self, what: str, y: Array, sign: float) -> Array:
        """A probability; 0 or 1 where SciPy's formula overflows far out."""
        p = np.clip(self._ask(what, y), 0.0, 1.0)
        lost = np.isnan(p) & ~np.isnan(y)
        if lost.any():
            p = np.where(lost, sign * (y - across(self.source.place(self.parameters)[0], y)) > 0, p)
        return p

    def from_normal(self, z: Array) -> Array:
        """SciPy's quantiles from the smaller tail where it has a formula and that holds; sought otherwise."""
        z = spread_out(z, len(self))
        z = z - slack(z) if self.is_discrete else z
        out = self._formula_quantiles(z)
        odd = np.isfinite(z) & ~np.isfinite(out)
        rows = odd.any(axis=1) if odd.ndim == 2 else odd
        if rows.any():
            place = self.source.place(self.parameters)
            known = np.clip(z[rows], *self._clear_scores())
            sought = sought_quantiles(self[rows], known, (place[0][rows], place[1][rows]))
            out[rows] = np.where(odd[rows], np.floor(sought) if self.is_discrete else sought, out[rows])
        return out

    def _clear_scores(self) -> tuple[float, float]:
        """Scores between which both tails have digits: one that is taken from the other soon has none."""
        low = self.source.has_own("cdf") or not self.source.has_own("sf")
        return -np.inf if low else -CLEAR, np.inf if self.source.has_own("sf") else CLEAR

    def _formula_quantiles(self, z: Array) -> Array:
        """SciPy's quantiles; NaN where it has no formula."""
        low, high = (np.broadcast_to(across(end, z), z.shape) for end in self.support)
        out = np.where(z == np.inf, high, np.where(z == -np.inf, low, np.nan))
        if not self._inverts():
            return out
        near = z <= (-0.0 if self.source.has_own("isf") else NEAR)
        for what, side, level in (("ppf", near, ndtr(z)), ("isf", ~near & self.source.has_own("isf"), ndtr(-z))):
            wanted = side & np.isfinite(z)
            if wanted.any():
                try:
                    out = np.where(wanted, self._ask(what, np.where(wanted, level, 0.5)), out)
                except ArithmeticError:
                    continue  # Boost's quantiles give up far out
        return out

    def _inverts(self) -> bool:
        """Whether SciPy's quantiles are formulas, or sums that cannot be sought from outside."""
        return self.source.has_own("ppf") or (self.is_discrete and not self.source.has_own("cdf", "sf"))

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
        """SciPy's means where it has a formula; inf where there is none."""
        if not self._knows_moments():
            self._refuse_slow("a mean")
            return super().mean()
        return np.where(np.isnan(self._moment("mean")), np.inf, self._moment("mean"))

    def var(self) -> Array:
        """SciPy's variances where it has a formula; inf where there is none."""
        if not self._knows_moments():
            self._refuse_slow("a variance")
            return super().var()
        return np.where(np.isnan(self._moment("var")), np.inf, self._moment("var"))

    def _knows_moments(self) -> bool:
        """Whether SciPy need not integrate number by number."""
        return self.is_discrete or (self.source.has_own("stats", "munp") and self.source.name not in DOUBTFUL)

    def _moment(self, what: str) -> Array:
        if self.source.name in ONE_BY_ONE:
            return np.array([float(self.source.ask(what, list(row))) for row in self.parameters])
        return np.asarray(np.broadcast_to(self._ask(what), (len(self),)))

    def _refuse_slow(self, what: str) -> None:
        if self.source.name in SLOW:
            raise ValueError(
                f"SciPy takes about a millisecond for each probability of {self.source.name}: too slow for {what}. "
                "Use Quantiles of this law: Quantiles(levels, law.quantiles(levels))."
            )

    def crps(self, y: Any) -> Array:
        """CRPS: exact sums for counts, quadrature for others; inf where the tail index is at most 1/2."""
        if not self.on_integers:
            self._refuse_slow("a CRPS")
            return super().crps(y)
        outcomes, (low, high) = self._outcomes(y), self._count_ends()
        out = crps_of_counts(lambda rows, k: np.exp(self[rows]._ask("logpmf", k)), outcomes, low, high)
        return np.where(self.tail_index <= 0.5, np.inf, out)

    def _count_ends(self) -> tuple[Array, Array]:
        """Whole numbers between which nearly all of the probability lies."""
        middle = self.median()
        first, last = self.support
        low = count_ends(lambda k: self._count_tail(k, middle, -1.0), middle, first, -1.0)
        high = count_ends(lambda k: self._count_tail(k, middle, 1.0), middle, last, 1.0)
        refuse_wide(low, high, self.source.name)
        return low, high

    def _count_tail(self, k: Array, middle: Array, sign: float) -> Array:
        """Probability beyond k, or what stands for it where only single probabilities have a formula."""
        if self.source.has_own("cdf", "sf"):
            return np.asarray(ndtr(-sign * self.to_normal(k, "right" if sign > 0 else "left")))
        return np.asarray(np.exp(self._ask("logpmf", k)) * (1 + np.abs(k - middle)))
