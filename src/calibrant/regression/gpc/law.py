"""Laws of many rows that are worked out when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..._checks import Array, probabilities
from ..._later import Pending, later
from ..._types import Numbers
from ...distributions import Distribution
from ...distributions.recalibrated import Recalibrated
from ...distributions.smoothed import Smoothed
from ...maps.smooth_rows import SmoothRows
from .quick import QuickQuantiles

_FEWEST = 512  # rows for which a table is made
_OUTERMOST = 1e-3  # levels beyond are left to the maps, which know their tails


@later("map")
@dataclass(frozen=True, eq=False, repr=False)
class Classified(Smoothed):
    """A law by a classifier of thresholds; quantiles of many rows are read off a table, all else needs its maps.

    Parameters
    ----------
    base : Distribution
    map : SmoothRows, or Pending
    edges : array (K,)
    make : callable
        From the base of any rows to their maps.
    quick : callable
        Quantiles of many rows, or None where there is no table for these.
    """

    make: Callable[[Distribution], SmoothRows]
    quick: Callable[[], QuickQuantiles | None]

    @classmethod
    def of(cls, base: Distribution, edges: Array, make: Any, quick: Any) -> Self:
        """With maps that are made when they are asked for."""
        pending: Any = Pending(make, base)
        return cls(base, pending, edges, make, quick)

    def __post_init__(self) -> None:
        """The map is not looked at yet."""

    def __getitem__(self, rows: Any) -> Self:
        """The laws of these rows; maps that are pending stay so."""
        if not isinstance(vars(self)["map"], Pending):
            return super().__getitem__(rows)
        part = super().__getitem__(rows)
        object.__setattr__(part, "map", Pending(self.make, part.base))
        return part

    @classmethod
    def _join(cls, laws: Sequence[Self]) -> Self | None:
        return super()._join(laws) if all(law.quick == laws[0].quick for law in laws) else None

    def quantiles(self, levels: Numbers) -> Array:
        """The same quantile levels in every row, (n, L)."""
        p, forecasts = probabilities(levels, "levels"), self._tabulated(levels)
        if forecasts is None:
            return super().quantiles(levels)
        quick, law = forecasts
        scores, doubt = quick(law, p)
        out = self.base._by_blocks(lambda part, z: part.from_normal(z), scores)
        if doubt.any():
            out[doubt] = Smoothed.quantiles(self[doubt], levels)
        return out

    def median(self) -> Array:
        """The medians, (n,)."""
        return self.quantiles([0.5])[:, 0]

    def _tabulated(self, levels: Any) -> tuple[QuickQuantiles, Distribution] | None:
        """The table that gives these levels, and the laws whose scores it is for."""
        p = np.asarray(levels, dtype=float)
        inside = p.ndim == 1 and p.size and p.min() >= _OUTERMOST and p.max() <= 1 - _OUTERMOST
        if not inside or len(self) < _FEWEST or not isinstance(vars(self)["map"], Pending):
            return None
        quick = self.quick()
        if quick is None or quick.common is None:
            return None if quick is None else (quick, self.base)
        base = self.base
        same = isinstance(base, Recalibrated) and base.map is quick.common
        return (quick, base.base) if same else None  # type: ignore[attr-defined]
