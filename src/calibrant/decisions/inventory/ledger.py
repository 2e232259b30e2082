"""What happened in the shop, series by series and day by day."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._checks import Array


@dataclass(frozen=True, eq=False, repr=False)
class Ledger:
    """What `PerishableInventory.simulate` gives: tables (n series, days) of units and money.

    Attributes
    ----------
    ordered, sold, lost, wasted : ndarray (n, days)
        Units ordered that morning, sold, asked for in vain, and thrown away in the evening.
    profit : ndarray (n, days)
        Revenue less the cost of the day's orders, and the salvage of what was thrown away.
    left : ndarray (n, ages)
        Units at the end by days of life left; not part of the profit.
    """

    ordered: Array
    sold: Array
    lost: Array
    wasted: Array
    profit: Array
    left: Array

    @property
    def total_profit(self) -> Array:
        """Profit of each series, (n,)."""
        return np.asarray(self.profit.sum(axis=1))

    @property
    def fill_rate(self) -> Array:
        """Share of demand that was met, (n,); 1 where nothing was asked for."""
        sold, lost = self.sold.sum(axis=1), self.lost.sum(axis=1)
        asked = sold + lost
        return np.asarray(np.where(asked > 0, sold / np.where(asked > 0, asked, 1.0), 1.0))

    def __repr__(self) -> str:
        """Series, days and sums over all."""
        n, days = self.profit.shape
        sums = ", ".join(f"{name}={getattr(self, name).sum():.10g}" for name in ("ordered", "sold", "lost", "wasted"))
        return f"Ledger(n_series={n}, days={days}, {sums}, profit={self.profit.sum():.2f})"
