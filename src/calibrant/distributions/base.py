"""The currency: a batch of n predictive laws, one a row."""

from __future__ import annotations

import dataclasses
import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from .._checks import Array, count, is_column, parameters, probabilities, probability, to_array
from .._types import Numbers
from ..maps.base import Map, Side, concatenate_maps
from ..numerics.blocks import BLOCK, row_blocks
from ..numerics.tails import HALF_LOG_2PI, log_between


class Distribution(ABC):
    r"""A batch of n laws on the real line. Rows are instances, always.

    A law is an increasing transport between y and a standard normal: ``to_normal`` gives the normal score
    :math:`z = \Phi^{-1}(F(y))`, ``from_normal`` is its generalised inverse and ``log_slope`` is
    :math:`\log dz/dy`. Everything else derives; closed forms replace derived ones where they exist.

    1-D arguments pair with the rows, 2-D arguments are (n, k), or (1, k) for the same k points in every row, and
    scalars broadcast. The three primitives take such arrays as they are; all other methods check them first.
    """

    _by_row: ClassVar[tuple[str, ...]] = ()  # array fields with one entry (or line) per law
    _index: Any = None

    # ---- the three primitives ----
    @abstractmethod
    def to_normal(self, y: Array, side: Side = "right") -> Array:
        """Normal scores z of y; at an atom, the score of P(Y < y) (left) or P(Y <= y) (right)."""

    @abstractmethod
    def from_normal(self, z: Array) -> Array:
        """The smallest y whose normal score is at least z."""

    @abstractmethod
    def log_slope(self, y: Array) -> Array:
        """log dz/dy; raises where y sits on an atom."""

    def score_and_log_slope(self, y: Array) -> tuple[Array, Array]:
        """``to_normal(y)`` and ``log_slope(y)`` together; laws that need the one for the other evaluate it once."""
        return self.to_normal(y), self.log_slope(y)

    # ---- what a law tells about itself ----
    def __len__(self) -> int:
        """Return the number of rows."""
        return len(getattr(self, self._by_row[0]))

    @property
    def index(self) -> Any:
        """The pandas index that came with the parameters, or None."""
        return self._index

    @property
    def has_atoms(self) -> bool:
        """Whether single values carry probability (counts, ties, step maps)."""
        return False

    @property
    def is_discrete(self) -> bool:
        """Whether the law consists of atoms only, so that likelihood means probability, not density."""
        return False

    @property
    def on_integers(self) -> bool:
        """Whether all atoms are whole numbers (counts)."""
        return False

    @property
    def tail_index(self) -> Array:
        """Tail index of each law, (n,): moments of at least this order are infinite; inf where all moments exist."""
        return np.full(len(self), np.inf)

    @property
    def has_heavy_tails(self) -> bool:
        """Whether some law has a finite tail index."""
        if type(self).tail_index is Distribution.tail_index:  # all moments exist, which needs no look at the rows
            return False
        return bool(np.isfinite(self.tail_index).any())

    @property
    def support(self) -> tuple[Array, Array]:
        """Lower and upper end of each law, two (n,) arrays."""
        n = len(self)
        return np.full(n, -np.inf), np.full(n, np.inf)

    def __repr__(self) -> str:
        """Name and number of rows."""
        return f"{type(self).__name__}(n={len(self)})"

    # ---- rows ----
    def __getitem__(self, rows: Any) -> Self:
        """The laws of these rows (slice, mask, integers); one integer gives a batch of one."""
        rows = _row_selection(rows, len(self))
        part = object.__new__(type(self))
        for name in self._field_names():
            by_row = name in self._by_row
            value = getattr(self, name)[rows] if by_row else _take(vars(self)[name], rows)  # a pending one stays so
            object.__setattr__(part, name, value)
        if self._index is not None:
            object.__setattr__(part, "_index", self._index[rows])
        return part

    def _field_names(self) -> tuple[str, ...]:
        return _field_names(type(self))

    def _kinks(self) -> Array:
        """Values where the distribution function is not smooth, (n, k): where integrals over y are split."""
        return np.empty((len(self), 0))

    def _by_blocks(self, compute: Callable[[Any, Array], Array], y: Array, block: int = BLOCK) -> Array:
        """Compute on cache-sized blocks of rows; ``compute`` takes a law and its points."""
        n, width = len(self), y.shape[1] if y.ndim == 2 else 1
        if n * width <= block:
            return compute(self, y)
        out = np.empty((n, *y.shape[1:]) if y.ndim else n)
        for rows in row_blocks(n, width, block):
            out[rows] = compute(self[rows], y[rows] if y.ndim and len(y) == n else y)
        return out

    def _row_scores(self, y: Array) -> Array:
        """Normal scores of one checked outcome a row, block by block."""
        return self._by_blocks(lambda law, v: law.to_normal(v), y)

    def _points(self, values: Any, name: str = "y") -> Array:
        """Points to evaluate at: scalar, (n,), (n, k) or (1, k)."""
        n = len(self)
        if is_column(values) and len(values) == n:  # as nearly always
            return values  # type: ignore[no-any-return]
        y = to_array(values, name)
        if y.ndim > 2 or (y.ndim >= 1 and y.shape[0] != n and not (y.ndim == 2 and y.shape[0] == 1)):
            raise ValueError(
                f"`{name}` must be a scalar, ({n},), ({n}, k) or (1, k) for {n} forecasts; got shape {y.shape}. "
                f"The same points in every row? Use {name}[None, :]."
            )
        return y

    # ---- probability ----
    def cdf(self, y: Numbers) -> Array:
        """P(Y <= y)."""
        return self._by_blocks(lambda law, v: ndtr(law.to_normal(v)), self._points(y))

    def sf(self, y: Numbers) -> Array:
        """P(Y > y), accurate in the upper tail."""
        return self._by_blocks(lambda law, v: ndtr(-law.to_normal(v)), self._points(y))

    def logcdf(self, y: Numbers) -> Array:
        """log P(Y <= y)."""
        return self._by_blocks(lambda law, v: log_ndtr(law.to_normal(v)), self._points(y))

    def logsf(self, y: Numbers) -> Array:
        """log P(Y > y)."""
        return self._by_blocks(lambda law, v: log_ndtr(-law.to_normal(v)), self._points(y))

    def logpdf(self, y: Numbers) -> Array:
        r"""Log density :math:`-z^2/2 - \frac12\log 2\pi + \log dz/dy`; -inf outside the support."""
        return self._by_blocks(_log_density, self._points(y))

    def _log_loss(self, y: Array) -> Array:
        """Minus the log density at one checked outcome a row, which a law may know as directly."""
        out = self.logpdf(y)
        return np.negative(out, out=out)

    def pdf(self, y: Numbers) -> Array:
        """Density."""
        return np.exp(self.logpdf(y))

    def logpmf(self, y: Numbers) -> Array:
        """log P(Y = y), from the smaller tail; -inf where y carries no mass."""
        return self._by_blocks(_log_mass, self._points(y))

    # ---- quantiles and samples ----
    def ppf(self, q: Numbers) -> Array:
        """Quantiles: the smallest y with cdf(y) >= q; q follows the same shapes as y."""
        levels = self._points(q, "q")
        probabilities(levels, "q", open_ends=False)
        return self._by_blocks(lambda law, v: law.from_normal(ndtri(v)), levels)

    def quantiles(self, levels: Numbers) -> Array:
        """The same quantile levels in every row, (n, L)."""
        return self._by_blocks(lambda law, v: law.from_normal(v), score_line(levels))

    def median(self) -> Array:
        """The medians, (n,)."""
        return self._by_blocks(lambda law, v: law.from_normal(v), np.zeros(len(self)))

    def interval(self, coverage: float = 0.9) -> Array:
        """Central intervals, (n, 2)."""
        c = probability(coverage, "coverage")
        return self.quantiles([0.5 - c / 2, 0.5 + c / 2])

    def sample(self, size: int = 1, random_state: Any = None) -> Array:
        """Independent draws, (n, size)."""
        z = np.random.default_rng(random_state).standard_normal((len(self), count(size, "size", least=0)))
        return self._by_blocks(lambda law, v: law.from_normal(v), z)

    def to_frame(self, levels: Numbers = (0.05, 0.25, 0.5, 0.75, 0.95)) -> Any:
        """Pandas frame of quantiles, columns ``q0.05`` …, with the index of the parameters."""
        import pandas as pd

        levels = probabilities(levels, "levels")
        return pd.DataFrame(self.quantiles(levels), columns=[f"q{level:g}" for level in levels], index=self.index)

    # ---- moments and scores ----
    def mean(self) -> Array:
        """Expectations, (n,); inf where the tails are too heavy for one."""
        from .integrals.quadrature import mean

        return mean(self)

    def var(self) -> Array:
        """Variances, (n,); inf where the tails are too heavy for one."""
        from .integrals.quadrature import variance

        return variance(self)

    def std(self) -> Array:
        """Standard deviations, (n,)."""
        return np.sqrt(self.var())

    def crps(self, y: Numbers) -> Array:
        r"""Continuous ranked probability score :math:`\int (F(t) - 1\{t \ge y\})^2\,dt` of each row's outcome, (n,)."""
        from .integrals.quadrature import crps

        return crps(self, self._outcomes(y))

    def _outcomes(self, y: Any) -> Array:
        """One outcome per row."""
        points = self._points(y)
        if points.ndim == 2:
            raise ValueError(f"`y` must have one outcome per forecast; got shape {points.shape}.")
        return points if points.ndim else np.broadcast_to(points, (len(self),))

    # ---- several laws laid end to end ----
    @classmethod
    def _join(cls, laws: Sequence[Self]) -> Self | None:
        """The rows of several batches as one batch of the same kind, or None if they have no common form."""
        whole = object.__new__(cls)
        lengths = [len(law) for law in laws]
        for name in laws[0]._field_names():
            values = [getattr(law, name) for law in laws]
            joined = _join_rows(values) if name in cls._by_row else _join_values(values, lengths)
            if joined is None and values[0] is not None:
                return None
            object.__setattr__(whole, name, joined)
        if all(law._index is not None for law in laws):
            object.__setattr__(whole, "_index", laws[0]._index.append([law._index for law in laws[1:]]))
        return whole


class Parametric(Distribution):
    """A law given by one number per row and parameter; scalars serve every row."""

    def _set_columns(self, **values: Any) -> None:
        """Store parameters as float columns of one length, and the index they came with."""
        columns, index = parameters(values)
        vars(self).update(columns)
        if index is not None:
            object.__setattr__(self, "_index", index)


@functools.cache
def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))


def across(parameter: Array, y: Array) -> Array:
    """A per-row parameter shaped to meet y: (n,) beside (n,), (n, 1) beside (n, k) or (1, k)."""
    return parameter[:, None] if y.ndim == 2 else parameter


def score_line(levels: Numbers) -> Array:
    """Normal scores of levels, (1, L)."""
    given = probabilities(levels, "levels")
    if given.ndim != 1:
        raise ValueError(f"`levels` must be 1-dimensional; got shape {given.shape}.")
    return np.asarray(ndtri(given))[None, :]


def _row_selection(rows: Any, n: int) -> Any:
    if isinstance(rows, slice):
        return rows
    if isinstance(rows, (int, np.integer)):
        if not -n <= rows < n:
            raise IndexError(f"row {rows} is out of range for {n} forecasts.")
        return np.atleast_1d(rows)
    rows = np.asarray(rows)
    if rows.size and (rows.ndim != 1 or rows.dtype.kind not in "biu"):
        raise IndexError(f"rows must be a slice, a mask or whole numbers; got {rows.dtype} of shape {rows.shape}.")
    if rows.dtype == bool and rows.shape != (n,):
        raise IndexError(f"a mask must have one entry per forecast; got shape {rows.shape} for {n} forecasts.")
    return rows if rows.size else rows.astype(np.intp)


def _take(value: Any, rows: Any) -> Any:
    if isinstance(value, (Distribution, Map)):
        return value[rows]
    if isinstance(value, tuple) and value and isinstance(value[0], Distribution):
        return tuple(law[rows] for law in value)
    return value


def _join_rows(values: list[Array]) -> Array | None:
    return np.concatenate(values) if len({value.shape[1:] for value in values}) == 1 else None


def _join_values(values: list[Any], lengths: list[int]) -> Any:
    first = values[0]
    if isinstance(first, Distribution):
        return type(first)._join(values) if all(type(value) is type(first) for value in values) else None
    if isinstance(first, Map):
        return concatenate_maps(values, lengths)
    if isinstance(first, tuple) and first and isinstance(first[0], Distribution):
        parts = [_join_values(list(part), lengths) for part in zip(*values, strict=False)]
        return tuple(parts) if {len(value) for value in values} == {len(first)} and None not in parts else None
    return first if all(np.array_equal(first, value) for value in values[1:]) else None


def _log_density(law: Distribution, y: Array) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        z, log_slope = law.score_and_log_slope(y)
        out = log_slope - (0.5 * z) * z - HALF_LOG_2PI
    return np.where(np.isinf(z), -np.inf, out)


def _log_mass(law: Distribution, y: Array) -> Array:
    return log_between(law.to_normal(y, "left"), law.to_normal(y, "right"))
