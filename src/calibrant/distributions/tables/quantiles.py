"""Laws given by some of their quantiles."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtri

from ..._checks import Array, finite, index_of, probabilities, to_array
from ..._later import Pending
from ..._types import Numbers
from ...maps.base import Side
from ...numerics.blocks import row_blocks
from ...numerics.lines import Positions
from ..base import Distribution, score_line
from .transport import Transport

_FEW = 8  # levels


@dataclass(frozen=True, eq=False, repr=False)
class Quantiles(Distribution):
    r"""Laws through given quantiles: the polyline through :math:`(x_l, \Phi^{-1}(\tau_l))`, with both tails.

    Beyond the outer quantiles the polyline keeps the slope of the line from the first to the last one,
    :math:`(\Phi^{-1}(\tau_L) - \Phi^{-1}(\tau_1))/(x_L - x_1)`. To bound a law, wrap it in ``Truncated``. Quantiles
    that cross within a row are rearranged (sorted) with a warning, which never moves them further from the true ones
    (Chernozhukov, Fernández-Val & Galichon 2010). Equal quantiles are an atom.

    Parameters
    ----------
    levels : array-like (L,)
        At least two different numbers in (0, 1), in any order.
    values : array-like (n, L)
        Quantiles at these levels.

    Examples
    --------
    >>> law = Quantiles([0.1, 0.5, 0.9], [[1.0, 2.0, 4.0]])
    >>> law.cdf([2.0]), law.ppf([0.9])
    (array([0.5]), array([4.]))
    """

    _by_row: ClassVar[tuple[str, ...]] = ("values",)

    levels: Array
    values: Array

    def __init__(self, levels: Numbers, values: Numbers) -> None:
        """Check, sort the columns by level, rearrange rows that cross."""
        index = index_of(values)
        nominal = _distinct_levels(levels)
        table = to_array(values, "values")
        if table.ndim != 2 or table.shape[1] != len(nominal):
            raise ValueError(f"`values` must be (n, {len(nominal)}), one column per level; got shape {table.shape}.")
        order = np.argsort(nominal)
        table = _rearranged(_columns(finite(table, "values"), order))
        _refuse_constant_rows(table)
        object.__setattr__(self, "levels", nominal[order])
        object.__setattr__(self, "values", table)
        if index is not None:
            object.__setattr__(self, "_index", index)

    def _law(self) -> Transport:
        t = ndtri(self.levels)
        spread: Any = Pending(_spread, self.values, t[-1] - t[0])
        return Transport(self.values, t, spread)

    @property
    def has_atoms(self) -> bool:
        """Equal quantiles at different levels."""
        return self._law().has_atoms

    def _kinks(self) -> Array:
        return self.values

    def to_normal(self, y: Array, side: Side = "right") -> Array:
        """Height of the polyline."""
        return self._law().to_normal(y, side)

    def from_normal(self, z: Array) -> Array:
        """Quantiles at normal scores."""
        return self._law().from_normal(z)

    def quantiles(self, levels: Numbers) -> Array:
        """The same quantile levels in every row, (n, L)."""
        z = score_line(levels)
        return self.from_normal(z) if z.size <= _FEW else super().quantiles(levels)

    def log_slope(self, y: Array) -> Array:
        """Slope of the polyline."""
        return self._law().log_slope(y)

    def mean(self) -> Array:
        """Expectations, in closed form."""
        return self._law().mean()

    def var(self) -> Array:
        """Variances, in closed form."""
        with np.errstate(over="ignore", under="ignore"):
            return np.square(self.std())

    def std(self) -> Array:
        """Standard deviations, in closed form."""
        return self._law().std()

    def crps(self, y: Any) -> Array:
        """CRPS of the law, in closed form."""
        return self._law().crps(self._outcomes(y))


def _distinct_levels(values: Any) -> Array:
    levels = probabilities(values, "levels")
    if levels.ndim != 1:
        raise ValueError(f"`levels` must be 1-dimensional; got shape {levels.shape}.")
    unique, counts = np.unique(levels, return_counts=True)
    if len(unique) < 2:
        raise ValueError(f"`levels` must have at least two different values; got {levels.tolist()}.")
    if len(unique) < len(levels):
        raise ValueError(f"`levels` must be distinct; {unique[counts > 1][0]} comes {counts.max()} times.")
    return levels


def _spread(values: Array, rise: float) -> Array:
    """Inverse slope of the line from the first to the last quantile, whose distance may overflow."""
    return np.maximum(values[:, -1] / rise - values[:, 0] / rise, np.nextafter(0.0, 1.0))


def _columns(table: Array, order: Positions) -> Array:
    """A copy with the columns in this order; few of them are laid one after another, for they are asked for singly."""
    if len(order) > _FEW:
        return table[:, order]
    out = np.empty(table.shape[::-1]).T
    for rows in row_blocks(*table.shape):
        for new, old in enumerate(order):
            out[rows, new] = table[rows, old]
    return out


def _rearranged(values: Array) -> Array:
    if not any((right < left).any() for left, right in itertools.pairwise(values.T)):
        return values
    crossing = (values[:, 1:] < values[:, :-1]).any(axis=1)
    warnings.warn(
        f"quantiles cross in {int(crossing.sum())} of {len(values)} rows, first row {int(np.argmax(crossing))}; "
        "they are rearranged in increasing order.",
        stacklevel=5,
    )
    return np.sort(values, axis=1)


def _refuse_constant_rows(values: Array) -> None:
    flat = values[:, 0] == values[:, -1]
    if flat.any():
        row = int(np.argmax(flat))
        raise ValueError(
            f"`values` must differ within a row; all quantiles are equal in {int(flat.sum())} of {len(flat)} rows, "
            f"first row {row} (all {values[row, 0]}). Constant predictions? Use ResidualCalibrator."
        )
